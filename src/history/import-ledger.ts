// What a server was sent of past sessions, kept on disk: a session goes out again only when it changed.
import { fileStem, type State } from "../base/store.ts";
import { digestOf } from "../base/text.ts";
import type { ReadSession } from "./sessions.ts";

/** Marks of sessions that no import came across for so long: nobody has them any more. */
const MAX_AGE_MS = 365 * 24 * 3600_000;

/** One mark a session: the digest of what was sent last. */
export interface ImportLedger {
  /** Returns whether the server has the session as `digest` has it. */
  has(id: string, digest: string): boolean;
  add(id: string, digest: string): void;
  /** Removes the marks of sessions that have not been seen for a year. Never rejects. */
  prune(now: number): Promise<void>;
}

/** Returns the ledger of one server: another one has none of these sessions. */
export function openImportLedger(state: State, apiUrl: string): ImportLedger {
  const folder = `imports/${digestOf(apiUrl)}`;
  const fileFor = (id: string): string => `${folder}/${fileStem(id)}.json`;
  return {
    has(id, digest) {
      const isKnown = state.read(fileFor(id)) === digest;
      if (isKnown) state.touch(fileFor(id));
      return isKnown;
    },
    add: (id, digest) => void state.write(fileFor(id), digest),
    prune: (now) => state.prune(folder, { maxFiles: Infinity, maxAgeMs: MAX_AGE_MS }, now),
  };
}

/** Returns a digest that changes when a session does, and not when this code makes another memory of it. */
export function sessionDigest(session: ReadSession): string {
  const { title, cwd, startedAt, endedAt, model, messages, summary, continues } = session;
  const told = [title, cwd, startedAt, endedAt, model, messages, summary];
  return digestOf(JSON.stringify(continues === undefined ? told : [...told, continues]));
}

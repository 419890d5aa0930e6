// What a server was sent of past sessions, kept on disk: a session goes out again only when it changed.
import { fileStem, type State } from "../base/store.ts";
import { digestOf } from "../base/text.ts";
import type { ReadSession } from "./sessions.ts";

/** One mark a session: the digest of what was sent last. */
export interface ImportLedger {
  /** Returns whether the server has the session as `digest` has it. */
  has(id: string, digest: string): boolean;
  add(id: string, digest: string): void;
}

/** Returns the ledger of one server: another one has none of these sessions. */
export function openImportLedger(state: State, apiUrl: string): ImportLedger {
  const fileFor = (id: string): string => `imports/${digestOf(apiUrl)}/${fileStem(id)}.json`;
  return {
    has: (id, digest) => state.read(fileFor(id)) === digest,
    add: (id, digest) => void state.write(fileFor(id), digest),
  };
}

/** Returns a digest that changes when a session does, and not when this code makes another memory of it. */
export function sessionDigest({ title, cwd, startedAt, endedAt, model, messages, summary }: ReadSession): string {
  return digestOf(JSON.stringify([title, cwd, startedAt, endedAt, model, messages, summary]));
}

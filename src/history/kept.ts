// What was made of session files, kept in the state folder: a file is read again only when its time or size has
// changed. All is made anew by another version of the plugin, and losing it costs no more than reading.
import { statSync } from "node:fs";
import { asRecord, asText } from "../base/json.ts";
import type { State } from "../base/store.ts";
import { VERSION } from "../base/version.ts";
import { readSession } from "./read.ts";
import type { PastSession, ReadSession } from "./sessions.ts";
import type { Warn } from "./warn.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Sessions beyond so many are read each time. */
const MAX_SESSIONS = 5000;

/** What is made of a session: plain data, and never null. */
export interface Kind<T> {
  /** Its name in the state folder. */
  readonly file: string;
  make(session: ReadSession): T;
  /** Whether what lay on disk is such a thing. */
  is(value: unknown): value is T;
}

/** What is known of a file: its time and size, and what was made of it, null where it holds no person's session. */
type Row<T> = readonly [stamp: string, value: T | null];

export interface Kept<T> {
  /** Returns what was made of a session, or undefined where its file holds none. Reads it when it changed. */
  of(session: PastSession, warn: Warn): T | undefined;
  /** Writes what was read since, if anything. */
  save(): void;
}

/** Returns what `state` holds of a kind; files that nobody asked for go first when there are too many. */
export function openKept<T>(state: State, kind: Kind<T>): Kept<T> {
  const kept = readRows(state, kind);
  const used = new Map<string, Row<T>>();
  let isChanged = false;
  return {
    of(session, warn) {
      const stamp = stampOf(session);
      const known = kept.get(session.file);
      const row = known?.[0] === stamp ? known : readRow(session, kind, stamp, warn);
      if (row !== known && row[0] !== "") isChanged = true;
      used.set(session.file, row);
      return row[1] ?? undefined;
    },
    save() {
      if (!isChanged) return;
      const others = [...kept].filter(([file]) => !used.has(file));
      const rows = [...used, ...others].filter(([, [stamp]]) => stamp !== "").slice(0, MAX_SESSIONS);
      state.write(kind.file, { version: VERSION, rows: Object.fromEntries(rows) }, MAX_FILE_BYTES);
    },
  };
}

/** A row without a stamp, where there was trouble, is not kept: that is to be told the next time too. */
function readRow<T>(past: PastSession, kind: Kind<T>, stamp: string, warn: Warn): Row<T> {
  let isTold = false;
  const session = readSession(past, (...trouble) => {
    isTold = true;
    warn(...trouble);
  });
  const value = session === undefined || session.messages.length === 0 ? null : kind.make(session);
  return [isTold ? "" : stamp, value];
}

/** How a task is read depends on who holds it. */
function stampOf({ file, source, isTakenOver = false }: PastSession): string {
  try {
    const { mtimeMs, size } = statSync(file);
    return `${mtimeMs} ${size} ${source.kind} ${isTakenOver}`;
  } catch {
    return "";
  }
}

function readRows<T>(state: State, kind: Kind<T>): Map<string, Row<T>> {
  const { version, rows } = asRecord(state.read(kind.file, MAX_FILE_BYTES));
  if (version !== VERSION) return new Map();
  return new Map(Object.entries(asRecord(rows)).filter((entry): entry is [string, Row<T>] => isRow(entry[1], kind)));
}

function isRow<T>(row: unknown, kind: Kind<T>): row is Row<T> {
  return Array.isArray(row) && asText(row[0]) !== undefined && (row[1] === null || kind.is(row[1]));
}

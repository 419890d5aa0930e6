// The outlines of sessions, kept in the state folder: a file is read again only when its time or size has changed. It is
// made anew by another version of the plugin, and losing it costs no more than reading.
import { statSync } from "node:fs";
import { asRecord, asText } from "../base/json.ts";
import type { State } from "../base/store.ts";
import { VERSION } from "../base/version.ts";
import type { Outline } from "./outline.ts";
import { filledIn } from "./outline.ts";
import { readSession } from "./read.ts";
import type { ListedSession, PastSession } from "./sessions.ts";
import type { Warn } from "./warn.ts";

const FILE = "history.json";
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Sessions beyond so many are read each time. */
const MAX_SESSIONS = 5000;

/** What is known of a file: its time and size, and the outline; null where the file holds no session of a person's. */
type Row = readonly [stamp: string, outline: Outline | null];

export interface Outlines {
  /** Returns a session with its outline, or undefined where there is none in its file. Reads it when it changed. */
  of(session: PastSession, warn: Warn): ListedSession | undefined;
  /** Writes what was read since, if anything. */
  save(): void;
}

/** Returns the outlines that `state` holds; those of files that nobody asked for go first when there are too many. */
export function openOutlines(state: State): Outlines {
  const kept = readRows(state);
  const used = new Map<string, Row>();
  let isChanged = false;
  return {
    of(session, warn) {
      const stamp = stampOf(session);
      const known = kept.get(session.file);
      const row = known?.[0] === stamp ? known : readRow(session, stamp, warn);
      if (row === undefined) return undefined;
      if (row !== known && row[0] !== "") isChanged = true;
      used.set(session.file, row);
      return row[1] === null ? undefined : { ...filledIn(session, row[1]), outline: row[1] };
    },
    save() {
      if (!isChanged) return;
      const others = [...kept].filter(([file]) => !used.has(file));
      const rows = [...used, ...others].filter(([, [stamp]]) => stamp !== "").slice(0, MAX_SESSIONS);
      state.write(FILE, { version: VERSION, rows: Object.fromEntries(rows) }, MAX_FILE_BYTES);
    },
  };
}

/** Returns undefined where there was trouble, which is to be told the next time too. */
function readRow(past: PastSession, stamp: string, warn: Warn): Row | undefined {
  let isTold = false;
  const session = readSession(past, (...trouble) => {
    isTold = true;
    warn(...trouble);
  });
  if (isTold && session === undefined) return undefined;
  const outline = session === undefined || session.messages.length === 0 ? null : session.outline;
  return [isTold ? "" : stamp, outline];
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

function readRows(state: State): Map<string, Row> {
  const { version, rows } = asRecord(state.read(FILE, MAX_FILE_BYTES));
  if (version !== VERSION) return new Map();
  return new Map(Object.entries(asRecord(rows)).filter((entry): entry is [string, Row] => isRow(entry[1])));
}

function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || asText(row[0]) === undefined) return false;
  const { title, promptKeys } = asRecord(row[1]);
  const isList = Array.isArray(promptKeys) && promptKeys.every((key) => typeof key === "string");
  return row[1] === null || (typeof title === "string" && isList);
}

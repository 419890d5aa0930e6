// When a task of the extension began and ended, by what lies in its folder: a file's own time is that of a copy.
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { isTime } from "../base/time.ts";

/** What the person saw, each entry with its time; the second name is of 1.x. */
const SEEN_FILES = ["ui_messages.json", "claude_messages.json"];
const CHUNK_BYTES = 64 * 1024;
/** No entry of a task has more; a longer one is not looked through. */
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
/** What an entry quotes has its quotation marks escaped. */
const ENTRY_TIME = /(?<!\\)"ts"\s*:\s*(\d{13})\b/g;
/** As the extension tells it to the model since 3.2, in JSON; other orders of day and month are not guessed at. */
const CURRENT_TIME =
  /# Current Time\\n(\d{1,2}\/\d{1,2}\/\d{4}, \d{1,2}:\d\d:\d\d)\s?([AP]M) \([^()]*?UTC([+-])(\d{1,2})(?::(\d\d))?\)/;

export interface TaskTimes {
  /** Epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

/** Returns what the files of a task say of its time, each `undefined` where none does. Reads little of them. */
export function taskTimes(folder: string): TaskTimes {
  for (const name of SEEN_FILES) {
    const path = join(folder, name);
    const startedAt = timesIn(startOf(path))[0];
    if (startedAt !== undefined) return { startedAt, endedAt: lastTime(path) ?? startedAt };
  }
  const told = CURRENT_TIME.exec(startOf(join(folder, "api_conversation_history.json")));
  return { startedAt: told ? toldTime(told) : undefined, endedAt: undefined };
}

function timesIn(text: string): number[] {
  return [...text.matchAll(ENTRY_TIME)].map((match) => Number(match[1])).filter(isTime);
}

function lastTime(path: string): number | undefined {
  for (let bytes = CHUNK_BYTES; bytes <= MAX_ENTRY_BYTES; bytes *= 8) {
    const at = timesIn(partOf(path, (size) => [Math.max(0, size - bytes), Math.min(size, bytes)])).at(-1);
    if (at !== undefined) return at;
  }
  return undefined;
}

function toldTime([, time, half, sign, hours, minutes = "00"]: RegExpExecArray): number | undefined {
  const at = Date.parse(`${time} ${half} GMT${sign}${hours?.padStart(2, "0")}${minutes}`);
  return isTime(at) ? at : undefined;
}

function startOf(path: string): string {
  return partOf(path, (size) => [0, Math.min(size, CHUNK_BYTES)]);
}

/** Returns a part of a regular file as text, or "". `place` gets the size and returns where to begin and how much. */
function partOf(path: string, place: (size: number) => readonly [start: number, bytes: number]): string {
  let file: number | undefined;
  try {
    const { size } = regularFile(path);
    file = openSync(path, "r");
    const [start, bytes] = place(size);
    const buffer = Buffer.alloc(bytes);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, bytes, start));
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reading a pipe or a device would block. */
function regularFile(path: string): Stats {
  const file = statSync(path);
  if (!file.isFile()) throw new Error("it is no file");
  return file;
}

// Which sessions edited a file, or wrote a line. Lines are kept as hashes, so that thousands of sessions are looked
// through in a moment; where a hash fits, the session itself is asked.
import { isAbsolute, join, resolve } from "node:path";
import { type Shell, UsageError } from "../base/shell.ts";
import { editsOf } from "./edits.ts";
import type { Kind } from "./kept.ts";
import type { ListedSession, ReadSession } from "./sessions.ts";

/** A shorter line, as of one bracket, was written by everybody. */
const MIN_LINE_CHARS = 4;
/** Lines of one session beyond so many are not found again. */
const MAX_LINES = 10_000;
const HASH_BYTES = 4;

/** The hashes of the lines that a session wrote, as base64. */
export const WRITTEN: Kind<string> = {
  file: "history-lines.json",
  make: (session) => hashesOf(linesIn(session)).toString("base64"),
  is: (value) => typeof value === "string",
};

/**
 * Returns whether a session edited the file at `path`: one that is not whole counts from where the user is, and from
 * the session's own folder. Slashes of either kind are the same.
 */
export function editedFile(shell: Shell, path: string): (session: ListedSession) => boolean {
  if (path.trim() === "") throw new UsageError("--file takes the path of a file");
  const wanted = new Set([plainPath(path), plainPath(isWhole(path) ? path : resolve(shell.cwd, path))]);
  return ({ cwd, outline }) =>
    outline.edited.some((file) => {
      const whole = plainPath(isWhole(file) || cwd === undefined ? file : join(cwd, file));
      const folder = cwd === undefined ? undefined : `${plainPath(cwd)}/`;
      const below = folder !== undefined && whole.startsWith(folder) ? whole.slice(folder.length) : plainPath(file);
      return wanted.has(whole) || wanted.has(below);
    });
}

/** Returns a line as it is compared: white space does not count. Throws `UsageError` where it says too little. */
export function readLine(text: string): string {
  const line = plainLine(text);
  if (line.length < MIN_LINE_CHARS || /[\r\n]/.test(text.trim()))
    throw new UsageError(`--line takes one whole line of ${MIN_LINE_CHARS} characters or more`);
  return line;
}

/** Returns whether the hash of a line is among those kept of a session. */
export function mayHold(hashes: string, line: string): boolean {
  const buffer = Buffer.from(hashes, "base64");
  const hash = hashOf(line);
  for (let at = 0; at + HASH_BYTES <= buffer.length; at += HASH_BYTES)
    if (buffer.readUInt32LE(at) === hash) return true;
  return false;
}

/** Returns whether a session wrote a line. */
export function wroteLine(session: ReadSession, line: string): boolean {
  return linesIn(session).has(line);
}

function linesIn({ messages }: ReadSession): Set<string> {
  const lines = editsOf(messages).flatMap(({ added }) => added.map(plainLine));
  return new Set(lines.filter((line) => line.length >= MIN_LINE_CHARS));
}

function hashesOf(lines: ReadonlySet<string>): Buffer {
  const kept = [...lines].slice(-MAX_LINES);
  const buffer = Buffer.alloc(kept.length * HASH_BYTES);
  kept.forEach((line, index) => {
    buffer.writeUInt32LE(hashOf(line), index * HASH_BYTES);
  });
  return buffer;
}

/** FNV-1a, 32 bits. */
function hashOf(line: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < line.length; index += 1) hash = Math.imul(hash ^ line.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

function plainLine(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}

function isWhole(path: string): boolean {
  return isAbsolute(path) || /^[a-z]:[\\/]/i.test(path);
}

/** A drive's name has no case, and `./` says nothing. */
function plainPath(path: string): string {
  const slashed = path
    .trim()
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/+)+/, "");
  return slashed.replace(/^[a-z]:/i, (drive) => drive.toLowerCase()).replace(/(?<=.)\/+$/, "");
}

// Files: the one way to read a small one, with suspicion, and the one way to write one, as a whole. The folder of files
// that the plugin keeps for itself is store.ts.
import { randomUUID } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { asRecord, mustParseJson } from "./json.ts";

/** A larger file is none of those that are looked for. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Returns the text of a regular file of at most `maxBytes` (1 MB). Throws what the system says, and a `RangeError` that
 * says what the path leads to instead ("is no file", "has 3 MB, more than 1 MB"): a pipe or a device would block.
 */
export function readText(path: string, maxBytes = MAX_FILE_BYTES): string {
  const file = statSync(path);
  if (!file.isFile()) throw new RangeError("is no file");
  if (file.size > maxBytes) throw new RangeError(`has ${megabytes(file.size)}, more than ${megabytes(maxBytes)}`);
  return readFileSync(path, "utf8");
}

function megabytes(bytes: number): string {
  return `${Math.round((10 * bytes) / 1024 / 1024) / 10} MB`;
}

/** Returns what a small JSON file says, without a byte order mark. Throws as `readText` does, and a `SyntaxError`. */
export function readJson(path: string, maxBytes = MAX_FILE_BYTES): unknown {
  return mustParseJson(readText(path, maxBytes));
}

/** Returns the text of a regular file of at most `maxBytes` (1 MB), or undefined. */
export function readSmallFile(path: string, maxBytes = MAX_FILE_BYTES): string | undefined {
  try {
    return readText(path, maxBytes);
  } catch {
    return undefined;
  }
}

/** Returns the members of the JSON object in a small file, or none. */
export function readRecord(path: string): Record<string, unknown> {
  try {
    return asRecord(readJson(path));
  } catch {
    return {};
  }
}

/** Returns what stands at a path, links followed unless asked otherwise; undefined when nothing is seen there. */
export function entryAt(path: string, { followsLinks = true } = {}): Stats | undefined {
  try {
    return followsLinks ? statSync(path) : lstatSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Puts `data` at `path` so that a reader sees the old file or the new one, and makes its folder. A link is replaced,
 * not written through, and no file that somebody put in the way is: the temporary one has a name that nobody can guess.
 * Throws an `Error` with a message for the user; its cause is what the system says.
 */
export function replaceFile(path: string, data: string | Uint8Array, mode: number, folderMode = 0o777): void {
  const temporary = `${path}.${process.pid}-${randomUUID()}.tmp`;
  try {
    inFolder(dirname(path), folderMode, () => writeFileSync(temporary, data, { mode, flag: "wx" }));
    renameSync(temporary, path);
  } catch (cause) {
    removeIfThere(temporary);
    const why = `${dirname(path)} has to be a folder that you may write to`;
    throw new Error(`cannot write ${path} (${codeOf(cause)}): ${why}`, { cause });
  }
}

/** Does the work, and once more after making the folder where that was what it lacked. Throws what the system says. */
export function inFolder(folder: string, mode: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || existsSync(folder)) throw error;
    makeFolder(folder, mode);
    work();
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What made the writing fail keeps this from working too.
  }
}

/** Returns the system's code of an error or of its cause, such as `EACCES`. */
export function codeOf(error: unknown): string {
  const { code, cause } = asRecord(error);
  return String(code ?? asRecord(cause).code ?? "unknown");
}

/**
 * Makes a folder and those above it that are missing. One at a time: Node's recursive `mkdir` never returns where a
 * file system refuses new folders as "not found", as `/proc` does. Throws what the system says.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  }
}

/** Returns the folder with links resolved (the server's policy refuses linked paths), or the path as given. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

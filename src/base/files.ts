// Files that belong to the user or to Cline: reads them with suspicion, replaces them as a whole. What the plugin keeps
// for itself is state.ts.
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
import { asRecord, parseJson } from "./json.ts";

/** A larger file is none of those that are looked for. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Returns the text of a regular file of at most `maxBytes` (1 MB), or undefined. Never blocks on a pipe or a device. */
export function readSmallFile(path: string, maxBytes = MAX_FILE_BYTES): string | undefined {
  try {
    const file = statSync(path);
    return file.isFile() && file.size <= maxBytes ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Returns what stands at a path, links followed unless asked otherwise; undefined when nothing does that can be seen. */
export function entryAt(path: string, { followsLinks = true } = {}): Stats | undefined {
  try {
    return followsLinks ? statSync(path) : lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the members of the JSON object in a small file, or none. */
export function readRecord(path: string): Record<string, unknown> {
  return asRecord(parseJson(readSmallFile(path)));
}

/**
 * Puts `data` at `path` so that a reader sees the old file or the new one, and makes its folder. A link is replaced, not
 * written through. Throws an `Error` with a message for the user.
 */
export function replaceFile(path: string, data: string | Uint8Array, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    makeFolder(dirname(path));
    writeFileSync(temporary, data, { mode });
    renameSync(temporary, path);
  } catch (error) {
    if (existsSync(temporary)) rmSync(temporary);
    throw new Error(
      `cannot write ${path} (${codeOf(error)}): ${dirname(path)} has to be a folder that you may write to`,
    );
  }
}

/** Returns the system's code of an error, such as `EACCES`. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? "unknown";
}

/**
 * Makes a folder and those above it that are missing. One at a time: Node's recursive `mkdir` never returns where a file
 * system refuses new folders as "not found", as `/proc` does. Throws what the system says.
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

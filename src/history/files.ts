// Cline's files and folders, read with suspicion: what cannot be used is named, and nothing throws.
import { existsSync, readdirSync } from "node:fs";
import { readJson } from "../base/files.ts";
import { asRecord } from "../base/json.ts";
import { reasonFor, type Warn } from "./warn.ts";

/** Whole files are parsed at once, so this bounds memory. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Returns the names of the folders in a folder, links too; none where there is no such folder. */
export function foldersIn(path: string, warn: Warn): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => entry.name);
  } catch (error) {
    if (asRecord(error).code !== "ENOENT") warn(`skipped ${path}: ${reasonFor(error)}`);
    return [];
  }
}

/** Returns what a JSON file holds, or undefined when there is none or it cannot be read. */
export function readIfThere(path: string, warn: Warn): unknown {
  return existsSync(path) ? readOrSkip(path, warn) : undefined;
}

/** Returns what a JSON file of at most 64 MB holds, or undefined when it cannot be read: then it is named. */
export function readOrSkip(path: string, warn: Warn): unknown {
  try {
    return readJson(path, MAX_FILE_BYTES);
  } catch (error) {
    warn(`skipped ${path}: ${error instanceof RangeError ? `it ${error.message}` : reasonFor(error)}`);
    return undefined;
  }
}

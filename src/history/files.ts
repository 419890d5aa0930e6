// Cline's files and folders, read with suspicion: what cannot be used is named, and nothing throws.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { asRecord } from "../base/json.ts";
import { reasonFor, type Warn } from "./warn.ts";

const MB = 1024 * 1024;
/** Whole files are parsed at once, so this bounds memory. */
const MAX_FILE_MB = 64;

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
  return existsSync(path) ? readJson(path, warn) : undefined;
}

/** Returns what a JSON file of at most 64 MB holds, or undefined when it cannot be read: then it is named. */
export function readJson(path: string, warn: Warn): unknown {
  try {
    assertReadable(path);
    return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    warn(`skipped ${path}: ${reasonFor(error)}`);
    return undefined;
  }
}

function assertReadable(path: string): void {
  const file = statSync(path);
  // Reading a pipe or a device would block.
  if (!file.isFile()) throw new Error("it is no file");
  if (file.size > MAX_FILE_MB * MB)
    throw new Error(`it has ${Math.round(file.size / MB)} MB, more than ${MAX_FILE_MB}`);
}

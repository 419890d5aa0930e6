// The files that settings are read from. What cannot be used is named, without what it holds, and costs nothing else.
import { readFileSync, statSync } from "node:fs";
import { readToken } from "./values.ts";

const MAX_FILE_BYTES = 64 * 1024;

/** Returns the object in a JSON file; an empty one where there is no file, or no object. Never throws. */
export function readJsonObject(path: string, problems: string[]): object {
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined) return {};
    const value: unknown =
      file.isFile() && file.size <= MAX_FILE_BYTES
        ? JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""))
        : undefined;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    problems.push(`${path} is not a JSON object`);
  } catch (error) {
    problems.push(`${path} ${error instanceof SyntaxError ? "is not JSON" : "cannot be read"}`);
  }
  return {};
}

/** Returns the token in a file, or "" where none is named or it holds none. Never throws. */
export function readTokenFile(path: unknown, label: string, problems: string[]): string {
  if (typeof path !== "string" || path.trim() === "") return "";
  try {
    // Reading a pipe or a device would block the host.
    const token = isSmallFile(path.trim()) ? readToken(readFileSync(path.trim(), "utf8")) : undefined;
    if (token) return token;
    problems.push(`${label}: the file holds no token (the token alone, without Bearer)`);
  } catch (error) {
    const why = /^\s*~/.test(path) ? "~ is not expanded: write the whole path" : (error as NodeJS.ErrnoException).code;
    problems.push(`${label}: the file cannot be read (${why})`);
  }
  return "";
}

function isSmallFile(path: string): boolean {
  const file = statSync(path);
  return file.isFile() && file.size <= MAX_FILE_BYTES;
}

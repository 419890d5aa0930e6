// The files that settings are read from. What cannot be used is named, without what it holds, and costs nothing else.
import { codeOf, readJson, readText } from "../base/files.ts";
import { readToken } from "./values.ts";

const MAX_FILE_BYTES = 64 * 1024;
const NO_TOKEN = "the file holds no token (the token alone, without Bearer)";

/** Returns the object in a JSON file; an empty one where there is no file, or no object. Never throws. */
export function readJsonObject(path: string, problems: string[]): object {
  try {
    const value = readJson(path, MAX_FILE_BYTES);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    problems.push(`${path} is not a JSON object`);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") problems.push(`${path} ${troubleOf(error)}`);
  }
  return {};
}

function troubleOf(error: unknown): string {
  if (error instanceof SyntaxError) return "is not JSON";
  // A folder, a pipe, or far too much.
  return error instanceof RangeError ? "is not a JSON object" : "cannot be read";
}

/** Returns the token in a file, or "" where none is named or it holds none. Never throws. */
export function readTokenFile(path: unknown, label: string, problems: string[]): string {
  if (typeof path !== "string" || path.trim() === "") return "";
  try {
    const token = readToken(readText(path.trim(), MAX_FILE_BYTES));
    if (token) return token;
    problems.push(`${label}: ${NO_TOKEN}`);
  } catch (error) {
    const why = /^\s*~/.test(path) ? "~ is not expanded: write the whole path" : codeOf(error);
    problems.push(`${label}: ${error instanceof RangeError ? NO_TOKEN : `the file cannot be read (${why})`}`);
  }
  return "";
}

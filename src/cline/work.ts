// What was done in a session, by what its tools reported: commands with their exit codes, files read and edited,
// errors. Shared by captures and by the reading of past sessions; how it is worded is theirs.
import { asRecord, asText } from "../base/json.ts";
import { type Message, type ToolResult, textsOf, toolCallsOf, toolResultsOf } from "./messages.ts";
import { refusalOf } from "./refusals.ts";

/** One thing that a tool was asked for, and how it went. */
export interface Outcome {
  /** The command, or what else was asked for. */
  readonly query: string;
  readonly isCommand: boolean;
  readonly isFailed: boolean;
  /** Undefined where the tool did not say. */
  readonly exitCode: number | undefined;
}

interface Work {
  readonly outcomes: readonly Outcome[];
  /** Paths, each once. Those of calls that failed or were never answered are in neither list. */
  readonly read: readonly string[];
  readonly edited: readonly string[];
  /** What tools said when they failed; of commands only where no exit code is known. */
  readonly errors: readonly string[];
}

const EDITS = /^(?:editor|write_to_file|replace_in_file|edit_file|write_file)$/;
const READS = /^read_files?$/;
const RUNS = /^(?:run_commands|execute_command)$/;
/**
 * Every spelling that the host takes for a path; `absolutePath` is the extension's. Source: @cline/core 0.0.86,
 * tools/schemas.d.ts.
 */
const PATH_KEYS = ["path", "file_path", "filePath", "absolutePath", "files", "paths", "file_paths"];

/** One thing that a result tells of: an entry of the host's list, or the whole of any other result. */
interface Entry {
  readonly query: string | undefined;
  /** What went wrong, as far as that is told apart. */
  readonly error: string | undefined;
  /** All that it says. */
  readonly text: string;
  readonly exitCode: number | undefined;
  readonly isFailed: boolean;
}

/** Returns what was done in a transcript; a call that was refused did nothing. Never throws. */
export function workOf(transcript: readonly Message[]): Work {
  const calls = new Map(transcript.flatMap(toolCallsOf).map((call) => [call.id, call]));
  const results = transcript.flatMap(toolResultsOf).filter((result) => refusalOf(result) === undefined);
  const works = results.map((result) => {
    // The extension's results do not name their tool.
    const { name, input } = calls.get(result.id) ?? { name: result.name, input: undefined };
    return workIn(result, name, input);
  });
  const all = (member: "read" | "edited" | "errors") => [...new Set(works.flatMap((work) => work[member]))];
  return {
    outcomes: works.flatMap(({ outcomes }) => outcomes),
    read: all("read"),
    edited: all("edited"),
    errors: all("errors").filter((error) => error !== ""),
  };
}

/** What one call did, by its result; a path or an error may come more than once. */
function workIn(result: ToolResult, tool: string, input: unknown): Work {
  const isCommand = RUNS.test(tool);
  const entries = entriesOf(result);
  const failed = entries.filter((entry) => entry.isFailed);
  const isLost = failed.length === entries.length;
  const lost = new Set(failed.map(({ query }) => query));
  // Of a command the exit code says enough.
  const unexplained = failed.filter(({ exitCode }) => !isCommand || exitCode === undefined);
  return {
    outcomes: outcomesOf(result, entries, isCommand, input),
    read: !isLost && READS.test(tool) ? pathsIn(input).filter((path) => !lost.has(path)) : [],
    edited: isLost ? [] : editedFiles(tool, input),
    errors: unexplained.map(({ error, text }) => error ?? text),
  };
}

/** Returns whether a tool call failed as a whole. */
export function isFailed(result: ToolResult): boolean {
  return entriesOf(result).every((entry) => entry.isFailed);
}

/**
 * Returns what a result tells of, one entry at least. The host lists `{ query, result, error, success }`; the extension
 * writes text; what a tool of an MCP server answers is handed on as it came. Source: recordings/hooks/tool-loop.jsonl,
 * @cline/core 0.0.86.
 */
export function entriesOf({ output, isError }: Pick<ToolResult, "output" | "isError">): Entry[] {
  const isList = Array.isArray(output) && output.some((entry) => asRecord(entry).type === undefined);
  return isList ? output.map((entry) => toEntry(entry, isError)) : [toEntry(output, isError)];
}

/** What an entry is made of. Anything more, and an `error` in it is something that was read. */
const ENTRY_KEYS = /^(?:query|result|error|message|success|content|isError|type|text)$/;

function toEntry(raw: unknown, isCallFailed: boolean): Entry {
  const { query, result, error, message, success, content, text, isError } = asRecord(raw);
  const ownError = Object.keys(asRecord(raw)).every((key) => ENTRY_KEYS.test(key)) ? asText(error) : undefined;
  const parts = textsOf({ content: [raw, content].find(Array.isArray) });
  const words = [raw, error, result, message, text, ...parts].flatMap((part) => asText(part) ?? []).join("\n");
  const isGood = success === true;
  return {
    query: asText(query),
    error: ownError,
    text: words,
    exitCode: isGood ? 0 : exitCodeOf(words),
    isFailed: success === false || (!isGood && (isCallFailed || isError === true || ownError !== undefined)),
  };
}

function outcomesOf({ output }: ToolResult, entries: readonly Entry[], isCommand: boolean, input: unknown): Outcome[] {
  if (Array.isArray(output))
    return entries.flatMap(({ query, isFailed, exitCode }) =>
      query === undefined ? [] : [{ query, isCommand, isFailed, exitCode }],
    );
  const { command, commands } = asRecord(input);
  const list: unknown[] = asText(command) === undefined ? [commands].flat() : [command];
  const queries = list.flatMap((entry) => asText(entry) ?? asText(asRecord(entry).command) ?? []);
  const whole = queries.length === 1 ? entries[0] : undefined;
  return queries.map((query) => ({
    query,
    isCommand,
    isFailed: whole !== undefined && (whole.isFailed || Boolean(whole.exitCode)),
    exitCode: whole?.exitCode,
  }));
}

/** Returns the exit code that a host's words about a command name, or undefined. */
function exitCodeOf(text: string): number | undefined {
  const code = /\bCommand (?:exited|failed) with (?:exit )?code (-?\d{1,10})/.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

function editedFiles(tool: string, input: unknown): string[] {
  if (EDITS.test(tool)) return pathsIn(asRecord(input)).slice(0, 1);
  if (tool !== "apply_patch") return [];
  const text = asText(input) ?? asText(asRecord(input).input) ?? asText(asRecord(input).patch) ?? "";
  return [...text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map((match) =>
    String(match[1]).trim(),
  );
}

/** Returns the paths of a tool's input, in any of the shapes that the host takes. */
function pathsIn(input: unknown, depth = 0): string[] {
  if (typeof input === "string") return input === "" ? [] : [input];
  // Most spellings are missing from an input, and each would be looked into as deep.
  if (depth > 3 || input === undefined) return [];
  if (Array.isArray(input)) return input.flatMap((entry) => pathsIn(entry, depth + 1));
  return PATH_KEYS.flatMap((key) => pathsIn(asRecord(input)[key], depth + 1));
}

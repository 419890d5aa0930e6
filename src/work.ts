// What was done in a session, by what its tools reported: commands with their exit codes, files read and edited, errors.
// Shared by captures and by the reading of past sessions; how it is worded is theirs.
import { asRecord, asText, type Message, toolCallsOf, type ToolResult, toolResultsOf } from "./cline.ts";

/** One thing that a tool was asked for, and how it went. */
export interface Outcome {
  /** The command, or what else was asked for. */
  readonly query: string;
  readonly isCommand: boolean;
  readonly isFailed: boolean;
  /** Undefined where the tool did not say. */
  readonly exitCode: number | undefined;
}

export interface Work {
  readonly outcomes: readonly Outcome[];
  /** Paths, each once. Those of calls that failed or were never answered are in neither list. */
  readonly read: readonly string[];
  readonly edited: readonly string[];
  /** What tools other than commands said when they failed. */
  readonly errors: readonly string[];
}

const EDITS = /^(?:editor|write_to_file|replace_in_file|edit_file|write_file)$/;
const READS = /^read_files?$/;
const RUNS = /^(?:run_commands|execute_command)$/;
/** Every spelling that the host takes for a path. Source: @cline/core 0.0.86, tools/schemas.d.ts; `absolutePath` is the extension's. */
const PATH_KEYS = ["path", "file_path", "filePath", "absolutePath", "files", "paths", "file_paths"];

/** Returns what was done in a transcript. Never throws. */
export function workOf(transcript: readonly Message[]): Work {
  const calls = new Map(transcript.flatMap(toolCallsOf).map((call) => [call.id, call]));
  const outcomes: Outcome[] = [];
  const [read, edited, errors] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const result of transcript.flatMap(toolResultsOf)) {
    // The extension's results do not name their tool.
    const { name, input } = calls.get(result.id) ?? { name: result.name, input: undefined };
    const own = outcomesOf(result, name, input);
    for (const outcome of own) outcomes.push(outcome);
    if (isFailed(result)) errorsOf(result).forEach((error) => errors.add(error));
    else editedFiles(name, input).forEach((file) => edited.add(file));
    const failed = new Set(own.filter((outcome) => outcome.isFailed).map((outcome) => outcome.query));
    if (READS.test(name) && !isFailed(result)) pathsIn(input).filter((path) => !failed.has(path)).forEach((path) => read.add(path));
  }
  return { outcomes, read: [...read], edited: [...edited], errors: [...errors] };
}

/** Returns whether a tool call failed as a whole. */
export function isFailed(result: ToolResult): boolean {
  return result.isError || asRecord(result.output).success === false;
}

/** The host lists `{ query, result, error, success }`; the extension writes text. Source: recordings/hooks/tool-loop.jsonl. */
function outcomesOf({ output }: ToolResult, tool: string, input: unknown): Outcome[] {
  const isCommand = RUNS.test(tool);
  if (Array.isArray(output)) {
    return output.map(asRecord).flatMap(({ query, result, error, success }) => {
      const exitCode = success === true ? 0 : exitCodeOf(`${asText(error) ?? ""} ${asText(result) ?? ""}`);
      return asText(query) === undefined ? [] : [{ query: String(query), isCommand, isFailed: success === false, exitCode }];
    });
  }
  const { command, commands } = asRecord(input);
  const named = asText(command) === undefined ? (Array.isArray(commands) ? commands : [commands]) : [command];
  const queries = named.flatMap((entry) => asText(entry) ?? asText(asRecord(entry).command) ?? []);
  const exitCode = queries.length === 1 && typeof output === "string" ? exitCodeOf(output) : undefined;
  return queries.map((query) => ({ query, isCommand, isFailed: exitCode !== undefined && exitCode !== 0, exitCode }));
}

/** Returns the exit code that a host's words about a command name, or undefined. */
export function exitCodeOf(text: string): number | undefined {
  const code = /\bCommand (?:exited|failed) with (?:exit )?code (-?\d{1,10})/.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

function errorsOf({ output, isError }: ToolResult): string[] {
  const error = asText(asRecord(output).error) ?? (isError ? asText(output) : undefined);
  return error === undefined ? [] : [error];
}

function editedFiles(tool: string, input: unknown): string[] {
  if (EDITS.test(tool)) return pathsIn(asRecord(input)).slice(0, 1);
  if (tool !== "apply_patch") return [];
  const text = asText(input) ?? asText(asRecord(input).input) ?? asText(asRecord(input).patch) ?? "";
  return [...text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map((match) => String(match[1]).trim());
}

/** Returns the paths of a tool's input, in any of the shapes that the host takes. */
function pathsIn(input: unknown, depth = 0): string[] {
  if (typeof input === "string") return input === "" ? [] : [input];
  if (depth > 3) return [];
  if (Array.isArray(input)) return input.flatMap((entry) => pathsIn(entry, depth + 1));
  return PATH_KEYS.flatMap((key) => pathsIn(asRecord(input)[key], depth + 1));
}

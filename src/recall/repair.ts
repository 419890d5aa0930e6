// What failed since the last request, and what to search memory for because of it. Reads only the messages behind the
// newest answer of the model, so a long history costs nothing.
import { asRecord, asText } from "../base/json.ts";
import { stripOurBlocks } from "../base/markup.ts";
import { clip, clipStart, digestOf, oneLine } from "../base/text.ts";
import { entriesOf, type Message, refusalOf, type ToolResult, toolCallsOf, toolResultsOf } from "../cline/index.ts";
import { redacted } from "../server/index.ts";

/** A command or tool that failed. */
export interface Failure {
  /** The same for the same failure, whatever numbers are in it. */
  readonly signature: string;
  /** At most 500 characters, redacted. */
  readonly query: string;
  /** The command, or the tool's name; one line, redacted. */
  readonly about: string;
}

/** A failure that was recalled for, and the key of the prompt that it was recalled for under. */
export interface Repaired {
  readonly prompt: string;
  readonly signature: string;
}

const MAX_REPAIRS_A_PROMPT = 2;
const MAX_QUERY_CHARS = 500;
const MAX_COMMAND_CHARS = 200;
const MAX_LINE_CHARS = 200;
const MAX_LINES = 6;
/** Of a longer output only head and tail are read. */
const MAX_READ_CHARS = 20_000;
/** No token is longer. */
const MAX_TOKEN_CHARS = 1000;

/** Lines that say where, or nothing. */
const NOISE = [
  /^at .{0,300}[:(]\d+/,
  /^File "[^"]{0,300}", line \d+/,
  /^node:internal/,
  /^\[?std(?:err|out)\]?:?$/,
  /^[\^~\s|-]+$/,
  /^Traceback \(most recent/,
  /^npm (?:ERR!|error) A complete log/,
  /^\[?Command exited with/,
];
/** Words of lines that say what is wrong. */
const TELLING = [
  /err(?:or)?\b|exception|fail|panic|fatal|conflict/i,
  /cannot|can't|could not|unable|denied|refused|timed? ?out/i,
  /not found|no such|undefined|unknown|missing/i,
  /expected|unexpected|invalid|required/i,
];
const TIME = /\[?\b(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?\b\]?/g;
const TEMPORARY_PATHS = [
  /(?:\/private)?\/(?:tmp|var\/folders|var\/tmp)\/[^\s:'")]{0,300}/g,
  /[A-Za-z]:\\[^\s:'")]{0,200}\\Temp\\[^\s:'")]{0,300}/g,
];

/** Returns what failed in the tool results that the model has not seen yet, oldest first; one of a kind. */
export function failuresIn(transcript: readonly Message[]): Failure[] {
  const answered = transcript.findLastIndex((message) => asRecord(message).role === "assistant");
  const recent = transcript.slice(answered + 1);
  // Our own tools say what is wrong themselves, and would ask the same server.
  const isOurs = ({ name }: ToolResult) => name.includes("palinode_");
  const results = recent.flatMap(toolResultsOf).filter((each) => !isOurs(each) && refusalOf(each) === undefined);
  if (results.length === 0) return [];
  const calls = new Map(toolCallsOf(transcript[answered] ?? {}).map((call) => [call.id, call.input]));
  const failures = results.flatMap((result) => failedParts(result, calls.get(result.id))).map(toFailure);
  return [...new Map(failures.map((failure) => [failure.signature, failure])).values()];
}

/** Returns the failures that were not recalled for yet, as many as the prompt has left. */
export function unrepaired(failures: readonly Failure[], repaired: readonly Repaired[], promptKey: string): Failure[] {
  const signatures = new Set(repaired.map(({ signature }) => signature));
  const left = MAX_REPAIRS_A_PROMPT - repaired.filter(({ prompt }) => prompt === promptKey).length;
  return failures.filter(({ signature }) => !signatures.has(signature)).slice(0, Math.max(0, left));
}

interface Part {
  readonly command: string;
  readonly output: string;
}

function failedParts(result: ToolResult, input: unknown): Part[] {
  const command = asText(asRecord(input).command) ?? result.name;
  // A code of 0 is no failure.
  const failed = entriesOf(result).filter(({ isFailed, exitCode }) => isFailed || exitCode);
  return failed.map(({ query, text }) => ({ command: query ?? command, output: text }));
}

function toFailure({ command, output }: Part): Failure {
  const about = clip(oneLine(bare(command)), MAX_COMMAND_CHARS);
  const query = clip(`${about}\n${tellingLines(output).join("\n")}`.trim(), MAX_QUERY_CHARS);
  return { about, query, signature: digestOf(query.toLowerCase().replace(/\d+/g, "0")) };
}

/** The lines that say what is wrong; where none does, the last ones. */
function tellingLines(output: string): string[] {
  const lines = bare(output)
    .split("\n")
    .map((line) => clip(line.trim(), MAX_LINE_CHARS))
    .filter((line) => line !== "" && !NOISE.some((pattern) => pattern.test(line)));
  const telling = lines.filter((line) => TELLING.some((pattern) => pattern.test(line)));
  return [...new Set(telling.length > 0 ? telling : lines.slice(-3))].slice(0, MAX_LINES);
}

/** Without secrets, private spans and our own blocks, and without what is different each time. */
function bare(text: string): string {
  const safe = redacted(stripOurBlocks(endsOf(text)));
  return [TIME, ...TEMPORARY_PATHS].reduce((rest, pattern) => rest.replace(pattern, ""), safe);
}

/** Head and tail of a long text, cut at line ends: a secret that was cut in two would not be known for one. */
function endsOf(text: string): string {
  if (text.length <= MAX_READ_CHARS) return text;
  const [head, tail] = [clip(text, MAX_READ_CHARS / 2), clipStart(text, MAX_READ_CHARS / 2)];
  const [end, start] = [head.lastIndexOf("\n"), tail.indexOf("\n")];
  const wholeHead = head.slice(0, end === -1 ? -MAX_TOKEN_CHARS : end);
  return `${wholeHead}\n${tail.slice(start === -1 ? MAX_TOKEN_CHARS : start + 1)}`;
}

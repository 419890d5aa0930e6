// When a session is captured and what the summary says. The words come from the transcript, never from a request, so
// nothing that was injected can come back as memory.
import { stripVTControlCharacters } from "node:util";
import { asRecord, asText, createdAtOf, type Message, modelOf, textsOf, toolCallsOf, toolResultsOf, type ToolResult } from "./cline.ts";
import { bareWords, dropPrivate, promptsOf, stripOurBlocks } from "./prompt.ts";
import { redact } from "./redact.ts";
import { clean, clipMarked, oneLine } from "./text.ts";

export const MAX_SUMMARY_CHARS = 1200;
const MAX_TOPIC_CHARS = 240;
const MAX_LATEST_CHARS = 240;
const MAX_WORK_CHARS = 320;
const MAX_LISTED = 8;

/** What is sent to `/session-end`, without what only the session knows. */
export interface Capture {
  readonly summary: string;
  /** Prompts by a person that the summary covers. */
  readonly prompts: number;
  readonly model: string | undefined;
  readonly durationSeconds: number | undefined;
}

/** Returns the body of `POST /session-end`. Both lists are always sent: without them the server refuses more markup. */
export function sessionEndBody(capture: Capture, session: { sessionId: string; project: string; cwd: string | undefined; trigger: string }): Record<string, unknown> {
  return {
    summary: capture.summary,
    decisions: [],
    blockers: [],
    project: session.project || undefined,
    source: "cline-plugin",
    harness: "cline",
    trigger: session.trigger,
    session_id: session.sessionId,
    cwd: session.cwd,
    model: capture.model,
    duration_seconds: capture.durationSeconds,
    automatic: true,
  };
}

/** Returns whether a session of `prompts` is due: at the floor, then each time it has doubled since `captured`. */
export function isDue(prompts: number, captured: number, minMessages: number): boolean {
  return prompts >= minMessages && (captured === 0 || prompts >= 2 * captured);
}

/** Returns whether the agent saved the session itself after the first `captured` prompts. */
export function savedByAgent(transcript: readonly Message[], captured: number): boolean {
  const since = promptsOf(transcript)[captured];
  const recent = since === undefined ? [] : transcript.slice(transcript.indexOf(since));
  const done = new Set(recent.flatMap(toolResultsOf).filter((result) => !isFailed(result)).map((result) => result.id));
  // An MCP server prefixes its name to the tool's.
  return recent.flatMap(toolCallsOf).some((call) => /(?:^|[^a-z])palinode_session_end$/.test(call.name) && done.has(call.id));
}

/** Returns the capture of a transcript: at most 1,200 characters, redacted, free of markup that the server refuses. */
export function captureOf(transcript: readonly Message[]): Capture {
  const prompts = promptsOf(transcript);
  return { summary: summaryOf(transcript, prompts), prompts: prompts.length, model: modelOf(transcript), durationSeconds: durationOf(transcript) };
}

function summaryOf(transcript: readonly Message[], prompts: readonly Message[]): string {
  const spoken = prompts.filter((prompt) => bareWords(prompt) !== "");
  const [first, latest] = [spoken[0], spoken.length > 1 ? spoken.at(-1) : undefined];
  const lines = [
    `Cline session, ${prompts.length} ${prompts.length === 1 ? "prompt" : "prompts"}.`,
    labelled("Topic", first && safe(bareWords(first)), MAX_TOPIC_CHARS),
    labelled("Latest", latest && safe(bareWords(latest)), MAX_LATEST_CHARS),
    labelled("Done", workOf(transcript).map(safe).join("; "), MAX_WORK_CHARS),
    labelled("Last answer", safe(lastAnswer(transcript)), MAX_SUMMARY_CHARS),
  ];
  // A summary must not end in a tag either (palinode-api.md, 2.9), so markup is escaped before anything is cut.
  return clipMarked(lines.filter((line) => line !== "").join("\n"), MAX_SUMMARY_CHARS);
}

function labelled(label: string, text: string | undefined, maxChars: number): string {
  return text ? `${label}: ${clipMarked(text, maxChars)}` : "";
}

/** Escape sequences and hidden characters go first: they could keep a secret from being recognised. */
function plain(text: string): string {
  return oneLine(redact(dropPrivate(clean(stripVTControlCharacters(text)))));
}

function safe(text: string): string {
  return plain(stripOurBlocks(text)).replace(/<(?=[/\s]{0,4}[a-z!])/gi, "&lt;");
}

function lastAnswer(transcript: readonly Message[]): string {
  const answer = transcript.findLast((message) => asRecord(message).role === "assistant" && textsOf(message).some((text) => text.trim() !== ""));
  return answer === undefined ? "" : textsOf(answer).join("\n");
}

/** Files that were edited and commands that failed, by what the tools reported; outputs are never quoted. */
function workOf(transcript: readonly Message[]): string[] {
  const calls = new Map(transcript.flatMap(toolCallsOf).map((call) => [call.id, call]));
  const edited = new Set<string>();
  const failures = new Set<string>();
  for (const result of transcript.flatMap(toolResultsOf)) {
    const call = calls.get(result.id);
    if (!isFailed(result)) editedFiles(result.name, call?.input).forEach((file) => edited.add(file));
    failedCommands(result, call?.input).forEach((command) => failures.add(command));
  }
  return [listed("edited", [...edited]), listed("failed", [...failures])].filter((line) => line !== "");
}

function listed(verb: string, items: readonly string[]): string {
  if (items.length === 0) return "";
  const more = items.length > MAX_LISTED ? ` and ${items.length - MAX_LISTED} more` : "";
  return `${verb} ${items.slice(-MAX_LISTED).join(", ")}${more}`;
}

function editedFiles(tool: string, input: unknown): string[] {
  const { path, file_path, input: patch, patch: namedPatch } = asRecord(input);
  if (/^(?:editor|write_to_file|replace_in_file|edit_file|write_file)$/.test(tool)) return [asText(path) ?? asText(file_path) ?? ""].filter(Boolean);
  const text = typeof input === "string" ? input : asText(patch) ?? asText(namedPatch) ?? "";
  return tool === "apply_patch" ? [...text.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((match) => String(match[1]).trim()) : [];
}

/** Commands with the exit code they failed with. Source: recordings/hooks/tool-loop.jsonl; the older extension's text. */
function failedCommands(result: ToolResult, input: unknown): string[] {
  const entries = Array.isArray(result.output) ? result.output.map(asRecord) : [];
  const failed = entries.filter((entry) => entry.success === false && asText(entry.query) !== undefined);
  if (failed.length > 0) return failed.map((entry) => `\`${commandLine(entry.query)}\`${exitOf(`${asText(entry.error) ?? ""} ${asText(entry.result) ?? ""}`)}`);
  const exit = typeof result.output === "string" ? exitOf(result.output) : "";
  const command = asText(asRecord(input).command);
  return exit !== "" && command !== undefined ? [`\`${commandLine(command)}\`${exit}`] : [];
}

function commandLine(command: unknown): string {
  return clipMarked(plain(String(command)), 80);
}

function exitOf(text: string): string {
  const code = /\bCommand (?:exited|failed) with (?:exit )?code (-?\d{1,10})/.exec(text)?.[1];
  return code === undefined ? "" : ` (exit ${code})`;
}

function isFailed(result: ToolResult): boolean {
  return result.isError || asRecord(result.output).success === false;
}

function durationOf(transcript: readonly Message[]): number | undefined {
  const times = transcript.map(createdAtOf).filter((at) => at !== undefined);
  const [first, last] = [times[0], times.at(-1)];
  return first === undefined || last === undefined || last < first ? undefined : Math.round((last - first) / 1000);
}

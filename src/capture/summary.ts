// What the summary of a session says. The words come from the transcript, never from a request, so
// nothing that was injected can come back as memory.
import { asRecord } from "../base/json.ts";
import { clipMarked, oneLine } from "../base/text.ts";
import {
  bareWords,
  createdAtOf,
  type Message,
  modelOf,
  type Outcome,
  promptsOf,
  textsOf,
  withoutThinking,
  workOf,
} from "../cline/index.ts";
import { redacted, safe } from "../server/index.ts";

export const MAX_SUMMARY_CHARS = 1200;
const MAX_TOPIC_CHARS = 240;
const MAX_LATEST_CHARS = 240;
const MAX_WORK_CHARS = 320;
const MAX_LISTED = 8;
const MIN_REPEATED_CHARS = 20;

/** What is told of a session, without what only the session knows. */
export interface Capture {
  readonly summary: string;
  /** Prompts by a person that the summary covers. */
  readonly prompts: number;
  readonly model: string | undefined;
  readonly durationSeconds: number | undefined;
}

/**
 * Returns the capture of a transcript: at most 1,200 characters, redacted, free of markup that the server refuses.
 * `recalled`: the blocks that memory added, whose lines an answer may repeat: they are not captured again.
 */
export function captureOf(transcript: readonly Message[], recalled: readonly string[] = []): Capture {
  const prompts = promptsOf(transcript);
  return {
    summary: summaryOf(transcript, prompts, recalled),
    prompts: prompts.length,
    model: safe(modelOf(transcript) ?? "") || undefined,
    durationSeconds: durationOf(transcript),
  };
}

function summaryOf(transcript: readonly Message[], prompts: readonly Message[], recalled: readonly string[]): string {
  const spoken = prompts.filter((prompt) => bareWords(prompt) !== "");
  const [first, latest] = [spoken[0], spoken.length > 1 ? spoken.at(-1) : undefined];
  const lines = [
    `Cline session, ${prompts.length} ${prompts.length === 1 ? "prompt" : "prompts"}.`,
    labelled("Topic", first && safe(bareWords(first)), MAX_TOPIC_CHARS),
    labelled("Latest", latest && safe(bareWords(latest)), MAX_LATEST_CHARS),
    labelled("Done", doneIn(transcript).map(safe).join("; "), MAX_WORK_CHARS),
    labelled("Last answer", safe(withoutRepeats(lastAnswer(transcript), recalled)), MAX_SUMMARY_CHARS),
  ];
  // A summary must not end in a tag either (palinode-api.md, 2.9), so markup is escaped before anything is cut.
  return clipMarked(lines.filter((line) => line !== "").join("\n"), MAX_SUMMARY_CHARS);
}

function labelled(label: string, text: string | undefined, maxChars: number): string {
  return text ? `${label}: ${clipMarked(text, maxChars)}` : "";
}

/** Returns the newest text of the assistant, or "". */
export function lastAnswer(transcript: readonly Message[]): string {
  const answer = transcript.findLast(
    (message) =>
      asRecord(message).role === "assistant" && textsOf(message).some((text) => withoutThinking(text).trim() !== ""),
  );
  return answer === undefined ? "" : textsOf(answer).map(withoutThinking).join("\n");
}

/** Returns an answer without the lines that recalled text holds word for word; short ones may do so by chance. */
function withoutRepeats(answer: string, recalled: readonly string[]): string {
  const known = recalled.map(bareText);
  const isRepeat = (line: string): boolean => {
    const words = bareText(line);
    return words.length >= MIN_REPEATED_CHARS && known.some((text) => text.includes(words));
  };
  const lines = answer.split("\n").filter((line) => !isRepeat(line));
  return lines.join("\n").trim();
}

function bareText(text: string): string {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).join(" ").toLowerCase();
}

/** Files that were edited and commands that failed, by what the tools reported; outputs are never quoted. */
function doneIn(transcript: readonly Message[]): string[] {
  const { edited, outcomes } = workOf(transcript);
  const failures = new Set(outcomes.filter((outcome) => outcome.isFailed).map(described));
  return [listed("edited", edited), listed("failed", [...failures])].filter((line) => line !== "");
}

/** Returns the newest `maxListed` of some items behind a word, or "". */
export function listed(verb: string, items: readonly string[], maxListed = MAX_LISTED): string {
  if (items.length === 0) return "";
  const more = items.length > maxListed ? ` and ${items.length - maxListed} more` : "";
  return `${verb} ${items.slice(-maxListed).join(", ")}${more}`;
}

/** Returns a command with its exit code, as far as that is known. */
export function described({ query, exitCode }: Outcome): string {
  return `\`${clipMarked(oneLine(redacted(query)), 80)}\`${exitCode === undefined ? "" : ` (exit ${exitCode})`}`;
}

function durationOf(transcript: readonly Message[]): number | undefined {
  const times = transcript.map(createdAtOf).filter((at) => at !== undefined);
  const [first, last] = [times[0], times.at(-1)];
  return first === undefined || last === undefined || last < first ? undefined : Math.round((last - first) / 1000);
}

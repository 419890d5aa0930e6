// What the summary of a session says. The words come from the transcript, never from a request, so
// nothing that was injected can come back as memory.
import { asRecord } from "../base/json.ts";
import { stripOurBlocks } from "../base/markup.ts";
import { clip, clipMarked, oneLine, wordsIn } from "../base/text.ts";
import {
  bareWords,
  createdAtOf,
  gistOfPaste,
  isPaste,
  isPrompt,
  type Message,
  modelOf,
  type Outcome,
  promptsOf,
  textsOf,
  withoutThinking,
  workOf,
} from "../cline/index.ts";
import { redacted, safe } from "../server/index.ts";
import { laidDownIn, openQuestionIn, sentencesOf } from "./laid-down.ts";

export const MAX_SUMMARY_CHARS = 1200;
const MAX_PROMPT_CHARS = 240;
const MAX_WORK_CHARS = 320;
const MAX_LISTED = 8;
const MAX_NOTES = 8;
const MIN_REPEATED_CHARS = 20;
/** The first sentences of an answer that is not the last. */
const MAX_GIST_CHARS = 160;
/** The last answer has what the prompts leave, and so much at least. */
const MIN_ANSWER_CHARS = 240;
/** A line is not cut shorter than this; then the answers between go, and after them the oldest prompts. */
const MIN_LINE_CHARS = 32;

/** What is told of a session, without what only the session knows. */
export interface Capture {
  readonly summary: string;
  /** What the person laid down for good, in their words. */
  readonly decisions: readonly string[];
  /** What is left open: a question to the person, and commands whose last run failed. */
  readonly blockers: readonly string[];
  /** Prompts by a person that the summary covers. */
  readonly prompts: number;
  readonly model: string | undefined;
  readonly durationSeconds: number | undefined;
}

/** What is known of a session beside its transcript. */
interface Known {
  /** The blocks that memory added: lines of an answer that repeat them are not captured again. */
  readonly recalled?: readonly string[];
  /** So many prompts are told of in earlier captures. */
  readonly captured?: number;
}

/**
 * Returns the capture of a transcript: what was said since the last one, in at most 1,200 characters, redacted, free of
 * markup that the server refuses.
 */
export function captureOf(transcript: readonly Message[], { recalled = [], captured = 0 }: Known = {}): Capture {
  const prompts = promptsOf(transcript);
  const turns = turnsOf(transcript, captured, recalled.map(bareText));
  const rules = turns.flatMap(({ words }) => laidDownIn(words));
  const work = workOf(transcript);
  return {
    summary: summaryOf(prompts, turns, work),
    decisions: [...new Set(rules.map(safe))].slice(-MAX_NOTES),
    blockers: blockersIn(turns, work).map(safe),
    prompts: prompts.length,
    model: safe(modelOf(transcript) ?? "") || undefined,
    durationSeconds: durationOf(transcript),
  };
}

/** One prompt in a person's words, a paste by its question, and what was answered to it in the end; either maybe "". */
interface ToldTurn {
  readonly words: string;
  readonly answer: string;
}

/** Returns the turns from the prompt number `first` on. */
function turnsOf(transcript: readonly Message[], first: number, recalled: readonly string[]): ToldTurn[] {
  const starts = transcript.flatMap((message, index) => (isPrompt(message) ? [index] : [])).slice(first);
  return starts.map((start, index) => ({
    words: gistOfWords(transcript[start] ?? {}),
    // As a whole block, before lines and sentences of it are looked at one by one.
    answer: withoutRepeats(stripOurBlocks(lastAnswer(transcript.slice(start, starts[index + 1]))), recalled),
  }));
}

/** Returns what a person said in a prompt; of a paste, its question. */
export function gistOfWords(prompt: Message): string {
  const words = bareWords(prompt);
  return isPaste(words) ? gistOfPaste(words) : words;
}

function summaryOf(prompts: readonly Message[], turns: readonly ToldTurn[], work: Work): string {
  const first = prompts.find((prompt) => gistOfWords(prompt) !== "");
  const topic = first === undefined ? "" : gistOfWords(first);
  const head = [
    `Cline session, ${prompts.length} ${prompts.length === 1 ? "prompt" : "prompts"}.`,
    labelled("Topic", safe(topic), MAX_PROMPT_CHARS),
  ];
  const done = labelled("Done", doneIn(work).map(safe).join("; "), MAX_WORK_CHARS);
  const answer = safe(turns.findLast((turn) => turn.answer !== "")?.answer ?? "");
  const room = MAX_SUMMARY_CHARS - [...head, done, "Last answer: "].join("\n").length;
  const lines = turnLines(turns, topic, room - Math.min(answer.length, MIN_ANSWER_CHARS));
  const all = [...head, ...lines, done, labelled("Last answer", answer, MAX_SUMMARY_CHARS)];
  // A summary must not end in a tag either (palinode-api.md, 2.9), so markup is escaped before anything is cut.
  return clipMarked(all.filter((line) => line !== "").join("\n"), MAX_SUMMARY_CHARS);
}

interface Line {
  readonly label: string;
  readonly text: string;
}

/**
 * Returns a line for each prompt but the topic, and one for each answer but the last, all shortened to the same length
 * where they would take more than `maxChars`.
 */
function turnLines(turns: readonly ToldTurn[], topic: string, maxChars: number): string[] {
  const lines = turns.flatMap((turn) => linesOf(turn, turn === turns.at(-1))).filter(({ text }) => text !== "");
  const told = lines.filter(({ text }, index) => index > 0 || text !== oneLine(safe(topic)));
  const isTight = evenCap(told, maxChars) < MIN_LINE_CHARS;
  const wanted = isTight ? told.filter(({ label }) => label !== ANSWERED) : told;
  const fitting = wanted.slice(-Math.max(1, Math.floor(maxChars / (MIN_LINE_CHARS + 3))));
  const cap = Math.min(MAX_PROMPT_CHARS, evenCap(fitting, maxChars));
  // A whole mark on each line would leave less of the words.
  return fitting.map(({ label, text }) => `${label}${text.length > cap ? `${clip(text, cap - 1)}…` : text}`);
}

type Work = ReturnType<typeof workOf>;

const ANSWERED = "  → ";

/** The answer of the last turn has a place of its own. */
function linesOf({ words, answer }: ToldTurn, isLast: boolean): Line[] {
  const prompt = { label: isLast ? "Latest: " : "- ", text: oneLine(safe(words)) };
  return isLast ? [prompt] : [prompt, { label: ANSWERED, text: firstSentences(safe(answer)) }];
}

/** Returns to how many characters each text is cut, so that all of them and their labels take `maxChars` at most. */
function evenCap(lines: readonly Line[], maxChars: number): number {
  let room = maxChars - lines.reduce((sum, { label }) => sum + label.length + 1, 0);
  const lengths = lines.map(({ text }) => text.length).sort((a, b) => a - b);
  for (const [index, length] of lengths.entries()) {
    const share = Math.floor(room / (lengths.length - index));
    if (length > share) return Math.max(0, share);
    room -= length;
  }
  return Infinity;
}

function firstSentences(text: string): string {
  let told = "";
  for (const sentence of sentencesOf(text)) {
    if (told !== "" && told.length + sentence.length >= MAX_GIST_CHARS) break;
    told = told === "" ? sentence : `${told} ${sentence}`;
  }
  return clipMarked(told, MAX_GIST_CHARS);
}

function blockersIn(turns: readonly ToldTurn[], work: Work): string[] {
  const question = openQuestionIn(turns.at(-1)?.answer ?? "");
  const failed = unfixedIn(work).slice(-MAX_NOTES);
  return [question ?? [], failed.map((command) => `Failed: ${described(command)}`)].flat();
}

/** Returns the commands whose last run failed. */
export function unfixedIn({ outcomes }: Pick<Work, "outcomes">): Outcome[] {
  const commands = outcomes.filter(({ isCommand }) => isCommand);
  const newest = [...new Map(commands.map((command) => [command.query, command])).values()];
  return newest.filter(({ isFailed }) => isFailed);
}

function labelled(label: string, text: string, maxChars: number): string {
  return text === "" ? "" : `${label}: ${clipMarked(text, maxChars)}`;
}

/** Returns the newest text of the assistant, or "". */
export function lastAnswer(transcript: readonly Message[]): string {
  const answer = transcript.findLast(
    (message) =>
      asRecord(message).role === "assistant" && textsOf(message).some((text) => withoutThinking(text).trim() !== ""),
  );
  return answer === undefined ? "" : textsOf(answer).map(withoutThinking).join("\n");
}

/** Returns an answer without the lines that recalled text (`bareText`) holds; short ones may do so by chance. */
function withoutRepeats(answer: string, recalled: readonly string[]): string {
  const isRepeat = (line: string): boolean => {
    const words = bareText(line);
    return words.length >= MIN_REPEATED_CHARS && recalled.some((text) => text.includes(words));
  };
  const lines = answer.split("\n").filter((line) => !isRepeat(line));
  return lines.join("\n").trim();
}

function bareText(text: string): string {
  return wordsIn(text).join(" ");
}

/** Files that were edited and commands that failed, by what the tools reported; outputs are never quoted. */
function doneIn({ edited, outcomes }: Work): string[] {
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

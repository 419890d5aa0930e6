// Looks for input that makes the plugin slow: a few nasty pieces, or a few messages, repeated. Four times as much may
// take about four times as long; what takes sixteen times as long is a way to stop somebody's session.
import assert from "node:assert/strict";
import { defuse, safeLines, stripOurBlocks } from "../../src/base/markup.ts";
import { redact } from "../../src/base/redact.ts";
import { oneLine, weigh } from "../../src/base/text.ts";
import { savedByAgent } from "../../src/capture/due.ts";
import { captureOf } from "../../src/capture/summary.ts";
import type { Message } from "../../src/cline/messages.ts";
import { bareWords, newestPrompt, promptKeys } from "../../src/cline/prompt.ts";
import { queryOf } from "../../src/recall/query.ts";
import { createEntry, replay } from "../../src/recall/replay.ts";
import { projectOf } from "../../src/settings/project.ts";
import type { Random } from "../helpers/random.ts";
import { somePiece } from "./values.ts";

const SMALL_CHARS = 10_000;
const SMALL_MESSAGES = 300;
/** Between linear, with the noise of a busy machine, and quadratic. */
const MAX_RATIO = 9;
/** No hook has that much for one text. */
const MAX_MS = 2000;
/** Less is lost in the noise. */
const LEAST_MS = 20;
const TRIES = 3;
const ROUNDS = 3;

/** What is done with a text. */
const ON_TEXT: Readonly<Record<string, (text: string) => unknown>> = {
  redact,
  defuse,
  oneLine,
  safeLines,
  weigh,
  stripOurBlocks,
  queryOf,
  bareWords: (text) => bareWords({ role: "user", content: [{ type: "text", text }] }),
  captureOf: (text) =>
    captureOf([
      { role: "user", content: text },
      { role: "assistant", content: text },
    ]),
  projectOf: (text) => projectOf("", text, [`origin: ${text}`]),
};

/** What is done with a transcript on each model call, and at the end of a run. */
const ON_TRANSCRIPT: Readonly<Record<string, (transcript: Message[]) => unknown>> = {
  promptKeys,
  captureOf,
  newestPrompt,
  savedByAgent: (transcript) => savedByAgent(transcript, 1),
  replay(transcript) {
    const prompt = newestPrompt(transcript);
    const entry = prompt && createEntry(prompt, { kind: "recall", atEnd: false, text: "x", seen: [] });
    const first = replay(entry ? [entry] : [], { transcript, request: transcript, prompt });
    return replay(first.ledger, { transcript, request: transcript, prompt });
  },
};

/** Checks every function on one text and one transcript, each of the same few things again and again. */
export function checkGrowth(random: Random): void {
  const piece = Array.from({ length: random.below(3) + 1 }, () => somePiece(random)).join("");
  const [head, tail] = [somePiece(random), somePiece(random)];
  const text = (chars: number): string => head + piece.repeat(Math.ceil(chars / Math.max(1, piece.length))) + tail;
  checkEach(ON_TEXT, text, SMALL_CHARS, JSON.stringify([head, piece, tail]));
  const messages = Array.from({ length: random.below(3) + 1 }, () => someMessage(random));
  const transcript = (count: number): Message[] =>
    Array.from({ length: count }, (_, index) => messages[index % messages.length] as Message);
  checkEach(ON_TRANSCRIPT, transcript, SMALL_MESSAGES, JSON.stringify(messages));
}

function someMessage(random: Random): Message {
  const content = random.pick<unknown>([
    somePiece(random),
    [{ type: "text", text: `<user_input>${somePiece(random)}</user_input>` }],
    [{ type: "tool-call", toolCallId: "c", toolName: "palinode_session_end", input: {} }],
    [{ type: "tool-result", toolCallId: "c", toolName: "editor", output: [] }],
  ]);
  return {
    role: random.pick(["user", "user", "assistant", "tool"]),
    content,
    ...(random.chance(0.3) ? { id: "m1" } : {}),
    ...(random.chance(0.2) ? { metadata: { kind: "compaction" } } : {}),
  };
}

function checkEach<T>(
  work: Readonly<Record<string, (input: T) => unknown>>,
  make: (size: number) => T,
  size: number,
  what: string,
): void {
  for (const [name, run] of Object.entries(work)) {
    const once = elapsed(run, make(4 * size));
    assert.ok(once < MAX_MS, `${name} takes ${Math.round(once)} ms for ${what}, ${4 * size} of it`);
    const isSteep = (): boolean => fastest(run, make(4 * size)) > MAX_RATIO * fastest(run, make(size));
    // A busy machine may stretch a measurement; what is steep is steep each time.
    const always = once >= LEAST_MS && Array.from({ length: ROUNDS }, isSteep).every(Boolean);
    assert.ok(!always, `${name} takes over ${MAX_RATIO} times as long for 4 times ${what}`);
  }
}

function fastest<T>(run: (input: T) => unknown, input: T): number {
  return Math.min(...Array.from({ length: TRIES }, () => elapsed(run, input)));
}

/** In milliseconds of processor time, which a busy machine stretches less than the clock's. */
function elapsed<T>(run: (input: T) => unknown, input: T): number {
  const start = process.cpuUsage();
  run(input);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

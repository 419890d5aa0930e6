// What listing and choosing need to know of a conversation: little, and nothing that was said beyond the title.
import { asRecord, asText, textOf } from "../base/json.ts";
import { digestOf } from "../base/text.ts";
import { createdAtOf, type Message, modelOf, textsOf, toolCallsOf, workOf } from "../cline/index.ts";
import type { PastSession, ReadSession } from "./sessions.ts";
import { commandText } from "./snapshot.ts";
import { titleOf } from "./titles.ts";

const MAX_EDITED = 1000;
const MAX_FAILED = 50;

/** What the messages say of a session where its manifest does not. Times are epoch milliseconds. */
export interface Gist {
  /** The first prompt in one line, or "". */
  readonly title: string;
  readonly cwd?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly model?: string;
}

/** Plain data, so that it can be kept on disk. */
export interface Outline extends Gist {
  readonly messageCount: number;
  /** Paths as the tools got them. */
  readonly edited: readonly string[];
  /** Commands as they may be shown, redacted, with their exit codes; each once, the newest. */
  readonly failed: readonly string[];
  /** One a prompt; sessions that share the first ones are forks of each other, or copies. */
  readonly promptKeys: readonly string[];
}

/** Returns what a conversation says of itself; `cwd` is the folder that it names. */
export function gistOf(messages: readonly Message[], prompts: readonly Message[], cwd: string | undefined): Gist {
  const times = messages.map(createdAtOf).filter((at) => at !== undefined);
  return {
    title: prompts.map(titleOf).find((title) => title !== "") ?? "",
    cwd,
    startedAt: times[0],
    endedAt: times.at(-1),
    model: modelOf(messages),
  };
}

/** Returns the outline of a session. */
export function outlineOf({ gist, messages, prompts }: ReadSession): Outline {
  const { edited, outcomes } = workOf(messages);
  const failed = outcomes.filter(({ isCommand, isFailed }) => isCommand && isFailed).slice(-MAX_FAILED);
  return {
    ...gist,
    messageCount: messages.length,
    edited: edited.slice(-MAX_EDITED),
    failed: [...new Set(failed.map(commandText))],
    promptKeys: promptKeysOf(messages, new Set(prompts)),
  };
}

/** Returns whether a value that lay on disk is an outline. */
export function isOutline(value: unknown): value is Outline {
  const { title, edited, failed, promptKeys } = asRecord(value);
  const lists = [edited, failed, promptKeys];
  return typeof title === "string" && lists.every((list) => Array.isArray(list) && list.every(isString));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Returns a session with what its manifest lacks. */
export function filledIn(session: PastSession, gist: Gist): PastSession {
  return {
    ...session,
    title: session.title || gist.title || "(no title)",
    cwd: session.cwd ?? gist.cwd,
    startedAt: session.startedAt ?? gist.startedAt,
    endedAt: session.endedAt ?? gist.endedAt,
    model: session.model ?? gist.model,
  };
}

/**
 * A fork keeps the ids of its messages. Tasks of the extension have none: there a prompt is the same that was answered
 * the same, at the same time where that is known; the answer stands behind the dot.
 */
function promptKeysOf(messages: readonly Message[], prompts: ReadonlySet<Message>): string[] {
  const keys: string[] = [];
  messages.forEach((message, index) => {
    if (!prompts.has(message)) return;
    const id = asText(message.id);
    const said = textsOf(message).join("\n");
    // Of one message several things may be told.
    const isRest = id !== undefined && messages[index - 1]?.id === id;
    const told = id === undefined ? `${createdAtOf(message)} ${said}` : `id ${id} ${isRest ? said : ""}`;
    keys.push(digestOf(told) + (id === undefined ? answerMark(messages, index) : ""));
  });
  return keys;
}

function answerMark(messages: readonly Message[], index: number): string {
  const answer = messages.slice(index + 1).find(({ role }) => role !== "tool");
  if (answer?.role !== "assistant") return ".";
  // Not as JSON: what a file nests too deep would throw.
  const calls = toolCallsOf(answer).flatMap(({ name, input }) => [name, ...Object.values(asRecord(input)).map(textOf)]);
  return `.${digestOf([...textsOf(answer), ...calls].join("\n"))}`;
}

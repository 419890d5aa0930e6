// What listing and choosing need to know of a conversation: little, and nothing that was said beyond the title.
import { asRecord, asText, textOf } from "../base/json.ts";
import { digestOf } from "../base/text.ts";
import { createdAtOf, type Message, modelOf, textsOf, toolCallsOf } from "../cline/index.ts";
import type { PastSession } from "./sessions.ts";
import { titleOf } from "./titles.ts";

/** Plain data, so that it can be kept on disk. Times are epoch milliseconds. */
export interface Outline {
  /** The first prompt in one line, or "". */
  readonly title: string;
  readonly cwd?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly model?: string;
  readonly messageCount: number;
  /** One a prompt; sessions that share the first ones are forks of each other, or copies. */
  readonly promptKeys: readonly string[];
}

/** Returns the outline of a conversation. */
export function outlineOf(messages: readonly Message[], prompts: readonly Message[], cwd: string | undefined): Outline {
  const times = messages.map(createdAtOf).filter((at) => at !== undefined);
  return {
    title: prompts.map(titleOf).find((title) => title !== "") ?? "",
    cwd,
    startedAt: times[0],
    endedAt: times.at(-1),
    model: modelOf(messages),
    messageCount: messages.length,
    promptKeys: promptKeysOf(messages, new Set(prompts)),
  };
}

/** Returns a session with what its manifest lacks. */
export function filledIn(session: PastSession, outline: Outline): PastSession {
  return {
    ...session,
    title: session.title || outline.title || "(no title)",
    cwd: session.cwd ?? outline.cwd,
    startedAt: session.startedAt ?? outline.startedAt,
    endedAt: session.endedAt ?? outline.endedAt,
    model: session.model ?? outline.model,
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

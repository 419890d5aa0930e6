// Reads what was said in a session that was found. A file that cannot be used is named and costs nothing but itself.
import { asRecord, asText } from "../base/json.ts";
import { type Message, promptsOf } from "../cline/index.ts";
import { readIfThere, readOrSkip } from "./files.ts";
import { filledIn, gistOf } from "./outline.ts";
import { withoutRefused } from "./refusals.ts";
import type { PastSession, ReadSession } from "./sessions.ts";
import { legacyCwd, legacyMessages, sdkMessages } from "./stored.ts";
import { attempt, type Warn } from "./warn.ts";

/** Returns a session with its messages, or undefined when they cannot be read or are another agent's. Never throws. */
export function readSession(session: PastSession, warn: Warn): ReadSession | undefined {
  return attempt(session.file, warn, () => readConversation(session, warn));
}

function readConversation(session: PastSession, warn: Warn): ReadSession | undefined {
  const list = storedList(session.file, warn);
  if (list === undefined) return undefined;
  const { messages: stored, cwd, summary } = conversationOf(session, list, warn);
  const messages = withoutRefused(stored);
  const prompts = promptsOf(messages);
  const gist = gistOf(messages, prompts, cwd);
  return { ...filledIn(session, gist), messages, prompts, summary, gist };
}

/** Returns the messages as they are stored, or undefined where they are none or another agent's. */
function storedList(file: string, warn: Warn): unknown[] | undefined {
  const json = readOrSkip(file, (text) => warn(text, true));
  if (json === undefined) return undefined;
  const list = Array.isArray(json) ? json : asRecord(json).messages;
  if (!Array.isArray(list) || (list.length > 0 && !list.some((message) => asText(asRecord(message).role)))) {
    warn(`skipped ${file}: it holds no messages`, true);
    return undefined;
  }
  // Sub-agents and teammates have files of the same form.
  const agent = asText(asRecord(json).agent) ?? "lead";
  return agent === "lead" ? list : undefined;
}

/** What the messages and the file beside them say. */
interface Conversation {
  readonly messages: readonly Message[];
  readonly cwd: string | undefined;
  readonly summary: string;
}

function conversationOf(session: PastSession, list: readonly unknown[], warn: Warn): Conversation {
  const { source, isTakenOver, file } = session;
  if (source.kind === "extension") return { messages: legacyMessages(list), cwd: legacyCwd(list), summary: "" };
  const messages = isTakenOver === true ? legacyMessages(list) : sdkMessages(list);
  return { messages, cwd: undefined, summary: summaryBeside(file, warn) };
}

function summaryBeside(file: string, warn: Warn): string {
  const { messages } = asRecord(readIfThere(file.replace(/messages\.json$/, "compaction.json"), warn));
  if (!Array.isArray(messages)) return "";
  const summaries = messages
    .map((message) => asRecord(asRecord(message).metadata))
    .filter(({ kind }) => kind === "compaction_summary");
  return asText(summaries.at(-1)?.summary) ?? "";
}

// Which messages a person wrote, and what they said in them: the host's envelopes, our own blocks and private spans are
// taken off. Shared by recall (the query) and capture (the summary).
import { stripVTControlCharacters } from "node:util";
import { asRecord, asText } from "../base/json.ts";
import { dropPrivate, dropSpans, FENCE, stripOurBlocks } from "../base/markup.ts";
import { clean, digestOf } from "../base/text.ts";
import { type Message, partsOf, textsOf, toolCallsOf, toolResultsOf } from "./messages.ts";
import { AHEAD_OF_PROMPTS, HOST_PROMPTS, openingOf, opensWith } from "./sentences.ts";

/** Marks the messages that this plugin adds to a request. */
export const INJECTED_KIND = "palinode-recall";

/** Envelopes that hold what the host added beside a person's words. */
const HOST_TAGS = [
  "mode_notice",
  "environment_details",
  "file_content",
  "folder_content",
  "url_content",
  "hook_context",
  "SYSTEM_NOTICE",
  "explicit_instructions",
] as const;

const WRAPPED =
  /^\s*(?:<mode_notice>[^<]{0,400}<\/mode_notice>\s*)?<(?:user_input|user_command|user_message|task|feedback|answer)\b/;
/** What stands ahead of the words themselves: a mode notice on either side of the envelope's opening. */
const NOTICE = "(?:<mode_notice>[^<]{0,400}</mode_notice>\\s*)?";
const OPENING = new RegExp(`^\\s*${NOTICE}(?:<user_(?:input|command|message)\\b[^<>]{0,400}>\\s*)?${NOTICE}`);
const MAX_OPENING_CHARS = 2000;
const LEFTOVER_ENVELOPE = /<\/?user_(?:input|command)\b[^<>]*>/g;
const HOST_OPENING = /^\s*(?:<hook_context\b|\[SYSTEM\]|<environment_details>)/;

/** A message that a person wrote. */
export interface Prompt {
  readonly message: Message;
  /** The same for the same prompt on every call and in every process: its id, else its content and ordinal. */
  readonly key: string;
}

/**
 * Returns whether a person wrote the message. A wrapped text is a person's even with `userRunSpan: 0` (steering);
 * otherwise a kind, `displayRole: "system"` or `userRunSpan: 0` says that the host made it. Source: recordings, 0.0.86.
 */
export function isPrompt(message: Message): boolean {
  const { role, metadata } = asRecord(message);
  if (role !== "user") return false;
  const { kind, displayRole, userRunSpan } = asRecord(metadata);
  if (kind === INJECTED_KIND || kind === "compaction_summary") return false;
  const texts = textsOf(message);
  const wrapped = texts.filter((text) => WRAPPED.test(text));
  if (wrapped.length > 0) return !wrapped.every(isHosts);
  if (kind !== undefined || displayRole === "system" || userRunSpan === 0) return false;
  if (texts.some((text) => HOST_OPENING.test(text) || isHosts(text)) || isOurBlock(texts)) return false;
  // Some codecs carry tool results in user messages; those are nobody's words.
  return !partsOf(message).some((part) => part.type === "tool-result" || part.type === "tool_result");
}

/** Returns the newest prompt of a transcript. Reads from the end, so a long history costs nothing. */
export function newestPrompt(transcript: readonly Message[]): Prompt | undefined {
  const index = transcript.findLastIndex(isPrompt);
  const message = transcript[index];
  return message === undefined ? undefined : { message, key: promptKey(transcript, index) };
}

/** Returns the keys of the newest prompt and of those before it that no answer parts from it. */
export function newestPromptKeys(transcript: readonly Message[]): string[] {
  const keys: string[] = [];
  for (
    let index = transcript.findLastIndex(isPrompt);
    index >= 0 && asRecord(transcript[index]).role !== "assistant";
    index -= 1
  ) {
    if (isPrompt(transcript[index] as Message)) keys.push(promptKey(transcript, index));
  }
  return keys;
}

/** Returns all messages that a person wrote, oldest first. */
export function promptsOf(transcript: readonly Message[]): Message[] {
  return transcript.filter(isPrompt);
}

/** Returns the key of each prompt of a transcript, oldest first, as `promptKey` has it; in one pass. */
export function keysOfPrompts(transcript: readonly Message[]): string[] {
  const counts = new Map<string, number>();
  return promptsOf(transcript).map((message) => {
    const { id, metadata } = asRecord(message);
    if (asText(id) !== undefined && asRecord(metadata).kind !== "compaction") return promptKey([message], 0);
    const print = fingerprint(message);
    const ordinal = counts.get(print) ?? 0;
    counts.set(print, ordinal + 1);
    return digestOf(`content ${print} ${ordinal}`);
  });
}

/** Returns the keys of all prompts of a transcript that have an id. */
export function promptKeys(transcript: readonly Message[]): Set<string> {
  return new Set(
    promptsOf(transcript)
      .filter((message) => asText(asRecord(message).id) !== undefined)
      .map((message) => promptKey([message], 0)),
  );
}

/** Returns a transcript without the prompts that are muted and what followed each. */
export function withoutTurns(
  transcript: readonly Message[],
  isMuted: (prompt: Message, index: number) => boolean,
): Message[] {
  let isAudible = true;
  return transcript.filter((message, index) => {
    if (isPrompt(message)) isAudible = !isMuted(message, index);
    return isAudible;
  });
}

/** Returns what the person said, without envelopes, attachments, our own blocks and `<private>` spans; maybe empty. */
export function bareWords(message: Message): string {
  const texts = textsOf(message);
  // Where one part is wrapped, those beside it are the host's: attachments, notices, reminders.
  const wrapped = texts.filter((text) => WRAPPED.test(text) && !isHosts(text));
  const spoken = wrapped.length > 0 ? wrapped : texts;
  // Basic compaction folds all prompts into one message, a part each: the newest is the last.
  const newest = asRecord(asRecord(message).metadata).kind === "compaction" ? spoken.slice(-1) : spoken;
  return dropPrivate(
    newest
      .map(unwrap)
      .filter((text) => text !== "")
      .join("\n"),
  ).trim();
}

/** Returns what an assistant says without the thinking that some models write ahead of it. */
export function withoutThinking(text: string): string {
  return text.replace(/^\s*<(think(?:ing)?)>[\s\S]*?<\/\1>/i, "");
}

/** Returns what a message says, in a form that survives the host's re-encoding: tool messages by their call ids. */
export function fingerprint(message: Message): string {
  const tools = [...toolCallsOf(message), ...toolResultsOf(message)].map((part) => part.id);
  return digestOf(JSON.stringify([asRecord(message).role ?? null, textsOf(message), tools]));
}

/** Returns what tells the prompt at this place of a transcript from all others. */
export function promptKey(transcript: readonly Message[], index: number): string {
  const message = transcript[index] as Message;
  const { id, metadata } = asRecord(message);
  const folded = asRecord(metadata).kind === "compaction";
  if (asText(id) !== undefined && !folded) return digestOf(`id ${String(id)}`);
  const print = fingerprint(message);
  const ordinal = transcript.slice(0, index).filter((entry) => isPrompt(entry) && fingerprint(entry) === print).length;
  return digestOf(`content ${print} ${ordinal}`);
}

/** Colours and hidden characters go first: a tag, or the name of a secret, with one inside is still one to a reader. */
function unwrap(text: string): string {
  let words = stripOurBlocks(clean(stripVTControlCharacters(text)));
  for (const tag of HOST_TAGS) words = dropSpans(words, tag, false);
  return withoutHosts(openEnvelope(words).replace(LEFTOVER_ENVELOPE, "").trim());
}

/** Returns whether a text, in its envelope or bare, is a sentence of the host's. */
function isHosts(text: string): boolean {
  return opensWith(text.slice(0, MAX_OPENING_CHARS).replace(OPENING, ""), HOST_PROMPTS);
}

/** An automation's event stands behind its prompt. Source: @cline/core 0.0.86, cron-runner. */
const TRIGGER_EVENT = "\n\nTrigger event:\n{";

/** Returns the words without what the host wrote ahead of and behind them. */
function withoutHosts(words: string): string {
  const event = words.lastIndexOf(TRIGGER_EVENT);
  const bare = event === -1 ? words : words.slice(0, event);
  return bare.slice(openingOf(bare, AHEAD_OF_PROMPTS)?.length ?? 0).trim();
}

/** Returns what the envelope around the text holds; a tag inside is the person's own. */
function openEnvelope(text: string): string {
  const opening = /^\s*<(user_input|user_command|user_message|task|feedback|answer)(?:\s[^<>]*)?>/.exec(text);
  if (!opening) return text;
  const end = text.lastIndexOf(`</${opening[1]}>`);
  return text.slice(opening[0].length, end >= opening[0].length ? end : undefined);
}

function isOurBlock(texts: readonly string[]): boolean {
  return texts.some((text) => text.startsWith(`<${FENCE}>`) && stripOurBlocks(text).trim() === "");
}

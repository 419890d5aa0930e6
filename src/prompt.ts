// Which messages a person wrote, and what they said in them: the host's envelopes, our own blocks and private spans are
// taken off. Shared by recall (the query) and capture (the summary).
import { createHash } from "node:crypto";
import { type Message, asRecord, asText, partsOf, textsOf, toolCallsOf, toolResultsOf } from "./cline.ts";
import { clean } from "./text.ts";

/** Marks the messages that this plugin adds to a request. */
export const INJECTED_KIND = "palinode-recall";
/** The fence around everything that this plugin adds. */
export const FENCE = "palinode-memory";

/** Envelopes that hold what the host added beside a person's words. */
const HOST_TAGS = ["mode_notice", "environment_details", "file_content", "folder_content", "url_content", "hook_context", "SYSTEM_NOTICE", "explicit_instructions"] as const;

const WRAPPED = /^\s*(?:<mode_notice>[^<]{0,400}<\/mode_notice>\s*)?<(?:user_input|user_command|user_message|task|feedback|answer)\b/;
const LEFTOVER_ENVELOPE = /<\/?user_(?:input|command)\b[^<>]{0,400}>/g;
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
  if (texts.some((text) => WRAPPED.test(text))) return true;
  if (kind !== undefined || displayRole === "system" || userRunSpan === 0) return false;
  if (texts.some((text) => HOST_OPENING.test(text)) || isOurBlock(texts)) return false;
  // Some codecs carry tool results in user messages; those are nobody's words.
  return !partsOf(message).some((part) => part.type === "tool-result" || part.type === "tool_result");
}

/** Returns the newest prompt of a transcript. Reads from the end, so a long history costs nothing. */
export function newestPrompt(transcript: readonly Message[]): Prompt | undefined {
  const index = transcript.findLastIndex(isPrompt);
  const message = transcript[index];
  return message === undefined ? undefined : { message, key: promptKey(transcript, index) };
}

/** Returns all messages that a person wrote, oldest first. */
export function promptsOf(transcript: readonly Message[]): Message[] {
  return transcript.filter(isPrompt);
}

/** Returns the keys of all prompts of a transcript that have an id. */
export function promptKeys(transcript: readonly Message[]): Set<string> {
  return new Set(promptsOf(transcript).filter((message) => asText(asRecord(message).id) !== undefined).map((message) => promptKey([message], 0)));
}

/** Returns what the person said, without envelopes, attachments, our own blocks and `<private>` spans; maybe empty. */
export function bareWords(message: Message): string {
  const texts = textsOf(message);
  // Basic compaction folds all prompts into one message, a part each: the newest is the last.
  const spoken = asRecord(asRecord(message).metadata).kind === "compaction" ? texts.slice(-1) : texts;
  return spoken.map(unwrap).filter((text) => text !== "").join("\n");
}

/** Returns text without the blocks this plugin makes, whole, nested or cut short; a bare mention of the tag stays. */
export function stripOurBlocks(text: string): string {
  if (!text.toLowerCase().includes(FENCE)) return text;
  const tags = new RegExp(`<(/?)${FENCE}\\b[^<>]{0,200}>`, "gi");
  let kept = "";
  let depth = 0;
  let from = 0;
  for (const tag of text.matchAll(tags)) {
    if (tag[1] === "") {
      if (depth === 0) kept += text.slice(from, tag.index);
      depth += 1;
      from = tag.index + tag[0].length;
    } else {
      if (depth === 0) kept += text.slice(from, tag.index);
      depth = Math.max(0, depth - 1);
      from = tag.index + tag[0].length;
    }
  }
  return depth === 0 ? kept + text.slice(from) : kept + afterCutBlock(text.slice(from));
}

/** A short stable digest, used for keys. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}

/** Returns what a message says, in a form that survives the host's re-encoding: tool messages by their call ids. */
export function fingerprint(message: Message): string {
  const tools = [...toolCallsOf(message), ...toolResultsOf(message)].map((part) => part.id);
  return digestOf(JSON.stringify([asRecord(message).role ?? null, textsOf(message), tools]));
}

function promptKey(transcript: readonly Message[], index: number): string {
  const message = transcript[index] as Message;
  const { id, metadata } = asRecord(message);
  const folded = asRecord(metadata).kind === "compaction";
  if (asText(id) !== undefined && !folded) return digestOf(`id ${String(id)}`);
  const print = fingerprint(message);
  const ordinal = transcript.slice(0, index).filter((entry) => isPrompt(entry) && fingerprint(entry) === print).length;
  return digestOf(`content ${print} ${ordinal}`);
}

function unwrap(text: string): string {
  let words = dropSpans(stripOurBlocks(text), "private", true);
  for (const tag of HOST_TAGS) words = dropSpans(words, tag, false);
  return clean(openEnvelope(words)).replace(LEFTOVER_ENVELOPE, "").trim();
}

/** Removes `<tag …>…</tag>` spans; one that is never closed runs to the end only where `toEnd` says so. */
function dropSpans(text: string, tag: string, toEnd: boolean): string {
  if (!text.toLowerCase().includes(`<${tag.toLowerCase()}`)) return text;
  let kept = "";
  let from = 0;
  let opened = -1;
  for (const match of text.matchAll(new RegExp(`<(/?)${tag}(?:\\s[^<>]{0,400})?>`, "gi"))) {
    if (match[1] === "" && opened === -1) opened = match.index;
    if (match[1] === "/" && opened !== -1) {
      kept += text.slice(from, opened);
      from = match.index + match[0].length;
      opened = -1;
    }
  }
  return kept + text.slice(from, toEnd && opened !== -1 ? opened : undefined);
}

/** Returns what the envelopes around the text hold, outermost first; a tag further inside is the person's own. */
function openEnvelope(text: string): string {
  const opening = /^\s*<(user_input|user_command|user_message|task|feedback|answer)(?:\s[^<>]{0,400})?>/.exec(text);
  if (!opening) return text;
  const end = text.lastIndexOf(`</${opening[1]}>`);
  return openEnvelope(text.slice(opening[0].length, end >= opening[0].length ? end : undefined));
}

/** A block without its closing tag ends at the first empty line: ours never holds one. */
function afterCutBlock(rest: string): string {
  if (!/^\s*## Palinode /.test(rest)) return rest;
  const end = rest.indexOf("\n\n");
  return end === -1 ? "" : rest.slice(end);
}

function isOurBlock(texts: readonly string[]): boolean {
  return texts.some((text) => text.startsWith(`<${FENCE}>`) && stripOurBlocks(text).trim() === "");
}

// Pure string work: well-formed cuts, one-line text, weights and digests. Knows nothing of Cline or Palinode.
import { createHash } from "node:crypto";

/** Marks every place where text was left out. */
export const CUT_MARK = "… [cut]";

const LINE_BREAKS = /\r\n?|[\u2028\u2029\u0085]/g;

/** Control characters, but for tab and newline. */
const CONTROLS = "\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u009F";
/** Characters without width, which can hide in a word. */
const ZERO_WIDTH = "\\u00AD\\u180E\\u200B\\u2060-\\u206F\\uFEFF";
/** Marks that change the direction of reading, which can reorder text. */
const DIRECTIONS = "\\u061C\\u200E\\u200F\\u202A-\\u202E";
/** Marks of annotations, and the tags that spell text nobody sees. */
const HIDDEN_TEXT = "\\uFFF9-\\uFFFB\\u{E0000}-\\u{E007F}";
const INVISIBLE = new RegExp(`[${CONTROLS}${ZERO_WIDTH}${DIRECTIONS}${HIDDEN_TEXT}]`, "gu");

/** Joiners and variation selectors belong in emoji and in some scripts, never beside markup or Latin letters. */
const JOINERS = "[\\u200C\\u200D\\uFE00-\\uFE0F]";
const MARKUP = "[<>/\\w-]";
// A run is looked at from its start only: from every place in it, time would grow with the square.
const JOINERS_IN_MARKUP = new RegExp(`(?<=${MARKUP})${JOINERS}+|(?<!${JOINERS})${JOINERS}+(?=${MARKUP})`, "g");

/**
 * Selectors of a variant: one belongs behind an emoji or a Chinese character; more of them, or one behind anything
 * else, spell text that nobody sees.
 */
const STRAY_SELECTORS = /(?<!\p{Script=Han})[\u{E0100}-\u{E01EF}]|(?<=[\uFE00-\uFE0F])[\uFE00-\uFE0F]/gu;

/** Scripts that pack a word into few characters, with the marks of their words, and full-width punctuation. */
const DENSE = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\uFF01-\uFF20]/u;

/** Returns the longest prefix of at most `maxChars` UTF-16 units that does not end inside a surrogate pair. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = Math.max(0, Math.floor(maxChars));
  return text.slice(0, isHighSurrogate(text, end - 1) ? end - 1 : end);
}

/** Returns the longest suffix of at most `maxChars` UTF-16 units that does not start inside a surrogate pair. */
export function clipStart(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const start = text.length - Math.max(0, Math.floor(maxChars));
  return text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start);
}

/** Returns `text` cut to `maxChars` with the mark as its end; text that fits comes back as it is. */
export function clipMarked(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${clip(text, maxChars - CUT_MARK.length).trimEnd()}${CUT_MARK}`.slice(0, Math.max(0, maxChars));
}

/** Returns at most `maxChars`, keeping head and tail, since the question of a long paste stands at one of its ends. */
export function clipMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const gap = "\n…\n";
  const room = Math.floor(maxChars) - gap.length;
  if (room <= 0) return clip(text, maxChars);
  return clip(text, Math.ceil(room / 2)) + gap + clipStart(text, Math.floor(room / 2));
}

/** Returns at most `maxChars`, cut at the last line end that fits (else inside the first line) and marked. */
export function clipLines(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const room = text.lastIndexOf("\n", maxChars - CUT_MARK.length - 1);
  if (room <= 0) return clipMarked(text, maxChars);
  return `${text.slice(0, room).trimEnd()}\n${CUT_MARK}`;
}

/** Returns well-formed text without control or invisible characters; line ends become `\n`. */
export function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(LINE_BREAKS, "\n")
    .replace(INVISIBLE, "")
    .replace(STRAY_SELECTORS, "")
    .replace(JOINERS_IN_MARKUP, "");
}

/** Returns a short stable digest, for keys: 16 letters, digits, `-` and `_`. */
export function digestOf(text: string): string {
  return hash(text, "base64url").slice(0, 16);
}

/** Returns one of eight hex digits, for names in lower case; the server's captures have it (palinode-api.md, 3.4). */
export function hexDigestOf(text: string): string {
  return hash(text, "hex").slice(0, 8);
}

function hash(text: string, encoding: "base64url" | "hex"): string {
  return createHash("sha256").update(text).digest(encoding);
}

/** Returns clean text on one line, white space folded. */
export function oneLine(text: string): string {
  return clean(text)
    .replace(/\s{2,}|[^\S ]/g, " ")
    .trim();
}

/** Returns the words and numbers of a text, in lower case and in their order. */
export function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns the sentences of a text: they end in a stop and white space, or at a stop of scripts that put none there. */
export function sentencesIn(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|(?<=[。！？])/);
}

/** Returns how much a person said: one a character, two where the script packs a word into few (CJK, kana, hangul). */
export function weigh(text: string): number {
  let weight = 0;
  for (const char of text) weight += DENSE.test(char) ? 2 : 1;
  return weight;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}

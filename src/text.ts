// Pure string work: well-formed cuts, one-line text, and text made safe to show to a model. Knows nothing of Cline or
// Palinode beyond the names of tags that must not be forged.

/** Marks every place where text was left out. */
export const CUT_MARK = "… [cut]";

const LINE_BREAKS = /\r\n?|[\u2028\u2029\u0085]/g;
// Control characters except tab and newline, then the invisible ones that can hide or reorder text.
const INVISIBLE = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;
// Joiners and variation selectors belong in emoji and in some scripts, never beside markup or Latin letters.
const JOINERS_IN_MARKUP = /(?<=[<>/\w-])[\u200C\u200D\uFE00-\uFE0F]+|[\u200C\u200D\uFE00-\uFE0F]+(?=[<>/\w-])/g;

/** Tags that hosts, providers and this plugin give a meaning to: memory must not be able to forge them. */
const RESERVED_TAGS = [
  "palinode[\\w-]*", "user[_-]?(?:input|command|message|prompt)[\\w-]*", "hook[_-]?context", "mode[_-]?notice",
  "system[\\w-]*", "environment[_-]?details", "(?:file|folder|url)[_-]?content", "task", "new[_-]?task", "feedback",
  "answer", "explicit[_-]?instructions", "workspace[_-][\\w-]*", "(?:antml:)?(?:invoke|parameter|function[_-][\\w-]*)",
  "tool[_-][\\w-]*", "command[_-][\\w-]*", "local[_-]command[\\w-]*", "bash[_-][\\w-]*", "ide[_-][\\w-]*",
  "thinking", "assistant", "human", "user",
].join("|");
// Linear for all its stars: from one opening bracket the search never runs past the next.
const FORGED_TAG = new RegExp(
  `[<\\uFF1C\\uFE64](?=[\\s/\\\\\\uFF0F]*(?:\\w{1,16}:)?(?:${RESERVED_TAGS})(?![\\w])|\\|)`,
  "giu",
);
const FORGED_REMINDER = /\[(?=\s{0,4}SYSTEM\b)/gi;
/** Headings of our own block, at the start of a line inside somebody's text. */
const FORGED_HEADING = /^([ \t]{0,3})(?=#{1,6}[ \t]+(?:Palinode|Trigger fired|Related memories|Resolved from memory|Where this project stands)\b)/gim;

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
  const half = (maxChars - gap.length) / 2;
  return clip(text, Math.ceil(half)) + gap + clipStart(text, Math.floor(half));
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
  return text.toWellFormed().replace(LINE_BREAKS, "\n").replace(INVISIBLE, "").replace(JOINERS_IN_MARKUP, "");
}

/** Returns clean text in which no reserved tag, reminder or heading of ours can be read as one. */
export function defuse(text: string): string {
  return clean(text)
    .replace(FORGED_TAG, "&lt;")
    .replace(FORGED_REMINDER, "(")
    .replace(FORGED_HEADING, "$1\\");
}

/** Returns clean text on one line, white space folded. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

/** Returns how much a person said: one a character, two where the script packs a word into few (CJK, kana, hangul). */
export function weigh(text: string): number {
  let weight = 0;
  for (const char of text) weight += /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(char) ? 2 : 1;
  return weight;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}

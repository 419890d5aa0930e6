// Pure string work: well-formed cuts, one-line text, and text made safe to show to a model. Knows nothing of Cline or
// Palinode beyond the names of tags that must not be forged.

/** Marks every place where text was left out. */
export const CUT_MARK = "… [cut]";

const LINE_BREAKS = /\r\n?|[\u2028\u2029\u0085]/g;
// Control characters except tab and newline, then the invisible ones that can hide or reorder text.
const INVISIBLE = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;
// Joiners and variation selectors belong in emoji and in some scripts, never beside markup or Latin letters. (A run is
// looked at from its start only: from every place in it, time would grow with the square.)
const JOINERS_IN_MARKUP = /(?<=[<>/\w-])[\u200C\u200D\uFE00-\uFE0F]+|(?<![\u200C\u200D\uFE00-\uFE0F])[\u200C\u200D\uFE00-\uFE0F]+(?=[<>/\w-])/g;

/** Tags that hosts, providers and this plugin give a meaning to: memory must not be able to forge them. */
const RESERVED_TAGS = [
  "palinode[\\w-]*", "user[_-]?(?:input|command|message|prompt)[\\w-]*", "hook[_-]?context", "mode[_-]?notice",
  "system[\\w-]*", "environment[_-]?details", "(?:file|folder|url)[_-]?content", "task", "new[_-]?task", "feedback",
  "answer", "explicit[_-]?instructions", "workspace[_-][\\w-]*", "(?:antml:)?(?:invoke|parameter|function[_-][\\w-]*)",
  "tool[_-][\\w-]*", "command[_-][\\w-]*", "local[_-]command[\\w-]*", "bash[_-][\\w-]*", "ide[_-][\\w-]*",
  "thinking", "assistant", "human", "user",
].join("|");
/** What makes an opening bracket dangerous, in readable form: a reserved tag, `<|special|>` tokens, also cut ones, `[SYSTEM]`. */
const TAG_NAME = new RegExp(`^(?:(?:\\w{1,16}:)?(?:${RESERVED_TAGS})(?!\\w)|\\|)`, "i");
const REMINDER = /^SYSTEM\b/i;
/** Headings of our own block. */
const OUR_HEADING = /^(?:Palinode|Trigger fired|Related memories|Resolved from memory|Where this project stands)\b/i;

/** A bracket (ASCII, full-width or small) and what follows up to the next one: each character is looked at once. */
const BRACKETED = /[<\uFF1C\uFE64[\uFF3B][^<\uFF1C\uFE64[\uFF3B]+/g;
const HEADING_LINE = /^([ \t]*)(#{1,6}[ \t]+)([^\n]*)/gm;

const SHOWS_NOTHING = /\p{Default_Ignorable_Code_Point}+/gu;
const SPACE_AND_SLASHES = /^[\s/\\\uFF0F\uFF3C\uFE68]+/;
/** Longer than any reserved name with its namespace, in letters of two units each. */
const MAX_NAME_CHARS = 120;

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
  return text.toWellFormed().replace(LINE_BREAKS, "\n").replace(INVISIBLE, "").replace(JOINERS_IN_MARKUP, "");
}

/** Returns clean text in which no reserved tag, reminder or heading of ours can be read as one. */
export function defuse(text: string): string {
  return clean(text)
    .replace(BRACKETED, (part) => defusedBracket(part[0] as string, readable(part.slice(1))) + part.slice(1))
    .replace(HEADING_LINE, (line, indent: string, signs: string, title: string) =>
      OUR_HEADING.test(readable(title)) ? `${indent}\\${signs}${title}` : line);
}

/** Returns clean text on one line, white space folded. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s{2,}|[^\S ]/g, " ").trim();
}

/** Returns how much a person said: one a character, two where the script packs a word into few (CJK, kana, hangul). */
export function weigh(text: string): number {
  let weight = 0;
  for (const char of text) weight += DENSE.test(char) ? 2 : 1;
  return weight;
}

function defusedBracket(bracket: string, name: string): string {
  const isSquare = bracket === "[" || bracket === "\uFF3B";
  if (isSquare) return REMINDER.test(name) ? "(" : bracket;
  return TAG_NAME.test(name) ? "&lt;" : bracket;
}

/** Returns the first word as a model may read it: hidden characters gone, full-width and mathematical letters plain. */
function readable(text: string): string {
  return text.replace(SHOWS_NOTHING, "").replace(SPACE_AND_SLASHES, "").slice(0, MAX_NAME_CHARS).normalize("NFKC");
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}

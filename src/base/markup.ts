// Tags in text that mean something to a host, a model or this plugin: `<private>` spans and our own blocks are taken
// out, reserved tags are made harmless.
import { clean, oneLine } from "./text.ts";

/** Returns lines of multi-line memory text, safe and without empty lines: an empty line would end a cut block. */
export function safeLines(text: string): string[] {
  const lines = clean(text)
    .split("\n")
    .map((line) => line.trimEnd());
  return defuse(lines.filter((line) => line !== "").join("\n")).split("\n");
}

/** Returns memory text as one safe line. */
export function safeLine(text: string): string {
  return defuse(oneLine(text));
}

/** The fence around everything that this plugin adds. */
export const FENCE = "palinode-memory";

// An opening tag counts with our title behind it: without one it is somebody writing about the tag.
const BLOCK_TAG = new RegExp(`<${FENCE}(?:\\s[^<>]*)?>(?=\\s*## Palinode )|</${FENCE}\\s*>`, "gi");

/** Returns text without `<private>` spans; one that is never closed runs to the end. */
export function dropPrivate(text: string): string {
  return dropSpans(text, "private", true);
}

/**
 * Returns text without the blocks this plugin makes: whole ones and what is nested in them, and cut ones up to the
 * first empty line, since ours never hold one. Words that only mention the tag stay.
 */
export function stripOurBlocks(text: string): string {
  const { starts, endOf } = findBlocks(text);
  let kept = "";
  let from = 0;
  for (const start of starts) {
    if (start < from) continue;
    kept += text.slice(from, start);
    from = endOf.get(start) ?? endOfCutBlock(text, start);
  }
  return kept + text.slice(from);
}

/** Returns where blocks start, in order, and where each that has a closing tag of its own ends. */
function findBlocks(text: string): { starts: number[]; endOf: Map<number, number> } {
  const starts: number[] = [];
  const endOf = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: tag, index } of text.matchAll(BLOCK_TAG)) {
    if (!tag.startsWith("</")) {
      starts.push(index);
      open.push(index);
    } else if (open.length > 0) {
      endOf.set(open.pop() as number, index + tag.length);
    }
  }
  return { starts, endOf };
}

function endOfCutBlock(text: string, start: number): number {
  const emptyLine = /\n\r?\n/g;
  emptyLine.lastIndex = start;
  return emptyLine.exec(text)?.index ?? text.length;
}

/**
 * Removes `<tag …>…</tag>` spans with all that is nested in them. One that is never closed runs to the end where
 * `toEnd` says so, else to the last closing tag that it does have, if any.
 */
export function dropSpans(text: string, tag: string, toEnd: boolean): string {
  let kept = "";
  let from = 0;
  let depth = 0;
  for (const { 0: match, index } of text.matchAll(new RegExp(`</?${tag}(?:\\s[^<>]*)?>`, "gi"))) {
    if (!match.startsWith("</")) {
      if (depth === 0) {
        kept += text.slice(from, index);
        from = index;
      }
      depth += 1;
    } else if (depth > 0) {
      depth -= 1;
      from = index + match.length;
    }
  }
  return depth > 0 && toEnd ? kept : kept + text.slice(from);
}

/** Tags that hosts, providers and this plugin give a meaning to: memory must not be able to forge them. */
const RESERVED_TAGS = [
  "palinode[\\w-]*",
  "user[_-]?(?:input|command|message|prompt)[\\w-]*",
  "hook[_-]?context",
  "mode[_-]?notice",
  "system[\\w-]*",
  "environment[_-]?details",
  "(?:file|folder|url)[_-]?content",
  "task",
  "new[_-]?task",
  "feedback",
  "answer",
  "explicit[_-]?instructions",
  "workspace[_-][\\w-]*",
  "(?:antml:)?(?:invoke|parameter|function[_-][\\w-]*)",
  "tool[_-][\\w-]*",
  "command[_-][\\w-]*",
  "local[_-]command[\\w-]*",
  "bash[_-][\\w-]*",
  "ide[_-][\\w-]*",
  "thinking",
  "assistant",
  "human",
  "user",
].join("|");

/** What makes an opening bracket dangerous, in readable form: a reserved tag, a `<|special|>` token, also a cut one. */
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

/** Returns clean text in which no reserved tag, reminder or heading of ours can be read as one. */
export function defuse(text: string): string {
  return clean(text)
    .replace(BRACKETED, (part) => defusedBracket(part[0] as string, readable(part.slice(1))) + part.slice(1))
    .replace(HEADING_LINE, (line, indent: string, signs: string, title: string) =>
      OUR_HEADING.test(readable(title)) ? `${indent}\\${signs}${title}` : line,
    );
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

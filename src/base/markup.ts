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
  "think(?:ing)?",
  "(?:start|end)[_-]of[_-](?:turn|image)",
  "assistant",
  "human",
  "user",
].join("|");

/**
 * Tokens of chat templates that look like tags, by the tokenizer files that these models are published with: Llama,
 * Mistral, Gemma, Command R, GLM, Qwen, Seed, Nemotron and T5. What opens with `<|` is any model's. A tokenizer knows a
 * token by its exact letters, so `Array<S>` is none.
 */
const TEMPLATE_TOKENS =
  "(?:s|bos|eos|unk|pad|sop|eop|tools|image_soft_token|[BE]OS_TOKEN|(?:extra_id|SPECIAL)_\\d+)\\s*>|" +
  "SYS>|\\w+\\|>|function=";

/** What makes an opening bracket dangerous, in readable form: a reserved tag, a `<|special|>` token, also a cut one. */
const TAG_NAME = new RegExp(`^(?:(?:\\w{1,16}:)?(?:${RESERVED_TAGS})(?!\\w)|\\|)`, "i");
const TAG_TOKEN = new RegExp(`^(?:\\w{1,16}:)?(?:${TEMPLATE_TOKENS})`);
/** Behind a word these are names of types too, as in `List<s>`. */
const TYPE = /^(?:s|SYS|tools)\s*>/;

/** The host's reminders. */
const REMINDER = /^SYSTEM\b/i;
/** The tokens that the templates of Mistral, GLM and EXAONE write in square brackets, as exact. */
const SQUARE_TOKEN = new RegExp(
  "^(?:(?:INST|SYSTEM_PROMPT|TOOL_(?:CALLS|RESULTS|CONTENT)|AVAILABLE_TOOLS|MODEL_SETTINGS|THINK|[gs]MASK)\\s*|" +
    "\\|(?:system|user|assistant|tool|endofturn)\\|)\\]",
);

/** Headings of our own block. */
const OUR_HEADING = /^(?:Palinode|Trigger fired|Related memories|Resolved from memory|Where this project stands)\b/i;

/** Brackets that open a tag, and what may be taken for one: full-width, small, quotation and mathematical ones. */
const ANGLES = "<\uFF1C\uFE64\u2039\u2329\u3008\u27E8\u276C\u276E\u2770\u02C2\u1438";
const SQUARES = "[\uFF3B\u3010\u3014\u27E6\u301A\u3016";
/** A bracket and what follows up to the next one: each character is looked at once. */
const BRACKETED = new RegExp(`[${ANGLES}\\${SQUARES}][^${ANGLES}\\${SQUARES}]+`, "g");

const HEADING_LINE = /^([ \t]*)(#{1,6}[ \t]+)([^\n]*)/gm;

const SHOWS_NOTHING = /\p{Default_Ignorable_Code_Point}+/gu;

const SPACE_AND_SLASHES = /^[\s/\\\uFF0F\uFF3C\uFE68\u2044\u2215\u29F8\u2800]+/;

/** Longer than any reserved name with its namespace, in letters of two units each. */
const MAX_NAME_CHARS = 120;

/** Letters of other alphabets and signs that look like one of ASCII, and that one. */
const LOOK_ALIKES = new Map(
  [
    ["\u0430\u0435\u043E\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u04BB\u0501\u043A\u043C\u0442", "aeopcyxisjhdkmt"],
    ["\u0410\u0412\u0415\u041E\u0420\u0421\u0423\u0425\u0406\u0405\u0408\u041A\u041C\u0422\u041D", "ABEOPCYXISJKMTH"],
    ["\u0391\u0392\u0395\u0397\u0399\u039A\u039C\u039D\u039F\u03A1\u03A4\u03A5\u03A7", "ABEHIKMNOPTYX"],
    ["\u03BF\u03B1\u03B9\u03BD\u03C1\u03C5\u03C4\u03BA\u03B5\u0578\u057D\u0570\u0261\u0131", "oaivputkenuhgi"],
    ["\u01C0\u2223\u00A6\u2502\u2758\u2010\u2012\u2013\u2014\u2212\u2581", "|||||-----_"],
    ["\u203A\u3009\u27E9\u276D\u276F\u2771\u02C3\u1433\u3011\u3015\u27E7\u301B\u3017", ">>>>>>>>]]]]]"],
  ].flatMap(([others = "", ascii = ""]) => [...others].map((char, index) => [char, ascii[index] ?? ""] as const)),
);
const LOOK_ALIKE = new RegExp(`[${[...LOOK_ALIKES.keys()].join("")}]`, "g");

/** Returns clean text in which no reserved tag, token, reminder or heading of ours can be read as one. */
export function defuse(text: string): string {
  const cleaned = clean(text);
  return cleaned
    .replace(BRACKETED, (part, at: number) => {
      const [bracket = "", rest] = [part[0], part.slice(1)];
      const isTyped = TYPE.test(rest) && /\w/.test(cleaned[at - 1] ?? "");
      return (isTyped ? bracket : defusedBracket(bracket, readable(rest))) + rest;
    })
    .replace(HEADING_LINE, (line, indent: string, signs: string, title: string) =>
      OUR_HEADING.test(readable(title)) ? `${indent}\\${signs}${title}` : line,
    );
}

function defusedBracket(bracket: string, name: string): string {
  if (SQUARES.includes(bracket)) return REMINDER.test(name) || SQUARE_TOKEN.test(name) ? "(" : bracket;
  return TAG_NAME.test(name) || TAG_TOKEN.test(name) ? "&lt;" : bracket;
}

/** Returns the first word as a model may read it: hidden characters gone, letters that only look Latin as they look. */
function readable(text: string): string {
  const bare = text.replace(SHOWS_NOTHING, "").replace(SPACE_AND_SLASHES, "").slice(0, MAX_NAME_CHARS);
  const plain = bare.normalize("NFKD").replace(/\p{M}+/gu, "");
  return plain.replace(LOOK_ALIKE, (char) => LOOK_ALIKES.get(char) ?? char);
}

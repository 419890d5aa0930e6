// A text that people wrote into a repository, in Markdown, reStructuredText, AsciiDoc or none: its sections, without
// what only shows, such as badges, images, comments and tables of contents.

/** What a text says. */
export interface Document {
  /** What stands ahead of the text between two `---`: names in lower case, values on one line. */
  readonly front: ReadonlyMap<string, string>;
  /** In their order; the first has no heading where the text does not begin with one. */
  readonly sections: readonly Section[];
}

export interface Section {
  /** "" where it has none. */
  readonly heading: string;
  readonly level: number;
  /** Without the heading, and without empty lines at its ends. */
  readonly text: string;
}

/** Closed by a line of the same sign; one that is never closed runs to the end. */
const FENCED =
  "^ {0,3}(?:```[^\\n]*\\n[\\s\\S]*?(?:^ {0,3}```|$(?![\\s\\S]))|~~~[^\\n]*\\n[\\s\\S]*?(?:^ {0,3}~~~|$(?![\\s\\S])))";
const COMMENT = "<!--[\\s\\S]*?(?:-->|$(?![\\s\\S]))";
const INLINE_CODE = "`[^`\\n]{1,400}`";
const CODE_OR_COMMENT = new RegExp(`(${FENCED}|${INLINE_CODE})|${COMMENT}`, "gm");
const CODE = new RegExp(`(${FENCED}|${INLINE_CODE})`, "gm");

const FRONT_MATTER = /^---[ \t]*\n([\s\S]{0,20000}?)^(?:---|\.\.\.)[ \t]*$/m;
/** A line of it: a name, what goes on below one, an item of a list, a comment. */
const FRONT_LINE = /^(?:["']?[\w.-]+["']?[ \t]*:|[ \t]|-|#|$)/;
const FIELD = /^["']?([\w.-]+)["']?[ \t]*:[ \t]*(.*)$/gm;

/** Tags that say how text looks; what is between them stays. Those of the first kind stand between lines. */
const BLOCK_TAG = tagOf("br|p|div|li|[ou]l|d[ltd]|tr|hr|details|summary|center|table|t(?:head|body|foot)");
const INLINE_TAG = tagOf(
  "a|abbr|b|big|blockquote|code|del|em|font|h[1-6]|i|img|ins|kbd|picture|pre|s|samp|small|source|span|strong|su[bp]|" +
    "td|th|u|video",
);
const HTML_HEADING = /<h([1-6])(?:\s[^<>]{0,400})?>([^\n]{1,400}?)<\/h\1>/gi;

/** What only shows, or leads elsewhere in the same text: images, badges, definitions of links, tables of contents. */
const SHOWS: readonly RegExp[] = [
  /!\[[^\]\n]{0,300}\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])?/g,
  /\[\s{0,9}\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])/g,
  /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*\S.*$/gm,
  /^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[^\]\n]{0,300}\]\(#[^)\n]{0,300}\)[ \t]*$/gm,
  /^[ \t]*\[(?:\[_)?TOC(?:_\])?\][ \t]*$/gim,
  /^\.\. (?:\|[^|\n]{0,100}\| )?(?:image|figure|contents|raw|sectnum|_[^:\n]{0,100}):.*(?:\n[ \t]+\S.*)*/gm,
  /^(?:image|toc|include)::?\S*\[.*\]$/gm,
  // What stood between badges.
  /^[|•·/ \t]+$/gm,
];

const HASHES = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const EQUALS = /^(={1,5})[ \t]+(\S.*)$/;
/** What a rule may stand below without underlining it: a list, a quotation, a table. */
const NO_HEADING = /^\s*(?:[-+*>][ \t]|\|)/;
const UNDERLINE = /^([=\-~^])\1{2,}[ \t]*$/;

/** Returns what a text says. Its line ends are `\n`. */
export function readDocument(text: string): Document {
  const [whole = "", front = ""] = frontOf(text);
  return {
    front: fieldsOf(withoutShows(front)),
    sections: sectionsOf(withoutShows(text.slice(whole.length)).split("\n")),
  };
}

/** Returns what sections of a text are headed with as a whole, or "". */
export function titleOf({ front, sections }: Document): string {
  const top = sections.find(({ level }) => level === 1) ?? sections[0];
  return front.get("title") || (top?.heading ?? "");
}

/** Returns sections as Markdown; "" where there are only headings. */
export function textOf(sections: readonly Section[]): string {
  if (sections.every(({ text }) => text === "")) return "";
  const parts = sections.map(({ heading, level, text }) => [heading && `${"#".repeat(level)} ${heading}`, text]);
  return parts
    .flat()
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Returns the first section that says something, with the title ahead of it where that is another one. */
export function opening({ sections }: Document): readonly Section[] {
  const first = sections.find(({ text }) => text !== "");
  if (first === undefined) return [];
  const title = sections.find(({ heading }) => heading !== "");
  const isTitled = title === undefined || sections.indexOf(title) >= sections.indexOf(first);
  return isTitled ? [first] : [title, first];
}

/** Returns the front matter with its marks and without, or nothing: the text may also begin with a rule. */
function frontOf(text: string): readonly string[] {
  const head = text.startsWith("---") ? FRONT_MATTER.exec(text) : null;
  return head?.index === 0 && head[1]?.split("\n").every((line) => FRONT_LINE.test(line)) ? head : [];
}

function fieldsOf(front: string): Map<string, string> {
  const fields = [...front.matchAll(FIELD)].map(([, name = "", value = ""]) => {
    return [name.toLowerCase(), value.trim().replace(/^(["'])(.*)\1$/, "$2")] as const;
  });
  return new Map(fields);
}

function withoutShows(text: string): string {
  const told = text.replace(CODE_OR_COMMENT, (_, code: string | undefined) => code ?? "");
  return told
    .split(CODE)
    .map((part, index) => (index % 2 === 1 ? part : withoutShowsIn(part)))
    .join("");
}

function withoutShowsIn(prose: string): string {
  const marked = prose
    .replace(HTML_HEADING, (_, level: string, words: string) => `\n${"#".repeat(Number(level))} ${words}\n`)
    .replace(BLOCK_TAG, "\n")
    .replace(INLINE_TAG, "");
  return SHOWS.reduce((rest, pattern) => rest.replace(pattern, ""), marked);
}

function sectionsOf(lines: readonly string[]): Section[] {
  const sections: { heading: string; level: number; lines: string[] }[] = [{ heading: "", level: 0, lines: [] }];
  let fence = "";
  for (const line of lines) {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1] ?? "";
    if (fence === "" || mark === fence) fence = fence === "" ? mark : "";
    const current = sections.at(-1) as (typeof sections)[number];
    const marked = fence === "" ? (HASHES.exec(line) ?? EQUALS.exec(line)) : null;
    const underlined = fence === "" ? underlinedBy(line, current.lines) : undefined;
    if (marked) sections.push({ heading: plainHeading(marked[2] ?? ""), level: marked[1]?.length ?? 1, lines: [] });
    else if (underlined) sections.push({ ...underlined, lines: [] });
    else current.lines.push(line);
  }
  return withoutEmpty(sections.map(({ heading, level, lines: own }) => ({ heading, level, text: textIn(own) })));
}

/** Leaves out what says nothing and has nothing below it, such as the heading of a table of contents; a title stays. */
function withoutEmpty(sections: readonly Section[]): Section[] {
  const kept: Section[] = [];
  for (const section of sections.toReversed()) {
    const isAbove = section.heading !== "" && (section.level === 1 || section.level < (kept.at(-1)?.level ?? 0));
    if (section.text !== "" || isAbove) kept.push(section);
  }
  return kept.reverse();
}

/** Takes the heading that a line underlines from the end of what stands above it, with a line above it of the same. */
function underlinedBy(line: string, above: string[]): { heading: string; level: number } | undefined {
  const sign = UNDERLINE.exec(line)?.[1];
  const [before = "", heading = ""] = [above.at(-2), above.at(-1)];
  const isOverlined = sign !== undefined && before.startsWith(sign.repeat(3));
  const isAlone = before.trim() === "" || isOverlined;
  if (sign === undefined || !isAlone || NO_HEADING.test(heading) || !/[\p{L}\p{N}]/u.test(heading)) return undefined;
  above.splice(isOverlined ? -2 : -1);
  return { heading: plainHeading(heading), level: Math.min("=-~^".indexOf(sign), 2) + 1 };
}

function plainHeading(heading: string): string {
  return heading.replace(/(?<!#)#+[ \t]*$/, "").trim();
}

function tagOf(names: string): RegExp {
  return new RegExp(`</?(?:${names})(?:[\\s/][^<>]*)?>`, "gi");
}

function textIn(lines: readonly string[]): string {
  const text = lines.map((line) => line.trimEnd()).join("\n");
  return text.replace(/\n{3,}/g, "\n\n").replace(/^\n+|\n+$/g, "");
}

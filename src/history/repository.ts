// What a repository says of itself, as memories: its README's first section, its notes for contributors and its
// decision records. Its files are read with suspicion, since anybody may have written them.
import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { readText } from "../base/files.ts";
import { dropPrivate, stripOurBlocks } from "../base/markup.ts";
import { clean, clipLines, clipMarked, hexDigestOf } from "../base/text.ts";
import { type SaveRequest, safe, safeText } from "../server/index.ts";
import { slugOf } from "../settings/index.ts";
import { isRecord, kindOfFolder, standingOf } from "./decisions.ts";
import { type Document, opening, readDocument, type Section, textOf, titleOf } from "./document.ts";
import { bearable, withShortRules } from "./signs.ts";
import { attempt, type Warn } from "./warn.ts";

/** A larger file is no text that people wrote. */
const MAX_FILE_BYTES = 512 * 1024;
const MAX_BODY_CHARS = 6000;
const MAX_TITLE_CHARS = 120;
const MAX_STEM_CHARS = 40;
const MAX_RECORDS = 100;
const MAX_FOLDER_DEPTH = 5;
/** As many entries of a folder are looked at. */
const MAX_ENTRIES = 2000;

/** Where README and CONTRIBUTING may lie (docs.github.com, "About READMEs"); the root's is the project's own. */
const PLACES = ["", ".github", "docs"];
const TEXT = /\.(?:md|markdown|rst|adoc|txt)$/i;
const README = /^readme(?:\.(?:md|markdown|rst|adoc|txt))?$/i;
const NOTES = /^contributing(?:\.(?:md|markdown|rst|adoc|txt))?$/i;

/** What is said ahead of a record that does not stand. */
const DOUBTS = {
  retired: { title: "No longer stands: ", sentence: "This does not stand." },
  open: { title: "Not decided: ", sentence: "This is not decided." },
  stands: { title: "", sentence: "" },
} as const;

/** A work tree. */
export interface Repository {
  /** Its root, with links resolved. */
  readonly root: string;
  /** A slug, or "". */
  readonly project: string;
}

/** A memory before it is made safe. */
export interface Telling {
  readonly type: "ProjectSnapshot" | "Insight" | "Decision";
  /** What in the repository says it: a path, or a word for what is no one file. One memory is kept of each. */
  readonly origin: string;
  readonly file?: string | undefined;
  readonly title: string;
  readonly text: string;
  readonly isRetired?: boolean;
}

/** Returns what the files of a repository say, redacted, at most 6,000 characters each. Warns of what is left out. */
export function memoriesOfFiles(repository: Repository, warn: Warn): SaveRequest[] {
  const { root } = repository;
  const told = [readmeIn(root, warn), notesIn(root, warn), ...recordsIn(root, warn)];
  return told.filter((telling) => telling !== undefined).map((telling) => memoryOf(repository, telling));
}

/** Returns what is saved: redacted, in words that the server takes, under a slug of its own for project and origin. */
export function memoryOf({ root, project }: Repository, telling: Telling): SaveRequest {
  const { type, origin, file, title, text, isRetired = false } = telling;
  const name = project || hexDigestOf(root);
  const stem = slugOf(safe(origin.replace(/^.*\/|\.\w+$/g, ""))).slice(0, MAX_STEM_CHARS);
  const readable = `repository-${name}-${stem}`.replace(/[-_]+/g, "-").replace(/-$/, "");
  const told = clipLines(withShortRules(safeText(text)).trim(), MAX_BODY_CHARS);
  return {
    content: bearable((soften) => soften(told)),
    type,
    slug: `${readable}-${hexDigestOf(`${name}\n${origin}`)}`,
    title: clipMarked(safe(title), MAX_TITLE_CHARS),
    entities: project === "" ? [] : [`project/${project}`],
    source: "cline-import",
    // A server keeps what stood in a file that is overwritten (0.23), so it is told either way. All leave archived out.
    metadata: {
      status: isRetired ? "archived" : "active",
      ...(file === undefined ? {} : { repository_file: safe(file) }),
    },
  };
}

function readmeIn(root: string, warn: Warn): Telling | undefined {
  const told = firstTold(root, README, opening, warn);
  if (told === undefined) return undefined;
  const title = told.title === "" ? "README" : `README: ${told.title}`;
  return { ...told, type: "ProjectSnapshot", origin: "readme", title };
}

function notesIn(root: string, warn: Warn): Telling | undefined {
  const told = firstTold(root, NOTES, ({ sections }) => sections, warn);
  return told && { ...told, type: "Insight", origin: "contributing", title: told.title || "Contributing" };
}

/** Returns what the first file of a name says in the sections that are picked. */
function firstTold(
  root: string,
  name: RegExp,
  pick: (document: Document) => readonly Section[],
  warn: Warn,
): Pick<Telling, "file" | "title" | "text"> | undefined {
  const file = PLACES.map((place) => fileNamed(root, place, name)).find((found) => found !== undefined);
  const document = file && read(root, file, warn);
  const sections = document ? pick(document) : [];
  const text = textOf(sections);
  return document && text ? { file, title: titleOf({ ...document, sections }), text } : undefined;
}

/** Returns the decision records, oldest first: what the server has newest is the newest record. */
function recordsIn(root: string, warn: Warn): Telling[] {
  const files = [...recordFiles(root)].sort(new Intl.Collator("en", { numeric: true }).compare);
  if (files.length > MAX_RECORDS) warn(`only the newest ${MAX_RECORDS} of ${files.length} decision records`);
  return files.slice(-MAX_RECORDS).flatMap((file) => recordAt(root, file, warn) ?? []);
}

function recordAt(root: string, file: string, warn: Warn): Telling | undefined {
  const document = read(root, file, warn);
  if (document === undefined || textOf(document.sections) === "") return undefined;
  const title = titleOf(document) || file;
  const { kind, status } = standingOf(document, title);
  const doubt = DOUBTS[kind];
  const said = [status && `Status: ${status}`, doubt.sentence].filter((part) => part !== "").join(". ");
  const own = document.sections.map((section, index) =>
    index === 0 && section.heading === title ? { ...section, heading: "" } : section,
  );
  const text = textOf([{ heading: title, level: 1, text: said }, ...own]);
  return { type: "Decision", origin: file, file, title: doubt.title + title, text, isRetired: kind === "retired" };
}

/** Yields the files of decision records by their path in the repository. Links to folders are not followed. */
function* recordFiles(root: string, folder = "", depth = 0): Generator<string> {
  for (const entry of entriesOf(root, folder)) {
    const path = posix.join(folder, entry.name);
    if (!entry.isDirectory()) {
      if (kindOfFolder(folder) === "records" && isRecord(entry.name)) yield path;
    } else if (depth < MAX_FOLDER_DEPTH && kindOfFolder(path) !== "other") {
      yield* recordFiles(root, path, depth + 1);
    }
  }
}

/** Returns the file of a name in a folder, in Markdown before all others, by its path in the repository. */
function fileNamed(root: string, folder: string, name: RegExp): string | undefined {
  const files = entriesOf(root, folder).filter((entry) => name.test(entry.name) && !entry.isDirectory());
  const names = files.map((entry) => entry.name).sort();
  const found = names.find((each) => /\.md$/i.test(each)) ?? names[0];
  return found && posix.join(folder, found);
}

function entriesOf(root: string, folder: string): Dirent[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).slice(0, MAX_ENTRIES);
  } catch {
    return [];
  }
}

/** Returns a file without private spans and our own blocks, or undefined: then it was warned of. */
function read(root: string, file: string, warn: Warn): Document | undefined {
  const text = attempt(file, warn, () => clean(stripVTControlCharacters(readInside(root, file))));
  // Before it is read: without its tags a private span would be none. Secrets go last: their marks would break links.
  return text === undefined ? undefined : readDocument(dropPrivate(stripOurBlocks(text)));
}

/** Returns the text of a file that lies in the repository. Throws what the system says, or why it is not to be told. */
function readInside(root: string, file: string): string {
  const path = join(root, file);
  const real = realpathSync(path);
  const inside = relative(root, real).split(sep);
  if (inside[0] === ".." || isAbsolute(inside.join(sep)) || inside.includes(".git"))
    throw new RangeError("leads out of the repository");
  // A link may name what is nobody's business, such as `.env`.
  if (real !== path && !TEXT.test(real)) throw new RangeError("leads to what is no text");
  const text = readText(real, MAX_FILE_BYTES);
  if (/[\0\uFFFD]/.test(text)) throw new RangeError("is no text in UTF-8");
  return text;
}

// What a session starts with: the core memories, and where the project stands.
import { safeLine, stripOurBlocks } from "../base/markup.ts";
import { clip, clipMarked, digestOf, oneLine, sentencesIn, wordsIn } from "../base/text.ts";
import { within } from "../base/time.ts";
import { type ListedMemory, listCore, type Prime, primeSession, readBody, reasonOf } from "../server/index.ts";
import { type Asker, type Finding, findingOf, type Memory } from "./finding.ts";
import { doubtsOf } from "./standing.ts";

const STANDING = "### Where this project stands";
/** Parts of the prime, and what their memories are called. */
const STANDING_SECTIONS = [
  ["snapshots", "snapshot"],
  ["decisions", "decision"],
  ["actionItems", "open"],
] as const;
const MAX_STANDING_ROWS = 3;
const MAX_STANDING_CHARS = 240;
/** More of a name or summary is not looked at. */
const MAX_TEXT_CHARS = 4000;
/** More of a file is not looked at for its opening. */
const MAX_OPENING_CHARS = 20_000;
/** A longer file is no statement of one thing. */
const MAX_SHORT_BYTES = 8000;
const MAX_READ = 8;
const MAX_SENTENCE_CHARS = 160;
/** Core memories wait so long for the rest of the digest; what comes later is told later. */
const STANDING_WAIT_MS = 250;

/**
 * Warms the server for this session and returns the memories of the digest: the core ones, newest first, then where the
 * project stands, where that is wanted. Never rejects.
 */
export async function askDigest(asker: Asker): Promise<Finding> {
  const { client, config, project, cwd, sessionId, signal } = asker;
  // The core memories do not depend on it, and old servers have no such route.
  const primed = primeSession(client, { cwd, sessionId, project }, { signal }).catch(() => undefined);
  const listed = listCore(client, { signal });
  return findingOf("prime", async () => {
    const rows = coreRowsFor(asker, await coreRows(listed, primed));
    // The prime alone knows what is contested; both are waited for together.
    const [prime, openings] = await Promise.all([within(primed, STANDING_WAIT_MS), openingsOf(asker, rows)]);
    const doubts = new Map(prime?.core.map((row) => [row.file, doubtsOf(row)]));
    const core = rows.map((row) => coreMemory(row, doubts.get(row.file) ?? "", openings.get(row.file)));
    if (config.digest === "core") return { memories: core };
    const standing = primed.then((prime) => (prime === undefined ? [] : standingOf(asker, prime, core)));
    const soon = await within(standing, prime === undefined ? 0 : STANDING_WAIT_MS);
    if (soon !== undefined) return { memories: [...core, ...soon] };
    return { memories: core, later: findingOf("prime", async () => ({ memories: await standing })) };
  });
}

/** The core memories as the list has them; the answer to the prime names them too, in fewer words. */
async function coreRows(
  listed: Promise<readonly ListedMemory[]>,
  primed: Promise<Prime | undefined>,
): Promise<readonly ListedMemory[]> {
  try {
    return await listed;
  } catch (error) {
    const prime = reasonOf(error) === "bad-response" ? await within(primed, STANDING_WAIT_MS) : undefined;
    if (prime === undefined || prime.core.length === 0) throw error;
    return prime.core;
  }
}

/** Returns the rows that are told in this project, the newest first. */
function coreRowsFor({ config, project }: Asker, rows: readonly ListedMemory[]): ListedMemory[] {
  const core = rows.filter((row) => row.isCore && belongsTo(project, row));
  return core.sort((a, b) => compare(b.lastUpdated, a.lastUpdated)).slice(0, config.injectMaxFiles);
}

/**
 * A server without a chat model sums nothing up: then the first sentences of short files are told. A few are read at
 * once, and what takes longer than `STANDING_WAIT_MS` is told by its name.
 */
async function openingsOf(asker: Asker, rows: readonly ListedMemory[]): Promise<Map<string, string | undefined>> {
  const isShort = ({ summary, sizeBytes = Infinity }: ListedMemory) =>
    summary === undefined && sizeBytes <= MAX_SHORT_BYTES;
  const openings = rows
    .filter(isShort)
    .slice(0, MAX_READ)
    .map(async ({ file }) => {
      const body = await within(readBody(asker, file), STANDING_WAIT_MS);
      return [file, firstSentence(body)] as const;
    });
  return new Map(await Promise.all(openings));
}

/** The list is not scoped: a memory that names only other projects is theirs (palinode-api.md, 2.5). */
function belongsTo(project: string, { entities }: ListedMemory): boolean {
  const projects = entities.map((entity) => entity.trim().toLowerCase()).filter((each) => each.startsWith("project/"));
  return project === "" || projects.length === 0 || projects.includes(`project/${project}`);
}

function coreMemory(row: ListedMemory, doubts: string, opening: string | undefined): Memory {
  const path = clip(row.file, MAX_TEXT_CHARS);
  const name = row.title ?? row.name ?? path.replace(/^.*\//, "").replace(/\.md$/, "");
  const { summary } = row;
  const said = summary === undefined ? name : `${name} — ${summary}`;
  const words = `${doubts}${summary === undefined ? told(name, opening) : said}`;
  const text = clip(`[${path}] ${words}`, MAX_TEXT_CHARS);
  return {
    source: "digest",
    // The same with and without: the prime may come later than the list, and the opening not at all.
    keys: [`core ${digestOf(clip(`[${path}] ${said}`, MAX_TEXT_CHARS))}`],
    path,
    score: null,
    words: safeLine(clip(words, MAX_TEXT_CHARS)),
    gist: `${name} ${summary ?? opening ?? ""}`,
    entry: { lines: [`- ${safeLine(text)}`] },
  };
}

/** The project's snapshots, decisions and open action items, each once; the server has the newest first (2.4). */
function standingOf(asker: Asker, prime: Prime, core: readonly Memory[]): Promise<Memory[]> {
  const paths = new Set(core.map((memory) => memory.path));
  const memories: Promise<Memory>[] = [];
  for (const [section, label] of STANDING_SECTIONS) {
    const fresh = prime[section].filter(({ file }) => {
      const isFresh = !paths.has(file);
      paths.add(file);
      return isFresh;
    });
    for (const row of fresh.slice(0, MAX_STANDING_ROWS)) memories.push(standingMemory(asker, row, label));
  }
  return Promise.all(memories);
}

/**
 * Returns what a memory of a prime says: its summary; its title and first sentence where it has no other; its first
 * words where the server, for want of a title, gives its name. Undefined where they cannot be had. Never rejects.
 */
export async function gistOf(
  asker: Pick<Asker, "client" | "signal">,
  path: string,
  summary: string,
): Promise<string | undefined> {
  const isNamed = summary !== "" && !path.endsWith(`${summary}.md`);
  if (isNamed && summary.includes(" — ")) return summary;
  const body = await readBody(asker, path);
  return isNamed ? told(summary, firstSentence(body)) : openingOf(body);
}

/** Returns a name and what is said under it; the one that says both where the other repeats it. */
function told(name: string, opening: string | undefined): string {
  const [short, long] = [wordsIn(name).join(" "), wordsIn(opening ?? "").join(" ")];
  if (opening === undefined || short.startsWith(long)) return name;
  return long.startsWith(short) ? opening : `${name} — ${opening}`;
}

/** Returns the first sentence that a text opens with, on one line and of at most 160 characters, or undefined. */
function firstSentence(text: string | undefined): string | undefined {
  const opening = openingOf(text);
  if (opening === undefined) return undefined;
  const [sentence = ""] = sentencesIn(oneLine(stripOurBlocks(opening)));
  return clipMarked(sentence, MAX_SENTENCE_CHARS);
}

async function standingMemory(asker: Asker, row: ListedMemory, label: string): Promise<Memory> {
  const { file: path, summary = "" } = row;
  const opening = (await gistOf(asker, path, summary)) ?? summary;
  const words = `(${label}) ${doubtsOf(row)}${stripOurBlocks(clip(opening, MAX_TEXT_CHARS))}`;
  const text = `[${clip(path, MAX_STANDING_CHARS)}] ${words}`;
  return {
    source: "digest",
    keys: [`core ${digestOf(text)}`],
    path,
    score: null,
    words: clip(safeLine(words), MAX_STANDING_CHARS),
    gist: opening,
    entry: { heading: STANDING, lines: [clipMarked(`- ${safeLine(text)}`, MAX_STANDING_CHARS)] },
  };
}

/** The first paragraph that says something: no heading, and not who wrote it. */
function openingOf(text: string | undefined): string | undefined {
  const paragraphs = (text ?? "").slice(0, MAX_OPENING_CHARS).split(/\n[ \t]*\n/);
  const bare = paragraphs.map((paragraph) =>
    paragraph
      .replace(/^(?:#|<!--|\*\*Source:).*$/gm, "")
      .replace(/^\s*\*\*Summary:\*\*/, "")
      .trim(),
  );
  return bare.find((paragraph) => paragraph !== "");
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// What a session starts with: the core memories, and where the project stands.
import { asRecord, asText } from "../base/json.ts";
import { safeLine, stripOurBlocks } from "../base/markup.ts";
import { clip, clipMarked, digestOf } from "../base/text.ts";
import { within } from "../base/time.ts";
import { readBody, reasonOf, rowsOf } from "../server/index.ts";
import { type Asker, type Finding, findingOf, type Memory } from "./finding.ts";

type Row = Record<string, unknown>;

const STANDING = "### Where this project stands";
/** Parts of the answer to the prime, and what their memories are called. */
const STANDING_SECTIONS = { recent_snapshots: "snapshot", recent_decisions: "decision", open_action_items: "open" };
const MAX_STANDING_ROWS = 3;
const MAX_STANDING_CHARS = 240;
/** More of a name or summary is not looked at. */
const MAX_TEXT_CHARS = 4000;
/** More of a file is not looked at for its opening. */
const MAX_OPENING_CHARS = 20_000;
/** Core memories wait so long for the rest of the digest; what comes later is told later. */
const STANDING_WAIT_MS = 250;

/**
 * Warms the server for this session and returns the memories of the digest: the core ones, newest first, then where the
 * project stands, where that is wanted. Never rejects.
 */
export async function askDigest(asker: Asker): Promise<Finding> {
  const { client, config, project, cwd, sessionId, signal } = asker;
  const warm = client.post("/context/prime", { cwd, session_id: sessionId, project: project || undefined }, { signal });
  const listed = client.get("/list", { core_only: "true" }, { signal });
  // The core memories do not depend on it, and servers before 0.9.3 have no such route.
  const primed = warm.then(asRecord, () => asRecord(undefined));
  return findingOf("prime", async () => {
    const core = coreMemories(asker, await coreRows(listed, primed));
    if (config.digest === "core") return { memories: core };
    const standing = primed.then((answer) => standingOf(asker, answer, core));
    const soon = await within(standing, STANDING_WAIT_MS);
    if (soon !== undefined) return { memories: [...core, ...soon] };
    return { memories: core, later: findingOf("prime", async () => ({ memories: await standing })) };
  });
}

/** The core memories as the list has them; the answer to the prime names them too, in fewer words. */
async function coreRows(listed: Promise<unknown>, primed: Promise<Row>): Promise<Row[]> {
  try {
    return rowsOf(await listed, "/list");
  } catch (error) {
    const answer = reasonOf(error) === "bad-response" ? await within(primed, STANDING_WAIT_MS) : undefined;
    const rows = filesIn(answer?.core_memories);
    if (rows.length === 0) throw error;
    return rows;
  }
}

function coreMemories({ config, project }: Asker, rows: readonly Row[]): Memory[] {
  const core = rows.filter((row) => row.core !== false && belongsTo(project, row));
  const newestFirst = core.sort((a, b) => compare(String(b.last_updated ?? ""), String(a.last_updated ?? "")));
  return newestFirst.slice(0, config.injectMaxFiles).flatMap(coreMemory);
}

/** `/list` is not scoped: a memory that names only other projects is theirs (palinode-api.md, 2.5). */
function belongsTo(project: string, row: Row): boolean {
  if (project === "" || !Array.isArray(row.entities)) return true;
  const projects = row.entities.filter((entity) => typeof entity === "string" && entity.startsWith("project/"));
  return projects.length === 0 || projects.includes(`project/${project}`);
}

function coreMemory(row: Row): Memory[] {
  const path = clip(asText(row.file) ?? "", MAX_TEXT_CHARS);
  if (path === "") return [];
  const name = asText(row.name) ?? asText(row.title) ?? path.replace(/^.*\//, "").replace(/\.md$/, "");
  const summary = asText(row.summary);
  const words = summary === undefined ? name : `${name} — ${summary}`;
  const text = clip(`[${path}] ${words}`, MAX_TEXT_CHARS);
  return [
    {
      source: "digest",
      keys: [`core ${digestOf(text)}`],
      path,
      score: null,
      words: safeLine(clip(words, MAX_TEXT_CHARS)),
      gist: `${name} ${summary ?? ""}`,
      entry: { lines: [`- ${safeLine(text)}`] },
    },
  ];
}

/** The project's snapshots, decisions and open action items, each once; the server has the newest first (2.4). */
function standingOf(asker: Asker, answer: Row, core: readonly Memory[]): Promise<Memory[]> {
  const paths = new Set(core.map((memory) => memory.path));
  const memories: Promise<Memory>[] = [];
  for (const [section, label] of Object.entries(STANDING_SECTIONS)) {
    const fresh = filesIn(answer[section]).filter(({ file }) => {
      const isFresh = !paths.has(String(file));
      paths.add(String(file));
      return isFresh;
    });
    for (const { file, summary } of fresh.slice(0, MAX_STANDING_ROWS))
      memories.push(standingMemory(asker, String(file), label, asText(summary) ?? ""));
  }
  return Promise.all(memories);
}

async function standingMemory(asker: Asker, path: string, label: string, summary: string): Promise<Memory> {
  // The server sums up a file without a title, as captures are, by its name: its first words say more.
  const isNamed = summary !== "" && !path.endsWith(`${summary}.md`);
  const opening = isNamed ? summary : (openingOf(await readBody(asker, path)) ?? summary);
  const words = `(${label}) ${stripOurBlocks(clip(opening, MAX_TEXT_CHARS))}`;
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

function filesIn(rows: unknown): Row[] {
  return Array.isArray(rows) ? rows.map(asRecord).filter(({ file }) => asText(file) !== undefined) : [];
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

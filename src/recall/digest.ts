// What a session starts with: the core memories, and where the project stands.
import { asRecord, asText } from "../base/json.ts";
import { safeLine, stripOurBlocks } from "../base/markup.ts";
import { clip, clipMarked, digestOf } from "../base/text.ts";
import { within } from "../base/time.ts";
import { readBody, reasonOf, rowsOf } from "../server/index.ts";
import { type Asker, type Finding, finding, type Memory } from "./search.ts";

const STANDING = "### Where this project stands";
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
  const standing = warm.then(asRecord, () => asRecord(undefined));
  return finding("prime", async () => {
    const named = listed
      .then((answer) => rowsOf(answer, "/list"))
      .catch(async (error: unknown) => {
        // The answer to the prime names them too, in fewer words.
        const answer = reasonOf(error) === "bad-response" ? await within(standing, STANDING_WAIT_MS) : undefined;
        const primed = Array.isArray(answer?.core_memories)
          ? answer.core_memories.map(asRecord).filter(({ file }) => asText(file))
          : [];
        if (primed.length === 0) throw error;
        return primed;
      });
    const rows = (await named).filter((row) => row.core !== false && belongsTo(project, row));
    const newestFirst = rows.sort((a, b) => compare(String(b.last_updated ?? ""), String(a.last_updated ?? "")));
    const core = newestFirst.slice(0, config.injectMaxFiles).flatMap(coreMemory);
    if (config.digest === "core") return { memories: core };
    const rest = standing.then((answer) => standingOf(asker, answer, core));
    const soon = await within(rest, STANDING_WAIT_MS);
    if (soon !== undefined) return { memories: [...core, ...soon] };
    return { memories: core, later: finding("prime", async () => ({ memories: await rest })) };
  });
}

/** `/list` is not scoped: a memory that names only other projects is theirs (palinode-api.md, 2.5). */
function belongsTo(project: string, row: Record<string, unknown>): boolean {
  if (project === "" || !Array.isArray(row.entities)) return true;
  const projects = row.entities.filter((entity) => typeof entity === "string" && entity.startsWith("project/"));
  return projects.length === 0 || projects.includes(`project/${project}`);
}

function coreMemory(row: Record<string, unknown>): Memory[] {
  const path = clip(asText(row.file) ?? "", MAX_TEXT_CHARS);
  if (path === "") return [];
  const name = asText(row.name) ?? asText(row.title) ?? path.replace(/^.*\//, "").replace(/\.md$/, "");
  const summary = asText(row.summary);
  const text = clip(`[${path}] ${name}${summary === undefined ? "" : ` — ${summary}`}`, MAX_TEXT_CHARS);
  return [
    {
      keys: [`core ${digestOf(text)}`],
      path,
      score: null,
      gist: `${name} ${summary ?? ""}`,
      entry: { lines: [`- ${safeLine(text)}`] },
    },
  ];
}

/** The project's snapshots, decisions and open action items, each once; the server has the newest first (2.4). */
function standingOf(asker: Asker, answer: Record<string, unknown>, core: readonly Memory[]): Promise<Memory[]> {
  const told = new Set(core.map((memory) => memory.path));
  const rows = (
    [
      ["recent_snapshots", "snapshot"],
      ["recent_decisions", "decision"],
      ["open_action_items", "open"],
    ] as const
  ).flatMap(([section, label]) => {
    const files = (Array.isArray(answer[section]) ? answer[section] : [])
      .map(asRecord)
      .filter(({ file }) => asText(file) !== undefined);
    const fresh = files.filter(({ file }) => !told.has(String(file)) && told.add(String(file)));
    return fresh
      .slice(0, MAX_STANDING_ROWS)
      .map((row) => standingMemory(asker, String(row.file), label, asText(row.summary) ?? ""));
  });
  return Promise.all(rows);
}

async function standingMemory(asker: Asker, path: string, label: string, summary: string): Promise<Memory> {
  // The server sums up a file without a title, as captures are, by its name: its first words say more.
  const isNamed = summary !== "" && !path.endsWith(`${summary}.md`);
  const words = isNamed ? summary : (openingOf(await readBody(asker, path)) ?? summary);
  const text = `[${clip(path, MAX_STANDING_CHARS)}] (${label}) ${stripOurBlocks(clip(words, MAX_TEXT_CHARS))}`;
  return {
    keys: [`core ${digestOf(text)}`],
    path,
    score: null,
    gist: words,
    entry: { heading: STANDING, lines: [clipMarked(`- ${safeLine(text)}`, MAX_STANDING_CHARS)] },
  };
}

/** The first paragraph that says something: no heading, and not who wrote it. */
function openingOf(text: string | undefined): string | undefined {
  const paragraphs = (text ?? "").slice(0, MAX_OPENING_CHARS).split(/\n[ \t]*\n/);
  return asText(
    paragraphs
      .map((part) =>
        part
          .replace(/^(?:#|<!--|\*\*Source:).*$/gm, "")
          .replace(/^\s*\*\*Summary:\*\*/, "")
          .trim(),
      )
      .find((part) => part !== ""),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

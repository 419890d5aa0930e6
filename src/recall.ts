// What to say: asks the server, reads its answers defensively and turns them into blocks. Where a block goes and that it
// stays the same is the work of `replay`.
import { asRecord, asText } from "./cline.ts";
import { type Client, PalinodeError, type Reason, reasonOf } from "./client.ts";
import { type Entry, safeLine, safeLines, triggerHeading } from "./block.ts";
import type { Config } from "./config.ts";
import { digestOf, FENCE, stripOurBlocks } from "./prompt.ts";
import { redact } from "./redact.ts";
import type { Visible } from "./replay.ts";
import { clipLines, clipMarked, clipMiddle, CUT_MARK, weigh } from "./text.ts";

export type Channel = "prime" | "triggers" | "search";

/** One memory that could be shown. */
export interface Memory {
  /** What showing it makes visible: the same for the same text of the same file, however a snippet was windowed. */
  readonly keys: readonly string[];
  readonly path: string;
  /** Raw cosine, or null where there is none. */
  readonly score: number | null;
  readonly entry: Entry;
  /** Stands in when the text is visible already, for what must be mentioned all the same. */
  readonly mention?: Entry;
  /** What is compared to find near-equal memories. */
  readonly gist: string;
}

/** What one channel has to say: memories, or the reason why there are none. */
export interface Finding {
  readonly channel: Channel;
  readonly memories: readonly Memory[];
  readonly reason?: Reason;
}

/** Whom to ask, and for whom. */
export interface Asker {
  readonly client: Client;
  readonly config: Config;
  /** Project slug, maybe empty. */
  readonly project: string;
  readonly cwd: string | undefined;
  readonly sessionId: string;
  /** Ends questions whose conversation is gone. */
  readonly signal: AbortSignal;
  /** Remembers for the session which routes this server does not have. */
  readonly missingRoutes: Set<string>;
}

const MAX_QUERY_CHARS = 2000;
/** Of a longer prompt only head and tail are looked at, well beyond what any secret in the query could start in. */
const MAX_READ_CHARS = 200_000;
/** More at once is no prompt's business, and each costs work. */
const MAX_TRIGGERS = 20;
const MAX_TRIGGER_FILES = 2;
const MAX_TRIGGER_CHARS = 1200;
const MAX_SNIPPET_CHARS = 300;
/** The server marks a window with dots, so a snippet may be a little longer than asked; some ignore the wish. */
const MAX_SHOWN_SNIPPET_CHARS = 320;
const MAX_HITS = 20;
/** The server refuses a resolution that is asked for more (palinode-api.md, 2.11). */
const MAX_RESOLVED = 50;
/** A word set that shares this much with another says the same. */
const NEAR_EQUAL = 0.9;

const HIT = "hit ";
const SCORE = /\(\d{1,3}% match\)|\(keyword match\)/;
const RELATED = "### Related memories";
const RELATED_INSTEAD = "### Related memories\n(by search: resolution did not answer in time)";

/** Returns the query for a prompt's bare words: redacted, at most 2,000 characters, head and tail kept. */
export function queryOf(words: string): string {
  return clipMiddle(redact(clipMiddle(words, MAX_READ_CHARS)).trim(), MAX_QUERY_CHARS);
}

/** Returns whether the words say enough to recall for. */
export function saysEnough(words: string, config: Config): boolean {
  return words !== "" && weigh(words) >= config.recallMinChars;
}

/** Warms the server for this session and returns the core memories of the digest, newest first. Never rejects. */
export async function askDigest(asker: Asker): Promise<Finding> {
  const { client, config, project, cwd, sessionId, signal } = asker;
  const warm = client.post("/context/prime", { cwd, session_id: sessionId, project: project || undefined }, { signal });
  const listed = client.get("/list", { core_only: "true" }, { signal });
  // Warming is for the server's sake: the digest does not wait for it to succeed.
  void warm.catch(() => undefined);
  return finding("prime", async () => {
    const rows = rowsOf(await listed, "/list").filter((row) => row.core !== false && belongsTo(project, row));
    const newestFirst = rows.sort((a, b) => compare(String(b.last_updated ?? ""), String(a.last_updated ?? "")));
    return { memories: newestFirst.slice(0, config.injectMaxFiles).flatMap(coreMemory) };
  });
}

/**
 * Returns the memories behind triggers that fired: the text of two files, the others by their description. A trigger's
 * cooldown has started on the server, so each is shown even when its file cannot be read. Never rejects.
 */
export function askTriggers(asker: Asker, query: string): Promise<Finding> {
  const { client, signal } = asker;
  return finding("triggers", async () => {
    const fired = rowsOf(await client.post("/check-triggers", { query }, { signal }), "/check-triggers");
    const named = fired.filter((row) => asText(row.memory_file) !== undefined);
    const unique = [...new Map(named.map((row) => [row.memory_file, row])).values()].slice(0, MAX_TRIGGERS);
    return { memories: await Promise.all(unique.map((row, index) => triggerMemory(asker, row, index < MAX_TRIGGER_FILES))) };
  });
}

/** Returns search hits over the threshold, best first; `extra` more are asked for. Never rejects. */
export function askSearch(asker: Asker, query: string, extra = 0, heading = RELATED): Promise<Finding> {
  const { client, config, sessionId, signal } = asker;
  return finding("search", async () => {
    const body = {
      query,
      limit: Math.min(Math.max(MAX_HITS, config.recallMaxResults), config.recallMaxResults + extra),
      threshold: config.recallThreshold,
      max_chars: MAX_SNIPPET_CHARS,
      mode: "passive",
      session_id: sessionId,
    };
    const rows = rowsOf(await client.post("/search", body, { signal }), "/search");
    const hits = rows.slice(0, 2 * body.limit + MAX_HITS).filter((row) => pathOf(row) !== "");
    const close = hits.filter((row) => scoreOf(row) === null || Number(scoreOf(row)) >= config.recallThreshold);
    const memories = close.filter((row) => !isOwn(row, sessionId)).map((row) => hitMemory(row, heading));
    if (memories.length > 0) return { memories };
    return { memories, reason: hits.length > close.length ? "below-threshold" : "no-hits" };
  });
}

/** Returns a bounded resolution of the prompt, or what search says when it is late or the server has none. Never rejects. */
export async function askResolve(asker: Asker, query: string, extra = 0): Promise<Finding> {
  const { client, config, sessionId, signal, missingRoutes } = asker;
  if (missingRoutes.has("/resolve")) return askSearch(asker, query, extra, RELATED_INSTEAD);
  const body = { query, session_id: sessionId, max_items: Math.min(MAX_RESOLVED, Math.max(1, config.recallMaxResults)), max_chars: 2000 };
  try {
    const answer = asRecord(await client.post("/resolve", body, { signal, timeoutMs: config.resolveDeadlineMs }));
    return resolvedFinding(answer);
  } catch (error) {
    if (error instanceof PalinodeError && error.status === 404) missingRoutes.add("/resolve");
    if (["unauthorized", "denied", "rate-limited"].includes(reasonOf(error))) return { channel: "search", memories: [], reason: reasonOf(error) };
    return askSearch(asker, query, extra, RELATED_INSTEAD);
  }
}

/**
 * Returns the memories worth showing now: none that is visible already, one a file, none that says what another says,
 * and at most `maxHits` search hits. Triggers that fired always stay.
 */
export function select(memories: readonly Memory[], visible: Visible, maxHits: number): Memory[] {
  const chosen: Memory[] = [];
  for (const memory of memories) {
    const isVisible = [...memory.keys, wholeKey(memory.path)].some((key) => visible.keys.has(key)) || looksSeen(memory, visible.lines);
    if (isVisible && memory.mention !== undefined) chosen.push({ ...memory, entry: memory.mention });
    if (isVisible) continue;
    if (chosen.some((other) => other.path === memory.path || nearEqual(other.gist, memory.gist))) continue;
    if (chosen.filter((other) => other.entry.heading !== undefined).length >= maxHits && memory.entry.heading !== undefined) continue;
    chosen.push(memory);
  }
  return chosen;
}

/** Returns how many search hits the model can see already, so that as many more are asked for. */
export function countHits({ keys }: Visible): number {
  return [...keys].filter((key) => key.startsWith(HIT)).length;
}

async function finding(channel: Channel, ask: () => Promise<{ memories: Memory[]; reason?: Reason }>): Promise<Finding> {
  try {
    const { memories, reason } = await ask();
    return { channel, memories, ...(memories.length === 0 ? { reason: reason ?? "no-hits" } : {}) };
  } catch (error) {
    return { channel, memories: [], reason: reasonOf(error) };
  }
}

/** Answers are a bare array, or `{ results }` (with a receipt, or from other versions). */
function rowsOf(answer: unknown, route: string): Record<string, unknown>[] {
  const rows = Array.isArray(answer) ? answer : asRecord(answer).results;
  if (!Array.isArray(rows)) throw new PalinodeError(route, "bad-response");
  return rows.filter((row) => typeof row === "object" && row !== null && !Array.isArray(row));
}

/** `/list` is not scoped: a memory that names only other projects is theirs (palinode-api.md, 2.5). */
function belongsTo(project: string, row: Record<string, unknown>): boolean {
  if (project === "" || !Array.isArray(row.entities)) return true;
  const projects = row.entities.filter((entity) => typeof entity === "string" && entity.startsWith("project/"));
  return projects.length === 0 || projects.includes(`project/${project}`);
}

function coreMemory(row: Record<string, unknown>): Memory[] {
  const path = asText(row.file);
  if (path === undefined) return [];
  const name = asText(row.name) ?? asText(row.title) ?? path.replace(/^.*\//, "").replace(/\.md$/, "");
  const summary = asText(row.summary);
  const text = `[${path}] ${name}${summary === undefined ? "" : ` — ${summary}`}`;
  return [{ keys: [`core ${digestOf(text)}`], path, score: null, gist: `${name} ${summary ?? ""}`, entry: { lines: [`- ${safeLine(text)}`] } }];
}

async function triggerMemory(asker: Asker, row: Record<string, unknown>, withText: boolean): Promise<Memory> {
  const path = String(row.memory_file);
  const description = asText(row.description) ?? "";
  const text = withText ? await readBody(asker, path) : undefined;
  const shown = clipLines(safeLines(text ?? description).join("\n"), MAX_TRIGGER_CHARS).split("\n").filter((line) => line !== "");
  const note = withText && text === undefined ? ["(the file could not be read)"] : [];
  const heading = triggerHeading(path);
  const isWhole = text !== undefined && !shown.includes(CUT_MARK);
  return {
    keys: [textKey(path, text ?? description), ...(isWhole ? [wholeKey(path)] : [])],
    path,
    score: typeof row.score === "number" ? row.score : null,
    gist: text ?? description,
    entry: { lines: [heading, ...shown, ...note] },
    mention: { lines: [heading, "(its text stands further up)"] },
  };
}

/** Returns a memory file's text without its frontmatter, or undefined when it cannot be read. */
async function readBody({ client, signal }: Asker, path: string): Promise<string | undefined> {
  try {
    const content = asText(asRecord(await client.get("/read", { file_path: path }, { signal })).content);
    return content === undefined ? undefined : asText(content.replace(/^\uFEFF?---\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/, "").trim());
  } catch {
    return undefined;
  }
}

function hitMemory(row: Record<string, unknown>, heading: string): Memory {
  const path = pathOf(row);
  const score = scoreOf(row);
  const snippet = asText(row.snippet) ?? asText(row.content) ?? "";
  const match = score === null ? "keyword match" : `${Math.round(Math.min(1, Math.max(0, score)) * 100)}% match`;
  const text = asText(row.content) ?? snippet;
  const line = `- [${safeLine(path)}] (${match}) ${clipMarked(safeLine(stripOurBlocks(snippet)), MAX_SHOWN_SNIPPET_CHARS)}`;
  const hash = asText(row.content_hash);
  const keys = [HIT + digestOf(`${path} ${hash ?? text}`), textKey(path, text)];
  return { keys, path, score, gist: text, entry: { heading, lines: [line.trimEnd()] } };
}

/** The same for a hit and for a trigger that show the same text of a file. */
function textKey(path: string, text: string): string {
  return `text ${digestOf(`${path} ${(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ")}`)}`;
}

function wholeKey(path: string): string {
  return `whole ${digestOf(path)}`;
}

function resolvedFinding(answer: Record<string, unknown>): Finding {
  const parts = ["selected", "replaced", "conflicts", "insufficient", "omitted_conflicts", "other_projects_withheld"].map((name) => answer[name]);
  const count = parts.reduce<number>((sum, part) => sum + (Array.isArray(part) ? part.length : typeof part === "number" ? part : 0), 0);
  const text = asText(answer.text);
  // The text is never empty, so emptiness shows in the counts alone (palinode-api.md, 2.11).
  if (text === undefined || count === 0) return { channel: "search", memories: [], reason: text === undefined ? "bad-response" : "no-hits" };
  const lines = safeLines(text.replace(/^\s*### Resolved from memory/, "### Resolved"));
  const body = lines[0]?.startsWith("### Resolved") ? ["### Resolved from memory (current state)", ...lines.slice(1)] : lines;
  return { channel: "search", memories: [{ keys: [`resolved ${digestOf(text)}`], path: "", score: null, gist: text, entry: { lines: body } }] };
}

/** `file_path` is absolute; servers before 0.12 send nothing else, so its last two segments have to do. */
function pathOf(row: Record<string, unknown>): string {
  return asText(row.rel_path) ?? (asText(row.file_path) ?? "").split(/[\\/]/).slice(-2).join("/");
}

/** Only `raw_score` is a cosine; `score` is a rank. Null or absent: found by keyword. */
function scoreOf(row: Record<string, unknown>): number | null {
  return typeof row.raw_score === "number" ? row.raw_score : null;
}

/** A hit that is a block of ours, or what this very session was captured as, is no memory. */
function isOwn(row: Record<string, unknown>, sessionId: string): boolean {
  const text = `${asText(row.snippet) ?? ""}\n${asText(row.content) ?? ""}`;
  if (text.includes(`<${FENCE}>`) && stripOurBlocks(text).trim() === "") return true;
  return sessionId.length >= 8 && (text.includes(sessionId) || asRecord(row.metadata).session_id === sessionId);
}

/**
 * A text that only grew since it was shown, or whose window moved a little, says nothing new. A daily note grows with
 * every capture, so one look at it is enough.
 */
function looksSeen({ path, entry }: Memory, lines: readonly string[]): boolean {
  const line = entry.lines[0] ?? "";
  const ofFile = entry.heading === undefined ? [] : lines.filter((shown) => shown.startsWith(`- [${safeLine(path)}] `));
  return ofFile.some((shown) => path.startsWith("daily/") || nearEqual(shown.replace(SCORE, ""), line.replace(SCORE, "")));
}

function nearEqual(a: string, b: string): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.size < 4 || right.size < 4) return a === b;
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / (left.size + right.size - shared) >= NEAR_EQUAL;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.slice(0, 1000).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// What memory has to say to a query: hits, a resolution, triggers that fire.
import { asRecord, asText, textOf } from "../base/json.ts";
import type { Client, Limits } from "./client.ts";
import { type Askable, fileOf, postIfThere, rowsOf } from "./routes.ts";

const SEARCH = "/search";
const RESOLVE = "/resolve";
const CHECK_TRIGGERS = "/check-triggers";

/** The server refuses a resolution that is asked for more (palinode-api.md, 2.11). */
const MAX_RESOLVED = 50;

export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  /** Cosine; the server's own where absent. It holds back no keyword match. */
  readonly threshold?: number;
  /** Of a snippet. The server marks a window with dots beyond it. */
  readonly maxChars: number;
  /** `passive`: nobody asked, so no hit is to seem more important for it. */
  readonly mode?: "passive";
  readonly sessionId: string;
}

/** Why a hit is not to be told as settled (store.py of 0.20 to 0.23, `currency_of`). */
export interface Challenge {
  /** Retired: archived, replaced, retracted, expired. */
  readonly currency: "contested" | "retired";
  /** What says so, in the server's words, such as `status:superseded`. */
  readonly reason: string;
  /** Files of what it contradicts, or of what replaced it. */
  readonly otherSides: readonly string[];
}

export interface Hit {
  /** Relative to the memory folder. */
  readonly path: string;
  /** Cosine, 0 to 1, or null for what was found by keyword. The server's `score` is a rank, and says nothing. */
  readonly score: number | null;
  /** 0 to 1, or null where the keyword arm did not find it, or the server does not say (before 0.22). */
  readonly keywordScore: number | null;
  /** How many documents would hold the query's words by accident; null before 0.23. */
  readonly keywordChance: number | null;
  /** Slugs of the projects that it belongs to; none: it is everybody's. */
  readonly projects: readonly string[];
  readonly snippet: string | undefined;
  readonly content: string | undefined;
  readonly contentHash: string | undefined;
  /** Whether the server searches by words alone, having no embedder (0.21). */
  readonly isLexical: boolean;
  /** What speaks against it; absent where nothing does, and before 0.20. */
  readonly challenge?: Challenge;
  /** The frontmatter. */
  readonly metadata: Record<string, unknown>;
}

/** Returns hits, best first, several of one file among them (palinode-api.md, 2.8). */
export async function searchMemory(client: Client, request: SearchRequest, limits?: Limits): Promise<Hit[]> {
  const { query, limit, threshold, maxChars, mode, sessionId } = request;
  const body = { query, limit, threshold, max_chars: maxChars, mode, session_id: sessionId };
  const hits = rowsOf(await client.post(SEARCH, body, limits), SEARCH).map(toHit);
  return hits.filter(({ path }) => path !== "");
}

/** Returns whether a search that leaves no mark is answered by a bare list, as the server's contract has it. */
export async function probeSearch(client: Client, limits?: Limits): Promise<boolean> {
  const body = { query: "What is known about this project?", mode: "passive", limit: 1 };
  return Array.isArray(await client.post(SEARCH, body, limits));
}

function toHit(row: Record<string, unknown>): Hit {
  const { rel_path, file_path, raw_score, snippet, content, content_hash, metadata } = row;
  return {
    // `file_path` is absolute; servers before 0.12 send nothing else, so its last two segments have to do.
    path: asText(rel_path) ?? (asText(file_path) ?? "").split(/[\\/]/).slice(-2).join("/"),
    score: numberOrNull(raw_score),
    keywordScore: numberOrNull(row.keyword_score),
    keywordChance: numberOrNull(row.keyword_chance),
    projects: projectsOf(asRecord(metadata)),
    snippet: asText(snippet),
    content: asText(content),
    contentHash: asText(content_hash),
    isLexical: row.retrieval_mode === "lexical",
    ...challengeOf(row),
    metadata: asRecord(metadata),
  };
}

/** The reason names files after its word: `contradicts: decisions/a, decisions/b`, `superseded_by: decisions/c`. */
function challengeOf({ currency, currency_reason }: Record<string, unknown>): Pick<Hit, "challenge"> {
  if (currency !== "contested" && currency !== "retired") return {};
  const reason = textOf(currency_reason);
  const [, references = ""] = /^(?:contradicts|superseded_by): (.*)$/s.exec(reason) ?? [];
  const named = references.split(", ").filter((reference) => reference.trim() !== "");
  return { challenge: { currency, reason, otherSides: named.map(fileOf) } };
}

/**
 * Frontmatter names projects as `project/SLUG`, among other entities, and in `scope`. Each server from 0.13.0 to 0.23.0
 * returns the frontmatter of a search's rows as `metadata`, entities and all (read in `core/store.py` of every release,
 * and kept by the contract checks). Of a row that has none nothing is known: it counts as everybody's.
 */
function projectsOf({ entities, scope }: Record<string, unknown>): string[] {
  const refs = [...(Array.isArray(entities) ? entities : [entities]), scope];
  return refs.flatMap((ref) => /^project\/(.+)/.exec(asText(ref)?.trim() ?? "")?.[1]?.toLowerCase() ?? []);
}

export interface Resolution {
  /** Ready to be shown. */
  readonly text: string | undefined;
  /** How many things it is about. The text is never empty: that nothing was found shows here alone. */
  readonly count: number;
  /** What it tells, by file and statement. */
  readonly told: readonly { readonly path: string; readonly statement: string }[];
}

/**
 * Returns what holds now by memory; undefined where the server has no such route, before 0.20 (palinode-api.md 2.11).
 * Before 0.22 the server takes neither folder nor project, and resolves over all projects' memories.
 */
export async function resolveQuery(
  asker: Askable,
  request: { query: string; sessionId: string; maxItems: number; maxChars: number; cwd?: string; project?: string },
  limits?: Limits,
): Promise<Resolution | undefined> {
  const { query, sessionId, maxItems, maxChars, cwd, project } = request;
  const limited = { max_items: Math.min(MAX_RESOLVED, maxItems), max_chars: maxChars };
  const body = { query, session_id: sessionId, ...limited, cwd, project: project || undefined };
  const answer = await postIfThere(asker, RESOLVE, body, limits);
  return answer && { text: asText(answer.text), count: countOf(answer), told: toldIn(answer) };
}

/** What was selected, and the sides of what is contested. */
function toldIn({ selected, conflicts }: Record<string, unknown>): Resolution["told"] {
  const sides = [conflicts].flat().flatMap((conflict) => asRecord(conflict).sides ?? []);
  return [selected, sides].flat().flatMap((row) => {
    const { rel_path, ref, statement } = asRecord(row);
    const path = asText(rel_path) ?? asText(ref);
    return path === undefined ? [] : [{ path: fileOf(path), statement: textOf(statement) }];
  });
}

function countOf(answer: Record<string, unknown>): number {
  const lists = [answer.selected, answer.replaced, answer.conflicts, answer.insufficient];
  const counts = [answer.omitted_conflicts, answer.other_projects_withheld];
  return [...lists, ...counts].reduce<number>((sum, part) => sum + sizeOf(part), 0);
}

function sizeOf(part: unknown): number {
  if (Array.isArray(part)) return part.length;
  return typeof part === "number" ? part : 0;
}

export interface FiredTrigger {
  /** The memory to show, relative to the memory folder. */
  readonly file: string;
  readonly description: string;
  /** Cosine, or null. */
  readonly score: number | null;
}

/**
 * Returns the triggers that fire for a query. Their cooldown has started with that (palinode-api.md, 2.7). For a
 * `project`, those of memories of other projects do not, nor do they cool down; before 0.23 the server takes none, and
 * all fire (`api/routers/triggers.py`).
 */
export async function checkTriggers(
  client: Client,
  query: string,
  limits?: Limits,
  project = "",
): Promise<FiredTrigger[]> {
  const body = { query, project: project || undefined };
  const rows = rowsOf(await client.post(CHECK_TRIGGERS, body, limits), CHECK_TRIGGERS);
  return rows.flatMap(({ memory_file, description, score }) => {
    const file = asText(memory_file);
    return file === undefined ? [] : [{ file, description: asText(description) ?? "", score: numberOrNull(score) }];
  });
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

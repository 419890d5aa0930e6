// POST /search of the stand-in Palinode. Scores are those of embedding.ts, so a test can tell from the words of a
// prompt what will be found.
import { createHash } from "node:crypto";
import { embed, wordsOf } from "./embedding.ts";
import type { Chunk, Memory } from "./memory.ts";
import {
  chunksOf,
  currencyOf,
  isHidden,
  isOtherProject,
  listOf,
  memoriesIn,
  similarity,
  topFolder,
  updatedAt,
} from "./memory.ts";
import type { Fields, Store } from "./store.ts";
import { admit, enforce, needEmbedder, since } from "./store.ts";

/** `raw` is the cosine, null when only the keyword arm found the chunk. */
type Hit = { chunk: Chunk; score: number; raw: number | null; keyword: number | null };
type Scores = Map<Chunk, number>;
export type Query = { query: string; threshold?: unknown; hybrid?: unknown; include_daily?: unknown };

const DEFAULTS = { limit: 15, threshold: 0.5, snippetChars: 400 };
const MAX_SNIPPET_CHARS = 8000;
const DAILY_PENALTY = 0.3;
const CONTEXT_BOOST = 1.5;
const RRF_RANKS = 60;
const KEYWORD_SCALE = 25;
/** Share of the best match of its own arm that a hit must reach: keywords since 0.18, vectors since 0.22. */
const RELATIVE_FLOOR = { keyword: 0.4, vector: 0.85 };
const STOP_WORDS = new Set(
  (
    "a an the and or but if of in on at to for from by with about as into is are was were be been do does did have " +
    "has had i me my we our you your he she it its they this that these those what which who how many much when " +
    "where why will would should can could must not no so than too very just also there here"
  ).split(" "),
);

export function search(store: Store, fields: Fields): unknown {
  const context = Array.isArray(fields.context) ? fields.context.map(String) : [];
  const automatic = fields.automatic === true || fields.mode === "passive";
  const project = context.find((entity) => entity.startsWith("project/"))?.slice("project/".length);
  enforce(store, "recall", { ...fields, automatic, project });
  admit(store, "search");
  const query = { ...fields, query: String(fields.query) };
  const isRecency = query.query.trim() === "";
  if (!isRecency) needEmbedder(store);
  const chunks = searchable(store, { ...fields, automatic }, context);
  const hits = isRecency ? newestFirst(chunks) : ranked(store, query, chunks, context);
  const results = hits
    .slice(0, Number(fields.limit ?? DEFAULTS.limit))
    .map((hit) => result(store, hit, fields, isRecency));
  return fields.receipt === true && since(store, "0.20")
    ? { results, receipt: { bundle_id: "0".repeat(16) } }
    : results;
}

/** Returns the chunks a search may show: since 0.22 not those of projects other than the one in `context`. */
export function searchable(
  store: Store,
  { category, types, type_deny, automatic }: Fields,
  context: readonly string[],
): Chunk[] {
  const project = context.find((entity) => since(store, "0.22") && entity.startsWith("project/")) ?? null;
  const isWanted = ({ file, frontmatter: { type } }: Memory): boolean =>
    (typeof category !== "string" || topFolder(file) === category) &&
    (!Array.isArray(types) || types.length === 0 || types.includes(type)) &&
    (!Array.isArray(type_deny) || !type_deny.includes(type));
  return (
    memoriesIn(store.memories)
      .filter(
        (memory) => !isHidden(memory) && memory.frontmatter.status !== "archived" && !isOtherProject(memory, project),
      )
      .filter(isWanted)
      .flatMap((memory) => chunksOf(memory, !since(store, "0.22")))
      // What nobody asked for holds nothing retired, from 0.23 on.
      .filter((chunk) => automatic !== true || !since(store, "0.23") || currencyOf(chunk, store.now())[0] !== "retired")
  );
}

/** Fuses the ranks of both arms, as the server does: `score` is about 1 for the best hit of any query. */
export function ranked(store: Store, query: Query, chunks: Chunk[], context: readonly string[]): Hit[] {
  const vectors: Scores = store.embedder ? vectorArm(store, query, chunks, context) : new Map();
  const keywords: Scores = (query.hybrid ?? store.hybrid) ? keywordArm(store, query, chunks) : new Map();
  const fused: Scores = new Map();
  for (const arm of [vectors, keywords]) {
    for (const [rank, chunk] of [...arm.keys()].entries()) {
      fused.set(chunk, (fused.get(chunk) ?? 0) + 0.5 / (RRF_RANKS + rank + 1));
    }
  }
  const best = Math.max(...fused.values());
  const hits = [...fused].map(([chunk, rank]) => ({
    chunk,
    score: (rank / best) * weight(chunk.memory, query, context),
    raw: vectors.get(chunk) ?? null,
    keyword: keywords.get(chunk) ?? null,
  }));
  return firstOfEachFile(
    store,
    hits.sort((a, b) => b.score - a.score),
  );
}

function newestFirst(chunks: Chunk[]): Hit[] {
  const sorted = chunks.toSorted((a, b) => (updatedAt(a.memory) < updatedAt(b.memory) ? 1 : -1));
  return sorted.map((chunk) => ({ chunk, score: 1, raw: null, keyword: null }));
}

/** Cosines above the threshold, best first. */
function vectorArm(store: Store, { query, threshold }: Query, chunks: Chunk[], context: readonly string[]): Scores {
  const names = context.filter((entity) => entity.includes("/")).map((entity) => entity.slice(entity.indexOf("/") + 1));
  const vector = embed(names.length > 0 ? `In the context of ${names.join(", ")}: ${query}` : query);
  const scored = chunks.map((chunk) => [chunk, similarity(vector, chunk.content)] as const).sort((a, b) => b[1] - a[1]);
  const relative = since(store, "0.22") ? RELATIVE_FLOOR.vector * (scored[0]?.[1] ?? 0) : 0;
  const floor = Math.max(Number(threshold ?? DEFAULTS.threshold), relative);
  return new Map(scored.filter(([, score]) => score >= floor));
}

/** Rare shared words weigh more. Before 0.18 every word had to be there, and the threshold held for this scale too. */
function keywordArm(store: Store, { query, threshold }: Query, chunks: Chunk[]): Scores {
  const any = since(store, "0.18");
  const words = [...new Set(wordsOf(query))].filter((word) => !any || !STOP_WORDS.has(word));
  // The index holds the absolute path as well, so "decisions" or a folder's name match.
  const bags = chunks.map((chunk) => ({
    chunk,
    bag: new Set(wordsOf(`${store.root}/${chunk.memory.file} ${chunk.content}`)),
  }));
  const rarity = (word: string): number => Math.log(1 + chunks.length / bags.filter(({ bag }) => bag.has(word)).length);
  const scored = bags
    .map(({ chunk, bag }) => ({ chunk, shared: words.filter((word) => bag.has(word)) }))
    .filter(({ shared }) => (any ? shared.length > 0 : words.length > 0 && shared.length === words.length))
    .map(({ chunk, shared }) => [chunk, shared.reduce((sum, word) => sum + rarity(word), 0) / KEYWORD_SCALE] as const)
    .sort((a, b) => b[1] - a[1]);
  const floor = any ? RELATIVE_FLOOR.keyword * (scored[0]?.[1] ?? 0) : Number(threshold ?? DEFAULTS.threshold);
  return new Map(scored.filter(([, score]) => score >= floor));
}

function weight(memory: Memory, query: Query, context: readonly string[]): number {
  const boost = listOf(memory, "entities").some((entity) => context.includes(entity)) ? CONTEXT_BOOST : 1;
  return topFolder(memory.file) === "daily" && query.include_daily !== true ? boost * DAILY_PENALTY : boost;
}

/** Since 0.22 the further chunks of a file only fill what the other files leave free. */
function firstOfEachFile(store: Store, hits: Hit[]): Hit[] {
  if (!since(store, "0.22")) return hits;
  const isFirst = (hit: Hit): boolean =>
    hits.find((other) => other.chunk.memory.file === hit.chunk.memory.file) === hit;
  return [...hits.filter(isFirst), ...hits.filter((hit) => !isFirst(hit))];
}

function result(store: Store, { chunk, score, raw, keyword }: Hit, fields: Fields, isRecency: boolean): Fields {
  const { memory, sectionId, content } = chunk;
  const maxChars = Math.min(Math.max(Number(fields.max_chars ?? DEFAULTS.snippetChars), 1), MAX_SNIPPET_CHARS);
  // Before 0.21 a hit that only the keywords found came without it.
  const hasHash = isRecency || raw !== null || since(store, "0.21");
  const found = {
    file_path: `${store.root}/${memory.file}`,
    rel_path: memory.file,
    section_id: sectionId,
    category: topFolder(memory.file),
    content,
    snippet: windowed(content, String(fields.query), maxChars),
    content_truncated: content.length > maxChars,
    metadata: memory.frontmatter,
    ...(hasHash ? { content_hash: createHash("sha256").update(content).digest("hex") } : {}),
    score,
    ...(since(store, "0.22") ? { agent_directed_withheld: false } : {}),
  };
  return isRecency ? found : { id: `${memory.file}#${sectionId}`, ...found, ...judged(store, chunk, raw, keyword) };
}

/** What a hit of a query says about itself beyond its text. */
function judged(store: Store, chunk: Chunk, raw: number | null, keyword: number | null): Fields {
  const [currency, currency_reason] = currencyOf(chunk, store.now());
  return {
    raw_score: raw,
    ...(raw !== null || since(store, "0.21") ? { importance: 0.5, last_recalled: null, recall_count: 0 } : {}),
    freshness: "valid",
    ...(since(store, "0.20") ? { currency, currency_reason } : {}),
    ...(since(store, "0.21") ? { retrieval_mode: "hybrid" } : {}),
    ...(since(store, "0.22") ? { keyword_score: keyword } : {}),
  };
}

/** A window around the first word of the query that occurs. The ellipses come on top of the cap. */
function windowed(content: string, query: string, maxChars: number): string {
  if (content.length <= maxChars) return content;
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word.length >= 3);
  const places = words.map((word) => content.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  if (places.length === 0) return `${content.slice(0, maxChars).trimEnd()}…`;
  const start = Math.max(0, Math.min(Math.min(...places) - Math.floor(maxChars / 2), content.length - maxChars));
  const end = start + maxChars;
  return `${start > 0 ? "…" : ""}${content.slice(start, end).trim()}${end < content.length ? "…" : ""}`;
}

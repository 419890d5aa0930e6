// What to say: asks the server, reads its answers defensively and turns them into blocks. Where a block goes and that it
// stays the same is the work of `replay`.
import { stripVTControlCharacters } from "node:util";
import { asRecord, asText } from "../base/json.ts";
import { dropPrivate, FENCE, safeLine, safeLines, stripOurBlocks } from "../base/markup.ts";
import { redact } from "../base/redact.ts";
import { CUT_MARK, clean, clip, clipLines, clipMarked, clipMiddle, digestOf, weigh } from "../base/text.ts";
import { type Client, PalinodeError, type Reason, readBody, reasonOf, rowsOf } from "../server/index.ts";
import type { Config } from "../settings/index.ts";
import { type Entry, triggerHeading } from "./block.ts";

export type Channel = "prime" | "triggers" | "search" | "repair";

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
  /** What the same question may still bring. */
  readonly later?: Promise<Finding>;
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
const MAX_PATH_CHARS = 300;
/** As much of a text as is compared with others. */
const MAX_GIST_CHARS = 1000;
const MAX_KEY_CHARS = 20_000;
/** Making text safe takes time: of what is shown, so many times its cap is looked at. */
const MAX_LOOK_TIMES = 8;
/** Somebody waits for the answer, and an embedder may be loading its model. */
export const BY_HAND_TIMEOUT_MS = 20_000;
/** Starts the key of a search hit. */
export const HIT = "hit ";
/** The server refuses a resolution that is asked for more (palinode-api.md, 2.11). */
const MAX_RESOLVED = 50;
const RELATED = "### Related memories";
const RELATED_INSTEAD = "### Related memories\n(by search: resolution did not answer in time)";

/** Returns the query for a prompt's bare words: redacted, at most 2,000 characters, head and tail kept. */
export function queryOf(words: string): string {
  return clipMiddle(
    redact(dropPrivate(clean(stripVTControlCharacters(clipMiddle(words, MAX_READ_CHARS))))).trim(),
    MAX_QUERY_CHARS,
  );
}

/** Returns whether the words say enough to recall for. */
export function saysEnough(words: string, config: Config): boolean {
  return words !== "" && weigh(words) >= config.recallMinChars;
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
    return {
      memories: await Promise.all(unique.map((row, index) => triggerMemory(asker, row, index < MAX_TRIGGER_FILES))),
    };
  });
}

/** Returns search hits over the threshold, best first; `extra` more are asked for. Never rejects. */
export function askSearch(asker: Asker, query: string, extra = 0, heading = RELATED): Promise<Finding> {
  return search("search", asker, query, extra, heading);
}

/** Returns search hits for a failed command, as `askSearch` does for a prompt. Never rejects. */
export function askRepair(asker: Asker, query: string, extra: number): Promise<Finding> {
  return search("repair", asker, query, extra, RELATED);
}

function search(channel: Channel, asker: Asker, query: string, extra: number, heading: string): Promise<Finding> {
  const { client, config, sessionId, signal } = asker;
  return finding(channel, async () => {
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

/** Returns what somebody searches for by hand, best first, one hit a file. Throws `PalinodeError`. */
export async function searchByHand(
  { client, sessionId, signal }: Asker,
  query: string,
  limit: number,
): Promise<Memory[]> {
  const body = { query: queryOf(query), limit, max_chars: MAX_SNIPPET_CHARS, session_id: sessionId };
  const rows = rowsOf(await client.post("/search", body, { signal, timeoutMs: BY_HAND_TIMEOUT_MS }), "/search");
  const hits = rows
    .filter((row) => pathOf(row) !== "")
    .slice(0, 5 * limit)
    .map((row) => hitMemory(row));
  return hits.filter((hit, index) => hits.findIndex((other) => other.path === hit.path) === index).slice(0, limit);
}

/** Returns a bounded resolution of the prompt, or what search says when it is late or the server has none. Never rejects. */
export async function askResolve(asker: Asker, query: string, extra = 0): Promise<Finding> {
  const { client, config, sessionId, signal, missingRoutes } = asker;
  if (missingRoutes.has("/resolve")) return askSearch(asker, query, extra, RELATED_INSTEAD);
  const body = {
    query,
    session_id: sessionId,
    max_items: Math.min(MAX_RESOLVED, Math.max(1, config.recallMaxResults)),
    max_chars: 2000,
  };
  try {
    const answer = asRecord(await client.post("/resolve", body, { signal, timeoutMs: config.resolveDeadlineMs }));
    return resolvedFinding(answer);
  } catch (error) {
    if (error instanceof PalinodeError && error.status === 404) missingRoutes.add("/resolve");
    if (["unauthorized", "denied", "rate-limited"].includes(reasonOf(error)))
      return { channel: "search", memories: [], reason: reasonOf(error) };
    return askSearch(asker, query, extra, RELATED_INSTEAD);
  }
}

/** Returns what asking brought, or the reason code of what it threw. */
export async function finding(channel: Channel, ask: () => Promise<Omit<Finding, "channel">>): Promise<Finding> {
  try {
    const { memories, reason, later } = await ask();
    return {
      channel,
      memories,
      ...(memories.length === 0 ? { reason: reason ?? "no-hits" } : {}),
      ...(later && { later }),
    };
  } catch (error) {
    return { channel, memories: [], reason: reasonOf(error) };
  }
}

async function triggerMemory(asker: Asker, row: Record<string, unknown>, withText: boolean): Promise<Memory> {
  const path = clip(String(row.memory_file), MAX_PATH_CHARS);
  const description = asText(row.description) ?? "";
  const text = withText ? await readBody(asker, path) : undefined;
  const said = text ?? description;
  const shown = clipLines(safeLines(clip(said, MAX_LOOK_TIMES * MAX_TRIGGER_CHARS)).join("\n"), MAX_TRIGGER_CHARS)
    .split("\n")
    .filter((line) => line !== "");
  const note = withText && text === undefined ? ["(the file could not be read)"] : [];
  const heading = triggerHeading(path);
  const isWhole = text !== undefined && text.length <= MAX_LOOK_TIMES * MAX_TRIGGER_CHARS && !shown.includes(CUT_MARK);
  return {
    keys: [textKey(path, said), ...(isWhole ? [wholeKey(path)] : [])],
    path,
    score: typeof row.score === "number" ? row.score : null,
    gist: clip(said, MAX_GIST_CHARS),
    entry: { lines: [heading, ...shown, ...note] },
    mention: { lines: [heading, "(its text stands further up)"] },
  };
}

function hitMemory(row: Record<string, unknown>, heading?: string): Memory {
  const path = pathOf(row);
  const score = scoreOf(row);
  const snippet = asText(row.snippet) ?? asText(row.content) ?? "";
  const match = score === null ? "keyword match" : `${Math.round(Math.min(1, Math.max(0, score)) * 100)}% match`;
  const text = asText(row.content) ?? snippet;
  const line = `- [${safeLine(path)}] (${match}) ${clipMarked(safeLine(stripOurBlocks(clip(snippet, MAX_LOOK_TIMES * MAX_SHOWN_SNIPPET_CHARS))), MAX_SHOWN_SNIPPET_CHARS)}`;
  const hash = asText(row.content_hash);
  const keys = [HIT + digestOf(`${path} ${hash ?? text}`), textKey(path, text)];
  // An imported session says how it is reopened.
  const resume = safeLine(clip(asText(asRecord(row.metadata).resume) ?? "", MAX_LOOK_TIMES * MAX_SHOWN_SNIPPET_CHARS));
  const more =
    resume === "" || line.includes(resume) ? [] : [`  Resume: ${clipMarked(resume, MAX_SHOWN_SNIPPET_CHARS)}`];
  return {
    keys,
    path,
    score,
    gist: clip(text, MAX_GIST_CHARS),
    entry: { ...(heading === undefined ? {} : { heading }), lines: [line.trimEnd(), ...more] },
  };
}

/** The same for a hit and for a trigger that show the same text of a file. */
function textKey(path: string, text: string): string {
  return `text ${digestOf(
    `${path} ${(
      clip(text, MAX_KEY_CHARS)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? []
    ).join(" ")}`,
  )}`;
}

/** Returns the key of a file whose whole text is in view. */
export function wholeKey(path: string): string {
  return `whole ${digestOf(path)}`;
}

function resolvedFinding(answer: Record<string, unknown>): Finding {
  const parts = [
    "selected",
    "replaced",
    "conflicts",
    "insufficient",
    "omitted_conflicts",
    "other_projects_withheld",
  ].map((name) => answer[name]);
  const count = parts.reduce<number>(
    (sum, part) => sum + (Array.isArray(part) ? part.length : typeof part === "number" ? part : 0),
    0,
  );
  const text = asText(answer.text);
  // The text is never empty, so emptiness shows in the counts alone (palinode-api.md, 2.11).
  if (text === undefined || count === 0)
    return { channel: "search", memories: [], reason: text === undefined ? "bad-response" : "no-hits" };
  const lines = safeLines(text.replace(/^\s*### Resolved from memory/, "### Resolved"));
  const body = lines[0]?.startsWith("### Resolved")
    ? ["### Resolved from memory (current state)", ...lines.slice(1)]
    : lines;
  return {
    channel: "search",
    memories: [{ keys: [`resolved ${digestOf(text)}`], path: "", score: null, gist: text, entry: { lines: body } }],
  };
}

/** `file_path` is absolute; servers before 0.12 send nothing else, so its last two segments have to do. */
function pathOf(row: Record<string, unknown>): string {
  return clip(asText(row.rel_path) ?? (asText(row.file_path) ?? "").split(/[\\/]/).slice(-2).join("/"), MAX_PATH_CHARS);
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

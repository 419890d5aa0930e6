// Asks the server for what a prompt calls for: triggers, search, resolution. How its rows read as memories is the work
// of `memory`.
import { asRecord, asText } from "../base/json.ts";
import { FENCE, stripOurBlocks } from "../base/markup.ts";
import { PalinodeError, reasonOf, rowsOf } from "../server/index.ts";
import { type Asker, type Channel, type Finding, findingOf, type Memory } from "./finding.ts";
import { hitMemory, pathOf, resolvedMemory, scoreOf, triggerMemory } from "./memory.ts";
import { queryOf } from "./query.ts";

/** More at once is no prompt's business, and each costs work. */
const MAX_TRIGGERS = 20;
const MAX_TRIGGER_FILES = 2;
const MAX_SNIPPET_CHARS = 300;
const MAX_HITS = 20;
/** Somebody waits for the answer, and an embedder may be loading its model. */
export const BY_HAND_TIMEOUT_MS = 20_000;
/** The server refuses a resolution that is asked for more (palinode-api.md, 2.11). */
const MAX_RESOLVED = 50;
const RELATED = "### Related memories";
const RELATED_INSTEAD = "### Related memories\n(by search: resolution did not answer in time)";

/**
 * Returns the memories behind triggers that fired: the text of two files, the others by their description. A trigger's
 * cooldown has started on the server, so each is shown even when its file cannot be read. Never rejects.
 */
export function askTriggers(asker: Asker, query: string): Promise<Finding> {
  const { client, signal } = asker;
  return findingOf("triggers", async () => {
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
  return findingOf(channel, async () => {
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

/** Returns a resolution of the prompt, or what search says when it is late or the server has none. Never rejects. */
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

function resolvedFinding(answer: Record<string, unknown>): Finding {
  const text = asText(answer.text);
  if (text === undefined) return { channel: "search", memories: [], reason: "bad-response" };
  const memory = resolvedMemory(answer, text);
  return memory === undefined
    ? { channel: "search", memories: [], reason: "no-hits" }
    : { channel: "search", memories: [memory] };
}

/** A hit that is a block of ours, or what this very session was captured as, is no memory. */
function isOwn(row: Record<string, unknown>, sessionId: string): boolean {
  const text = `${asText(row.snippet) ?? ""}\n${asText(row.content) ?? ""}`;
  if (text.includes(`<${FENCE}>`) && stripOurBlocks(text).trim() === "") return true;
  return sessionId.length >= 8 && (text.includes(sessionId) || asRecord(row.metadata).session_id === sessionId);
}

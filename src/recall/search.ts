// Asks the server for what a prompt calls for: triggers, search, resolution. How its answers read as memories is the
// work of `memory`.
import { FENCE, stripOurBlocks } from "../base/markup.ts";
import { within } from "../base/time.ts";
import {
  checkTriggers,
  type FiredTrigger,
  type Hit,
  type Resolution,
  reasonOf,
  resolveQuery,
  searchMemory,
} from "../server/index.ts";
import { isEcho } from "./echo.ts";
import { type Asker, type Channel, type Finding, findingOf, type Memory } from "./finding.ts";
import { hitMemory, resolvedMemory, triggerMemory } from "./memory.ts";
import { queryOf } from "./query.ts";
import { BOTH_ARMS_MARGIN, hitsOverFloor, ownHits, type Purpose, tellingHits } from "./relevance.ts";
import { isRetired, otherSides } from "./standing.ts";

/** More at once is no prompt's business, and each costs work. */
const MAX_TRIGGERS = 20;
const MAX_TRIGGER_FILES = 2;
const MAX_SNIPPET_CHARS = 300;
/** Of all projects' hits that many are looked at: those of this one come where they come. */
const MIN_ASKED = 40;
const MAX_ASKED = 120;
/** Somebody waits for the answer, and an embedder may be loading its model. */
export const BY_HAND_TIMEOUT_MS = 20_000;
const MAX_RESOLVED_CHARS = 2000;
const LOOK_WAIT_MS = 250;
const RELATED = "### Related memories";
const RELATED_INSTEAD = "### Related memories\n(by search: resolution did not answer in time)";

/**
 * Returns the memories behind triggers that fired: the text of two files, the others by their description. A trigger's
 * cooldown has started on the server, so each is shown even when its file cannot be read. Never rejects.
 */
export function askTriggers(asker: Asker, query: string): Promise<Finding> {
  return findingOf("triggers", async () => {
    const fired = await firedTriggers(asker, query);
    if (fired === undefined) return { memories: [], reason: "no-embedder" };
    const unique = [...new Map(fired.map((trigger) => [trigger.file, trigger])).values()].slice(0, MAX_TRIGGERS);
    const asked = unique.map((trigger, index) => triggerMemory(asker, trigger, index < MAX_TRIGGER_FILES));
    return { memories: await Promise.all(asked) };
  });
}

/**
 * Returns the triggers that fire; undefined as soon as the server says that it has no embedder. Where that is not known
 * it is asked first, and waited for a little: it is asked once a server.
 */
async function firedTriggers(asker: Asker, query: string): Promise<FiredTrigger[] | undefined> {
  const { client, signal, project, embedder } = asker;
  const looked = embedder.look(client, { signal });
  if (await within(looked, LOOK_WAIT_MS)) return undefined;
  const abort = new AbortController();
  const asked = checkTriggers(client, query, { signal: AbortSignal.any([signal, abort.signal]) }, project);
  asked.catch(() => embedder.doubt());
  const fired = await Promise.race([asked, looked.then((isMissing) => (isMissing ? undefined : asked))]);
  if (fired === undefined) abort.abort();
  return fired;
}

/** Returns the search hits that are worth showing, best first; `extra` more are asked for. Never rejects. */
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
    const limit = Math.min(MAX_ASKED, Math.max(MIN_ASKED, config.recallMaxResults) + extra);
    const request = {
      query,
      limit,
      threshold: serverFloor(config),
      maxChars: MAX_SNIPPET_CHARS,
      mode: "passive",
    } as const;
    const hits = await searchMemory(client, { ...request, sessionId }, { signal });
    if (hits.some(({ isLexical }) => isLexical)) asker.embedder.told(true);
    // What is our own must not set the measure for the others.
    const others = hits.slice(0, 2 * limit).filter((hit) => !isOwn(hit, sessionId) && !isEcho(hit, query));
    const purpose = { project: asker.project, query };
    const told = relevant(others, purpose, config.recallThreshold);
    const memories = await memoriesOf(asker, told, others, { heading, count: config.recallMaxResults });
    if (memories.length > 0) return { memories };
    // Blocks of ours and other projects' memories are nothing that a lower floor would bring.
    return { memories, reason: ownHits(others, purpose).length > 0 ? "below-threshold" : "no-hits" };
  });
}

/** Returns the hits that are this project's and say something of the query, best first; retired ones at worst. */
function relevant(hits: readonly Hit[], purpose: Purpose, floor: number | undefined): Hit[] {
  const tell = (some: readonly Hit[]): Hit[] => {
    const own = ownHits(some, purpose);
    return floor === undefined ? tellingHits(own, some, purpose.query) : hitsOverFloor(own, floor);
  };
  const standing = tell(hits.filter((hit) => !isRetired(hit)));
  return standing.length > 0 ? standing : tell(hits);
}

/** Returns hits as memories, the first `count` with their other side, which then is not told a second time. */
async function memoriesOf(
  asker: Asker,
  hits: readonly Hit[],
  known: readonly Hit[],
  { heading, count }: { readonly heading?: string; readonly count: number },
): Promise<Memory[]> {
  const sides = await otherSides(asker, hits.slice(0, count), known);
  const told = new Set<string>();
  return hits.flatMap((hit) => {
    const side = sides.get(hit);
    if (told.has(hit.path)) return [];
    if (side?.words !== undefined) told.add(side.path);
    return [hitMemory(hit, heading, side)];
  });
}

/** What both arms found is shown from below the floor, so it is asked for; where nobody set one, the answer decides. */
function serverFloor({ recallThreshold }: Asker["config"]): number {
  return Math.max(0, (recallThreshold ?? 0) - BOTH_ARMS_MARGIN);
}

/** What somebody searches for by hand. */
export interface Search {
  readonly query: string;
  readonly limit: number;
  /** Whether memories of all projects are wanted, not only this one's and everybody's. */
  readonly isForAll?: boolean;
}

/** Returns what is searched for by hand, best first, one hit a file. Throws `PalinodeError`. */
export async function searchByHand(asker: Asker, { query, limit, isForAll = false }: Search): Promise<Memory[]> {
  const { client, config, sessionId, signal, project } = asker;
  const request = {
    query: queryOf(query),
    limit: MIN_ASKED,
    maxChars: MAX_SNIPPET_CHARS,
    threshold: serverFloor(config),
    sessionId,
  };
  const hits = await searchMemory(client, request, { signal, timeoutMs: BY_HAND_TIMEOUT_MS });
  const telling = relevant(hits.slice(0, 2 * MIN_ASKED), { project, query, isForAll }, config.recallThreshold);
  const memories = await memoriesOf(asker, telling, hits, { count: limit });
  const isFirst = ({ path }: Memory, index: number) => memories.findIndex((other) => other.path === path) === index;
  return memories.filter(isFirst).slice(0, limit);
}

/** Returns a resolution of the prompt, or what search says when it is late or the server has none. Never rejects. */
export async function askResolve(asker: Asker, query: string, extra = 0): Promise<Finding> {
  const { config, sessionId, signal, project, cwd } = asker;
  const scope = { sessionId, project, ...(cwd === undefined ? {} : { cwd }) };
  const limits = { maxItems: Math.max(1, config.recallMaxResults), maxChars: MAX_RESOLVED_CHARS };
  const request = { query, ...scope, ...limits };
  try {
    const resolution = await resolveQuery(asker, request, { signal, timeoutMs: config.resolveDeadlineMs });
    if (resolution !== undefined) return resolvedFinding(resolution);
  } catch (error) {
    if (["unauthorized", "denied", "rate-limited"].includes(reasonOf(error)))
      return { channel: "search", memories: [], reason: reasonOf(error) };
  }
  return askSearch(asker, query, extra, RELATED_INSTEAD);
}

function resolvedFinding({ text, count, told }: Resolution): Finding {
  if (text === undefined) return { channel: "search", memories: [], reason: "bad-response" };
  return count === 0
    ? { channel: "search", memories: [], reason: "no-hits" }
    : { channel: "search", memories: [resolvedMemory(text, told)] };
}

/** So short an id stands in other texts too. */
const MIN_ID_CHARS = 8;

/** A hit that is a block of ours, or what this very session was captured as, is no memory. */
function isOwn({ snippet = "", content = "", metadata }: Hit, sessionId: string): boolean {
  const text = `${snippet}\n${content}`;
  if (text.includes(`<${FENCE}>`) && stripOurBlocks(text).trim() === "") return true;
  const isNamed = sessionId.length >= MIN_ID_CHARS && text.includes(sessionId);
  return isNamed || (sessionId !== "" && metadata.session_id === sessionId);
}

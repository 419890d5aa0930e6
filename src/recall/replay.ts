// Where memory goes in a request, and that it stays there byte for byte. The host builds every request anew from its
// transcript and never keeps what a plugin added, so what was injected once is put back after the same message on every
// later request: otherwise the model provider's prompt cache would be lost from that point on.
import { asRecord } from "../base/json.ts";
import { digestOf } from "../base/text.ts";
import { createdAtOf, INJECTED_KIND, type Message, type Prompt, toolCallsOf, toolResultsOf } from "../cline/index.ts";
import { type Anchor, createPlaces, indexOfPrompt, type Turn } from "./anchors.ts";

/** What a line of a block says of a file, without its score. */
export interface Snippet {
  readonly path: string;
  readonly words: string;
}

/** "notes": what the session itself said before compaction. */
export const ENTRY_KINDS = ["digest", "recall", "repair", "notes"] as const;

/** One block that was injected, or is about to be. */
export interface LedgerEntry {
  readonly kind: (typeof ENTRY_KINDS)[number];
  /** True for what came late: it may only stand where nothing was sent before. */
  readonly atEnd: boolean;
  /** The prompt it was made for. */
  readonly prompt: string;
  readonly text: string;
  /** Keys of the memories in it. */
  readonly seen: readonly string[];
  /** What those of one line say; triggers and resolutions are not among them. */
  readonly snippets: readonly Snippet[];
  readonly id: string;
  readonly createdAt: number;
  /** Null until it is placed. */
  readonly anchor: Anchor | null;
}

/** What has been injected in one conversation, in the order in which it was. */
export type Ledger = readonly LedgerEntry[];

/**
 * Returns an entry that is not placed yet. Its id and time follow from the prompt, the text and the message that it is
 * about (the prompt itself where none is given), never from a clock.
 */
export function createEntry(
  prompt: Prompt,
  block: Pick<LedgerEntry, "kind" | "atEnd" | "text" | "seen"> & Partial<Pick<LedgerEntry, "snippets">>,
  about: Message = prompt.message,
): LedgerEntry {
  return {
    snippets: [],
    ...block,
    prompt: prompt.key,
    id: entryId(block.kind, prompt.key, block.text),
    createdAt: createdAtOf(about) ?? 0,
    anchor: null,
  };
}

/** Returns the id of an entry: what was changed since it was made, on disk or on the way, shows in it. */
export function entryId(kind: LedgerEntry["kind"], promptKey: string, text: string): string {
  return `palinode-${kind}-${digestOf(`${promptKey} ${text}`)}`;
}

/**
 * Returns the ledger as it holds for this request, and the request with its blocks in place (undefined when there are
 * none). New entries are placed. Where the host rewrote history, the digest and the current prompt's entries are placed
 * again, unchanged, and entries whose turns are gone are dropped: the host broke the prefix there, so it costs nothing.
 */
export function replay(ledger: Ledger, turn: Turn): { ledger: Ledger; messages: Message[] | undefined } {
  if (ledger.length === 0 || turn.request.length === 0) return { ledger, messages: undefined };
  const places = createPlaces(turn);
  const kept: LedgerEntry[] = [];
  const blocksAfter = new Map<number, Message[]>();
  for (const entry of ledger) {
    const placed = place(entry, places, turn);
    if (placed !== undefined) kept.push(placed.entry);
    if (placed?.index === undefined) continue;
    const index = behindResults(placed.index, turn.request);
    blocksAfter.set(index, [...(blocksAfter.get(index) ?? []), toMessage(entry)]);
  }
  return { ledger: kept, messages: blocksAfter.size === 0 ? undefined : withBlocks(turn.request, blocksAfter) };
}

/** Returns whether another copy of the plugin has answered this prompt already: a block that is not ours follows it. */
export function isAnsweredElsewhere(ledger: Ledger, turn: Turn): boolean {
  const index = indexOfPrompt(turn);
  return index !== -1 && hasBlockOfOthers(ledger, turn.request.slice(index + 1));
}

/** Returns whether a block stands in these messages that is not in the ledger. */
export function hasBlockOfOthers(ledger: Ledger, messages: readonly Message[]): boolean {
  const own = new Set<unknown>(ledger.map((entry) => entry.id));
  return messages.some((message) => {
    const { id, metadata } = asRecord(message);
    return asRecord(metadata).kind === INJECTED_KIND && !own.has(id);
  });
}

/** What the model can see in a ledger's blocks: keys of memories, and what those of one line say. */
export interface Visible {
  readonly keys: ReadonlySet<string>;
  readonly snippets: readonly Snippet[];
}

/** Returns what is visible in a ledger's blocks. */
export function visibleIn(ledger: Ledger): Visible {
  return {
    keys: new Set(ledger.flatMap((entry) => entry.seen)),
    snippets: ledger.flatMap((entry) => entry.snippets),
  };
}

/** Returns how many search hits the model can see already, so that as many more are asked for. */
export function countHits(ledger: Ledger): number {
  return ledger.filter(({ kind }) => kind !== "digest").flatMap((entry) => entry.snippets).length;
}

function toMessage(entry: LedgerEntry): Message {
  return {
    id: entry.id,
    role: "user",
    content: [{ type: "text", text: entry.text }],
    createdAt: entry.createdAt,
    metadata: { kind: INJECTED_KIND },
  };
}

/**
 * Returns an entry with its anchor and the message that it goes behind (none where a host that keeps what was added has
 * it in place already), or undefined when its turn is gone.
 */
function place(
  entry: LedgerEntry,
  places: ReturnType<typeof createPlaces>,
  turn: Turn,
): { entry: LedgerEntry; index?: number } | undefined {
  if (places.has(entry.id)) return { entry };
  const index = entry.anchor === null ? -1 : places.find(entry.anchor);
  if (entry.anchor !== null && index !== -1) {
    const anchor = places.renewed(entry.anchor, index);
    return { entry: anchor === entry.anchor ? entry : { ...entry, anchor }, index };
  }
  const isStanding = entry.kind === "digest" || entry.prompt === turn.prompt?.key;
  if (entry.anchor !== null && !isStanding) return undefined;
  const place = placeFor(entry, turn);
  return { entry: { ...entry, anchor: places.anchorAt(place) }, index: place };
}

/**
 * Returns where an entry without a place goes: directly after its prompt, or the failed tool's message, while nothing
 * but user messages follows, since those were never sent before; else the end of the request, the one place that moves
 * no cached byte and never stands between a tool call and its results.
 */
function placeFor({ kind, atEnd }: LedgerEntry, turn: Turn): number {
  const { request } = turn;
  const end = request.length - 1;
  if (atEnd) return end;
  const ofPrompt = indexOfPrompt(turn);
  const index = kind === "repair" ? request.findLastIndex((message) => toolResultsOf(message).length > 0) : ofPrompt;
  const isNew = index !== -1 && request.slice(index + 1).every((message) => asRecord(message).role === "user");
  // An earlier prompt that was never answered was sent all the same, right behind the failed tool's message.
  const isParted = kind === "repair" && ofPrompt > index + 1;
  return isNew && !isParted ? index : end;
}

/** A loop: this is most of what a call with nothing new costs. */
function withBlocks(request: readonly Message[], blocksAfter: ReadonlyMap<number, Message[]>): Message[] {
  const messages: Message[] = [];
  for (let index = 0; index < request.length; index += 1) {
    messages.push(request[index] as Message);
    const blocks = blocksAfter.get(index);
    if (blocks !== undefined) messages.push(...blocks);
  }
  return messages;
}

/** A request that was cut off behind a tool call may have taken a block there; its results come first when they do. */
function behindResults(index: number, request: readonly Message[]): number {
  let place = index;
  if (toolCallsOf(request[index] ?? {}).length > 0)
    while (toolResultsOf(request[place + 1] ?? {}).length > 0) place += 1;
  return place;
}

// Where memory goes in a request, and that it stays there byte for byte. The host builds every request anew from its
// transcript and never keeps what a plugin added, so what was injected once is put back after the same message on every
// later request: otherwise the model provider's prompt cache would be lost from that point on.
import { asRecord, asText } from "../base/json.ts";
import { digestOf } from "../base/text.ts";
import {
  createdAtOf,
  fingerprint,
  INJECTED_KIND,
  isPrompt,
  type Message,
  type Prompt,
  toolCallsOf,
  toolResultsOf,
} from "../cline/index.ts";

/** The message after which an entry stands. */
export interface Anchor {
  /** Null where the host gives no id, or one that says nothing: compaction reuses ids, or makes new ones each time. */
  readonly id: string | null;
  readonly print: string;
  /** How many messages with the same content stand before it in the transcript; tells them apart without an id. */
  readonly ordinal: number;
}

/** One block that was injected, or is about to be. */
export interface LedgerEntry {
  readonly kind: "digest" | "recall" | "repair";
  /** True for what came late: it may only stand where nothing was sent before. */
  readonly atEnd: boolean;
  /** The prompt it was made for. */
  readonly prompt: string;
  readonly text: string;
  /** Keys of the memories in it. */
  readonly seen: readonly string[];
  readonly id: string;
  readonly createdAt: number;
  /** Null until it is placed. */
  readonly anchor: Anchor | null;
}

/** What has been injected in one conversation, in the order in which it was. */
export type Ledger = readonly LedgerEntry[];

/** A request, the transcript behind it, and the prompt that is being answered. */
export interface Turn {
  readonly request: readonly Message[];
  readonly transcript: readonly Message[];
  readonly prompt: Prompt | undefined;
}

/**
 * Returns an entry that is not placed yet. Its id and time follow from the prompt, the text and the message that it is
 * about (the prompt itself where none is given), never from a clock.
 */
export function createEntry(
  prompt: Prompt,
  block: Pick<LedgerEntry, "kind" | "atEnd" | "text" | "seen">,
  about: Message = prompt.message,
): LedgerEntry {
  return {
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
    if (places.has(entry.id)) {
      // A host that keeps what was added has it in place already.
      kept.push(entry);
      continue;
    }
    const found = entry.anchor === null ? -1 : places.find(entry.anchor);
    const isGone = entry.anchor !== null && found === -1;
    if (isGone && entry.kind !== "digest" && entry.prompt !== turn.prompt?.key) continue;
    const index = found === -1 ? placeFor(entry, turn) : found;
    kept.push(found === -1 ? { ...entry, anchor: places.anchorAt(index) } : entry);
    const place = behindResults(index, turn.request);
    blocksAfter.set(place, [...(blocksAfter.get(place) ?? []), toMessage(entry)]);
  }
  if (blocksAfter.size === 0) return { ledger: kept, messages: undefined };
  // A loop: this is most of what a call with nothing new costs.
  const messages: Message[] = [];
  for (let index = 0; index < turn.request.length; index += 1) {
    messages.push(turn.request[index] as Message);
    const blocks = blocksAfter.get(index);
    if (blocks !== undefined) messages.push(...blocks);
  }
  return { ledger: kept, messages };
}

/** Returns whether another copy of the plugin has answered this prompt already: a block that is not ours follows it. */
export function isAnsweredElsewhere(ledger: Ledger, turn: Turn): boolean {
  const own = new Set<unknown>(ledger.map((entry) => entry.id));
  const since = turn.request.slice(indexOfPrompt(turn) + 1);
  return (
    indexOfPrompt(turn) !== -1 &&
    since.some(
      (message) => asRecord(asRecord(message).metadata).kind === INJECTED_KIND && !own.has(asRecord(message).id),
    )
  );
}

/** What the model can see in a ledger's blocks: keys of memories, and the lines that show them. */
export interface Visible {
  readonly keys: ReadonlySet<string>;
  readonly lines: readonly string[];
}

/** Returns what is visible in a ledger's blocks. */
export function visibleIn(ledger: Ledger): Visible {
  return {
    keys: new Set(ledger.flatMap((entry) => entry.seen)),
    lines: ledger.flatMap((entry) => entry.text.split("\n").filter((line) => line.startsWith("- ["))),
  };
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
 * Returns where an entry without a place goes: directly after its prompt, or the failed tool's message, while nothing but
 * user messages follows, since those were never sent before; else the end of the request, the one place that moves no
 * cached byte and never stands between a tool call and its results.
 */
function placeFor(entry: LedgerEntry, turn: Turn): number {
  const end = turn.request.length - 1;
  const about = (): number =>
    entry.kind === "repair"
      ? turn.request.findLastIndex((message) => toolResultsOf(message).length > 0)
      : indexOfPrompt(turn);
  const index = entry.atEnd ? -1 : about();
  const isNew = index !== -1 && turn.request.slice(index + 1).every((message) => asRecord(message).role === "user");
  // An earlier prompt that was never answered was sent all the same, right behind the failed tool's message.
  const isParted = entry.kind === "repair" && indexOfPrompt(turn) > index + 1;
  return isNew && !isParted ? index : end;
}

/** A request that was cut off behind a tool call may have taken a block there; its results come first when they come. */
function behindResults(index: number, request: readonly Message[]): number {
  let place = index;
  if (toolCallsOf(request[index] ?? {}).length > 0)
    while (toolResultsOf(request[place + 1] ?? {}).length > 0) place += 1;
  return place;
}

/** The prompt in the request; -1 when compaction folded it into another message. */
function indexOfPrompt({ request, prompt }: Turn): number {
  if (prompt === undefined) return -1;
  const id = asText(asRecord(prompt.message).id);
  const print = id === undefined ? fingerprint(prompt.message) : "";
  return request.findLastIndex(
    (message) =>
      !isFolded(message) && (id === undefined ? fingerprint(message) === print : asRecord(message).id === id),
  );
}

/** Finds anchors in a turn. By id this is one look; only without ids are contents read, each once. */
function createPlaces({ request, transcript }: Turn) {
  const byId = new Map<unknown, number>();
  request.forEach((message, index) => byId.set(asRecord(message).id, index));
  const inRequest = lazy(() => indexesByPrint(request));
  const inTranscript = lazy(() => indexesByPrint(transcript));

  function find({ id, print, ordinal }: Anchor): number {
    const index = id === null ? undefined : byId.get(id);
    if (index !== undefined && !isFolded(request[index])) return index;
    const alike = inRequest().get(print) ?? [];
    // A codec may mint new ids for what it wrote itself; a prompt keeps its own, so another one like it is another.
    if (id !== null) return alike.findLast((at) => !isPrompt(request[at] as Message)) ?? -1;
    // Transcript and request end alike, so what compaction took from the front is counted from the end.
    const total = inTranscript().get(print)?.length ?? ordinal + 1;
    return alike[alike.length - (total - ordinal)] ?? -1;
  }

  function anchorAt(index: number): Anchor {
    const message = request[index] as Message;
    const print = fingerprint(message);
    const id = isFolded(message) ? undefined : asText(asRecord(message).id);
    if (id !== undefined) return { id, print, ordinal: 0 };
    const alike = inRequest().get(print) ?? [];
    const total = inTranscript().get(print)?.length ?? alike.length;
    return { id: null, print, ordinal: Math.max(0, total - (alike.length - alike.indexOf(index))) };
  }

  return { find, anchorAt, has: (id: string) => byId.has(id) };
}

function indexesByPrint(messages: readonly Message[]): Map<string, number[]> {
  const indexes = new Map<string, number[]>();
  for (const [index, message] of messages.entries()) {
    const print = fingerprint(message);
    const known = indexes.get(print);
    if (known === undefined) indexes.set(print, [index]);
    else known.push(index);
  }
  return indexes;
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function isFolded(message: Message | undefined): boolean {
  const kind = asRecord(asRecord(message).metadata).kind;
  return typeof kind === "string" && kind.startsWith("compaction");
}

// Where memory goes in a request, and that it stays there byte for byte. The host builds every request anew from its
// transcript and never keeps what a plugin added, so what was injected once is put back after the same message on every
// later request: otherwise the model provider's prompt cache would be lost from that point on.
import { asRecord, asText, createdAtOf, type Message } from "./cline.ts";
import { digestOf, fingerprint, INJECTED_KIND, type Prompt } from "./prompt.ts";

/** The message after which an entry stands. */
export interface Anchor {
  readonly id: string | null;
  readonly print: string;
  /** How many messages with the same content stand before it in the transcript. */
  readonly ordinal: number;
}

/** One block that was injected, or is about to be. */
export interface LedgerEntry {
  readonly kind: "digest" | "recall";
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

/** Returns an entry that is not placed yet. Its id and time follow from the prompt and the text, never from a clock. */
export function createEntry(prompt: Prompt, block: Pick<LedgerEntry, "kind" | "atEnd" | "text" | "seen">): LedgerEntry {
  const id = `palinode-${block.kind}-${digestOf(`${prompt.key} ${block.text}`)}`;
  return { ...block, prompt: prompt.key, id, createdAt: createdAtOf(prompt.message) ?? 0, anchor: null };
}

/**
 * Returns the ledger as it holds for this request, and the request with its blocks in place (undefined when there are
 * none). New entries are placed. Where the host rewrote history, the digest and the current prompt's entries are placed
 * again, unchanged, and entries whose turns are gone are dropped: the host broke the prefix there, so it costs nothing.
 */
export function replay(ledger: Ledger, turn: Turn): { ledger: Ledger; messages: Message[] | undefined } {
  if (ledger.length === 0 || turn.request.length === 0) return { ledger, messages: undefined };
  const find = createFinder(turn);
  const kept: LedgerEntry[] = [];
  const blocksAfter = new Map<number, Message[]>();
  for (const entry of ledger) {
    const found = entry.anchor === null ? -1 : find(entry.anchor);
    const isGone = entry.anchor !== null && found === -1;
    if (isGone && entry.kind !== "digest" && entry.prompt !== turn.prompt?.key) continue;
    const index = found === -1 ? placeFor(entry, turn) : found;
    kept.push(found === -1 ? { ...entry, anchor: anchorAt(turn, index) } : entry);
    blocksAfter.set(index, [...(blocksAfter.get(index) ?? []), toMessage(entry)]);
  }
  if (kept.length === 0) return { ledger: kept, messages: undefined };
  return { ledger: kept, messages: turn.request.flatMap((message, index) => [message, ...(blocksAfter.get(index) ?? [])]) };
}

/** Returns the keys of all memories that the model can see in this ledger's blocks. */
export function visibleKeys(ledger: Ledger): Set<string> {
  return new Set(ledger.flatMap((entry) => entry.seen));
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
 * Returns where an entry without a place goes: directly after its prompt while nothing but user messages follows, since
 * those were never sent before; else the end of the request, the one place that moves no cached byte and never stands
 * between a tool call and its results.
 */
function placeFor(entry: LedgerEntry, turn: Turn): number {
  const end = turn.request.length - 1;
  const index = entry.atEnd ? -1 : indexOfPrompt(turn);
  const isNew = index !== -1 && turn.request.slice(index + 1).every((message) => asRecord(message).role === "user");
  return isNew ? index : end;
}

/** The prompt in the request; -1 when compaction folded it into another message. */
function indexOfPrompt({ request, prompt }: Turn): number {
  if (prompt === undefined) return -1;
  const id = asText(asRecord(prompt.message).id);
  const print = id === undefined ? fingerprint(prompt.message) : "";
  return request.findLastIndex((message) => !isFolded(message) && (id === undefined ? fingerprint(message) === print : asRecord(message).id === id));
}

function anchorAt({ request, transcript }: Turn, index: number): Anchor {
  const message = request[index] as Message;
  const id = asText(asRecord(message).id) ?? null;
  const print = fingerprint(message);
  // Only without an id does the content have to tell one message from another like it.
  const until = id === null ? originOf(transcript, request, index, print) : 0;
  return { id, print, ordinal: transcript.slice(0, until).filter((other) => fingerprint(other) === print).length };
}

/** Returns a function from an anchor to its index in the request, or -1. Linear in the request, once. */
function createFinder(turn: Turn): (anchor: Anchor) => number {
  const byId = new Map<unknown, number>();
  turn.request.forEach((message, index) => byId.set(asRecord(message).id, index));
  return (anchor) => {
    const index = anchor.id === null ? undefined : byId.get(anchor.id);
    // Basic compaction keeps the first prompt's id on a message that holds all of them: only its content tells.
    if (index !== undefined && (!isFolded(turn.request[index]) || fingerprint(turn.request[index] as Message) === anchor.print)) return index;
    return findByContent(turn, anchor);
  };
}

/**
 * The codec may give messages new ids, and an agentic compaction's summary has a new one on every request. A prompt
 * that had an id keeps it, so another prompt that says the same is not taken for it.
 */
function findByContent({ request, transcript }: Turn, anchor: Anchor): number {
  const candidates = [...request.keys()].filter((index) => fingerprint(request[index] as Message) === anchor.print);
  if (anchor.id !== null) return candidates.findLast((index) => asRecord(request[index]).role !== "user" || isFolded(request[index])) ?? -1;
  return candidates.find((index) => {
    const before = transcript.slice(0, originOf(transcript, request, index, anchor.print));
    return before.filter((message) => fingerprint(message) === anchor.print).length === anchor.ordinal;
  }) ?? -1;
}

/** The transcript's index of a message of the request: both end alike, so equal messages are counted from the end. */
function originOf(transcript: readonly Message[], request: readonly Message[], index: number, print: string): number {
  let later = request.slice(index + 1).filter((message) => fingerprint(message) === print).length;
  return transcript.findLastIndex((message) => fingerprint(message) === print && later-- === 0);
}

function isFolded(message: Message | undefined): boolean {
  const kind = asRecord(asRecord(message).metadata).kind;
  return typeof kind === "string" && kind.startsWith("compaction");
}

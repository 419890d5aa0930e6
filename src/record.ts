// What of a session outlives its process: the ledger to replay, the prompts that were asked, how much was captured, and
// the last word of each channel. Rows that cannot be read are left out; the good ones stay.
import { triggerHeading } from "./block.ts";
import { asRecord } from "./cline.ts";
import type { Reason } from "./client.ts";
import type { Memory } from "./recall.ts";
import { type Anchor, entryId, type Ledger, type LedgerEntry } from "./replay.ts";
import { fileStem, type State } from "./state.ts";
import { defuse } from "./text.ts";

/** More prompts than any host shows again after an undo. */
const MAX_ASKED = 500;
const MAX_SESSIONS = 200;
const MAX_AGE_MS = 30 * 24 * 3600_000;

/** The last news of one channel. */
export interface ChannelNews {
  readonly okAt?: number;
  readonly reason?: Reason;
  /** What a pause came from. */
  readonly cause?: Reason;
  readonly at: number;
  readonly ms: number;
}

export interface SessionRecord {
  /** Where the session works: how commands without a session find it. */
  cwd: string | undefined;
  isPrimed: boolean;
  asked: string[];
  ledger: Ledger;
  /** Prompts that a capture covers. */
  captured: number;
  channels: Record<string, ChannelNews>;
  /** Memories that found no room. */
  leftOut: number;
  /** Triggers that fired and found no room: their cooldown runs, so the next prompt shows them. */
  carried: Memory[];
  /** Settings that were left at their defaults, and why. */
  problems?: readonly string[];
}

/** Returns an empty record. */
export function newRecord(cwd: string | undefined): SessionRecord {
  return { cwd, isPrimed: false, asked: [], ledger: [], captured: 0, channels: {}, leftOut: 0, carried: [] };
}

/** Returns what is known of a session, or an empty record. Never throws. */
export function loadRecord(state: State, sessionId: string | undefined, cwd: string | undefined): SessionRecord {
  const raw = sessionId === undefined ? {} : asRecord(state.read(recordName(sessionId)));
  const { isPrimed, asked, ledger, captured, channels, leftOut, carried } = raw;
  return {
    cwd,
    isPrimed: isPrimed === true,
    asked: Array.isArray(asked) ? asked.filter((key) => typeof key === "string").slice(-MAX_ASKED) : [],
    ledger: Array.isArray(ledger) ? [...new Map(ledger.flatMap(readEntry).map((entry) => [entry.id, entry])).values()] : [],
    captured: count(captured),
    channels: asRecord(channels) as Record<string, ChannelNews>,
    leftOut: count(leftOut),
    carried: Array.isArray(carried) ? carried.flatMap(readCarried) : [],
  };
}

/** Writes the record: one small file, replaced as a whole. */
export function saveRecord(state: State, sessionId: string | undefined, record: SessionRecord): void {
  if (sessionId === undefined) return;
  record.asked = record.asked.slice(-MAX_ASKED);
  state.write(recordName(sessionId), { version: 1, ...record });
}

/** Returns how many prompts the record on disk calls captured: another session may have sent what this one left. */
export function capturedOnDisk(state: State, sessionId: string): number {
  return count(asRecord(state.read(recordName(sessionId))).captured);
}

/** Notes in a session's record that its first `prompts` prompts are captured. */
export function coverInRecord(state: State, sessionId: string, prompts: number): void {
  const record = asRecord(state.read(recordName(sessionId)));
  if (count(record.captured) < prompts) state.write(recordName(sessionId), { version: 1, ...record, captured: prompts });
}

/** Removes the records of sessions that are long over. Does not block. */
export function pruneRecords(state: State, now: number): Promise<void> {
  return state.prune("sessions", { maxFiles: MAX_SESSIONS, maxAgeMs: MAX_AGE_MS }, now);
}

function recordName(sessionId: string): string {
  return `sessions/${fileStem(sessionId)}.json`;
}

function readEntry(raw: unknown): LedgerEntry[] {
  const { kind, atEnd, prompt, text, seen, id, createdAt, anchor } = asRecord(raw);
  const place = anchor === null ? null : readAnchor(anchor);
  if ((kind !== "digest" && kind !== "recall") || place === undefined) return [];
  if (typeof prompt !== "string" || typeof text !== "string" || typeof createdAt !== "number") return [];
  // A text that was spoilt is no block any more, and would reach the model as it is.
  if (id !== entryId(kind, prompt, text)) return [];
  if (!Array.isArray(seen) || !seen.every((key) => typeof key === "string")) return [];
  return [{ kind, atEnd: atEnd === true, prompt, text, seen, id, createdAt, anchor: place }];
}

function readCarried(raw: unknown): Memory[] {
  const { keys, path, gist, entry } = asRecord(raw);
  const { lines } = asRecord(entry);
  if (![keys, lines].every((list) => Array.isArray(list) && list.every((text) => typeof text === "string"))) return [];
  if (typeof path !== "string" || typeof gist !== "string") return [];
  // Made safe once more: a file may have been spoilt, and what is safe already stays as it is.
  const safe = (lines as string[]).slice(1).map(defuse);
  return [{ keys: keys as string[], path, gist, score: null, entry: { lines: [triggerHeading(path), ...safe] } }];
}

function readAnchor(raw: unknown): Anchor | undefined {
  const { id, print, ordinal } = asRecord(raw);
  if ((id !== null && typeof id !== "string") || typeof print !== "string" || typeof ordinal !== "number") return undefined;
  return { id, print, ordinal };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}

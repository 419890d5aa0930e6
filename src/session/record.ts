// What of a session outlives its process: the ledger to replay, the prompts that were asked, how much was captured, and
// the last word of each channel. Rows that cannot be read are left out; the good ones stay.
import { asRecord } from "../base/json.ts";
import { defuse } from "../base/markup.ts";
import { fileStem, type State } from "../base/store.ts";
import { isTime } from "../base/time.ts";
import { type Anchor, entryId, type Ledger, type LedgerEntry, type Memory, triggerHeading } from "../recall/index.ts";
import type { Reason } from "../server/index.ts";
import type { SettingNote } from "../settings/index.ts";

/** More prompts than any host shows again after an undo. */
const MAX_ASKED = 500;
/** Reasons that are no trouble. */
const SILENT_BY_CHOICE: ReadonlySet<Reason> = new Set(["no-hits", "below-threshold", "too-short", "muted", "budget"]);
const MAX_ACCOUNTS = 10;
const MAX_TIMES = 20;
const MAX_SESSIONS = 200;
const MAX_AGE_MS = 30 * 24 * 3600_000;

/** What came last of one channel, and how it has fared in this session. */
export interface ChannelNews {
  readonly okAt?: number;
  readonly reason?: Reason;
  /** What a pause came from. */
  readonly cause?: Reason;
  readonly at: number;
  readonly ms: number;
  /** How often the server was asked, and how long the latest of these took. */
  readonly calls: number;
  readonly recentMs: readonly number[];
}

/** One memory in a block; `chars` is its part of the block. */
export interface ShownMemory {
  readonly kind: LedgerEntry["kind"];
  readonly path: string;
  readonly score: number | null;
  readonly chars: number;
}

/** What came of one prompt or failed command: for `why`. */
export interface Account {
  readonly at: number;
  /** How the prompt begins, or which command failed; redacted. */
  readonly about: string;
  readonly shown: readonly ShownMemory[];
  readonly chars: number;
  readonly silent: Readonly<Record<string, Reason>>;
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
  /** Prompt and signature of each failure that was recalled for. */
  repaired: string[];
  /** Prompts that were said while memory was paused: no capture tells of them. */
  muted: string[];
  accounts: readonly Account[];
  /** Settings that are not at their defaults, as the session's process has them; no secrets. */
  settings: readonly SettingNote[];
  /** Settings that were left at their defaults, and why. */
  problems?: readonly string[];
}

/** Returns an empty record. */
export function newRecord(cwd: string | undefined): SessionRecord {
  return {
    cwd,
    isPrimed: false,
    asked: [],
    ledger: [],
    captured: 0,
    channels: {},
    leftOut: 0,
    carried: [],
    repaired: [],
    muted: [],
    accounts: [],
    settings: [],
  };
}

/** Returns what is known of a session, or an empty record. Never throws. */
export function loadRecord(state: State, sessionId: string | undefined, cwd: string | undefined): SessionRecord {
  const raw = sessionId === undefined ? {} : asRecord(state.read(recordName(sessionId)));
  const {
    isPrimed,
    asked,
    ledger,
    captured,
    channels,
    leftOut,
    carried,
    repaired,
    muted,
    accounts,
    settings,
    problems,
  } = raw;
  return {
    cwd,
    isPrimed: isPrimed === true,
    asked: texts(asked).slice(-MAX_ASKED),
    ledger: [...new Map(listOf(ledger, readEntry).map((entry) => [entry.id, entry])).values()],
    captured: count(captured),
    channels: Object.fromEntries(Object.entries(asRecord(channels)).flatMap(readNews)),
    leftOut: count(leftOut),
    carried: listOf(carried, readCarried),
    repaired: texts(repaired).slice(-MAX_ASKED),
    muted: texts(muted).slice(-MAX_ASKED),
    accounts: listOf(accounts, readAccount).slice(-MAX_ACCOUNTS),
    settings: listOf(settings, readSetting),
    ...(Array.isArray(problems) ? { problems: texts(problems) } : {}),
  };
}

/** The session that worked in a folder last. */
export interface LatestSession {
  readonly id: string;
  readonly at: number;
  readonly record: SessionRecord;
}

/** Returns the session that was last active in this workspace, or undefined. */
export function latestSession(state: State, cwd: string | undefined): LatestSession | undefined {
  const byAge = state
    .list("sessions")
    .filter((file) => file.endsWith(".json"))
    .map((file) => ({ id: file.slice(0, -".json".length), at: state.writtenAt(`sessions/${file}`) ?? 0 }))
    .sort((a, b) => b.at - a.at);
  const found = byAge.find(({ id }) => asRecord(state.read(`sessions/${id}.json`)).cwd === cwd);
  return found && { ...found, record: loadRecord(state, found.id, cwd) };
}

/** Takes in how one question to a channel ended; undefined: with an answer. */
export function noteNews(
  record: SessionRecord,
  channel: string,
  reason: Reason | undefined,
  { at, ms, isAsked }: { at: number; ms: number; isAsked: boolean },
): void {
  const before = record.channels[channel];
  const isOk = reason === undefined || reason === "no-hits" || reason === "below-threshold";
  const okAt = isOk ? at : before?.okAt;
  // What costs no question says nothing of the server, so the trouble before it stays beside it.
  const earlier = before?.cause ?? before?.reason;
  const cause = isAsked || earlier === undefined || SILENT_BY_CHOICE.has(earlier) ? undefined : earlier;
  record.channels[channel] = {
    at,
    ms,
    calls: (before?.calls ?? 0) + Number(isAsked),
    recentMs: isAsked ? [...(before?.recentMs ?? []), ms].slice(-MAX_TIMES) : (before?.recentMs ?? []),
    ...(okAt === undefined ? {} : { okAt }),
    ...(reason === undefined ? {} : { reason }),
    ...(cause === undefined ? {} : { cause }),
  };
}

/** Keeps an account of what was shown, and of what was not and why. */
export function addAccount(record: SessionRecord, account: Account): void {
  record.accounts = [...record.accounts, account].slice(-MAX_ACCOUNTS);
}

/** Writes the record: one small file, replaced as a whole. */
export function saveRecord(state: State, sessionId: string | undefined, record: SessionRecord): void {
  if (sessionId === undefined) return;
  for (const keys of [record.asked, record.repaired, record.muted]) keys.splice(0, keys.length - MAX_ASKED);
  const name = recordName(sessionId);
  // What is only told, not replayed, must not keep the rest from being written.
  if (!state.write(name, { version: 1, ...record }))
    state.write(name, { version: 1, ...record, accounts: [], carried: [], problems: [] });
}

/** Returns how many prompts the record on disk calls captured: another session may have sent what this one left. */
export function capturedOnDisk(state: State, sessionId: string): number {
  return count(asRecord(state.read(recordName(sessionId))).captured);
}

/** Notes in a session's record that its first `prompts` prompts are captured. */
export function coverInRecord(state: State, sessionId: string, prompts: number): void {
  const record = asRecord(state.read(recordName(sessionId)));
  if (count(record.captured) < prompts)
    state.write(recordName(sessionId), { version: 1, ...record, captured: prompts });
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
  if (!isKind(kind) || place === undefined) return [];
  if (typeof prompt !== "string" || typeof text !== "string" || typeof createdAt !== "number") return [];
  // A text that was spoilt is no block any more, and would reach the model as it is.
  if (id !== entryId(kind, prompt, text)) return [];
  if (!Array.isArray(seen) || !seen.every((key) => typeof key === "string")) return [];
  return [{ kind, atEnd: atEnd === true, prompt, text, seen, id, createdAt, anchor: place }];
}

function isKind(kind: unknown): kind is LedgerEntry["kind"] {
  return kind === "digest" || kind === "recall" || kind === "repair";
}

function readNews([channel, raw]: [string, unknown]): [string, ChannelNews][] {
  const { okAt, reason, cause, at, ms, calls, recentMs } = asRecord(raw);
  if (!isTime(at) || typeof ms !== "number") return [];
  const times = Array.isArray(recentMs) ? recentMs.filter((time) => typeof time === "number") : [];
  return [
    [
      channel,
      {
        at,
        ms,
        calls: count(calls),
        recentMs: times,
        ...(isTime(okAt) ? { okAt } : {}),
        ...(typeof reason === "string" ? { reason: reason as Reason } : {}),
        ...(typeof cause === "string" ? { cause: cause as Reason } : {}),
      },
    ],
  ];
}

function readAccount(raw: unknown): Account[] {
  const { at, about, shown, chars, silent } = asRecord(raw);
  if (!isTime(at) || typeof about !== "string" || !Array.isArray(shown)) return [];
  const rows = shown
    .map(asRecord)
    .flatMap(({ kind, path, score, chars: size }) =>
      isKind(kind) && typeof path === "string"
        ? [{ kind, path, score: typeof score === "number" ? score : null, chars: count(size) }]
        : [],
    );
  const reasons = Object.entries(asRecord(silent)).filter(([, reason]) => typeof reason === "string");
  return [
    { at, about, shown: rows, chars: count(chars), silent: Object.fromEntries(reasons) as Record<string, Reason> },
  ];
}

function readSetting(raw: unknown): SettingNote[] {
  const { name, value, source } = asRecord(raw);
  return typeof name === "string" && typeof value === "string" && typeof source === "string"
    ? [{ name, value, source }]
    : [];
}

function texts(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.filter((text) => typeof text === "string") : [];
}

function listOf<T>(raw: unknown, read: (row: unknown) => T[]): T[] {
  return Array.isArray(raw) ? raw.flatMap(read) : [];
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
  if ((id !== null && typeof id !== "string") || typeof print !== "string" || typeof ordinal !== "number")
    return undefined;
  return { id, print, ordinal };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}

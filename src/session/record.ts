// What of a session outlives its process: the ledger to replay, the prompts that were asked, how much was captured, and
// the last word of each channel. How its rows are read is the work of `rows`.
import { asRecord, asText } from "../base/json.ts";
import { fileStem, type State } from "../base/store.ts";
import type { Ledger, Memory, Repaired } from "../recall/index.ts";
import type { SettingNote } from "../settings/index.ts";
import { type Account, type ChannelNews, MAX_ACCOUNTS } from "./news.ts";
import {
  listOf,
  readAccount,
  readCarried,
  readCount,
  readEntry,
  readNews,
  readRepaired,
  readSetting,
  readText,
} from "./rows.ts";

/** More prompts than any host shows again after an undo. */
const MAX_ASKED = 500;

export interface SessionRecord {
  /** Where the session works: how commands without a session find it. */
  cwd: string | undefined;
  /** The project that the folder was of: it may be gone when the session goes on. */
  project?: string;
  isPrimed: boolean;
  asked: string[];
  ledger: Ledger;
  /** How many prompts a capture covers, and which: after an undo a count alone does not say. */
  captured: number;
  capturedKeys: string[];
  channels: Record<string, ChannelNews>;
  /** Memories that found no room. */
  leftOut: number;
  /** Triggers that fired and found no room: their cooldown runs, so the next prompt shows them. */
  carried: readonly Memory[];
  /** Failures that were recalled for. */
  repaired: Repaired[];
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
    capturedKeys: [],
    channels: {},
    leftOut: 0,
    carried: [],
    repaired: [],
    muted: [],
    accounts: [],
    settings: [],
  };
}

/** Returns what is known of a session, or an empty record. Rows that cannot be read are left out. Never throws. */
export function loadRecord(state: State, sessionId: string | undefined, cwd: string | undefined): SessionRecord {
  const raw = sessionId === undefined ? {} : asRecord(state.read(recordName(sessionId)));
  const project = asText(raw.project);
  return {
    cwd,
    ...(project === undefined ? {} : { project }),
    isPrimed: raw.isPrimed === true,
    asked: listOf(raw.asked, readText).slice(-MAX_ASKED),
    ledger: [...new Map(listOf(raw.ledger, readEntry).map((entry) => [entry.id, entry])).values()],
    captured: readCount(raw.captured),
    capturedKeys: listOf(raw.capturedKeys, readText).slice(-MAX_ASKED),
    channels: Object.fromEntries(Object.entries(asRecord(raw.channels)).flatMap(readNews)),
    leftOut: readCount(raw.leftOut),
    carried: listOf(raw.carried, readCarried),
    repaired: listOf(raw.repaired, readRepaired).slice(-MAX_ASKED),
    muted: listOf(raw.muted, readText).slice(-MAX_ASKED),
    accounts: listOf(raw.accounts, readAccount).slice(-MAX_ACCOUNTS),
    settings: listOf(raw.settings, readSetting),
    ...(Array.isArray(raw.problems) ? { problems: listOf(raw.problems, readText) } : {}),
  };
}

/** The session that worked in a folder last. */
export interface LatestSession {
  readonly id: string;
  readonly at: number;
  readonly record: SessionRecord;
}

/** Returns the sessions of which there is a record, the newest first. Reads none of them. */
export function listRecords(state: State): Omit<LatestSession, "record">[] {
  return state
    .list("sessions")
    .filter((file) => file.endsWith(".json"))
    .map((file) => ({ id: file.slice(0, -".json".length), at: state.writtenAt(`sessions/${file}`) ?? 0 }))
    .sort((a, b) => b.at - a.at);
}

/** Returns the session that was last active in this workspace, or undefined. */
export function latestSession(state: State, cwd: string | undefined): LatestSession | undefined {
  const latest = listRecords(state).find(({ id }) => asRecord(state.read(`sessions/${id}.json`)).cwd === cwd);
  return latest && { ...latest, record: loadRecord(state, latest.id, cwd) };
}

/** Writes the record: one small file, replaced as a whole. */
export function saveRecord(state: State, sessionId: string | undefined, record: SessionRecord): void {
  if (sessionId === undefined) return;
  for (const list of [record.asked, record.repaired, record.muted, record.capturedKeys])
    list.splice(0, list.length - MAX_ASKED);
  const name = recordName(sessionId);
  if (state.write(name, { version: 1, ...record })) return;
  // What is only told, or can be derived, must not keep the rest from being written.
  const ledger = record.ledger.map(({ snippets: _, ...entry }) => entry);
  state.write(name, { version: 1, ...record, ledger, accounts: [], carried: [], problems: [] });
}

/** What captures cover of a session. */
export type Covered = Pick<SessionRecord, "captured" | "capturedKeys">;

/** Returns what the record on disk calls captured: another session may have sent what this one left. */
export function coveredOnDisk(state: State, sessionId: string): Covered {
  const { captured, capturedKeys } = asRecord(state.read(recordName(sessionId)));
  return { captured: readCount(captured), capturedKeys: listOf(capturedKeys, readText) };
}

/** Notes in a session's record what a capture covers. */
export function coverInRecord(state: State, sessionId: string, prompts: number, keys: readonly string[]): void {
  const raw = asRecord(state.read(recordName(sessionId)));
  const covered = listOf(raw.capturedKeys, readText);
  if (readCount(raw.captured) >= prompts && keys.every((key) => covered.includes(key))) return;
  const captured = Math.max(readCount(raw.captured), prompts);
  const capturedKeys = [...new Set([...covered, ...keys])].slice(-MAX_ASKED);
  state.write(recordName(sessionId), { version: 1, ...raw, captured, capturedKeys });
}

function recordName(sessionId: string): string {
  return `sessions/${fileStem(sessionId)}.json`;
}

// Captures on their way to the server. Each is a file before it is sent and is removed when the server has it, so that a
// process may end at any moment. `tails/` holds what a running session would still say; `queue/` what is to be sent.
import { randomUUID } from "node:crypto";
import { asRecord, asText } from "../base/json.ts";
import { isAlive } from "../base/process.ts";
import { fileStem, type State } from "../base/store.ts";
import { digestOf } from "../base/text.ts";
import { isTime } from "../base/time.ts";
import {
  type Client,
  filesOfSessionEnd,
  PalinodeError,
  type Reason,
  readMemory,
  reasonOf,
  recordSession,
  type SessionEndBody,
} from "../server/index.ts";
import { MAX_SUMMARY_CHARS } from "./summary.ts";

/** A slow server may store a session after that all the same: it is looked up before it is sent again. */
const POST_TIMEOUT_MS = 5000;
/** Who sends a capture says so on its file this often, and has lost it when it said nothing for that long. */
const HEARTBEAT_MS = 1000;
const LEASE_MS = 4000;
/** A tail that nobody touched for so long has no owner, even where its process lives on. */
const TAIL_IDLE_MS = 30 * 60_000;
const MAX_AGE_MS = 7 * 24 * 3600_000;
const MAX_FILES = 200;
const MAX_REFUSALS = 2;

const CLAIMED = /^(\d+-[\w-]+\.json)\.(\d+)-([\w-]+)\.claim$/;
/** Tells this copy of the plugin from another in the same process: a host may run each in a thread of its own. */
const INSTANCE = randomUUID().slice(0, 8);
const NEVER_ARRIVED: readonly Reason[] = ["refused", "dns", "unauthorized", "denied", "rate-limited", "paused"];

/** One capture, as it lies on disk. Redacted before it gets here. */
export interface Item {
  readonly sessionId: string;
  /** Whose tail it is: the session's, or one conversation's of several. */
  readonly tail: string;
  readonly prompts: number;
  readonly createdAt: number;
  /** The process that wrote it. */
  readonly pid: number;
  readonly body: SessionEndBody;
  readonly refusals: number;
  /** When it may have reached the server without our knowing; absent when it never did. */
  readonly unknownSince?: number;
  readonly reason?: Reason;
}

/** What an outbox needs to know of its session. */
export interface Sender {
  readonly state: State;
  readonly client: Client;
  readonly now: () => number;
  /** Undefined when the server allows capture now. */
  readonly refusal: () => Promise<Reason | undefined>;
  /** Hears that a session's first `prompts` prompts are on their way: should it go on, it must not say them again. */
  readonly onCovered: (sessionId: string, prompts: number) => void;
  /** Ends what is under way. */
  readonly signal?: AbortSignal;
}

/** Leaves what a conversation would say now on disk, as unsent. Returns false where nothing is kept. */
export function keepTail({ state }: Sender, item: Item): boolean {
  return state.write(tailName(item.tail), item);
}

/** Forgets what a conversation would say: something else covers it. */
export function dropTail({ state }: Sender, tail: string): void {
  state.remove(tailName(tail));
}

/** Keeps the folders of waiting and refused captures within bounds, whatever the server does. Does not block. */
export async function tidy(state: State, now: number): Promise<void> {
  for (const folder of ["queue", "refused", "tails"])
    await state.prune(folder, { maxFiles: MAX_FILES, maxAgeMs: MAX_AGE_MS }, now);
}

/** Sends a session's capture: as the file that `keepTail` left, or directly where nothing is kept. Never rejects. */
export async function sendCapture(sender: Sender, item: Item, isKept: boolean): Promise<Reason | undefined> {
  if (!isKept) return (await post(sender, item)).reason;
  const claim = claimed(sender.state, tailName(item.tail), queueName(item));
  // Another process of this session was faster with the same file: it sends it.
  return claim === undefined ? undefined : holding(sender, claim, () => send(sender, claim, item));
}

/**
 * Sends what earlier sessions could not: oldest first, once each, until the server fails. Sessions whose owner is gone
 * speak through their tails. Returns whether another copy of the plugin had the next one under way. Never rejects.
 */
export async function drain(sender: Sender, ownSessionId: string): Promise<boolean> {
  const { state, now } = sender;
  adoptTails(sender, ownSessionId);
  for (const file of state.list("queue")) {
    const holder = CLAIMED.exec(file);
    if (holder === null && !file.endsWith(".json")) continue;
    const since = holder === null ? undefined : state.writtenAt(`queue/${file}`);
    if (holder?.[3] === INSTANCE) continue;
    // Nothing overtakes what another copy has under way.
    if (holder !== null && !isLost(holder, since)) return true;
    const claim = claimed(state, `queue/${file}`, `queue/${holder?.[1] ?? file}`);
    if (claim === undefined) continue;
    const reason = await holding(sender, claim, () => deliver(sender, claim, since));
    if (reason !== undefined && reason !== "bad-response") return false;
  }
  await tidy(state, now());
  return false;
}

async function deliver(sender: Sender, claim: string, lostAt: number | undefined): Promise<Reason | undefined> {
  const { state, now } = sender;
  const item = readItem(state.read(claim));
  if (item === undefined) {
    state.rename(claim, `${unclaimed(claim)}.bad`);
    return undefined;
  }
  if (now() - item.createdAt > MAX_AGE_MS) {
    state.remove(claim);
    return undefined;
  }
  const sentAt = item.unknownSince ?? lostAt;
  if (sentAt === undefined) return send(sender, claim, item);
  const { isStored, reason } = await lookUp(sender, item, sentAt);
  if (isStored) state.remove(claim);
  if (reason !== undefined) release(sender, claim, { ...item, unknownSince: sentAt, reason });
  return isStored || reason !== undefined ? reason : send(sender, claim, item);
}

async function send(sender: Sender, claim: string, item: Item): Promise<Reason | undefined> {
  const started = sender.now();
  const { reason, status } = await post(sender, item);
  if (reason === undefined) {
    sender.state.remove(claim);
    return undefined;
  }
  const isRefused = status === 400 || status === 413 || status === 422;
  const { unknownSince: _, ...known } = item;
  const isUnknown = !isRefused && !NEVER_ARRIVED.includes(reason);
  release(sender, claim, {
    ...known,
    reason,
    refusals: item.refusals + (isRefused ? 1 : 0),
    ...(isUnknown ? { unknownSince: started } : {}),
  });
  return reason;
}

async function post(sender: Sender, item: Item): Promise<{ reason?: Reason; status?: number | undefined }> {
  try {
    const refusal = await sender.refusal();
    if (refusal !== undefined) return { reason: refusal };
    await recordSession(sender.client, item.body, limitsOf(sender));
    return {};
  } catch (error) {
    return { reason: reasonOf(error), status: error instanceof PalinodeError ? error.status : undefined };
  }
}

/** Gives a capture back to the queue, or sets it aside when the server refuses it for what it says. */
function release({ state }: Sender, claim: string, item: Item): void {
  state.write(claim, item);
  const name = unclaimed(claim);
  state.rename(claim, item.refusals >= MAX_REFUSALS ? name.replace(/^queue\//, "refused/") : name);
}

/**
 * Returns whether the server has a capture whose answer never came: by the file name that follows from the summary, else
 * by its entry in the day's notes (palinode-api.md, 3.4).
 */
async function lookUp(sender: Sender, item: Item, sentAt: number): Promise<{ isStored: boolean; reason?: Reason }> {
  for (const date of datesFrom(sentAt)) {
    for (const file of filesOfSessionEnd(date, item.body)) {
      try {
        if (holdsEntry(await readMemory(sender.client, file, limitsOf(sender)), item)) return { isStored: true };
      } catch (error) {
        // An answer that is no file says nothing about the capture, which must not be given up for it.
        if (!(error instanceof PalinodeError && error.status === 404))
          return { isStored: false, reason: reasonOf(error) };
      }
    }
  }
  return { isStored: false };
}

/** The server may reword dates in a summary; its first line, with the session's id, names one capture all the same. */
function holdsEntry(notes: string, item: Item): boolean {
  const opening = String(item.body.summary).split("\n")[0] ?? "";
  return notes.split(/^## Session End/m).some((entry) => entry.includes(opening) && entry.includes(item.sessionId));
}

/** Moves the tails of sessions that are over into the queue. */
function adoptTails(sender: Sender, ownSessionId: string): void {
  const { state, now } = sender;
  for (const file of state.list("tails").filter((name) => name.endsWith(".json"))) {
    const name = `tails/${file}`;
    const touched = state.writtenAt(name) ?? now();
    const item = name === tailName(ownSessionId) ? undefined : readItem(state.read(name));
    const isOver = item !== undefined && (!isAlive(item.pid) || now() - touched > TAIL_IDLE_MS);
    if (isOver && state.rename(name, queueName(item))) sender.onCovered(item.sessionId, item.prompts);
  }
}

/** Takes a file for this copy of the plugin; undefined when another was faster. */
function claimed(state: State, from: string, name: string): string | undefined {
  const claim = `${name}.${process.pid}-${INSTANCE}.claim`;
  state.touch(from);
  return state.rename(from, claim) ? claim : undefined;
}

async function holding<T>({ state }: Sender, claim: string, work: () => Promise<T>): Promise<T> {
  const heartbeat = setInterval(() => state.touch(claim), HEARTBEAT_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}

function isLost([, , pid]: RegExpExecArray, since: number | undefined): boolean {
  return !isAlive(Number(pid)) || since === undefined || Math.abs(Date.now() - since) > LEASE_MS;
}

function readItem(raw: unknown): Item | undefined {
  const { sessionId, tail, prompts, createdAt, pid, body, refusals, unknownSince } = asRecord(raw);
  const summary = asText(asRecord(body).summary);
  // What was changed on disk is not what was captured.
  if (summary === undefined || summary.length > MAX_SUMMARY_CHARS || !summary.isWellFormed()) return undefined;
  if (asText(sessionId) === undefined) return undefined;
  if (typeof prompts !== "number" || !isTime(createdAt) || typeof pid !== "number") return undefined;
  return {
    sessionId: String(sessionId),
    tail: asText(tail) ?? String(sessionId),
    prompts,
    createdAt,
    pid,
    body: asRecord(body),
    refusals: typeof refusals === "number" ? refusals : 0,
    ...(isTime(unknownSince) ? { unknownSince } : {}),
  };
}

function limitsOf({ signal }: Sender) {
  return { timeoutMs: POST_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
}

/** A post may have arrived just before or after midnight (UTC, as the server counts). */
function datesFrom(sentAt: number): Set<string> {
  return new Set(
    [sentAt - POST_TIMEOUT_MS, sentAt, sentAt + POST_TIMEOUT_MS].map((at) => new Date(at).toISOString().slice(0, 10)),
  );
}

function tailName(tail: string): string {
  return `tails/${fileStem(tail)}.json`;
}

function queueName(item: Item): string {
  return `queue/${String(item.createdAt).padStart(13, "0")}-${digestOf(`${item.tail} ${item.prompts}`)}.json`;
}

function unclaimed(claim: string): string {
  return claim.replace(/\.\d+-[\w-]+\.claim$/, "");
}

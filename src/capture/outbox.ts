// Captures on their way to the server. Each is a file before it is sent and is removed when the server has it, so that
// a process may end at any moment. `tails/` holds what a running session would still say; `queue/` what is to be sent.
import { isAlive } from "../base/process.ts";
import type { State } from "../base/store.ts";
import { type Client, PalinodeError, type Reason, reasonOf, recordSession } from "../server/index.ts";
import { holderOf, isLost, takeClaim, unclaimed, whileHolding } from "./claim.ts";
import { type Item, queueName, readItem, tailName } from "./item.ts";
import { lookUp } from "./lookup.ts";

/** A slow server may store a session after that all the same: it is looked up before it is sent again. */
const POST_TIMEOUT_MS = 5000;
/** A tail that nobody touched for so long has no owner, even where its process lives on. */
const TAIL_IDLE_MS = 30 * 60_000;
const MAX_AGE_MS = 7 * 24 * 3600_000;
const MAX_FILES = 200;
const MAX_REFUSALS = 2;

const NEVER_ARRIVED: readonly Reason[] = ["refused", "dns", "tls", "unauthorized", "denied", "rate-limited", "paused"];

/** What one capture may bring upon itself: the next may fare better. */
const MAY_BE_ITS_OWN: readonly Reason[] = ["bad-response", "unreachable"];

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

/** Returns how many prompts a session's tail covers, which is sent when the session is over; 0 where it left none. */
export function promptsLeft(state: State, tail: string): number {
  return readItem(state.read(tailName(tail)))?.prompts ?? 0;
}

/** Keeps the folders of waiting and refused captures within bounds, whatever the server does. Does not block. */
export async function tidy(state: State, now: number): Promise<void> {
  for (const folder of ["queue", "refused", "tails"])
    await state.prune(folder, { maxFiles: MAX_FILES, maxAgeMs: MAX_AGE_MS }, now);
}

/** Sends a session's capture: as the file that `keepTail` left, or directly where nothing is kept. Never rejects. */
export async function sendCapture(sender: Sender, item: Item, isKept: boolean): Promise<Reason | undefined> {
  if (!isKept) return (await post(sender, item)).reason;
  const { state } = sender;
  const claim = takeClaim(state, tailName(item.tail), queueName(item));
  // Another process of this session was faster with the same file: it sends it.
  return claim === undefined ? undefined : whileHolding(state, claim, () => send(sender, claim, item));
}

/**
 * Sends what earlier sessions could not: oldest first, once each, until the server fails. Sessions whose owner is gone
 * speak through their tails. Returns whether another copy of the plugin had the next one under way. Never rejects.
 */
export async function drain(sender: Sender, ownSessionId: string): Promise<boolean> {
  const { state, now } = sender;
  adoptTails(sender, ownSessionId);
  for (const file of state.list("queue")) {
    const holder = holderOf(file);
    if (holder?.isThisCopy || (holder === undefined && !file.endsWith(".json"))) continue;
    const heardAt = holder && state.writtenAt(`queue/${file}`);
    // Nothing overtakes what another copy has under way.
    if (holder !== undefined && !isLost(holder, heardAt)) return true;
    const claim = takeClaim(state, `queue/${file}`, `queue/${holder?.file ?? file}`);
    if (claim === undefined) continue;
    const reason = await whileHolding(state, claim, () => deliver(sender, claim, heardAt));
    // What is denied to one project may be allowed to the next.
    if (reason === "denied" && (await sender.refusal()) === undefined) continue;
    if (reason !== undefined && !MAY_BE_ITS_OWN.includes(reason)) return false;
  }
  await tidy(state, now());
  return false;
}

/** `lostAt`: when whoever had it under way was last heard of. */
async function deliver(sender: Sender, claim: string, lostAt: number | undefined): Promise<Reason | undefined> {
  const { state, client } = sender;
  const item = readItem(state.read(claim));
  if (item === undefined) {
    state.rename(claim, `${unclaimed(claim)}.bad`);
    return undefined;
  }
  const sentAt = item.unknownSince ?? lostAt;
  if (sentAt === undefined) return send(sender, claim, item);
  const { isStored, reason } = await lookUp(client, item, sentAt, limitsOf(sender));
  if (isStored) {
    state.remove(claim);
    return undefined;
  }
  if (reason === undefined) return send(sender, claim, item);
  release(sender, claim, { ...item, unknownSince: sentAt, reason });
  return reason;
}

async function send(sender: Sender, claim: string, item: Item): Promise<Reason | undefined> {
  const startedAt = sender.now();
  const { reason, status } = await post(sender, item);
  if (reason === undefined) {
    sender.state.remove(claim);
    return undefined;
  }
  const isRefused = status === 400 || status === 413 || status === 422;
  const mayHaveArrived = !isRefused && !NEVER_ARRIVED.includes(reason);
  const { unknownSince: _, ...unsent } = item;
  release(sender, claim, {
    ...unsent,
    reason,
    refusals: item.refusals + (isRefused ? 1 : 0),
    ...(mayHaveArrived ? { unknownSince: startedAt } : {}),
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

/** Moves the tails of sessions that are over into the queue. */
function adoptTails(sender: Sender, ownSessionId: string): void {
  const { state, now } = sender;
  for (const file of state.list("tails").filter((name) => name.endsWith(".json"))) {
    const name = `tails/${file}`;
    const touchedAt = state.writtenAt(name) ?? now();
    const item = name === tailName(ownSessionId) ? undefined : readItem(state.read(name));
    const isOver = item !== undefined && (!isAlive(item.pid) || now() - touchedAt > TAIL_IDLE_MS);
    if (isOver && state.rename(name, queueName(item))) sender.onCovered(item.sessionId, item.prompts);
  }
}

function limitsOf({ signal }: Sender) {
  return { timeoutMs: POST_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
}

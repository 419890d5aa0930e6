// Captures on their way to the server. Each is a file before it is sent and is removed when the server has it, so that
// a process may end at any moment. `tails/` holds what a running session would still say; `queue/` what is to be sent.
// One sender at a time works on it, whatever process; how one capture is sent is the work of `deliver`.
import { isAlive } from "../base/process.ts";
import type { State } from "../base/store.ts";
import type { Reason } from "../server/index.ts";
import { holderOf, inTurn, isHeld, isOthersTurn, takeClaim, whileHolding } from "./claim.ts";
import { deliver, giveBack, mayBeUnderWay, post, type Sender } from "./deliver.ts";
import { type Item, queueName, readItem, tailName } from "./item.ts";

/** A tail that nobody touched for so long has no owner, even where its process lives on. */
const TAIL_IDLE_MS = 30 * 60_000;
const MAX_AGE_MS = 7 * 24 * 3600_000;
const MAX_FILES = 200;
/** What was never tried is kept as long as there is room for it. */
const MAX_WAITING = 1000;
/** Another sender is waited for so often, at random times lest two keep meeting: six seconds on average. */
const MAX_WAITS = 40;
const LEAST_WAIT_MS = 50;
const WAIT_SPREAD_MS = 200;

/** What one capture may bring upon itself: the next may fare better. */
const MAY_BE_ITS_OWN: readonly Reason[] = ["bad-response", "unreachable"];
/** With these the server never heard of it. */
const UNTRIED: readonly (Reason | undefined)[] = [
  undefined,
  "paused",
  "denied",
  "unauthorized",
  "refused",
  "dns",
  "tls",
];

/** What became of a capture: stored, left on disk for whoever comes next, or not taken for a reason. */
export type Fate = "sent" | "left" | Reason;

/** Leaves what a conversation would say now on disk, as unsent. Returns false where nothing is kept. */
export function keepTail({ state }: Sender, item: Item): boolean {
  return state.write(tailName(item.tail), item);
}

/** Forgets what a conversation would say: something else covers it. */
export function dropTail({ state }: Sender, tail: string): void {
  state.remove(tailName(tail));
}

/** Returns what a session left, which is sent when the session is over; undefined where it left nothing. */
export function tailLeft(state: State, tail: string): Item | undefined {
  return readItem(state.read(tailName(tail)));
}

/**
 * Keeps the folders of waiting and refused captures within bounds, whatever the server does. What it never heard of is
 * not old. Does not block.
 */
export async function tidy(state: State, now: number): Promise<void> {
  await state.prune("refused", { maxFiles: MAX_FILES, maxAgeMs: MAX_AGE_MS }, now);
  for (const folder of ["queue", "tails"]) {
    const mayGo = (file: string): boolean => {
      const item = readItem(state.read(`${folder}/${file}`));
      return item === undefined || !UNTRIED.includes(item.reason);
    };
    await state.prune(folder, { maxFiles: MAX_WAITING, maxAgeMs: MAX_AGE_MS, mayGo }, now);
  }
}

/**
 * Sends a session's capture: as the file that `keepTail` left, or directly where nothing is kept. `onQueued` hears when
 * it is sure to arrive. Never rejects.
 */
export async function sendCapture(sender: Sender, item: Item, isKept: boolean, onQueued: () => void): Promise<Fate> {
  const { state } = sender;
  if (!isKept) return sendUnkept(sender, item, onQueued);
  const name = queueName(item);
  const claim = takeClaim(state, tailName(item.tail), name);
  // Another process took it, and sends it; or the disk does not let go of it, and it stays what it was.
  const isTaken = claim !== undefined || state.writtenAt(tailName(item.tail)) === undefined;
  if (isTaken) onQueued();
  if (claim === undefined) return "left";
  return inTurn(async () => {
    const fate = await sendClaimed(sender, claim, undefined, item);
    return fate === "left" ? sendQueued(sender, name) : fate;
  });
}

async function sendUnkept(sender: Sender, item: Item, onQueued: () => void): Promise<Fate> {
  const { reason } = await inTurn(() => post(sender, item));
  if (reason !== undefined) return reason;
  // An older one may lie there still, from before the disk was full.
  dropTail(sender, item.tail);
  onQueued();
  return "sent";
}

/** Sends what was given back to the queue, once no other sender is at work. */
async function sendQueued(sender: Sender, name: string): Promise<Fate> {
  const { state, signal } = sender;
  for (let waits = 0; waits < MAX_WAITS && signal?.aborted !== true; waits += 1) {
    await aMoment();
    state.touch(name);
    const claim = takeClaim(state, name, name);
    if (claim === undefined) return "left";
    const fate = await sendClaimed(sender, claim, undefined);
    if (fate !== "left") return fate;
  }
  return "left";
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LEAST_WAIT_MS + Math.random() * WAIT_SPREAD_MS).unref());
}

/**
 * Sends a claimed capture, or gives the claim up while another sender is at work. Of two that claim at the same time at
 * least one sees the other: a claim stands before its holder looks for others'.
 */
async function sendClaimed(sender: Sender, claim: string, lostAt: number | undefined, known?: Item): Promise<Fate> {
  const { state } = sender;
  return whileHolding(state, claim, async () => {
    if (!isOthersTurn(state)) return (await deliver(sender, claim, lostAt, known)) ?? "sent";
    giveBack(sender, claim, lostAt);
    return "left";
  });
}

/**
 * Sends what earlier sessions could not: oldest first, once each, until the server fails. Sessions whose owner is gone
 * speak through their tails. Returns whether something has to wait a moment: for another sender, or for a server that
 * may still be at work on it. Never rejects.
 */
export async function drain(sender: Sender, ownSessionId: string): Promise<boolean> {
  const { state, now } = sender;
  adoptTails(sender, ownSessionId);
  for (const file of state.list("queue")) {
    const fate = await inTurn(() => sendWaiting(sender, file));
    if (fate === "left") return true;
    if (fate === undefined || fate === "sent") continue;
    // What is denied to one project may be allowed to the next.
    if (fate === "denied" && (await sender.refusal()) === undefined) continue;
    if (!MAY_BE_ITS_OWN.includes(fate)) return false;
  }
  await tidy(state, now());
  return false;
}

/** Sends one file of the queue; undefined where it is none, or gone, or under way in this copy of the plugin. */
async function sendWaiting(sender: Sender, file: string): Promise<Fate | undefined> {
  const { state, now } = sender;
  const holder = holderOf(file);
  if (holder === undefined && !file.endsWith(".json")) return undefined;
  if (isHeld(state, file)) return holder?.isThisCopy ? undefined : "left";
  const lostAt = holder && state.writtenAt(`queue/${file}`);
  const { unknownSince = lostAt, isAnswered = false } = readItem(state.read(`queue/${file}`)) ?? {};
  if (unknownSince !== undefined && !isAnswered && mayBeUnderWay(unknownSince, now())) return "left";
  state.touch(`queue/${file}`);
  const claim = takeClaim(state, `queue/${file}`, `queue/${holder?.file ?? file}`);
  return claim === undefined ? undefined : sendClaimed(sender, claim, lostAt);
}

/** Moves the tails of sessions that are over into the queue. */
function adoptTails(sender: Sender, ownSessionId: string): void {
  const { state, now } = sender;
  for (const file of state.list("tails").filter((name) => name.endsWith(".json"))) {
    const name = `tails/${file}`;
    const touchedAt = state.writtenAt(name) ?? now();
    const item = name === tailName(ownSessionId) ? undefined : readItem(state.read(name));
    const isOver = item !== undefined && (!isAlive(item.pid) || now() - touchedAt > TAIL_IDLE_MS);
    if (isOver && state.rename(name, queueName(item))) sender.onCovered(item);
  }
}

// One capture that this copy of the plugin has claimed: sent, or looked up first where the server may have it already.
import type { State } from "../base/store.ts";
import { type Client, PalinodeError, type Reason, reasonOf, recordSession } from "../server/index.ts";
import { unclaimed } from "./claim.ts";
import { type Item, readItem } from "./item.ts";
import { lookUp } from "./lookup.ts";

/** A slow server may store a session after that all the same: it is looked up before it is sent again. */
export const POST_TIMEOUT_MS = 5000;
const MAX_REFUSALS = 2;

const NEVER_ARRIVED: readonly Reason[] = ["refused", "dns", "tls", "unauthorized", "denied", "rate-limited", "paused"];

/** What sending needs to know of its session. */
export interface Sender {
  readonly state: State;
  readonly client: Client;
  readonly now: () => number;
  /** Undefined when the server allows capture now. */
  readonly refusal: () => Promise<Reason | undefined>;
  /** Hears that a session's prompts are on their way: should it go on, it must not say them again. */
  readonly onCovered: (item: Item) => void;
  /** Ends what is under way. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a claimed capture, or finds that it is stored; undefined when the server has it. `known`: what it holds, where
 * that is known. Never rejects.
 */
export async function deliver(
  sender: Sender,
  claim: string,
  lostAt: number | undefined,
  known?: Item,
): Promise<Reason | undefined> {
  const { state, client } = sender;
  const item = known ?? readItem(state.read(claim));
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

/**
 * Returns whether the server may still be at work on what was sent at epoch milliseconds `sentAt`, without an answer:
 * that it is not found says nothing then.
 */
export function mayBeUnderWay(sentAt: number, now: number): boolean {
  return now >= sentAt && now - sentAt < POST_TIMEOUT_MS;
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
  const { unknownSince: _, isAnswered: __, ...unsent } = item;
  release(sender, claim, {
    ...unsent,
    reason,
    refusals: item.refusals + (isRefused ? 1 : 0),
    ...(mayHaveArrived ? { unknownSince: startedAt, isAnswered: status !== undefined } : {}),
  });
  return reason;
}

/** Posts one capture; without a reason the server has it. Never rejects. */
export async function post(
  sender: Pick<Sender, "client" | "refusal" | "signal">,
  item: Item,
): Promise<{ reason?: Reason; status?: number | undefined }> {
  try {
    const refusal = await sender.refusal();
    if (refusal !== undefined) return { reason: refusal };
    const isReceived = await recordSession(sender.client, item.body, limitsOf(sender));
    return isReceived ? {} : { reason: "bad-response", status: 200 };
  } catch (error) {
    return { reason: reasonOf(error), status: error instanceof PalinodeError ? error.status : undefined };
  }
}

/** Gives an unsent capture back to the queue. What its last holder may have sent by `lostAt` is noted. */
export function giveBack(sender: Sender, claim: string, lostAt: number | undefined): void {
  const item = lostAt === undefined ? undefined : readItem(sender.state.read(claim));
  if (item !== undefined) release(sender, claim, { ...item, unknownSince: item.unknownSince ?? lostAt });
  else sender.state.rename(claim, unclaimed(claim));
}

/**
 * Gives a capture back to the queue, or sets it aside when the server refuses it for what it says. What the disk does
 * not take any more stays claimed by nobody: whoever finds that looks it up first.
 */
function release({ state }: Sender, claim: string, item: Item): void {
  if (!state.write(claim, item) && item.unknownSince !== undefined) return;
  const name = unclaimed(claim);
  state.rename(claim, item.refusals >= MAX_REFUSALS ? name.replace(/^queue\//, "refused/") : name);
}

function limitsOf({ signal }: Pick<Sender, "signal">) {
  return { timeoutMs: POST_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
}

// Who has a capture under way. Whoever sends one renames its file to a claim with the sender's name first, so that of
// two only one can; and sends only while no other sender's claim lies beside it: the server loses entries of the day's
// notes where posts overlap (palinode-api.md, 3.4).
import { randomUUID } from "node:crypto";
import { isAlive } from "../base/process.ts";
import type { State } from "../base/store.ts";

/** Who sends a capture says so on its file this often, and has lost it when it said nothing for that long. */
const HEARTBEAT_MS = 1000;
const LEASE_MS = 4000;

const CLAIM = /^(\d+-[\w-]+\.json)\.(\d+)-([\w-]+)\.claim$/;
/** Tells this copy of the plugin from another in the same process: a host may run each in a thread of its own. */
const INSTANCE = randomUUID().slice(0, 8);
/** Claims that this copy works on. One that it left behind, because the disk took nothing more, is nobody's. */
const held = new Set<string>();

export interface Holder {
  /** The capture's file before it was claimed. */
  readonly file: string;
  readonly pid: number;
  readonly isThisCopy: boolean;
}

/** Returns whose claim a file of the queue is, or undefined. */
export function holderOf(file: string): Holder | undefined {
  const [, unclaimedFile, pid, instance] = CLAIM.exec(file) ?? [];
  if (unclaimedFile === undefined) return undefined;
  return { file: unclaimedFile, pid: Number(pid), isThisCopy: instance === INSTANCE };
}

/** Returns whether somebody works on a claim: its holder lives, and was heard of lately. */
export function isHeld(state: State, file: string): boolean {
  const holder = holderOf(file);
  if (holder === undefined) return false;
  if (holder.isThisCopy) return held.has(`queue/${file}`);
  const heardAt = state.writtenAt(`queue/${file}`);
  return isAlive(holder.pid) && heardAt !== undefined && Math.abs(Date.now() - heardAt) <= LEASE_MS;
}

/** Returns whether another copy of the plugin sends something now. */
export function isOthersTurn(state: State): boolean {
  return state.list("queue").some((file) => holderOf(file)?.isThisCopy === false && isHeld(state, file));
}

/**
 * Takes the file `from`, which was written or touched just now, for this copy of the plugin as a claim on `name`;
 * undefined when that cannot be.
 */
export function takeClaim(state: State, from: string, name: string): string | undefined {
  const claim = `${name}.${process.pid}-${INSTANCE}.claim`;
  return state.rename(from, claim) ? claim : undefined;
}

/** Does the work, and shows on the claim that this copy is alive the while. */
export async function whileHolding<T>(state: State, claim: string, work: () => Promise<T>): Promise<T> {
  const heartbeat = setInterval(() => state.touch(claim), HEARTBEAT_MS).unref();
  held.add(claim);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    held.delete(claim);
  }
}

/** Returns the name of a capture whose claim is given up. */
export function unclaimed(claim: string): string {
  return claim.replace(/\.\d+-[\w-]+\.claim$/, "");
}

let turn: Promise<unknown> = Promise.resolve();

/** Does the work when all that was given here before is done: one sender at a time in this copy of the plugin. */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = turn.then(work);
  turn = done.catch(() => undefined);
  return done;
}

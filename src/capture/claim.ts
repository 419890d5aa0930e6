// Who has a capture under way. Whoever sends one renames its file to a claim with the sender's name first, so that of
// two only one can.
import { randomUUID } from "node:crypto";
import { isAlive } from "../base/process.ts";
import type { State } from "../base/store.ts";

/** Who sends a capture says so on its file this often, and has lost it when it said nothing for that long. */
const HEARTBEAT_MS = 1000;
const LEASE_MS = 4000;

const CLAIM = /^(\d+-[\w-]+\.json)\.(\d+)-([\w-]+)\.claim$/;
/** Tells this copy of the plugin from another in the same process: a host may run each in a thread of its own. */
const INSTANCE = randomUUID().slice(0, 8);

export interface Holder {
  /** The capture's file before it was claimed. */
  readonly file: string;
  readonly pid: number;
  readonly isThisCopy: boolean;
}

/** Returns who has a file of the queue under way, or undefined. */
export function holderOf(file: string): Holder | undefined {
  const [, unclaimedFile, pid, instance] = CLAIM.exec(file) ?? [];
  if (unclaimedFile === undefined) return undefined;
  return { file: unclaimedFile, pid: Number(pid), isThisCopy: instance === INSTANCE };
}

/** Returns whether a holder has died, or has been silent for too long since epoch milliseconds `heardAt`. */
export function isLost({ pid }: Holder, heardAt: number | undefined): boolean {
  return !isAlive(pid) || heardAt === undefined || Math.abs(Date.now() - heardAt) > LEASE_MS;
}

/** Takes the file `from` for this copy of the plugin as a claim on `name`; undefined when another was faster. */
export function takeClaim(state: State, from: string, name: string): string | undefined {
  const claim = `${name}.${process.pid}-${INSTANCE}.claim`;
  state.touch(from);
  return state.rename(from, claim) ? claim : undefined;
}

/** Does the work, and shows on the claim that this copy is alive the while. */
export async function whileHolding<T>(state: State, claim: string, work: () => Promise<T>): Promise<T> {
  const heartbeat = setInterval(() => state.touch(claim), HEARTBEAT_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}

/** Returns the name of a capture whose claim is given up. */
export function unclaimed(claim: string): string {
  return claim.replace(/\.\d+-[\w-]+\.claim$/, "");
}

// One import, first memory to last: each is sent where the server lacks it, and counted. It ends early when somebody
// stops it or the server is no use.
import { setImmediate as yieldToEvents } from "node:timers/promises";
import { adviceFor, type PalinodeError, type Reason, type SaveRequest } from "../server/index.ts";
import type { ImportLedger } from "./import-ledger.ts";
import type { Send, SendResult } from "./import-send.ts";
import type { Warn } from "./warn.ts";

/** So many in a row without a usable answer: it is the server, not the memory. */
const MAX_FAILURES = 3;
/** Reading is synchronous: an interrupt is heard after so many. */
export const ITEMS_PER_YIELD = 20;
/** What no other memory would fare better with. */
const HOPELESS: readonly Reason[] = ["refused", "dns", "tls", "unauthorized", "denied", "rate-limited"];

/** How many became what. */
export interface Counts {
  sent: number;
  unchanged: number;
  broken: number;
  refused: number;
  /** Only where it ended early: the reason code or "interrupted", and how many were not come to. */
  stopped?: string;
  left?: number;
}

/** How memories go out, and what is known of those that did. */
export interface Delivery {
  readonly send: Send;
  readonly ledger: ImportLedger;
  readonly signal: AbortSignal;
  readonly warn: Warn;
  /** Hears after each how many are done. */
  readonly onDone: (done: number, total: number) => void;
}

/** What became of one; every kind but `stopped` and `left_out` is counted under its name. */
export type Fate<Kind extends string> = SendResult | { readonly kind: Kind | "unchanged" | "left_out" };

/** Imports each in the order given until all are done, it is stopped or the server is no use. Never rejects. */
export async function importEach<Item, Kinds extends Counts, Kind extends keyof Kinds & string>(
  items: readonly Item[],
  counts: Kinds,
  importOne: (item: Item) => Promise<Fate<Kind>>,
  { warn, onDone }: Pick<Delivery, "warn" | "onDone">,
): Promise<Kinds> {
  const numbers = counts as unknown as Record<string, number>;
  const adviceAfter = createAdviser();
  for (const [index, item] of items.entries()) {
    if (index % ITEMS_PER_YIELD === 0) await yieldToEvents();
    const fate = await importOne(item);
    if (fate.kind === "stopped") return { ...counts, stopped: "interrupted", left: items.length - index };
    if (fate.kind !== "left_out") numbers[fate.kind] = (numbers[fate.kind] ?? 0) + 1;
    const advice = adviceAfter(fate);
    if ("error" in fate && advice !== undefined) {
      const left = items.length - index - 1;
      warn(`stopped with ${left} left: ${advice}. A rerun goes on from here.`);
      return { ...counts, stopped: fate.error.code, left };
    }
    onDone(index + 1, items.length);
  }
  return counts;
}

/** Sends a memory, and marks it as sent under an id and the digest that tells whether it changed. Never rejects. */
export async function deliver(
  { id, digest, body }: { id: string; digest: string; body: SaveRequest },
  { send, ledger, warn }: Delivery,
): Promise<SendResult> {
  const result = await send(body);
  if (result.kind === "sent") ledger.add(id, digest);
  if (result.kind === "refused") warn(`${id} was refused: ${refusalText(result.error)}`);
  return result;
}

function refusalText({ serverWords, status, message }: PalinodeError): string {
  return serverWords === undefined ? message : `HTTP ${status}, ${serverWords}`;
}

/** Returns a function that hears each fate, and returns what to do about the server once it is no use going on. */
function createAdviser(): (fate: Fate<string>) => string | undefined {
  let failures = 0;
  return (fate) => {
    if (fate.kind === "sent") failures = 0;
    if (!("error" in fate)) return undefined;
    if (!isOfThisText(fate.error)) failures += 1;
    const { code } = fate.error;
    return failures === MAX_FAILURES || HOPELESS.includes(code) ? adviceFor(code) : undefined;
  };
}

/** A refusal of this one text, as opposed to no usable answer. */
function isOfThisText({ status }: PalinodeError): boolean {
  return [400, 413, 422].includes(status ?? 0);
}

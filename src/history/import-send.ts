// One memory on its way to the server: paced as the server's limits are, tried again where it wants a pause, and never
// in doubt about what became of it.
import { type Client, type PalinodeError, palinodeErrorOf, type SaveRequest, saveMemory } from "../server/index.ts";
import type { Warn } from "./warn.ts";

/** The server's budget for `/save` (palinode-api.md, 3.1), and its window with a second for the way. */
export const MAX_WRITES_A_MINUTE = 30;
const WINDOW_MS = 61_000;
/** A server may embed before it answers. */
const SAVE_TIMEOUT_MS = 60_000;
const MAX_TRIES = 5;
/** A server that wants more quiet than this is not waited for. */
const MAX_QUIET_MS = 5 * 60_000;

/** What became of a memory; `stopped` when the signal came before the server had it. */
export type SendResult = Sent | Refused | { readonly kind: "stopped" };
interface Sent {
  readonly kind: "sent";
}
interface Refused {
  readonly kind: "refused";
  readonly error: PalinodeError;
}

/** Never rejects. */
export type Send = (memory: SaveRequest) => Promise<SendResult>;

/** Time, passed in so that a test need not wait. */
export interface Clock {
  now(): number;
  /** Resolves after so many milliseconds, or when the import is stopped. */
  wait(ms: number): Promise<unknown>;
}

interface Way {
  readonly client: Pick<Client, "post">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds that the server last asked to be left alone for. */
  readonly quietMs: () => number;
  readonly warn: Warn;
}

/** Returns a function that sends one memory after the other, and waits where the server wants that. */
export function createSend({ client, clock, signal, quietMs, warn }: Way): Send {
  const pace = createPace(clock);
  return async (memory) => {
    for (let tries = 1; ; tries += 1) {
      await pace();
      if (signal.aborted) return { kind: "stopped" };
      const result = await save(client, memory, signal);
      if (result.kind === "sent") return result;
      if (signal.aborted) return { kind: "stopped" };
      const ms = quietMs();
      if (result.error.code !== "rate-limited" || tries === MAX_TRIES || ms > MAX_QUIET_MS) return result;
      warn(`the server has had enough for now; going on in ${Math.ceil(ms / 1000)} s`);
      await clock.wait(ms);
    }
  };
}

async function save(client: Way["client"], memory: SaveRequest, signal: AbortSignal): Promise<Sent | Refused> {
  try {
    await saveMemory(client, memory, { timeoutMs: SAVE_TIMEOUT_MS, signal });
    return { kind: "sent" };
  } catch (error) {
    return { kind: "refused", error: palinodeErrorOf(error) };
  }
}

/** Returns a function that resolves when the next write may go out. */
function createPace({ now, wait }: Clock): () => Promise<void> {
  const writes: number[] = [];
  return async () => {
    const earliest = (writes.at(-MAX_WRITES_A_MINUTE) ?? -Infinity) + WINDOW_MS;
    if (earliest > now()) await wait(earliest - now());
    writes.push(now());
  };
}

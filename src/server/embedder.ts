// Whether the server has an embedder. Triggers need one: without, to ask for them takes seconds (palinode-api.md, 6),
// so they are not asked for. What is known is kept on disk: a fresh process does not start by waiting again.
import { asRecord } from "../base/json.ts";
import type { State } from "../base/store.ts";
import type { Client, Limits } from "./client.ts";
import { checkStatus } from "./routes-state.ts";

const FILE = "embedders.json";
const MAX_ENTRIES = 32;
/** While it is missing, the server is asked again so often whether it has one by now. */
const LOOK_AGAIN_MS = 60_000;

/** What is known of one server's embedder. */
export class Embedder {
  #isMissing: boolean | undefined;
  #lookedAt = -Infinity;
  #looking: Promise<boolean> | undefined;
  readonly #state: State;
  readonly #server: string;
  readonly #now: () => number;

  constructor(state: State, server: string, now: () => number) {
    this.#state = state;
    this.#server = server;
    this.#now = now;
    const kept = asRecord(state.read(FILE))[server];
    this.#isMissing = typeof kept === "boolean" ? kept : undefined;
  }

  get isMissing(): boolean {
    return this.#isMissing === true;
  }

  /** Takes in what an answer tells. */
  told(isMissing: boolean): void {
    if (this.#isMissing === isMissing) return;
    this.#isMissing = isMissing;
    const others = Object.entries(asRecord(this.#state.read(FILE))).slice(-MAX_ENTRIES);
    this.#state.write(FILE, { ...Object.fromEntries(others), [this.#server]: isMissing });
  }

  /** What needs it has failed: the server is asked about it the next time. */
  doubt(): void {
    if (!this.isMissing) this.#isMissing = undefined;
  }

  /**
   * Returns whether it is missing, and asks the server for that where it is not known, or was missing a minute ago.
   * Never rejects.
   */
  async look(client: Client, limits?: Limits): Promise<boolean> {
    const sinceMs = this.#now() - this.#lookedAt;
    // A clock that was set back says nothing of when that was.
    const isDue = this.#isMissing === undefined || (this.#isMissing && !(sinceMs >= 0 && sinceMs < LOOK_AGAIN_MS));
    if (!isDue) return this.isMissing;
    this.#looking ??= this.#ask(client, limits).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #ask(client: Client, limits: Limits | undefined): Promise<boolean> {
    this.#lookedAt = this.#now();
    try {
      const { embedder, isOllamaReachable } = await checkStatus(client, limits);
      if (embedder === "none" || embedder === "ready") this.told(embedder === "none");
      // It may be there in a moment: known here, and kept nowhere.
      else if (embedder === "failing" && isOllamaReachable === false) this.#isMissing = true;
      else this.#isMissing = undefined;
    } catch {
      // A server that does not say so is asked for triggers as before.
    }
    return this.isMissing;
  }
}

// Keeps prompts from waiting for a server that is away: after three failures in a row a pause, then one probe. What it
// knows is kept on disk, so a fresh process does not start by waiting again.
import { asRecord } from "../base/json.ts";
import type { State } from "../base/store.ts";
import type { Reason } from "./failure.ts";

const FAILURES_BEFORE_PAUSE = 3;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 300_000;
const FILE = "server.json";
/** A server has one entry for itself and one for each channel. */
const MAX_ENTRIES = 32;

/** How one round of questions went; `late`: it failed in that nothing came before the deadline. */
export type Outcome = "answered" | "failed" | "late" | "unknown";

/** The health of one server, or of one channel of it, as prompts have found it. */
export class Breaker {
  #failures = 0;
  #pauseMs = 0;
  #pausedUntil = 0;
  /** Until when the server asked for quiet: an answer on another route does not end that. */
  #limitedUntil = 0;
  #isProbing = false;
  #isSlow = false;
  readonly #state: State;
  readonly #server: string;
  readonly #now: () => number;

  constructor(state: State, server: string, now: () => number) {
    this.#state = state;
    this.#server = server;
    this.#now = now;
    const kept = asRecord(asRecord(state.read(FILE))[server]);
    this.#failures = whole(kept.failures);
    this.#pauseMs = Math.min(whole(kept.pauseMs), LONGEST_PAUSE_MS);
    this.#isSlow = kept.isSlow === true;
    // A clock that was set back must not make a pause longer than any pause is.
    this.#pausedUntil = Math.min(whole(kept.pausedUntil), now() + LONGEST_PAUSE_MS);
    this.#limitedUntil = Math.min(whole(kept.limitedUntil), now() + LONGEST_PAUSE_MS);
  }

  /** Returns why nothing is asked now, or undefined when a round may start; each start needs one `finish`. */
  start(): Reason | undefined {
    if (this.#isBefore(this.#limitedUntil)) return "rate-limited";
    if (this.isPaused()) return "paused";
    if (this.#pauseMs === 0) return undefined;
    if (this.#isProbing) return "paused";
    this.#isProbing = true;
    return undefined;
  }

  isPaused(): boolean {
    return this.#isBefore(this.#pausedUntil) || this.#isBefore(this.#limitedUntil);
  }

  /** Further away than any pause is long, it was set by a clock that has been set back since. */
  #isBefore(until: number): boolean {
    const restMs = until - this.#now();
    return restMs > 0 && restMs <= LONGEST_PAUSE_MS;
  }

  /** Whether the last word was a missed deadline: then it is waited for less, until it answers in time again. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Takes in how a round went; a missed deadline is a failure. */
  finish(outcome: Outcome): void {
    this.#isProbing = false;
    if (outcome === "unknown") return;
    if (outcome === "late") this.#isSlow = true;
    if (outcome === "answered") {
      if (this.#failures === 0 && this.#pauseMs === 0 && !this.#isSlow) return;
      this.#isSlow = false;
      this.#failures = 0;
      this.#pauseMs = 0;
      this.#pausedUntil = 0;
    } else {
      this.#failures += 1;
      // A probe that fails doubles the pause at once.
      if (this.#failures >= FAILURES_BEFORE_PAUSE || this.#pauseMs > 0) this.#pause();
    }
    this.#keep();
  }

  /** The server asked for quiet: seconds or a date in `Retry-After`, else a minute. */
  limit(retryAfterMs: number): void {
    this.#limitedUntil = Math.max(
      this.#limitedUntil,
      this.#now() + Math.min(Math.max(retryAfterMs, 0), LONGEST_PAUSE_MS),
    );
    this.#keep();
  }

  #pause(): void {
    this.#pauseMs = this.#pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    this.#pausedUntil = this.#now() + this.#pauseMs;
  }

  #keep(): void {
    const others = Object.fromEntries(Object.entries(asRecord(this.#state.read(FILE))).slice(-MAX_ENTRIES));
    const own = {
      failures: this.#failures,
      pauseMs: this.#pauseMs,
      pausedUntil: this.#pausedUntil,
      limitedUntil: this.#limitedUntil,
      isSlow: this.#isSlow,
    };
    this.#state.write(FILE, { ...others, [this.#server]: own });
  }
}

function whole(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

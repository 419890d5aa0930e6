// What came of questions, for `status` and `why`: the last word of each channel, and an account of each prompt.
import type { ShownMemory } from "../recall/index.ts";
import type { Reason } from "../server/index.ts";

export const MAX_ACCOUNTS = 10;
const MAX_TIMES = 20;
/** Reasons that are an answer of the server. */
const ANSWERS: ReadonlySet<Reason | undefined> = new Set([undefined, "no-hits", "below-threshold"]);
/** Reasons that are no trouble. */
const SILENT_BY_CHOICE: ReadonlySet<Reason> = new Set([
  "no-hits",
  "below-threshold",
  "too-short",
  "small-talk",
  "muted",
  "budget",
  "no-embedder",
]);

/** What came last of one channel, and how it has fared in this session. */
export interface ChannelNews {
  readonly okAt?: number;
  readonly reason?: Reason;
  /** What a pause came from. */
  readonly cause?: Reason;
  readonly at: number;
  readonly ms: number;
  /** How often the server was asked, and how long the latest of these took. */
  readonly calls: number;
  readonly recentMs: readonly number[];
}

/** What came of one prompt or failed command: for `why`. */
export interface Account {
  readonly at: number;
  /** How the prompt begins, or which command failed; redacted. */
  readonly about: string;
  readonly shown: readonly ShownMemory[];
  readonly chars: number;
  readonly silent: Readonly<Record<string, Reason>>;
}

/** Takes in how one question to a channel ended; `reason` is undefined where it brought memories. */
export function noteNews(
  record: { channels: Record<string, ChannelNews> },
  channel: string,
  reason: Reason | undefined,
  { at, ms, isAsked }: { at: number; ms: number; isAsked: boolean },
): void {
  const before = record.channels[channel];
  const { calls = 0, recentMs = [] } = before ?? {};
  const okAt = ANSWERS.has(reason) ? at : before?.okAt;
  const ended = { okAt, reason, at, ms };
  if (isAsked) record.channels[channel] = { ...ended, calls: calls + 1, recentMs: [...recentMs, ms].slice(-MAX_TIMES) };
  else record.channels[channel] = { ...ended, calls, recentMs, cause: troubleOf(before) };
}

/** Keeps an account of what was shown, and of what was not and why; the oldest go. */
export function addAccount(record: { accounts: readonly Account[] }, account: Account): void {
  record.accounts = [...record.accounts, account].slice(-MAX_ACCOUNTS);
}

/** Returns an account as a line of the log, without what it is about. */
export function accountLine({ shown, chars, silent }: Account): string {
  const memories = shown.length === 1 ? "1 memory" : `${shown.length} memories`;
  const what = shown.length === 0 ? "nothing recalled" : `${memories}, ${chars} characters`;
  const reasons = Object.entries(silent).map(([channel, reason]) => `${channel} ${reason}`);
  if (reasons.length === 0) return what;
  return `${what} (${reasons.join(", ")})`;
}

/** What costs no question says nothing of the server, so the trouble before it stays beside it. */
function troubleOf(before: ChannelNews | undefined): Reason | undefined {
  const reason = before?.cause ?? before?.reason;
  return reason !== undefined && SILENT_BY_CHOICE.has(reason) ? undefined : reason;
}

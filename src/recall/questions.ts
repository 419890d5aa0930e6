// What is worth asking of the server for a prompt, or for a command that failed.
import type { Reason } from "../server/index.ts";
import { primes, recalls } from "../settings/index.ts";
import { hasRoom } from "./admit.ts";
import { askDigest } from "./digest.ts";
import type { Asker, Channel, Finding } from "./finding.ts";
import { wantedFor } from "./query.ts";
import type { Failure } from "./repair.ts";
import { countHits, type Ledger } from "./replay.ts";
import { askRepair, askResolve, askSearch, askTriggers } from "./search.ts";

/** What may be asked of one channel. */
export interface Question {
  readonly channel: Channel;
  ask(): Promise<Finding>;
}

/** A channel that is not asked, and why. */
export interface Silence {
  readonly channel: Channel;
  readonly reason: Reason;
}

/** Returns everything that a prompt makes worth asking: its bare words, and those of earlier prompts, oldest first. */
export function questionsFor(
  { words, before }: { readonly words: string; readonly before: readonly string[] },
  { ledger, isPrimed }: { readonly ledger: Ledger; readonly isPrimed: boolean },
  asker: Asker,
): (Question | Silence)[] {
  const { config } = asker;
  const prime: Question[] = [];
  if (primes(config) && !isPrimed) prime.push({ channel: "prime", ask: () => askDigest(asker) });
  if (!recalls(config)) return prime;
  // A trigger that is asked for counts as told, and a block has to hold something.
  if (!hasRoom(ledger, config)) return [...prime, { channel: "search", reason: "budget" }];
  const wanted = wantedFor(words, before, config);
  if ("reason" in wanted) return [...prime, { channel: "search", reason: wanted.reason }];
  return [...prime, ...recallQuestions(wanted.query, countHits(ledger), asker)];
}

function recallQuestions(query: string, extra: number, asker: Asker): (Question | Silence)[] {
  const { recallTriggers, recallMaxResults, resolve } = asker.config;
  const questions: (Question | Silence)[] = [];
  if (recallTriggers) questions.push(triggerQuestion(query, asker));
  const search = resolve ? askResolve : askSearch;
  if (recallMaxResults > 0) questions.push({ channel: "search", ask: () => search(asker, query, extra) });
  return questions;
}

/** While the server has no embedder it is asked whether it has one by now, and for no triggers. */
function triggerQuestion(query: string, asker: Asker): Question | Silence {
  const { embedder, client, signal } = asker;
  if (!embedder.isMissing) return { channel: "triggers", ask: () => askTriggers(asker, query) };
  void embedder.look(client, { signal });
  return { channel: "triggers", reason: "no-embedder" };
}

/** Returns a search for each failure. */
export function repairQuestions(failures: readonly Failure[], ledger: Ledger, asker: Asker): Question[] {
  const extra = countHits(ledger);
  return failures.map(({ query }) => ({ channel: "repair", ask: () => askRepair(asker, query, extra) }));
}

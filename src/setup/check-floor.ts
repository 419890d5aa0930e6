// Whether the floor for hits tells something from nothing with the server's embedder: sentences about nothing in any
// memory are searched for, and what they reach is its noise. With some embedders all cosines lie between 0.7 and 0.9.
import { STRONG_COSINE } from "../recall/index.ts";
import { type Client, searchMemory } from "../server/index.ts";
import type { ReadConfig } from "../settings/index.ts";
import { ask } from "./ask.ts";
import { type Check, warning } from "./check.ts";
import { setting } from "./mend.ts";

const NEUTRAL_SENTENCES = [
  "The kettle is on and the tea will be ready soon.",
  "A grey cat slept on the wooden stairs all afternoon.",
  "The ferry to the island leaves at a quarter past nine.",
  "Fresh snow covered the hills above the village.",
  "My neighbour grows tomatoes and beans behind the house.",
];
/** One may touch a memory by accident. */
const MIN_NOISY = 2;
const HITS = 5;
const TIMEOUT_MS = 6000;

/** Returns the best cosine of each sentence, of those that have one: none without an embedder. Never rejects. */
export async function askForNoise(client: Client): Promise<number[]> {
  const limits = { timeoutMs: TIMEOUT_MS };
  const request = { limit: HITS, threshold: 0, maxChars: 1, mode: "passive", sessionId: "" } as const;
  const answers = await Promise.all(
    NEUTRAL_SENTENCES.map((query) => ask(searchMemory(client, { ...request, query }, limits))),
  );
  const hits = answers.map((answer) => ("value" in answer ? answer.value : []));
  return hits.map((row) => Math.max(0, ...row.map(({ score }) => score ?? 0))).filter((best) => best > 0);
}

/** Returns a warning where the floor lies below the noise, else nothing. */
export function floorLines(noise: readonly number[], { config, sources }: ReadConfig, env: NodeJS.ProcessEnv): Check[] {
  const floor = config.recallThreshold ?? STRONG_COSINE;
  const noisy = noise.filter((cosine) => cosine >= floor).length;
  if (noisy < MIN_NOISY) return [];
  const highest = Math.max(...noise);
  const above = Math.min(0.99, Math.ceil((highest + 0.005) * 100) / 100);
  const what = `${noisy} of ${NEUTRAL_SENTENCES.length} sentences about nothing reach ${highest.toFixed(2)}`;
  const message = `the floor of ${floor} lies below this embedder's noise: ${what}, so prompts about nothing show hits`;
  return [warning("floor", message, setting("recallThreshold", above, sources.recallThreshold, env))];
}

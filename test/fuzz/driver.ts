// Runs a fuzzer: one seeded case after the other, until one breaks a promise. What failed can be run again by its seed.
import { createRandom, type Random } from "../helpers/random.ts";

export interface Fuzzer {
  /** Runs one case. Rejects when a promise is broken. */
  run(random: Random): Promise<void>;
  close(): void;
}

/** No case needs more, on the slowest machine. */
const CASE_LIMIT_MS = 30_000;

/** Returns the seed of this run: from PALINODE_FUZZ_SEED, else `fallback`. */
export function fuzzSeed(fallback: number): number {
  const given = Number(process.env.PALINODE_FUZZ_SEED);
  return process.env.PALINODE_FUZZ_SEED !== undefined && Number.isInteger(given) ? given : fallback;
}

/** Runs that many cases. Rejects at the first that fails, with the seed that makes it the first one of a run. */
export async function fuzz(fuzzer: Fuzzer, cases: number, seed: number): Promise<void> {
  const rejections: unknown[] = [];
  const listen = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", listen);
  try {
    for (let index = 0; index < cases; index += 1) {
      try {
        await limited(fuzzer.run(createRandom(seed + index)));
        // Floating rejections are reported when the queue of promises has run empty.
        await new Promise(setImmediate);
        if (rejections.length > 0) throw new Error("an unhandled rejection", { cause: rejections[0] });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(`PALINODE_FUZZ_SEED=${seed + index}: ${message}`, { cause: error });
      }
    }
  } finally {
    process.removeListener("unhandledRejection", listen);
    fuzzer.close();
  }
}

async function limited(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the case does not end")), CASE_LIMIT_MS);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

// `npm run fuzz [-- CASES [KIND]]`: ten thousand seeded cases of each kind of input. Prints the seed, and of a failed
// case the one that PALINODE_FUZZ_SEED runs again.
import { inspect } from "node:util";
import type { Random } from "../helpers/random.ts";
import { fuzz, fuzzSeed } from "./driver.ts";
import { FUZZERS } from "./fuzzers.ts";
import { checkGrowth } from "./growth.ts";

const [cases = "10000", kind = ""] = process.argv.slice(2);
const seed = fuzzSeed(Date.now() % 2 ** 31);
console.log(`PALINODE_FUZZ_SEED=${seed}`);
// Times are only compared here: in `npm test` two files share two cores. Each case is fifty times the work of another.
const growth = {
  name: "growth of time",
  share: 1 / 50,
  open: async () => ({ run: async (random: Random) => checkGrowth(random), close: () => undefined }),
};
for (const { name, open, share } of [...FUZZERS.map((fuzzer) => ({ ...fuzzer, share: 1 })), growth].filter((fuzzer) =>
  fuzzer.name.includes(kind),
)) {
  const start = performance.now();
  const count = Math.ceil(Number(cases) * share);
  try {
    await fuzz(await open(), count, seed);
    console.log(`ok      ${name}: ${count} cases, ${((performance.now() - start) / 1000).toFixed(0)} s`);
  } catch (error) {
    console.log(`failed  ${name}: ${inspect(error)}`);
    process.exitCode = 1;
  }
}

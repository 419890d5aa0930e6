// A few seeded cases of every kind of input that comes from outside; `npm run fuzz` runs ten thousand of each.
import { test } from "node:test";
import { fuzz, fuzzSeed } from "./fuzz/driver.ts";
import { FUZZERS } from "./fuzz/fuzzers.ts";

const CASES = 75;

for (const { name, open } of FUZZERS) {
  const seed = fuzzSeed(20_261_130);
  test(`${CASES} odd ${name} break no promise (PALINODE_FUZZ_SEED=${seed})`, async () =>
    fuzz(await open(), CASES, seed));
}

// `npm run bench`: measures what the plugin costs and what it brings, prints it, and writes it to test/bench/results.
// `npm run bench NAME` does one of them; `recall` takes words of its own, see recall/recall.ts.
import { measureEconomics } from "./economics.ts";
import { measureGrowth } from "./growth.ts";
import { measureRecall } from "./recall/recall.ts";
import { type Report, writeReport } from "./report.ts";
import { measureWaiting } from "./waiting.ts";
import { measureWeight } from "./weight.ts";

const BENCHMARKS: Readonly<Record<string, (words: readonly string[]) => Promise<Report>>> = {
  economics: measureEconomics,
  waiting: measureWaiting,
  growth: measureGrowth,
  weight: measureWeight,
  recall: measureRecall,
};

const words = process.argv.slice(2);
const names = words.filter((word) => Object.hasOwn(BENCHMARKS, word));
const others = words.filter((word) => !names.includes(word));
if (others.length > 0 && !names.includes("recall")) {
  console.error(
    `There is no benchmark "${others[0]}": use ${Object.keys(BENCHMARKS).join(", ")}, or none for all of them.`,
  );
  process.exit(2);
}
try {
  for (const [name, measure] of Object.entries(BENCHMARKS)) {
    if (words.length === 0 || names.includes(name)) console.log(writeReport(await measure(others)));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

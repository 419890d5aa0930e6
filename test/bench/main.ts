// `npm run bench`: measures what the plugin costs, prints it, and writes it to test/bench/results. `npm run bench NAME`
// does one of them.
import { measureEconomics } from "./economics.ts";
import { measureGrowth } from "./growth.ts";
import { type Report, writeReport } from "./report.ts";
import { measureWaiting } from "./waiting.ts";
import { measureWeight } from "./weight.ts";

const BENCHMARKS: Readonly<Record<string, () => Promise<Report>>> = {
  economics: measureEconomics,
  waiting: measureWaiting,
  growth: measureGrowth,
  weight: measureWeight,
};

const words = process.argv.slice(2);
const unknown = words.filter((word) => !Object.hasOwn(BENCHMARKS, word));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark "${unknown[0]}": use ${Object.keys(BENCHMARKS).join(", ")}, or none for all of them.`,
  );
  process.exit(2);
}
for (const [name, measure] of Object.entries(BENCHMARKS)) {
  if (words.length === 0 || words.includes(name)) console.log(writeReport(await measure()));
}

// `npm run bench`: prints Markdown tables. Times depend on the machine; the ratios are what counts.
import { measureGrowth } from "./growth.ts";

for (const [title, measure] of [["Growth", measureGrowth]] as const) {
  console.log(`\n## ${title}\n\n| What | Measured |\n| --- | --- |`);
  for (const [what, figure] of await measure()) console.log(`| ${what} | ${figure} |`);
}

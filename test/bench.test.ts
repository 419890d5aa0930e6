// The benchmarks count what they say they count, and the figures in the repository are those of this code. Times are
// left out: they differ from run to run.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { costOf } from "./bench/cache.ts";
import { harnessTable, measureHarness } from "./bench/economics.ts";
import { measureInjections, tableOfInjections } from "./bench/growth.ts";
import { linesOf } from "./bench/report.ts";
import { barChart } from "./bench/svg.ts";

declare const REPOSITORY: string;

function committed(name: string): string {
  return readFileSync(join(REPOSITORY, `test/bench/results/${name}.md`), "utf8");
}

test("the cache holds the longest beginning that any earlier request shares, to the character", () => {
  assert.deepEqual(costOf([["head", "one"]]), { cached: 0, uncached: 7 });
  assert.deepEqual(
    costOf([
      ["head", "one"],
      ["head", "one", "two"],
    ]),
    { cached: 7, uncached: 10 },
  );
  // "tw" is shared with the second request, "one" with the first alone.
  assert.deepEqual(
    costOf([
      ["head", "one"],
      ["head", "two"],
      ["head", "twice", "one"],
    ]),
    { cached: 4 + 6, uncached: 7 + 3 + 6 },
  );
});

test("the economics in the repository are what a rerun gives", async () => {
  const cases = await measureHarness();
  const ours = cases.find(({ name }) => name === "palinode.js");
  assert.equal(ours?.cost.uncached, ours?.floor, "nothing is sent again");
  assert.ok(
    cases
      .filter(({ name }) => name !== "palinode.js" && name !== "no plugin")
      .every(({ cost, floor }) => cost.uncached > floor),
  );
  assert.ok(
    committed("economics").includes(linesOf(harnessTable(cases), "economics").join("\n")),
    "run `npm run bench economics` and read what changed",
  );
});

test("the injected characters in the repository are what a rerun gives", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palinode-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.ok(
    committed("growth").includes(linesOf(tableOfInjections(await measureInjections(folder)), "growth").join("\n")),
    "run `npm run bench growth` and read what changed",
  );
});

test("a chart keeps bars within its width and text out of its markup", () => {
  const chart = barChart({
    title: "a < b",
    caption: '"quoted" & more',
    bars: [
      { label: "none", value: 0, text: "0" },
      { label: "most", value: 10, text: "10", isOurs: true },
    ],
  });
  assert.ok(chart.includes("a &lt; b") && chart.includes("&quot;quoted&quot; &amp; more"));
  const [none, most] = [...chart.matchAll(/<rect class="(?:bar|ours)" x="(\d+)" y="\d+" width="(\d+)"/g)].map(
    ([, x, width]) => Number(x) + Number(width),
  );
  assert.ok(none !== undefined && most !== undefined && none < most && most <= 760);
});

// The folder of state files keeps within bounds.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openState } from "../../src/base/store.ts";

const DAY_MS = 24 * 3600_000;

test("a folder keeps its newest files, as many and as long as it may, whatever links stand among them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palinode-state-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const state = openState(folder);
  mkdirSync(join(folder, "queue"));
  const now = Date.now();
  for (let days = 1; days <= 6; days += 1) {
    const path = join(folder, "queue", `${days}.json`);
    writeFileSync(path, "{}");
    utimesSync(path, (now - days * DAY_MS) / 1000, (now - days * DAY_MS) / 1000);
  }
  symlinkSync(join(folder, "nowhere"), join(folder, "queue", "0.json"));
  await state.prune("queue", { maxFiles: 100, maxAgeMs: 5.5 * DAY_MS }, now);
  assert.deepEqual(state.list("queue"), ["1.json", "2.json", "3.json", "4.json", "5.json"]);
  await state.prune("queue", { maxFiles: 3, maxAgeMs: 5.5 * DAY_MS }, now);
  assert.deepEqual(state.list("queue"), ["1.json", "2.json", "3.json"]);
  await state.prune("queue", { maxFiles: 3, maxAgeMs: DAY_MS / 2, mayGo: (name) => name === "2.json" }, now);
  assert.deepEqual(state.list("queue"), ["1.json", "3.json"]);
  await state.prune("missing", { maxFiles: 3, maxAgeMs: 5.5 * DAY_MS }, now);
});

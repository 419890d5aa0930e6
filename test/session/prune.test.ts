// What is kept of sessions that are over, and for how long, whatever is switched on.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { openState } from "../../src/base/store.ts";
import { openScene, ROLLBACK_PROMPT, until } from "../helpers/scene.ts";

const DAY_MS = 24 * 3600_000;

/** Writes state files as a process left them so many days ago. */
function leave(stateDir: string, days: Record<string, number>): void {
  for (const [name, age] of Object.entries(days)) {
    const file = join(stateDir, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "{}");
    const at = new Date(Date.now() - age * DAY_MS);
    utimesSync(file, at, at);
  }
}

/** Returns the ages in days of so many files, by name; the higher the number, the older. */
function aged(count: number, days: number, nameOf: (index: number) => string): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [nameOf(index), days + index / 1000]));
}

const SWITCHES: Record<string, Record<string, string>> = {
  "capture is off": { PALINODE_CAPTURE_ENABLED: "0" },
  "capture is on": {},
  "everything is off": { PALINODE_HOOK_RECALL_PROFILE: "off" },
};

for (const [what, env] of Object.entries(SWITCHES)) {
  test(`one run leaves 200 records of 30 days and captures of 7 where ${what}, and every pause`, async (t) => {
    const { chat, model, finish, stateDir, host } = await openScene(t, { env });
    leave(stateDir, {
      ...aged(10, 31, (index) => `sessions/old-${index}.json`),
      ...aged(210, 29, (index) => `sessions/recent-${String(index).padStart(3, "0")}.json`),
      ...aged(1, 31, () => "sessions/old.json.123-1-abc.tmp"),
      ...aged(2, 8, (index) => `queue/${index}-old.json.bad`),
      ...aged(2, 8, (index) => `tails/old-${index}.json`),
      ...aged(2, 8, (index) => `refused/${index}-old.json`),
      ...aged(2, 900, (index) => `paused/elsewhere-${index}.json`),
      ...aged(2, 900, (index) => `imports/server/${index}.json`),
      ...aged(2, 31, (index) => `server.json.123-${index}-abc.tmp`),
      ...aged(1, 29, () => "recent.tmp"),
    });
    chat.say(ROLLBACK_PROMPT);
    await model();
    await finish();
    const list = (folder: string) => readdirSync(join(stateDir, folder)).sort();
    const waiting = () => ["queue", "refused", "tails"].flatMap(list);
    const strays = () => list(".").filter((name) => name.endsWith(".tmp"));
    await until(
      "the folders are within bounds",
      () => waiting().length === 0 && strays().length <= 1 && list("sessions").length <= 200,
    );
    const records = list("sessions").filter((name) => name !== "1796000000000_test.json");
    const own = list("sessions").length - records.length;
    const expected = Array.from({ length: 200 - own }, (_, index) => `recent-${String(index).padStart(3, "0")}.json`);
    assert.deepEqual(records, expected);
    assert.deepEqual([list("paused").length, list("imports/server").length], [2, 2]);
    assert.deepEqual(strays(), ["recent.tmp"]);
    assert.deepEqual(host.failures, []);
  });
}

test("folders beside old files are neither counted nor removed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palinode-prune-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  leave(folder, { "old.json": 2, "new.json": 1, "paused/a.json": 900 });
  await openState(folder).prune("", { maxFiles: 1, maxAgeMs: 30 * DAY_MS }, Date.now());
  assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ["new.json", "paused", join("paused", "a.json")]);
});

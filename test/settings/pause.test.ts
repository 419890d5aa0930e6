// Since when, and from when to when, a workspace was muted.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openState } from "../../src/base/store.ts";
import { pausedSince, pausesOf, setPaused } from "../../src/settings/pause.ts";

test("pauses that are over are remembered with their times, each workspace's its own", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palinode-pause-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const state = openState(folder);
  setPaused(state, "/w", 100);
  // Paused once more, it was so all the time.
  setPaused(state, "/w", 150);
  assert.equal(pausedSince(state, "/w"), 100);
  setPaused(state, "/w", undefined, 200);
  setPaused(state, "/w", 300);
  const wasPaused = pausesOf(state, "/w");
  assert.deepEqual([99, 100, 200, 201, 299, 300, 1e12].map(wasPaused), [false, true, true, false, false, true, true]);
  assert.deepEqual([pausedSince(state, "/w"), pausedSince(state, "/x")], [300, undefined]);
  assert.equal(pausesOf(state, "/x")(150), false);
  // Nothing was paused: nothing is left.
  setPaused(state, "/y", undefined);
  assert.deepEqual([readdirSync(join(folder, "paused")).length, readdirSync(join(folder, "pauses")).length], [1, 1]);
});

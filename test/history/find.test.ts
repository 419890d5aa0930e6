// Which of several copies counts, what fills the gaps of a manifest, and which sessions a command is about.
import assert from "node:assert/strict";
import test from "node:test";
import { findSessions } from "../../src/history/find.ts";
import { readSession } from "../../src/history/read.ts";
import { EXTENSION, LEGACY_TASK, openHome, type Ran } from "../helpers/past.ts";

const HOUR_MS = 3_600_000;

test("of two copies of a task the younger is listed, where its own time puts it", async (t) => {
  const home = openHome(t);
  const [code, cursor] = [`.config/Code/${EXTENSION}`, `.config/Cursor/${EXTENSION}`];
  const [early, midway, late] = [1767229200000, 1767229300000, 1767229400000];
  home.task(code, "1767225600000", LEGACY_TASK, { task: "older copy", ts: early });
  home.task(cursor, "1767225600000", LEGACY_TASK, { task: "younger copy", ts: late });
  home.task(code, "1767225600001", LEGACY_TASK, { task: "younger copy", ts: late - 1 });
  home.task(cursor, "1767225600001", LEGACY_TASK, { task: "older copy", ts: early });
  home.task(code, "1767225600002", LEGACY_TASK, { task: "no copy", ts: midway });
  home.task(code, "1767225600003", LEGACY_TASK, { task: "first of two alike", ts: early });
  home.task(cursor, "1767225600003", LEGACY_TASK, { task: "second of two alike", ts: early });
  const rows = rowsOf(await home.run(["history", "--json"]));
  assert.deepEqual(
    rows.map(({ id, title, source }) => [id, title, source]),
    [
      ["1767225600000", "younger copy", "Cursor"],
      ["1767225600001", "younger copy", "VS Code"],
      ["1767225600002", "no copy", "VS Code"],
      ["1767225600003", "first of two alike", "VS Code"],
    ],
  );
});

test("what a manifest lacks is taken from the messages, and a summary from the newest compaction", (t) => {
  const home = openHome(t);
  const messages = ["one", "ok", "two"].map((content, index) => ({
    role: index % 2 ? "assistant" : "user",
    content,
    ts: Date.UTC(2026, 0, 1 + index),
    modelInfo: { id: "m2" },
  }));
  const summaries = ["early", "late"].map((summary) => ({ metadata: { kind: "compaction_summary", summary } }));
  home.write(".cline/data/sessions/s/s.json", { workspace_root: "/w/alpha" });
  home.write(".cline/data/sessions/s/s.messages.json", { messages });
  home.write(".cline/data/sessions/s/s.compaction.json", { messages: [...summaries, messages[0]] });
  const [past] = findSessions(home.env, assert.fail);
  const { title, cwd, startedAt, endedAt, model, summary } = readSession(past!, assert.fail)!;
  assert.deepEqual(
    [title, cwd, startedAt, endedAt, model, summary],
    ["one", "/w/alpha", Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 3), "m2", "late"],
  );
});

test("hours, days and weeks are told apart", async (t) => {
  const home = openHome(t);
  const hoursAgo = { early: 15 * 24, middle: 10 * 24, late: 30 };
  for (const [id, hours] of Object.entries(hoursAgo))
    home.session(id, ["x"], { ended_at: new Date(Date.now() - hours * HOUR_MS).toISOString() });
  const idsSince = async (since: string) =>
    rowsOf(await home.run(["history", "--json", "--since", since])).map(({ id }) => id);
  assert.deepEqual(
    [await idsSince("3w"), await idsSince("2w"), await idsSince("2d"), await idsSince("24h")],
    [["late", "middle", "early"], ["late", "middle"], ["late"], []],
  );
});

test("a list that a limit ended says so, and no other", async (t) => {
  const home = openHome(t);
  for (const id of ["a", "b", "c"]) home.session(id, ["x"]);
  assert.match((await home.run(["history", "--limit", "2"])).err, /^The newest 2; --limit N shows more\.$/m);
  assert.doesNotMatch((await home.run(["history", "--limit", "4"])).err, /newest/);
});

function rowsOf({ out }: Ran): { id: string; title: string; source: string }[] {
  return JSON.parse(out);
}

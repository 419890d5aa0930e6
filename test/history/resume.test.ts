// Which session is gone on with, how `cline` is started, and what a new session is handed.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { captureOf } from "../../src/capture/summary.ts";
import { EXTENSION, type Home, LEGACY_TASK, openHome } from "../helpers/past.ts";
import { openScene, ROLLBACK_PROMPT } from "../helpers/scene.ts";
import { startPalinode } from "../palinode/server.ts";

test("a session is found by its id, the start of it, or words, and the line is printed", async (t) => {
  const home = openHome(t);
  home.recordings();
  for (const words of [
    ["1796044586994_tt0np"],
    ["17960445"],
    ["checkout", "CI"],
    ['"retry policy"'.replaceAll('"', "")],
  ]) {
    const ran = await home.run(["resume", "--print", ...words]);
    assert.deepEqual(
      [ran.code, ran.out, ran.err],
      [0, "cd /home/example/shop && cline --id 1796044586994_tt0np\n", ""],
      words.join(" "),
    );
  }
});

test("what fits several sessions names them and starts none", async (t) => {
  const home = openHome(t);
  home.recordings();
  for (const words of [["1796"], ["done"]]) {
    const ran = await home.run(["resume", ...words]);
    assert.deepEqual([ran.code, ran.out], [1, ""]);
    for (const id of ["1796044586994_tt0np", "1796044604538_oqp1n", "1796044632414_jhspi"])
      assert.ok(ran.err.includes(id), ran.err);
  }
  const none = await home.run(["resume", "no-such-session"]);
  assert.deepEqual([none.code, /no session/.test(none.err)], [1, true]);
  assert.equal((await home.run(["resume"])).code, 2);
});

test("four letters begin an id, fewer are a word", async (t) => {
  const home = openHome(t);
  for (const id of ["abcd1", "abcd2"]) home.session(id, ["x"], { metadata: { title: "x" } });
  home.session("other", ["the abc of it"]);
  const ambiguous = await home.run(["resume", "--print", "abcd"]);
  assert.deepEqual([ambiguous.code, ambiguous.out], [1, ""]);
  assert.match(ambiguous.err, /name one by its id:\n {2}abcd1 {2}x\n {2}abcd2 {2}x\n$/);
  assert.match((await home.run(["resume", "--print", "abc"])).out, /--id other$/m);
  assert.match((await home.run(["resume", "--print", "abcd2"])).out, /--id abcd2$/m);
});

test("one title among several texts is the one that is meant", async (t) => {
  const home = openHome(t);
  home.session("a", ["billing"], { metadata: { title: "Fix the billing page" } });
  home.session("b", ["we spoke of billing"], { metadata: { title: "Other things" } });
  assert.match((await home.run(["resume", "--print", "billing"])).out, /--id a$/m);
  home.session("c", ["hello"], { metadata: { title: "Send the billing mail" } });
  const ambiguous = await home.run(["resume", "--print", "billing"]);
  assert.deepEqual([ambiguous.code, ambiguous.err.match(/^ {2}[abc](?= )/gm)?.sort()], [1, ["  a", "  b", "  c"]]);
});

test("cline runs in the session's own folder, and its exit code is ours", async (t) => {
  const home = openHome(t);
  fakeCline(home, 7);
  const shop = join(home.folder, "my shop");
  mkdirSync(shop);
  home.session("s1", ["hello"], { cwd: shop });
  const ran = await home.run(["resume", "s1"]);
  assert.deepEqual([ran.code, ran.out], [7, `${shop}|--id|s1|\n`]);
});

test("a folder that is gone and a cline that is not there are said, with the line", async (t) => {
  const home = openHome(t);
  home.session("s1", ["hello"], { cwd: "/gone/shop" });
  home.session("s2", ["hello"], { cwd: home.folder });
  const gone = await home.run(["resume", "s1"]);
  assert.deepEqual([gone.code, gone.out], [1, ""]);
  assert.match(gone.err, /folder is gone \(\/gone\/shop\); from any other: cline --id s1/);
  const missing = await home.run(["resume", "s2"]);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /PATH.*cline --id s2/);
});

test("a broken session is still resumed by its id, and a legacy task is pointed to", async (t) => {
  const home = openHome(t);
  home.session("cut1", ["x"], { cwd: "/w" });
  home.write(".cline/data/sessions/cut1/cut1.messages.json", "{");
  assert.equal((await home.run(["resume", "--print", "cut1"])).out, "cd /w && cline --id cut1\n");
  home.task(`.config/Cursor/${EXTENSION}`, "1767225600000", LEGACY_TASK);
  const task = await home.run(["resume", "1767225600000"]);
  assert.equal(task.code, 1);
  assert.match(task.err, /Cline's history in Cursor/);
});

test("a handoff says what memory and the latest session here know, and starts cline with it", async (t) => {
  const home = openHome(t);
  const server = await startPalinode({
    memories: [
      { file: "decisions/pnpm.md", type: "Decision", title: "Use pnpm", entities: ["project/shop"], body: "x" },
      {
        file: "projects/snap.md",
        type: "ProjectSnapshot",
        title: "Snapshot</palinode-memory> of yesterday",
        entities: ["project/shop"],
        body: "x",
      },
      { file: "inbox/todo.md", type: "ActionItem", title: "Write the docs", entities: ["project/shop"], body: "x" },
    ],
  });
  t.after(() => server.close());
  const shop = join(home.folder, "shop");
  mkdirSync(shop);
  home.session("old", ["an old matter", "x"], { cwd: shop, ended_at: "2025-01-01T00:00:00Z" });
  home.session("new", ["the newest matter", "y"], { cwd: shop });
  home.session("else", ["elsewhere", "y"], { cwd: "/w/other", ended_at: "2026-06-01T00:00:00Z" });
  const options = { cwd: shop, env: { PALINODE_API_URL: server.url } };
  const { code, out, err } = await home.run(["handoff", "--print", "Finish", "the release"], options);
  assert.deepEqual([code, err], [0, ""]);
  for (const text of [
    /^Finish the release\n/,
    /Use pnpm/,
    /Snapshot&lt;\/palinode-memory> of yesterday/,
    /Write the docs/,
    /the newest matter/,
  ])
    assert.match(out, text);
  assert.doesNotMatch(out, /an old matter|elsewhere/);
  assert.deepEqual(
    server.calls("/context/prime").map(({ body }) => body),
    [{ cwd: shop, project: "shop" }],
  );
  fakeCline(home, 0);
  const started = await home.run(["handoff", "Finish", "the release"], options);
  assert.equal(started.out, `${shop}|-i|${out.trimEnd()}|\n`);
  const { summary } = captureOf([{ role: "user", content: out }]);
  assert.match(summary, /Topic: Finish the release$/m);
});

test("a handoff says what a memory without a title says, not the name of its file", async (t) => {
  const home = openHome(t);
  const capture = (file: string, body: string) => ({ file, type: "ProjectSnapshot", entities: ["project/shop"], body });
  const server = await startPalinode({
    memories: [
      capture("projects/2026-01-02-shop-1a2b.md", "# Session\n\n**Summary:** Moved the queue to Redis.\n"),
      capture("projects/2026-01-03-shop-3c4d.md", "# Session\n"),
    ],
  });
  t.after(() => server.close());
  const shop = join(home.folder, "shop");
  mkdirSync(shop);
  const { out } = await home.run(["handoff", "--print"], { cwd: shop, env: { PALINODE_API_URL: server.url } });
  const listed = out.slice(out.indexOf("### Recent sessions")).split("\n").slice(1, 3);
  assert.deepEqual(listed, ["- [projects/2026-01-02-shop-1a2b.md] Moved the queue to Redis.", "</palinode-memory>"]);
});

test("a handoff goes without memory, but not with nothing", async (t) => {
  const home = openHome(t);
  const server = await startPalinode();
  await server.close();
  const env = { PALINODE_API_URL: server.url };
  const nothing = await home.run(["handoff", "--print"], { env });
  assert.deepEqual([nothing.code, nothing.out], [1, ""]);
  assert.match(nothing.err, /nothing to hand over/);
  home.session("s", ["the matter", "y"], { cwd: home.folder });
  const ran = await home.run(["handoff", "--print"], { env });
  assert.equal(ran.code, 0);
  assert.match(ran.out, /^Continue the work on .*\n[\s\S]*the matter/);
  assert.match(ran.err, /nothing from http:\/\/127\.0\.0\.1:\d+: refused/);
});

test("a long session is handed over in part, and says so", async (t) => {
  const home = openHome(t);
  const server = await startPalinode();
  await server.close();
  const talk = Array.from({ length: 40 }, (_, index) => `${index} ${"word ".repeat(400)}`);
  home.session("long", talk, { cwd: home.folder });
  home.write(".cline/data/sessions/long/long.compaction.json", {
    messages: [{ metadata: { kind: "compaction_summary", summary: "line\n".repeat(2000) } }],
  });
  const { out } = await home.run(["handoff", "--print"], { env: { PALINODE_API_URL: server.url } });
  const block = out.slice(out.indexOf("### Last session here"));
  assert.ok(block.length > 3500 && block.length < 4200, `${block.length}`);
  assert.match(block, /… \[cut\]/);
});

test("an imported session that is recalled says how it is reopened", async (t) => {
  const { server, chat, memory } = await openScene(t);
  const frontmatter = '---\ntype: ProjectSnapshot\nresume: "cd /w && cline --id 9_x"\n---';
  server.memories.set(
    "projects/cline-session-9.md",
    `${frontmatter}\n${ROLLBACK_PROMPT} was asked long ago ${"and more ".repeat(80)}`,
  );
  chat.say(ROLLBACK_PROMPT);
  assert.match(
    (await memory()).join("\n"),
    /- \[projects\/cline-session-9\.md\].*\n {2}Resume: cd \/w && cline --id 9_x$/m,
  );
});

/** Puts a `cline` into the home's PATH that prints where it runs and its words. */
function fakeCline(home: Home, code: number): void {
  chmodSync(home.write("bin/cline", `#!/bin/sh\nprintf '%s|' "$PWD" "$@"; echo; exit ${code}\n`), 0o755);
}

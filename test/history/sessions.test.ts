// What the reader makes of Cline's files, broken ones too, and what `history` lists.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import test from "node:test";
import { textsOf } from "../../src/cline/messages.ts";
import { bareWords } from "../../src/cline/prompt.ts";
import { workOf } from "../../src/cline/work.ts";
import { findSessions } from "../../src/history/find.ts";
import { readSession } from "../../src/history/read.ts";
import { EXTENSION, LEGACY_TASK, openHome, type Ran } from "../helpers/past.ts";
import { startPalinode } from "../palinode/server.ts";

declare const REPOSITORY: string;

interface Row {
  id: string;
  title: string;
  project: string;
  prompts: number;
  when: string;
  cwd?: string;
  resume: string;
  source: string;
}

test("the recorded sessions are listed newest first, with all that is asked of a row", async (t) => {
  const home = openHome(t);
  home.recordings();
  const rows = rowsOf(await home.run(["history", "--json"]));
  assert.deepEqual(
    rows.map(({ id, prompts, project }) => [id, prompts, project]),
    [
      ["1796044632414_jhspi", 10, "shop"],
      ["1796044604538_oqp1n", 2, "shop"],
      ["1796044586994_tt0np", 3, "shop"],
    ],
  );
  assert.deepEqual(
    rows.map(({ when }) => when),
    ["2026-11-30T13:17:13.623Z", "2026-11-30T13:16:45.187Z", "2026-11-30T13:16:27.880Z"],
  );
  assert.match(rows[0]!.title, /^How do we roll back a deploy of the api\?/);
  assert.equal(rows[0]!.resume, "cd /home/example/shop && cline --id 1796044632414_jhspi");
  const { out, err, code } = await home.run(["history"]);
  assert.deepEqual([err, code], ["", 0]);
  for (const { id, resume } of rows) assert.ok(out.includes(id) && out.includes(resume) && out.includes("shop"), out);
  assert.match(out, /10 prompts[\s\S]*2 prompts[\s\S]*3 prompts/);
});

test("a query needs all its words, in the title or in what was said by either side or summed up", async (t) => {
  const home = openHome(t);
  home.recordings();
  home.session("s1", ["about <environment_details>HIDDENWORD</environment_details> bread", "It needs SOURDOUGH"], {
    metadata: { title: "Baking" },
  });
  const idsFor = async (...words: string[]) =>
    rowsOf(await home.run(["history", "--json", ...words])).map(({ id }) => id);
  assert.deepEqual(await idsFor("Retry", "POLICY"), ["1796044586994_tt0np"]);
  assert.deepEqual(await idsFor("summarize this session"), ["1796044632414_jhspi"]);
  assert.deepEqual(
    [await idsFor("baking"), await idsFor("sourdough"), await idsFor("bread baking")],
    [["s1"], ["s1"], ["s1"]],
  );
  assert.deepEqual([await idsFor("hiddenword"), await idsFor("bread retry"), await idsFor("user_input")], [[], [], []]);
  const none = await home.run(["history", "no-such-word"]);
  assert.deepEqual([none.code, none.out], [0, ""]);
  assert.match(none.err, /no session/);
});

test("project, since and limit choose", async (t) => {
  const home = openHome(t);
  home.session("old", ["one"], {
    cwd: "/w/alpha",
    started_at: undefined,
    ended_at: undefined,
    created_at: "2025-01-01T00:00:00Z",
    updated_at: "2025-01-02T00:00:00Z",
  });
  home.session("mid", ["two"], { cwd: "/w/beta", metadata: { git: { url: "https://example.com/acme/alpha.git" } } });
  home.session("new", ["three"], { cwd: "/w/beta", ended_at: new Date(Date.now() - 3600_000).toISOString() });
  const idsFor = async (...words: string[]) =>
    rowsOf(await home.run(["history", "--json", ...words])).map(({ id }) => id);
  assert.deepEqual(await idsFor(), ["new", "mid", "old"]);
  assert.deepEqual(
    [await idsFor("--project", "alpha"), await idsFor("--project", "project/beta")],
    [["mid", "old"], ["new"]],
  );
  assert.deepEqual(
    [
      await idsFor("--since", "2026-01-01"),
      await idsFor("--since", "2h"),
      await idsFor("--since", "2026-01-02T05:00:00Z"),
      await idsFor("--since", "2025-01-01"),
    ],
    [["new", "mid"], ["new"], ["new"], ["new", "mid", "old"]],
  );
  assert.deepEqual(
    [await idsFor("--limit", "1"), await idsFor("--limit", "2", "--project", "alpha")],
    [["new"], ["mid", "old"]],
  );
  for (const wrong of [
    ["--since", "soon"],
    ["--limit", "0"],
    ["--limit", "many"],
    ["--nonsense"],
    ["--since", "5"],
    ["--since", "2026"],
    ["--since", "2026-1-3"],
    ["--since", "2026-01-31 or so"],
    ["--project", "日本"],
    ["--project", ""],
    ["--project", "project/"],
  ])
    assert.equal((await home.run(["history", ...wrong])).code, 2, wrong.join(" "));
});

test("sub-agents, teammates and sessions in which nothing was said are no sessions", async (t) => {
  const home = openHome(t);
  home.session("lead", ["hello"]);
  home.session("lead__agent_1", ["task"]);
  home.write(".cline/data/sessions/other/other.messages.json", {
    agent: "teammate",
    messages: [{ role: "user", content: "x" }],
  });
  home.write(".cline/data/sessions/idle/idle.json", { session_id: "idle" });
  home.write(".cline/data/sessions/none/none.messages.json", { agent: "lead", messages: [] });
  const ran = await home.run(["history", "--json"]);
  assert.deepEqual([rowsOf(ran).map(({ id }) => id), ran.err], [["lead"], ""]);
});

test("a file that cannot be used is named and costs nothing else", async (t) => {
  const home = openHome(t);
  home.session("good", ["hello", "world"]);
  const broken: Record<string, unknown> = {
    cut: '{"messages": [{"role": "us',
    empty: "",
    foreign: { hello: 1 },
    text: "not json",
    none: "null",
    number: "7",
    binary: Buffer.from([0xff, 0xfe, 0, 1]),
  };
  for (const [id, content] of Object.entries(broken))
    home.write(`.cline/data/sessions/${id}/${id}.messages.json`, content);
  const odd = home.session("odd", ["kept"]);
  home.write(".cline/data/sessions/odd/odd.json", "{");
  home.write(".cline/data/sessions/odd/odd.compaction.json", "[");
  home.write(".cline/data/sessions/mess/mess.messages.json", {
    messages: [
      null,
      5,
      "x",
      [],
      {},
      { role: "user" },
      { role: "user", content: [null, { type: "text" }, { type: "tool_result" }] },
      { role: "user", content: "said" },
    ],
  });
  mkdirSync(join(home.folder, ".cline/data/sessions/dir/dir.messages.json"), { recursive: true });
  const ran = await home.run(["history", "--json"]);
  assert.equal(ran.code, 0);
  assert.deepEqual(
    rowsOf(ran)
      .map(({ id }) => id)
      .sort(),
    ["good", "mess", "odd"],
  );
  for (const id of [...Object.keys(broken), "dir"]) assert.match(ran.err, new RegExp(`/${id}\\.messages\\.json`), id);
  for (const file of ["odd.json", "odd.compaction.json"]) assert.ok(ran.err.includes(file), ran.err);
  assert.ok(!ran.err.includes(odd) && !ran.err.includes("good"), ran.err);
});

test("nothing in a foreign file ends a command for all the others", async (t) => {
  const home = openHome(t);
  const no = { toString: null };
  home.session("good", ["hello", "Decision: keep", "world"], { cwd: home.folder, ended_at: "2026-01-01T00:00:00Z" });
  home.session("manifest", ["hello", "x", "world"], {
    started_at: no,
    ended_at: no,
    cwd: no,
    model: no,
    metadata: { title: no, git: { url: no } },
  });
  home.session("nowhere", ["hello", "x", "world"], { cwd: `/w/\0${"a".repeat(9000)}` });
  const parts = [
    { type: "tool_use", id: no, name: no, input: no },
    { type: "tool_result", tool_use_id: no, name: no, content: no, is_error: true },
    { type: "tool_result", content: [no, { type: "text", text: no }] },
    { type: no },
    { type: "text", text: no },
    { type: "tool-call", toolCallId: no, toolName: no },
  ];
  const talk = [
    { role: "user", content: "hello" },
    { role: "assistant", ts: no, modelInfo: no, content: parts },
    { role: no, content: no },
    { role: "user", metadata: { kind: no }, content: parts },
    { role: "user", content: "world" },
  ];
  home.write(".cline/data/sessions/parts/parts.messages.json", { agent: no, messages: talk });
  home.write(".cline/data/sessions/parts/parts.compaction.json", {
    messages: [{ metadata: { kind: "compaction_summary", summary: no } }],
  });
  const deep = JSON.stringify({
    agent: "lead",
    messages: [
      ...talk.slice(0, 1),
      { role: "assistant", content: [{ type: "tool_use", id: "1", name: "editor", input: "DEEP" }] },
      ...talk.slice(4),
    ],
  });
  home.write(
    ".cline/data/sessions/deep/deep.messages.json",
    deep.replace('"DEEP"', `${"[".repeat(20_000)}${"]".repeat(20_000)}`),
  );
  const root = `.config/Code/${EXTENSION}`;
  home.task(root, "1767225600000", talk, { id: no, ts: no, task: no, modelId: no });
  home.task(root, "1767225600001", LEGACY_TASK, { cwdOnTaskInitialization: "/w/a" });
  symlinkSync("loop", join(home.folder, root, "tasks/loop"));
  const ids = ["good", "manifest", "nowhere", "parts", "deep", "1767225600000", "1767225600001"];
  const listed = await home.run(["history", "--json"]);
  assert.deepEqual(
    [
      listed.code,
      rowsOf(listed)
        .map(({ id }) => id)
        .sort(),
    ],
    [0, [...ids].sort()],
    listed.err,
  );
  const sent = await home.run(["import", "--dry-run", "--json", "--min-prompts", "1"]);
  const { would_send, broken, refused } = JSON.parse(sent.out);
  assert.deepEqual(
    [
      sent.code,
      would_send.map(({ metadata }: { metadata: { session_id: string } }) => metadata.session_id).sort(),
      broken,
      refused,
    ],
    [0, ids.filter((id) => id !== "deep").sort(), 2, 0],
    sent.err,
  );
  assert.match(
    sent.err,
    /tasks\/loop\/api_conversation_history\.json: ELOOP[\s\S]*deep\.messages\.json: Maximum call stack/,
  );
  assert.equal((await home.run(["resume", "--print", "good"])).code, 0);
  const server = await startPalinode();
  await server.close();
  const handed = await home.run(["handoff", "--print"], { env: { PALINODE_API_URL: server.url } });
  assert.deepEqual([handed.code, handed.out.includes("- keep")], [0, true], handed.err);
});

test("a session lost here is said, and the one before it is handed over", async (t) => {
  const home = openHome(t);
  home.session("good", ["the matter"], { cwd: home.folder });
  home.session("cut", ["x"], { cwd: home.folder, ended_at: "2026-12-01T00:00:00Z" });
  home.write(".cline/data/sessions/cut/cut.messages.json", "{");
  const server = await startPalinode();
  await server.close();
  const handed = await home.run(["handoff", "--print"], { env: { PALINODE_API_URL: server.url } });
  assert.deepEqual(
    [handed.code, handed.out.includes("the matter"), handed.err.includes("cut.messages.json")],
    [0, true, true],
    handed.err,
  );
});

test("thousands of results in one legacy message are read in a moment, each to its own call", (t) => {
  const home = openHome(t);
  const count = 20_000;
  const calls = Array.from(
    { length: count },
    (_, index) => `<execute_command><command>c${index}</command></execute_command>`,
  ).join("");
  const results = Array.from({ length: count }, (_, index) => ({
    type: "text",
    text: `[execute_command for 'c${index}'] Result:\nCommand failed with exit code ${index}.`,
  }));
  home.task(`.config/Code/${EXTENSION}`, "1767225600000", [
    { role: "user", content: "<task>t</task>" },
    { role: "assistant", content: calls },
    { role: "user", content: results },
  ]);
  const start = performance.now();
  const { outcomes } = workOf(readSession(findSessions(home.env, assert.fail)[0]!, assert.fail)!.messages);
  assert.ok(performance.now() - start < 3000, `${performance.now() - start} ms`);
  assert.deepEqual(
    [outcomes.length, outcomes.findIndex(({ query, exitCode }, index) => query !== `c${index}` || exitCode !== index)],
    [count, -1],
  );
});

test("a message of an error goes to the terminal without escape sequences", async (t) => {
  const ran = await openHome(t).run(["\u001b[31mred\u001b[0m"]);
  assert.deepEqual([ran.code, ran.err.split("\n")[0]], [2, 'palinode: unknown command "red"']);
});

test("a file of 300 MB is skipped with its size, in little memory", async (t) => {
  const home = openHome(t);
  home.session("good", ["hello"]);
  truncateSync(home.session("huge", ["x"]), 300 * 1024 * 1024);
  const ran = await home.run(["history", "--json"], { env: { NODE_OPTIONS: "--max-old-space-size=120" } });
  assert.deepEqual([ran.code, rowsOf(ran).map(({ id }) => id)], [0, ["good"]]);
  assert.match(ran.err, /huge\.messages\.json: it has 300 MB/);
});

test("two thousand sessions are listed in seconds", async (t) => {
  const home = openHome(t);
  for (let index = 0; index < 2000; index += 1)
    home.session(`s${index}`, [`prompt ${index} ${"more ".repeat(200)}`, "answer ".repeat(200), "again"], {
      ended_at: new Date(1.7e12 + index * 1000).toISOString(),
    });
  const start = performance.now();
  const ran = await home.run(["history", "--json"], { env: { NODE_OPTIONS: "--max-old-space-size=120" } });
  assert.deepEqual([rowsOf(ran).length, rowsOf(ran)[0]!.id, ran.err], [2000, "s1999", ""]);
  assert.ok(performance.now() - start < 20_000, `${performance.now() - start} ms`);
});

test("nothing but the plugin's own is written by reading, and a home without sessions is no failure", async (t) => {
  const home = openHome(t);
  const state = join(".cline", "data", "palinode");
  const filesHere = () =>
    readdirSync(home.folder, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith(state))
      .sort();
  const none = await home.run(["history", "--json"]);
  assert.deepEqual([none.code, none.out, none.err], [0, "[]\n", ""]);
  const file = home.session("s", ["hello"]);
  const before = [statSync(file).mtimeMs, filesHere()];
  await home.run(["history"]);
  assert.deepEqual([statSync(file).mtimeMs, filesHere()], before);
  assert.equal(statSync(join(home.folder, state, "history.json")).mode & 0o777, 0o600);
  rmSync(join(home.folder, state), { recursive: true });
  await home.run(["history"], { env: { PALINODE_CLINE_PERSIST: "0" } });
  assert.equal(existsSync(join(home.folder, state)), false);
});

test("a file is read again only when its time or size has changed", async (t) => {
  const home = openHome(t);
  const list = async () =>
    rowsOf(await home.run(["history", "--json"])).map(({ id, title, prompts }) => [id, title, prompts]);
  const file = home.session("s", ["first words", "x"], { title: undefined });
  home.session("other", ["other words", "x"], { ended_at: "2025-01-01T00:00:00Z" });
  const second = new Date(1_750_000_000_000);
  utimesSync(file, second, second);
  const before = await list();
  assert.deepEqual(before, [
    ["s", "first words", 1],
    ["other", "other words", 1],
  ]);
  const { size } = statSync(file);
  // Neither its time nor its size tells that this is another one: who shows the old words has not read it.
  writeFileSync(file, "z".repeat(size));
  utimesSync(file, second, second);
  assert.deepEqual(await list(), before);
  home.session("s", ["newer words", "x", "y"], { title: undefined });
  assert.deepEqual((await list())[0], ["s", "newer words", 2]);
});

test("what is kept of sessions is made anew by another version, and when it cannot be read", async (t) => {
  const home = openHome(t);
  home.session("s", ["words", "x"]);
  await home.run(["history", "--json"]);
  const path = join(home.folder, ".cline/data/palinode/history.json");
  const good = JSON.parse(readFileSync(path, "utf8"));
  assert.equal(Object.keys(good.rows).length, 1);
  const spoilt = (change: (row: unknown[]) => unknown) => ({
    ...good,
    rows: Object.fromEntries(Object.entries(good.rows).map(([file, row]) => [file, change(row as unknown[])])),
  });
  for (const content of [
    { ...good, version: "0.0.1", rows: spoilt(([stamp]) => [stamp, { title: "OLD", promptKeys: [] }]).rows },
    spoilt(([stamp]) => [stamp, { title: 7, promptKeys: ["a"] }]),
    spoilt(([stamp]) => [stamp, { title: "OLD", promptKeys: [7] }]),
    spoilt(([stamp]) => [stamp]),
    spoilt(() => null),
    { ...good, rows: 7 },
    null,
    [],
  ]) {
    writeFileSync(path, JSON.stringify(content));
    const ran = await home.run(["history", "--json"]);
    assert.deepEqual([rowsOf(ran).map(({ title, prompts }) => [title, prompts]), ran.err], [[["words", 1]], ""]);
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), good);
  }
  writeFileSync(path, "{");
  assert.equal(rowsOf(await home.run(["history", "--json"])).length, 1);
});

test("trouble with a file is told each time, and with what belongs to another agent never", async (t) => {
  const home = openHome(t);
  home.session("good", ["x"]);
  home.write(".cline/data/sessions/cut/cut.messages.json", "{");
  home.write(".cline/data/sessions/mate/mate.messages.json", {
    agent: "mate",
    messages: [{ role: "user", content: "x" }],
  });
  for (const _ of [1, 2]) {
    const ran = await home.run(["history", "--json"]);
    assert.equal(rowsOf(ran).length, 1);
    assert.match(ran.err, /^palinode: skipped \S+cut\.messages\.json: it is not whole JSON\n$/);
  }
});

test("the host's variables and ours say where sessions are", async (t) => {
  const home = openHome(t);
  const places: [Record<string, string>, string][] = [
    [{ CLINE_DIR: join(home.folder, "a") }, "a/data/sessions"],
    [{ CLINE_DATA_DIR: join(home.folder, "b") }, "b/sessions"],
    [{ CLINE_SESSION_DATA_DIR: join(home.folder, "c"), CLINE_DATA_DIR: "/nowhere" }, "c"],
    [{ PALINODE_CLINE_ROOT: join(home.folder, "d"), CLINE_SESSION_DATA_DIR: "/nowhere" }, "d"],
  ];
  for (const [env, folder] of places) {
    home.write(`${folder}/in-${folder[0]}/in-${folder[0]}.messages.json`, {
      messages: [{ role: "user", content: "x" }],
    });
    assert.deepEqual(
      rowsOf(await home.run(["history", "--json"], { env })).map(({ id }) => id),
      [`in-${folder[0]}`],
      folder,
    );
  }
});

test("tasks of the extension are found in every editor, on every system, and where the override says", async (t) => {
  const home = openHome(t);
  const roots: Record<string, string> = {
    ".config/Code": "VS Code",
    ".config/Code - Insiders": "VS Code - Insiders",
    ".config/VSCodium": "VSCodium",
    ".config/Cursor": "Cursor",
    ".config/Windsurf": "Windsurf",
    "Library/Application Support/Code": "VS Code",
    "AppData/Roaming/Cursor": "Cursor",
    ".vscode-server/data": "VS Code",
    ".cursor-server/data": "Cursor",
  };
  for (const [index, root] of Object.keys(roots).entries())
    home.task(`${root}/${EXTENSION}`, `176722560000${index}`, LEGACY_TASK, { task: "x", ts: 1767225700000 + index });
  const rows = rowsOf(await home.run(["history", "--json"]));
  assert.deepEqual(rows.map(({ source }) => source).reverse(), Object.values(roots));
  assert.match(rows.at(-1)!.resume, /Cline's history in VS Code$/);
  home.task("one", "1", LEGACY_TASK);
  home.task("two", "2", LEGACY_TASK);
  const env = {
    PALINODE_CLINE_ROOTS: [join(home.folder, "one"), join(home.folder, "two"), "/nowhere"].join(delimiter),
  };
  assert.deepEqual(
    rowsOf(await home.run(["history", "--json"], { env }))
      .map(({ id }) => id)
      .sort(),
    ["1", "2"],
  );
});

test("tasks of every place that Cline has had are found, and the list ends with where it looked", async (t) => {
  const home = openHome(t);
  const roots: Record<string, string> = {
    [`.config/Antigravity/${EXTENSION}`]: "Antigravity",
    [`.config/Code/${EXTENSION.replace("claude-dev", "cline-nightly")}`]: "VS Code",
    ".config/Code/User/profiles/-5a2f/globalStorage/saoudrizwan.claude-dev": "VS Code",
    ".config/JetBrains/PyCharm2023.3/globalStorage/saoudrizwan.claude-dev": "PyCharm2023.3",
    "Library/Application Support/JetBrains/IntelliJIdea2025.1/globalStorage/saoudrizwan.claude-dev":
      "IntelliJIdea2025.1",
    [`AppData/Roaming/Windsurf - Next/${EXTENSION}`]: "Windsurf - Next",
    [`.local/share/code-server/${EXTENSION}`]: "VS Code",
    ".cline/data": "JetBrains or CLI 1 or 2",
  };
  for (const [index, root] of Object.keys(roots).entries())
    home.task(root, `176722560000${index}`, LEGACY_TASK, { task: `task ${index}`, ts: 1767225700000 + index });
  const rows = rowsOf(await home.run(["history", "--json"])).reverse();
  assert.deepEqual(
    rows.map(({ source, title }) => [source, title]),
    Object.values(roots).map((source, index) => [source, `task ${index}`]),
  );
  const { out, err } = await home.run(["history"]);
  const last = out.trimEnd().split("\n").at(-1)!;
  assert.match(last, /^Looked in /);
  for (const root of Object.keys(roots)) assert.ok(last.includes(join(home.folder, root, "tasks")), last);
  assert.equal(err, "");
  const env = { CLINE_DIR: join(home.folder, "other") };
  home.task("other/data", "1767225600099", LEGACY_TASK);
  const other = await home.run(["history"], { env });
  assert.match(other.out, /1767225600099[\s\S]*Looked in .*other\/data\/tasks.* \(as CLINE_DIR says\)\.\n$/);
  assert.ok(!other.out.includes("1767225600007"));
  const none = await openHome(t).run(["history"]);
  assert.match(none.err, /no session found\nLooked for \S+\.cline\/data\/sessions and \d+ folders of editors: none is/);
});

test("the old list of the standalone core counts, and of an entry that stands twice the newer", async (t) => {
  const home = openHome(t);
  home.task(".cline/data", "1767225600000", LEGACY_TASK);
  home.task(".cline/data", "1767225600001", LEGACY_TASK);
  home.write(".cline/data/globalState.json", {
    taskHistory: [{ id: "1767225600000", ts: 1767225900000, task: "old" }],
  });
  home.write(".cline/data/state/taskHistory.json", [
    { id: "1767225600001", ts: 1767225800000, task: "newer" },
    { id: "1767225600001", ts: 1767225700000, task: "older" },
  ]);
  assert.deepEqual(
    rowsOf(await home.run(["history", "--json"])).map(({ title, when }) => [title, Date.parse(when)]),
    [
      ["old", 1767225900000],
      ["newer", 1767225800000],
    ],
  );
});

test("a task in both stores is one, as the SDK went on with it", async (t) => {
  const home = openHome(t);
  home.task(".cline/data", "1767225600000", LEGACY_TASK, { ts: 1790000000000 });
  home.session("1767225600000", ["one", "x", "two", "y", "three"]);
  const rows = rowsOf(await home.run(["history", "--json"]));
  assert.deepEqual(
    rows.map(({ id, source, prompts }) => [id, source, prompts]),
    [["1767225600000", "cline", 3]],
  );
});

test("a task that no list has is dated by what the person saw, its id, or what the model was told", async (t) => {
  const home = openHome(t);
  const root = `.config/Code/${EXTENSION}`;
  const seen = (ts: number, text: string) => ({ ts, type: "say", say: "text", text });
  home.task(root, "1767225600000", LEGACY_TASK);
  const quote = JSON.stringify([seen(1790000000000, "quoted")]);
  home.write(`${root}/tasks/1767225600000/ui_messages.json`, [
    seen(1767225600500, "a"),
    seen(1767229200000, `${"x".repeat(300_000)}${quote}`),
  ]);
  home.task(root, "copy-of-1x", LEGACY_TASK);
  home.write(`${root}/tasks/copy-of-1x/claude_messages.json`, JSON.stringify([seen(1722000000000, "b")], null, 2));
  home.task(root, "1735700000000", LEGACY_TASK);
  home.task(root, "named", [
    {
      role: "user",
      content: [
        { type: "text", text: "<task>x</task>" },
        {
          type: "text",
          text:
            "<environment_details>\n# Current Time\n3/1/2025, 3:04:05 PM (Europe/Berlin, UTC+1:00)\n" +
            "</environment_details>",
        },
      ],
    },
  ]);
  assert.deepEqual(
    rowsOf(await home.run(["history", "--json"])).map(({ id, when }) => [id, when]),
    [
      ["1767225600000", "2026-01-01T01:00:00.000Z"],
      ["named", "2025-03-01T14:04:05.000Z"],
      ["1735700000000", "2025-01-01T02:53:20.000Z"],
      ["copy-of-1x", "2024-07-26T13:20:00.000Z"],
    ],
  );
});

test("a day of --since is the one that the list shows", async (t) => {
  const home = openHome(t);
  home.session("late", ["x"], { ended_at: "2026-01-31T22:00:00Z" });
  home.session("early", ["y"], { ended_at: "2026-01-31T10:00:00Z" });
  const idsFor = async (TZ: string, since: string) =>
    rowsOf(await home.run(["history", "--json", "--since", since], { env: { TZ } })).map(({ id }) => id);
  // In Auckland it is thirteen hours later.
  assert.deepEqual(await idsFor("Pacific/Auckland", "2026-02-01"), ["late"]);
  assert.deepEqual(await idsFor("Pacific/Auckland", "2026-01-31"), ["late", "early"]);
  assert.deepEqual(await idsFor("UTC", "2026-02-01"), []);
});

test("the extension's own list gives title, folder and time, and the messages stand in for it", async (t) => {
  const home = openHome(t);
  const root = `.config/Code/${EXTENSION}`;
  home.task(root, "1767225600000", LEGACY_TASK, {
    ts: 1767229200000,
    task: "Fix login",
    cwdOnTaskInitialization: "/w/my-shop",
    modelId: "m1",
  });
  home.task(root, "1767225500000", LEGACY_TASK);
  const [listed, unlisted] = rowsOf(await home.run(["history", "--json"])).sort((a, b) => b.id.localeCompare(a.id));
  assert.deepEqual(
    [listed!.title, listed!.project, listed!.when, listed!.prompts],
    ["Fix login", "my-shop", "2026-01-01T01:00:00.000Z", 2],
  );
  assert.deepEqual(
    [unlisted!.title, unlisted!.project, unlisted!.prompts],
    ["Fix the flaky login test", "old-shop", 2],
  );
  home.write(`${root}/state/taskHistory.json`, "[{");
  const ran = await home.run(["history", "--json", "--project", "old-shop"]);
  assert.equal(rowsOf(ran).length, 2);
  assert.match(ran.err, /taskHistory\.json/);
});

test("of a legacy task only what the two sides said is text", (t) => {
  const home = openHome(t);
  home.task(`.config/Code/${EXTENSION}`, "1767225600000", LEGACY_TASK);
  const session = readSession(findSessions(home.env, assert.fail)[0]!, assert.fail)!;
  assert.deepEqual(session.prompts.map(bareWords), ["Fix the flaky login test", "Leave that file alone"]);
  const said = session.messages
    .filter((message) => message.role === "assistant")
    .flatMap(textsOf)
    .filter((text) => text !== "");
  assert.deepEqual(said, ["I run the tests.", "Decision: retry the login once.\nThe login test is stable now."]);
});

test("envelopes of every kind are taken off", (t) => {
  const home = openHome(t);
  const texts = [
    "<task>\nA\n</task>\n<environment_details>X</environment_details>",
    "<user_message>B</user_message>",
    '<mode_notice>X</mode_notice>\n<user_input mode="plan">C</user_input>',
    '<user_input mode="act">D</user_input>\n<file_content path="a">X</file_content>',
    "E",
  ];
  const messages = [
    ...texts.map((text) => ({
      role: "user",
      content: [
        { type: "image", source: {} },
        { type: "text", text },
      ],
    })),
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "X" },
        { type: "text", text: "F" },
      ],
    },
  ];
  home.write(".cline/data/sessions/s/s.messages.json", { messages });
  const session = readSession(findSessions(home.env, assert.fail)[0]!, assert.fail)!;
  assert.deepEqual(session.prompts.map(bareWords), ["A", "B", "C", "D", "E"]);
  assert.ok(!JSON.stringify(session.messages).includes("thinking"));
});

test("paths and titles are safe to print and to paste", async (t) => {
  const home = openHome(t);
  home.session("a", ["x"], {
    cwd: "/w/it's here; rm -rf $HOME",
    metadata: { title: "\u001b[31mred\u001b[0m\nline\u0007" },
  });
  home.session("b'; touch x", ["y"]);
  const { out } = await home.run(["history"]);
  assert.ok(out.includes("cd '/w/it'\\''s here; rm -rf $HOME' && cline --id a"), out);
  assert.ok(out.includes("--id 'b'\\''; touch x'"), out);
  assert.doesNotMatch(out, /[\u0000-\u0009\u000b-\u001f]/);
});

test("what turns the direction of reading in a path is shown as an escape", async (t) => {
  const home = openHome(t);
  home.session("a", ["x"], { cwd: "/w/\u202egpj\u200f.sh" });
  for (const words of [["history"], ["history", "--json"], ["resume", "a", "--print"]]) {
    const { out } = await home.run(words);
    assert.ok(out.includes("/w/\\u202egpj\\u200f.sh"), `${words}: ${out}`);
    assert.doesNotMatch(out, /[\u200f\u202e]/);
  }
});

test("a folder that is no whole path is not gone to", async (t) => {
  const home = openHome(t);
  for (const [index, cwd] of ["-P", "~/x", "shop"].entries()) home.session(`s${index}`, ["x"], { cwd });
  assert.deepEqual(
    rowsOf(await home.run(["history", "--json"]))
      .map(({ resume }) => resume)
      .sort(),
    ["cline --id s0", "cline --id s1", "cline --id s2"],
  );
});

test("a list that could not be written is a failure", { skip: !existsSync("/dev/full") }, (t) => {
  const home = openHome(t);
  home.session("s", ["x"]);
  const full = openSync("/dev/full", "w");
  t.after(() => closeSync(full));
  const { status, stderr } = spawnSync(process.execPath, [join(REPOSITORY, "dist/palinode.js"), "history"], {
    cwd: home.folder,
    env: home.env,
    stdio: ["ignore", full, "pipe"],
  });
  assert.deepEqual([status, String(stderr)], [1, "palinode: the output could not be written (ENOSPC)\n"]);
});

test("a reader that has seen enough of a long list is no failure", async (t) => {
  const home = openHome(t);
  for (let index = 0; index < 400; index += 1) home.session(`s${index}`, [`prompt ${"long ".repeat(60)}`]);
  const ran = await home.run(["history"], { closeAfterFirst: true });
  assert.deepEqual([ran.code, ran.err], [0, ""]);
});

test("the home is the system's where no variable says otherwise", () => {
  assert.doesNotThrow(() => findSessions({}, () => undefined));
});

test("a folder that is named and is not there is told; the one around the extension's will do", (t) => {
  const warnings: string[] = [];
  assert.deepEqual(
    findSessions({ PALINODE_CLINE_ROOT: join(homedir(), "no-such-folder"), PALINODE_CLINE_ROOTS: "/nowhere" }, (text) =>
      warnings.push(text),
    ),
    [],
  );
  assert.deepEqual(
    warnings.map((text) => /there is no folder (\S+)/.exec(text)?.[1]),
    [join(homedir(), "no-such-folder"), "/nowhere/tasks"],
  );
  const around = mkdtempSync(join(tmpdir(), "palinode-around-"));
  t.after(() => rmSync(around, { recursive: true }));
  const task = join(around, "saoudrizwan.claude-dev/tasks/1700000000001");
  mkdirSync(task, { recursive: true });
  writeFileSync(
    join(task, "api_conversation_history.json"),
    JSON.stringify([{ role: "user", content: "<task>\none\n</task>" }]),
  );
  assert.deepEqual(
    findSessions({ PALINODE_CLINE_ROOT: around, PALINODE_CLINE_ROOTS: around }, assert.fail).map(({ id, endedAt }) => [
      id,
      endedAt,
    ]),
    [["1700000000001", undefined]],
  );
});

function rowsOf({ out }: Ran): Row[] {
  return JSON.parse(out) as Row[];
}

// What outlives a process: the same bytes without asking, after kills and restarts, compaction, undo and late answers.
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Chat, createChat, injected, type Message, sharedPrefix, textOf, wire } from "../helpers/chat.ts";
import { filesBelow, openScene, ROLLBACK, ROLLBACK_PROMPT, type Scene, until } from "../helpers/scene.ts";

const SESSION_FILE = "sessions/1796000000000_test.json";

test("a killed worker, a fresh process and another conversation id give the same bytes and ask nothing", async (t) => {
  const { chat, model, host, server, restart } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  const before = await model();
  const asked = server.requests.length;
  await host.kill();
  assert.deepEqual(await model(), before);
  assert.deepEqual(await model(chat, restart()), before);
  const resumed = createChat({ conversationId: "conv_2", agentId: "agent_2" });
  for (const message of chat.messages) resumed.add(message);
  const after = await model(resumed, restart());
  assert.deepEqual(wire(after), wire(before));
  assert.equal(server.requests.length, asked);
});

test("the bytes do not depend on the clock", async (t) => {
  const { chat, model, restart } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  const before = await model();
  const later = restart({ env: { PALINODE_HOOK_RECALL_MAX_CHARS: "500", TZ: "Asia/Tokyo" } });
  assert.deepEqual(await model(chat, later), before);
});

test("every state file is whole and private, in a private folder", async (t) => {
  const { chat, model, finish, stateDir } = await openScene(t, { env: { PALINODE_HOOK_MIN_MESSAGES: "1" } });
  chat.say(ROLLBACK_PROMPT);
  await model();
  await finish();
  const files = filesBelow(stateDir);
  assert.ok(files.some(({ name }) => name === SESSION_FILE));
  for (const { name, text, mode } of files) {
    assert.equal(mode, 0o600, name);
    JSON.parse(text);
  }
  assert.equal(statSync(stateDir).mode & 0o777, 0o700);
  assert.equal(statSync(join(stateDir, "sessions")).mode & 0o777, 0o700);
});

test("a ledger cut at any byte, or of the wrong type, is set aside and the session goes on", async (t) => {
  const { chat, model, restart, stateDir, host } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  await model();
  await host.kill();
  const file = join(stateDir, SESSION_FILE);
  const whole = readFileSync(file, "utf8");
  const cuts = Array.from({ length: 12 }, (_, index) => whole.slice(0, Math.floor((whole.length * index) / 12)));
  const wrong = [
    "null",
    "7",
    "[]",
    '"x"',
    '{"ledger":5,"asked":{},"captured":"x"}',
    JSON.stringify({ ledger: [null, {}, { kind: "digest" }], asked: [1] }),
    "\u0000\u0000",
  ];
  for (const text of [...cuts, ...wrong]) {
    writeFileSync(file, text);
    const next = restart();
    const messages = await model(chat, next);
    assert.equal(injected(messages).length, 2, text.slice(0, 40));
    assert.deepEqual(next.failures, []);
    await next.kill();
  }
  assert.ok(readdirSync(join(stateDir, "sessions")).some((name) => name.endsWith(".bad")));
});

test("good rows of a ledger survive a bad one", async (t) => {
  const { chat, model, restart, stateDir, host, server } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  const before = await model();
  await host.kill();
  const file = join(stateDir, SESSION_FILE);
  const record = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...record, ledger: [{ kind: "recall", text: 5 }, ...record.ledger] }));
  const asked = server.requests.length;
  assert.deepEqual(await model(chat, restart()), before);
  assert.equal(server.requests.length, asked);
});

test("a state folder that cannot be made or written costs no memory", async (t) => {
  const { chat, model, folder, restart } = await openScene(t);
  const blocker = join(folder, "file");
  writeFileSync(blocker, "");
  const readOnly = join(folder, "read-only");
  mkdirSync(readOnly);
  chmodSync(readOnly, 0o500);
  chat.say(ROLLBACK_PROMPT);
  for (const dir of [join(blocker, "state"), join(readOnly, "state"), "/proc/nowhere"]) {
    const host = restart({ env: { PALINODE_CLINE_STATE_DIR: dir } });
    assert.equal(injected(await model(chat, host)).length, 2);
    assert.deepEqual(host.failures, []);
  }
});

test("PALINODE_CLINE_PERSIST=0 keeps nothing on disk and still replays in memory", async (t) => {
  const { chat, model, finish, stateDir, folder } = await openScene(t, {
    env: { PALINODE_CLINE_PERSIST: "0", PALINODE_HOOK_MIN_MESSAGES: "1" },
  });
  chat.say(ROLLBACK_PROMPT);
  const before = await model();
  assert.deepEqual(await model(), before);
  await finish();
  assert.equal(statSync(stateDir, { throwIfNoEntry: false }), undefined);
  assert.deepEqual(filesBelow(folder), []);
});

test("state lies where the host's own data lies", async (t) => {
  const { chat, model, folder, restart } = await openScene(t);
  const cases: [Record<string, string>, string][] = [
    [
      { CLINE_DATA_DIR: join(folder, "data"), CLINE_DIR: join(folder, "dir"), HOME: join(folder, "home") },
      "data/palinode",
    ],
    [{ CLINE_DIR: join(folder, "dir"), HOME: join(folder, "home") }, "dir/data/palinode"],
    [{ HOME: join(folder, "home"), USERPROFILE: join(folder, "profile") }, "home/.cline/data/palinode"],
    [{ HOME: "", USERPROFILE: join(folder, "profile") }, "profile/.cline/data/palinode"],
    [{ HOME: "", HOMEDRIVE: `${folder}/dr`, HOMEPATH: "ive" }, "drive/.cline/data/palinode"],
  ];
  chat.say(ROLLBACK_PROMPT);
  for (const [env, where] of cases) {
    await model(chat, restart({ env: { PALINODE_CLINE_STATE_DIR: "", ...env } }));
    assert.ok(statSync(join(folder, where, SESSION_FILE)).isFile(), where);
  }
});

/** Ten prompts with an answer each; returns what the model got for the last. */
async function talk(scene: Scene, prompts: readonly string[]): Promise<Message[]> {
  let messages: Message[] = [];
  for (const words of prompts) {
    scene.chat.say(words);
    messages = await scene.model();
    scene.chat.answer(`About ${words}`);
  }
  return messages;
}

test("after an undo the blocks of the turns that are gone are gone, and the others stay as they were", async (t) => {
  const scene = await openScene(t, {
    server: {
      memories: [
        { file: "c.md", core: true, summary: "core" },
        ROLLBACK,
        { file: "lint.md", body: "The lint warnings in the shop come from the parser" },
      ],
    },
  });
  await talk(scene, [ROLLBACK_PROMPT, "Where do the lint warnings in the shop come from?"]);
  const before = await scene.model();
  scene.chat.messages.splice(2);
  scene.chat.say("Something else entirely, without any memory of it");
  const after = await scene.model();
  assert.equal(injected(before).length, 3);
  assert.equal(injected(after).length, 2);
  assert.equal(sharedPrefix(before, after), 4);
});

test("when the first prompt is undone the digest stands after the current one", async (t) => {
  const scene = await openScene(t);
  await talk(scene, [ROLLBACK_PROMPT]);
  const digest = textOf(injected(await scene.model())[0]);
  scene.chat.messages.splice(0);
  scene.chat.say("A different beginning of the same session");
  const after = injected(await scene.model());
  assert.deepEqual(after.map(textOf), [digest]);
});

test("a memory in view is not injected again, fresh ones surface, and the request asks for as many more", async (t) => {
  const hits = Array.from({ length: 9 }, (_, index) => ({
    rel_path: `m${index}.md`,
    snippet: `fact ${index} about ${"abcdefghi"[index]?.repeat(8)}`,
    content: `fact ${index} about ${"abcdefghi"[index]?.repeat(8)}`,
    raw_score: 0.9 - index / 100,
  }));
  const { chat, model, server } = await openScene(t, { server: { memories: [] } });
  server.fault("/search", { json: hits });
  const seen: string[][] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    chat.say(`Tell me more about this topic, please (${turn})`);
    seen.push(
      injected(await model())
        .map(textOf)
        .slice(turn === 0 ? 0 : -1)
        .flatMap((text) => text.match(/m\d\.md/g) ?? []),
    );
    chat.answer("ok");
  }
  assert.deepEqual(seen.slice(0, 3), [
    ["m0.md", "m1.md", "m2.md"],
    ["m3.md", "m4.md", "m5.md"],
    ["m6.md", "m7.md", "m8.md"],
  ]);
  assert.equal(injected(await model()).length, 3);
  assert.deepEqual(
    server.calls("/search").map((call) => (call.body as { limit: number }).limit),
    [40, 43, 46, 49, 49],
  );
});

test("a text that only grew, and a daily note however it grew, are not shown again", async (t) => {
  const { chat, memory, server } = await openScene(t, { server: { memories: [] } });
  const words = "the deploy of the shop is rolled back with one command by the person on call";
  const hit = (path: string, text: string) => ({ rel_path: path, snippet: text, content: text, raw_score: 0.9 });
  const rounds = [
    [hit("a.md", words), hit("daily/2026-11-30.md", "morning: nothing happened here today")],
    [
      hit("a.md", `${words} today`),
      hit("daily/2026-11-30.md", "evening: quite another thing was captured"),
      hit("b.md", "new: something else that nobody knew"),
    ],
  ];
  for (const [turn, hits] of rounds.entries()) {
    server.fault("/search", { json: hits });
    chat.say(`Question number ${turn} of this session`);
    const lines = (await memory()).flatMap((text) => text.match(/^- \[.*$/gm) ?? []);
    assert.deepEqual(
      lines.map((line) => line.slice(2, line.indexOf("]") + 1)),
      turn === 0 ? ["[a.md]", "[daily/2026-11-30.md]"] : ["[a.md]", "[daily/2026-11-30.md]", "[b.md]"],
    );
    chat.answer("ok");
  }
});

test("what is injected over 60 turns on one topic grows with memories, not with turns", async (t) => {
  const { chat, model, server } = await openScene(t, {
    server: {
      memories: [
        ROLLBACK,
        { file: "b.md", body: "roll back a deploy of the api by hand only in an emergency of the shop" },
      ],
      rateLimits: { search: 1000 },
    },
  });
  for (let turn = 0; turn < 60; turn += 1) {
    chat.say(`${ROLLBACK_PROMPT} (${turn})`);
    await model();
    chat.answer("ok");
  }
  assert.equal(server.calls("/search").length, 60);
  const chars = injected(await model()).reduce((sum, message) => sum + textOf(message).length, 0);
  assert.ok(chars < 1200, `${chars} characters`);
});

test("what is alive in one session keeps to its budget, and the reason is logged", async (t) => {
  const { chat, model, server, host } = await openScene(t, {
    server: { memories: [] },
    env: { PALINODE_CLINE_SESSION_MAX_CHARS: "1000" },
  });
  for (let turn = 0; turn < 8; turn += 1) {
    server.fault("/search", {
      json: [{ rel_path: `m${turn}.md`, snippet: `${turn} ${"word ".repeat(50)}${turn}`, raw_score: 0.9 }],
    });
    chat.say(`Question number ${turn} of this session`);
    await model();
    chat.answer("ok");
  }
  const chars = injected(await model()).reduce((sum, message) => sum + textOf(message).length, 0);
  assert.ok(chars <= 1000 && chars > 500, `${chars} characters`);
  assert.ok(host.logs.some((line) => JSON.stringify(line).includes("budget")));
});

test("hits that are our own block, or this session's capture, are dropped", async (t) => {
  const { chat, memory, server } = await openScene(t, { server: { memories: [] } });
  server.fault("/search", {
    json: [
      {
        rel_path: "own.md",
        snippet: "<palinode-memory>\n## Palinode recall (this prompt)\nx\n</palinode-memory>",
        raw_score: 0.9,
      },
      {
        rel_path: "daily/2026-11-30.md",
        snippet: "Cline session",
        content: "**Session ID:** 1796000000000_test",
        raw_score: 0.9,
      },
      {
        rel_path: "projects/session-end.md",
        snippet: "Cline session, 3 prompts.",
        metadata: { session_id: "1796000000000_test" },
        raw_score: 0.9,
      },
      { rel_path: "good.md", snippet: "a real memory", raw_score: 0.6 },
    ],
  });
  chat.say(ROLLBACK_PROMPT);
  assert.deepEqual(
    (await memory()).flatMap((text) => text.match(/^- .*$/gm) ?? []),
    ["- [good.md] (60% match) a real memory"],
  );
});

test("a late answer is placed at the end of the next request, once, and replayed from then on", async (t) => {
  const { chat, model, server, host } = await openScene(t, { env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "1500" } });
  server.fault("/search", { delayMs: 2500 });
  chat.say(ROLLBACK_PROMPT);
  const first = await model();
  assert.equal(injected(first).length, 1);
  await until("the answer is kept", () => JSON.stringify(host.logs).includes("late"));
  chat.tool("run_commands", {}, "ok");
  const second = await model();
  assert.equal(sharedPrefix(first, second), first.length);
  assert.match(textOf(second.at(-1)), /## Palinode recall \(earlier prompt\)[\s\S]*insights\/rollback\.md/);
  chat.answer("done");
  chat.say("ok");
  const third = await model();
  assert.equal(sharedPrefix(second, third), second.length);
  assert.equal(injected(third).length, 2);
  assert.equal(server.calls("/search").length, 1);
});

test("a digest that is late is asked for once and told once", async (t) => {
  const { chat, model, server } = await openScene(t, {
    context: { session: undefined },
    env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "400" },
  });
  server.fault("/list", { delayMs: 1800 });
  for (const words of ["The first question of it all", "The second question of it all"]) {
    chat.say(words);
    await model();
    chat.answer("ok");
  }
  let last: Message[] = [];
  for (let call = 0; call < 100 && injected(last).length === 0; call += 1) {
    last = await model();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(server.calls("/list").length, 1);
  assert.equal(injected(await model()).length, 1);
});

test("a memory whose turn is compacted away is recalled again for the prompt of the same request", async (t) => {
  const { chat, host, model } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  await model();
  chat.answer("ok");
  chat.say(`${ROLLBACK_PROMPT} again`);
  const summary = {
    id: "msg_new",
    role: "user",
    content: [{ type: "text", text: "Context summary:\n\nwork" }],
    metadata: { kind: "compaction_summary", displayRole: "system", userRunSpan: 1 },
  };
  const payload = chat.beforeModel([summary, chat.messages.at(-1) as Message]);
  const blocks = injected(((await host.beforeModel(payload)).result as { messages: Message[] }).messages).map(textOf);
  assert.equal(blocks.length, 2);
  assert.match(blocks[1] ?? "", /insights\/rollback\.md/);
});

test("a session that has no room left asks for nothing that could not be told", async (t) => {
  for (const [variable, value] of [
    ["PALINODE_CLINE_SESSION_MAX_CHARS", "0"],
    ["PALINODE_CLINE_SESSION_MAX_CHARS", "150"],
    ["PALINODE_HOOK_RECALL_MAX_CHARS", "150"],
  ] as const) {
    const { chat, model, server, host } = await openScene(t, {
      env: { [variable]: value, PALINODE_HOOK_INJECT_MAX_FILES: "0" },
    });
    chat.say(ROLLBACK_PROMPT);
    assert.equal(injected(await model()).length, 0);
    assert.deepEqual([server.calls("/search"), server.calls("/check-triggers")], [[], []]);
    assert.match(JSON.stringify(host.logs), /budget/);
  }
});

test("a block behind a tool call that a request was cut off at does not part it from its result", async (t) => {
  const { chat, model } = await openScene(t, { env: { PALINODE_HOOK_INJECT_MAX_FILES: "0" } });
  chat.say(ROLLBACK_PROMPT);
  chat.tool("run_commands", { commands: ["ls"] }, "ok");
  const result = chat.messages.pop() as Message;
  assert.equal(injected(await model()).length, 1);
  chat.messages.push(result);
  for (const sent of [await model(), await model()]) {
    assert.deepEqual(
      sent.map((message) => (injected([message]).length > 0 ? "block" : message.role)),
      ["user", "assistant", "tool", "block"],
    );
  }
});

test("a late answer survives a kill", async (t) => {
  const { chat, model, server, host, restart } = await openScene(t, {
    env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "1500" },
  });
  server.fault("/search", { delayMs: 2500 });
  chat.say(ROLLBACK_PROMPT);
  await model();
  await until("the answer is kept", () => JSON.stringify(host.logs).includes("late"));
  await host.kill();
  chat.tool("run_commands", {}, "ok");
  assert.match(textOf((await model(chat, restart())).at(-1)), /insights\/rollback\.md/);
});

test("a host that keeps what was added has every block once", async (t) => {
  const { chat, model } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  const kept = await model();
  chat.messages.splice(0, chat.messages.length, ...kept);
  chat.answer("ok");
  chat.say("ok");
  const after = await model();
  assert.equal(injected(after).length, 2);
  assert.equal(sharedPrefix(kept, after), kept.length);
});

test("a second copy of the plugin leaves a prompt to the first", async (t) => {
  const { chat, host, server, restart } = await openScene(t);
  const other = restart({ context: { session: { sessionId: "1796000000000_other" } } });
  chat.say(ROLLBACK_PROMPT);
  const payload = chat.beforeModel();
  const first = ((await host.beforeModel(payload)).result as { messages: Message[] }).messages;
  const searches = server.calls("/search").length;
  const { result } = await other.beforeModel({
    snapshot: payload.snapshot,
    request: { ...payload.request, messages: first },
  });
  assert.equal(result, undefined);
  assert.equal(server.calls("/search").length, searches);
});

test("a trigger that found no room is shown at the next prompt, also by a fresh process", async (t) => {
  const bodies = ["one", "two"].map((name) => ({ file: `t/${name}.md`, body: `${name} `.repeat(250) }));
  const triggers = bodies.map(({ file }) => ({
    description: `${ROLLBACK_PROMPT} ${file}`,
    memory_file: file,
    threshold: 0.5,
  }));
  const { chat, model, host, restart } = await openScene(t, {
    server: { memories: bodies, triggers },
    env: { PALINODE_HOOK_RECALL_MAX_CHARS: "1350", PALINODE_HOOK_RECALL_MAX_RESULTS: "0" },
  });
  chat.say(ROLLBACK_PROMPT);
  const first = injected(await model())
    .map(textOf)
    .join("\n");
  await host.kill();
  chat.answer("ok");
  chat.say("And what about something else entirely?");
  const both = injected(await model(chat, restart()))
    .map(textOf)
    .join("\n");
  assert.equal(first.match(/### Trigger fired/g)?.length, 1);
  assert.deepEqual((both.match(/### Trigger fired: .*/g) ?? []).sort(), [
    "### Trigger fired: t/one.md",
    "### Trigger fired: t/two.md",
  ]);
});

test("a prompt whose recall was killed is not asked again", async (t) => {
  const { chat, host, server, restart, model, stateDir } = await openScene(t, { server: { version: "0.13.0" } });
  server.fault("/search", { hang: true });
  chat.say(ROLLBACK_PROMPT);
  const killed = host.beforeModel(chat.beforeModel());
  // Triggers are asked for once it is known whether there is an embedder.
  await until("it was asked", () => ["/search", "/check-triggers"].every((path) => server.calls(path).length === 1));
  // Bun may send it a moment before that is kept.
  await until(
    "that is kept",
    () =>
      existsSync(join(stateDir, "sessions")) &&
      readdirSync(join(stateDir, "sessions")).some((name) => name.endsWith(".json")),
  );
  await host.kill();
  await killed;
  await model(chat, restart());
  assert.deepEqual([server.calls("/search").length, server.calls("/check-triggers").length], [1, 1]);
});

test("the record of a session is kept for 30 days", async (t) => {
  const { chat, model, finish, stateDir } = await openScene(t);
  const sessions = join(stateDir, "sessions");
  mkdirSync(sessions, { recursive: true });
  for (const days of [29, 31]) {
    const at = Date.now() / 1000 - days * 24 * 3600;
    writeFileSync(join(sessions, `${days}.json`), "{}");
    utimesSync(join(sessions, `${days}.json`), at, at);
  }
  chat.say("ok");
  await model();
  await finish();
  await until("the older one is gone", () => !existsSync(join(sessions, "31.json")));
  assert.deepEqual(readdirSync(sessions).sort(), ["1796000000000_test.json", "29.json"]);
});

test("of many conversations those that were used last are kept, however old", async (t) => {
  const { host, server, model } = await openScene(t, { context: { session: undefined } });
  const open = (index: number): Chat => createChat({ conversationId: `c${index}`, agentId: `a${index}` });
  // The first works with the session's record and would be known again: the second stands for all others.
  const [first, second, ...others] = Array.from({ length: 64 }, (_, index) => open(index));
  for (const chat of [first!, second!]) {
    chat.say(ROLLBACK_PROMPT);
    assert.equal(injected(await model(chat, host)).length, 2);
  }
  const before = await model(second!, host);
  for (const chat of others) {
    chat.say("ok");
    await model(chat, host);
  }
  await model(second!, host);
  for (const chat of [open(64), open(65)]) {
    chat.say("ok");
    await model(chat, host);
  }
  const asked = server.requests.length;
  assert.deepEqual(await model(second!, host), before);
  assert.equal(server.requests.length, asked);
});

test("two processes on one session leave a whole file", async (t) => {
  const { chat, model, host, restart, stateDir } = await openScene(t);
  const other = restart();
  for (let turn = 0; turn < 10; turn += 1) {
    chat.say(`${ROLLBACK_PROMPT} (${turn})`);
    await Promise.all([model(chat, host), model(chat, other)]);
    chat.answer("ok");
    JSON.parse(readFileSync(join(stateDir, SESSION_FILE), "utf8"));
  }
  assert.deepEqual(
    filesBelow(stateDir).filter(({ name }) => name.endsWith(".tmp")),
    [],
  );
});

test("a worktree that is gone still has its project, in a fresh process too", async (t) => {
  const scene = await openScene(t, { env: { PALINODE_HOOK_MIN_MESSAGES: "1" } });
  const tree = join(scene.folder, "fix-1");
  mkdirSync(join(scene.folder, "shop/.git/worktrees/fix-1"), { recursive: true });
  writeFileSync(join(scene.folder, "shop/.git/worktrees/fix-1/commondir"), "../..\n");
  mkdirSync(tree);
  writeFileSync(join(tree, ".git"), `gitdir: ${join(scene.folder, "shop/.git/worktrees/fix-1")}\n`);
  const context = { session: { sessionId: "1796000000000_tree" }, workspaceInfo: { rootPath: tree } };
  const ask = async (words: string): Promise<unknown> => {
    const host = scene.restart({ context });
    scene.chat.say(words);
    await scene.model(scene.chat, host);
    scene.chat.answer("Done");
    await scene.finish(scene.chat, host);
    await host.kill();
    return scene.server.sessions.at(-1)?.project;
  };
  assert.equal(await ask("Fix the exporter of the shop"), "shop");
  rmSync(tree, { recursive: true });
  assert.equal(await ask("Fix the importer of the shop"), "shop");
  assert.equal(scene.server.sessions.length, 2);
});

// Captures: when they are due, what they say, and that each arrives once, whatever happens to server and process.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readItem } from "../../src/capture/item.ts";
import { lookUp } from "../../src/capture/lookup.ts";
import { createPalinodePlugin } from "../../src/plugin.ts";
import type { Client } from "../../src/server/client.ts";
import { PalinodeError } from "../../src/server/failure.ts";
import { commandOutput, createChat } from "../helpers/chat.ts";
import { filesBelow, openScene, type Scene, until } from "../helpers/scene.ts";
import type { WorkerHost } from "../helpers/worker-host.ts";

const PROMPTS = [
  "Why does the login page blink?",
  "And on the phone?",
  "Then fix it, please",
  "Now the tests",
  "Write a changelog",
  "Release it",
  "Tag it",
];

/** Says prompts with an answer each, and ends a run after each. */
async function work(scene: Scene, prompts: readonly string[], host: WorkerHost = scene.host): Promise<void> {
  for (const words of prompts) {
    scene.chat.say(words);
    await scene.model(scene.chat, host);
    scene.chat.answer(`Done: ${words}`);
    await scene.finish(scene.chat, host);
  }
}

function queued(scene: Scene): string[] {
  const folder = join(scene.stateDir, "queue");
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** A capture that waits, as a process that is gone left it. */
function itemText(more: Record<string, unknown> = {}): string {
  const { sessionId = "s", createdAt = Date.now() } = more;
  const body = {
    summary: `Cline session, 3 prompts.\nTopic: ${String(sessionId)} ${String(createdAt)}`,
    decisions: [],
    blockers: [],
    session_id: sessionId,
  };
  return JSON.stringify({ prompts: 3, pid: 999999, refusals: 0, sessionId, createdAt, body, ...more });
}

/** Another session of the same user, later. */
function laterSession(scene: Scene, id = "1796000009999_later", env: Record<string, string> = {}): WorkerHost {
  return scene.restart({ context: { session: { sessionId: id } }, env });
}

async function oneMorePrompt(scene: Scene, host: WorkerHost, words = "A question of the later session"): Promise<void> {
  const chat = createChat({ conversationId: `conv_${words.length}_${Math.random()}` });
  chat.say(words);
  await scene.model(chat, host);
}

test("a session is captured at three prompts and at each doubling", async (t) => {
  const scene = await openScene(t);
  const counts: number[] = [];
  for (const words of [...PROMPTS, "a", "b", "c", "d", "e", "f"]) {
    await work(scene, [words]);
    counts.push(scene.server.sessions.length);
  }
  assert.deepEqual(counts, [0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3]);
});

test("failed and aborted runs are captured too; tool results and host messages are no prompts", async (t) => {
  for (const status of ["failed", "aborted"]) {
    const scene = await openScene(t, { env: { PALINODE_HOOK_MIN_MESSAGES: "2" } });
    scene.chat.say("one question");
    scene.chat.add({ content: [{ type: "text", text: "[SYSTEM] go on" }], metadata: { userRunSpan: 0 } });
    scene.chat.add({
      content: [{ type: "text", text: "<hook_context>x</hook_context>" }],
      metadata: { userRunSpan: 0, displayRole: "system" },
    });
    await scene.host.afterRun(scene.chat.afterRun(status));
    assert.equal(scene.server.sessions.length, 0);
    scene.chat.say("a second question");
    await scene.host.afterRun(scene.chat.afterRun(status));
    assert.equal(scene.server.sessions.length, 1);
  }
});

test("the host's onDispose captures the rest, once", async (t) => {
  const scene = await openScene(t, { onDispose: true });
  await work(scene, PROMPTS.slice(0, 5));
  await scene.host.dispose();
  assert.deepEqual(
    scene.server.sessions.map((body) => [String(body.summary).split("\n")[0], body.trigger]),
    [
      ["Cline session, 3 prompts.", "run_end"],
      ["Cline session, 5 prompts.", "session_end"],
    ],
  );
  assert.deepEqual(
    filesBelow(scene.stateDir).filter(({ name }) => /queue|tails/.test(name)),
    [],
  );
});

test("a session that ends below the floor, or that is covered, sends nothing more", async (t) => {
  const short = await openScene(t, { onDispose: true });
  await work(short, PROMPTS.slice(0, 2));
  await short.host.dispose();
  assert.equal(short.server.sessions.length, 0);
  const covered = await openScene(t, { onDispose: true });
  await work(covered, PROMPTS.slice(0, 3));
  await covered.host.dispose();
  assert.equal(covered.server.sessions.length, 1);
});

test("a session that the agent saved itself is not captured on top of it", async (t) => {
  const scene = await openScene(t);
  await work(scene, PROMPTS.slice(0, 2));
  scene.chat.say("Save the session");
  scene.chat.tool("palinode_session_end", { summary: "x" }, "saved");
  scene.chat.answer("Saved.");
  await scene.finish();
  assert.equal(scene.server.sessions.length, 0);
  await work(scene, PROMPTS.slice(0, 3));
  assert.equal(scene.server.sessions.length, 1);
});

test("no secret and no injected text is in any body or any state file", async (t) => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ0123";
  const scene = await openScene(t);
  await work(scene, [
    `My key is ${secret}, use it for the deploy of the api`,
    "export API_KEY=abc123def456 and roll back a deploy",
    `postgres://bob:hunter22@db/shop`,
  ]);
  const written = [
    ...scene.server.requests.map((request) => request.text),
    ...filesBelow(scene.stateDir).map(({ text }) => text),
  ].join("\n");
  for (const leaked of [secret, "abc123def456", "hunter22"]) assert.ok(!written.includes(leaked), leaked);
  const bodies = scene.server.sessions.map((body) => JSON.stringify(body)).join("\n");
  assert.doesNotMatch(bodies, /palinode-memory|pnpm everywhere|Palinode recall/);
});

test("a secret whose name hides joiners is in no body and no state file either", async (t) => {
  const scene = await openScene(t);
  const secrets = ["abc123def456", "hunter22x", "swordfish77"];
  const words = [`api_\u200dkey=${secrets[0]}`, `pass\u200c\u200dword: ${secrets[1]}`, `TO\ufe0fKEN=${secrets[2]}`];
  for (const odd of words) {
    scene.chat.say(`Why does the deploy of the api fail with ${odd} here?`);
    await scene.model();
    scene.chat.tool(
      "run_commands",
      { commands: [`deploy ${odd}`] },
      commandOutput(`deploy ${odd}`, `Error: ${odd}`, 1),
    );
    await scene.model();
    scene.chat.answer(`It was ${odd}`);
    await scene.finish();
    await scene.host.callTool("palinode_save", { content: `Deploys need ${odd}` });
  }
  const sent = scene.server.requests.map(({ path, text }) => `${path} ${text}`);
  for (const route of ["/search", "/check-triggers", "/session-end", "/save"])
    assert.ok(
      sent.some((request) => request.startsWith(route) && request.includes("[redacted]")),
      route,
    );
  const written = [...sent, ...filesBelow(scene.stateDir).map(({ text }) => text)].join("\n");
  for (const secret of secrets) assert.ok(!written.includes(secret), secret);
});

test("nothing a person or a model says makes the server refuse the summary", async (t) => {
  const scene = await openScene(t);
  for (const words of ["why <summary>x</summary> here", "x </invoke> y", "did <tool_call>"]) {
    scene.chat.say(words);
    scene.chat.answer(`${words} <parameter name="a"> \`\`\` </summary>`);
    await scene.finish();
  }
  assert.equal(scene.server.sessions.length, 1);
  assert.equal(scene.server.calls("/session-end").length, 1);
});

test("what could not be delivered is sent by a later session, oldest first, once each", async (t) => {
  const scene = await openScene(t);
  scene.server.fault("/session-end", { reset: true });
  for (const id of ["1796000000001_a", "1796000000002_b", "1796000000003_c"]) {
    const host = laterSession(scene, id);
    scene.chat.messages.splice(0);
    await work(
      scene,
      PROMPTS.slice(0, 3).map((words) => `${words} ${id}`),
      host,
    );
    await host.kill();
  }
  scene.server.fault("/session-end", null);
  assert.equal(scene.server.sessions.length, 0);
  const later = laterSession(scene);
  await oneMorePrompt(scene, later);
  await until("all are delivered", () => scene.server.sessions.length === 3);
  await until("the queue is empty", () => queued(scene).length === 0);
  assert.deepEqual(
    scene.server.sessions.map((body) => body.session_id),
    ["1796000000001_a", "1796000000002_b", "1796000000003_c"],
  );
  await oneMorePrompt(scene, laterSession(scene, "1796000009998_z"));
  assert.equal(scene.server.sessions.length, 3);
});

test("what the server's policy denies waits, and goes when it allows it, in the same session", async (t) => {
  for (const deny of ["pause", "excluded project"]) {
    const scene = await openScene(t);
    const { policy, sessions } = scene.server;
    if (deny === "pause") policy.capture = "capture_paused";
    else policy.excludedProjects.push("shop");
    await work(scene, PROMPTS.slice(0, 3));
    assert.deepEqual([sessions.length, queued(scene).length], [0, 1], deny);
    policy.capture = null;
    policy.excludedProjects.length = 0;
    await work(scene, ["Which tests does the login page have?"]);
    await until("it is delivered", () => sessions.length === 1 && queued(scene).length === 0);
    await work(scene, PROMPTS.slice(4, 6));
    assert.equal(sessions.length, 2, deny);
    for (const [index, count] of [3, 6].entries())
      assert.match(String(sessions[index]?.summary), new RegExp(`\\b${count} prompts`));
  }
});

test("what nothing is kept of on disk is captured too once the policy allows it", async (t) => {
  const scene = await openScene(t, { env: { PALINODE_CLINE_PERSIST: "0" } });
  scene.server.policy.capture = "capture_paused";
  await work(scene, PROMPTS.slice(0, 3));
  assert.equal(scene.server.sessions.length, 0);
  scene.server.policy.capture = null;
  await work(scene, PROMPTS.slice(3, 4));
  assert.match(String(scene.server.sessions[0]?.summary), /\b4 prompts/);
});

test("a capture of a project that the policy excludes holds up no other's", async (t) => {
  const scene = await openScene(t);
  const queue = join(scene.stateDir, "queue");
  mkdirSync(queue, { recursive: true });
  const items = ["billing", "shop"].map((project, index) => {
    const createdAt = Date.now() - 1000 + index;
    const item = JSON.parse(itemText({ sessionId: project, createdAt }));
    return { createdAt, text: JSON.stringify({ ...item, body: { ...item.body, project, automatic: true } }) };
  });
  for (const { createdAt, text } of items) writeFileSync(join(queue, `${createdAt}-0000.json`), text);
  scene.server.policy.excludedProjects.push("billing");
  await oneMorePrompt(scene, laterSession(scene));
  await until("the other's is delivered", () => scene.server.sessions.length === 1);
  assert.equal(scene.server.sessions[0]?.session_id, "shop");
  await until("the first waits on", () => queued(scene).join() === `${items[0]?.createdAt}-0000.json`);
});

test("a capture whose answer was lost is looked up and not stored twice", async (t) => {
  for (const dedup of [false, true]) {
    const scene = await openScene(t, { server: { dedup }, env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "1000" } });
    if (dedup) scene.server.remember({ file: "insights/same.md", body: PROMPTS.slice(0, 3).join(" ") });
    scene.server.fault("/session-end", { hang: true, handled: true }, 1);
    await work(scene, PROMPTS.slice(0, 3));
    await scene.host.kill();
    assert.equal(scene.server.sessions.length, 1);
    await oneMorePrompt(scene, laterSession(scene, "1796000009999_later", { PALINODE_CLINE_HOOK_DEADLINE_MS: "2500" }));
    await until("it was looked up", () => scene.server.calls("/read").length > 0);
    await until("the copy is gone", () => queued(scene).length === 0);
    assert.equal(scene.server.sessions.length, 1);
    assert.equal(scene.server.calls("/session-end").length, 1);
  }
});

for (const json of [null, {}, [], { detail: "x" }, { content: "another file" }]) {
  test(`a look-up that is answered with ${JSON.stringify(json)} gives no capture up`, async (t) => {
    const scene = await openScene(t);
    const queue = join(scene.stateDir, "queue");
    mkdirSync(queue, { recursive: true });
    writeFileSync(join(queue, "1-lost.json"), itemText({ unknownSince: Date.now() - 10_000 }));
    scene.server.fault("/read", { json }, 1);
    await oneMorePrompt(scene, laterSession(scene, "1796000001011_x"));
    await until("it was looked up", () => scene.server.calls("/read").length > 0);
    await oneMorePrompt(scene, laterSession(scene, "1796000001012_x"));
    await until("it arrived", () => scene.server.sessions.length === 1);
    await until("the queue is empty", () => queued(scene).length === 0);
    assert.equal(scene.server.sessions.length, 1);
  });
}

test("a session that goes on after its tail was sent does not send it again", async (t) => {
  const scene = await openScene(t);
  await work(scene, PROMPTS.slice(0, 5));
  const tails = join(scene.stateDir, "tails");
  const old = Date.now() / 1000 - 31 * 60;
  utimesSync(join(tails, readdirSync(tails)[0] ?? ""), old, old);
  await oneMorePrompt(scene, laterSession(scene));
  await until("the tail arrived", () => scene.server.sessions.length === 2);
  scene.chat.tool("run_commands", {}, "ok");
  await scene.finish();
  assert.deepEqual(readdirSync(tails), []);
});

for (const status of [400, 413, 422]) {
  test(`a capture refused twice with ${status} is set aside with its reason, and its neighbours arrive`, async (t) => {
    const scene = await openScene(t);
    const queue = join(scene.stateDir, "queue");
    mkdirSync(queue, { recursive: true });
    for (const name of ["poisoned", "good"])
      writeFileSync(join(queue, `${name === "good" ? 2 : 1}-${name}.json`), itemText({ sessionId: name }));
    scene.server.fault("/session-end", { status, body: { detail: "no" } }, 1);
    await oneMorePrompt(scene, laterSession(scene, "1796000001001_x"));
    await until("the neighbour arrived", () => scene.server.sessions.length === 1);
    await until("the poisoned one waits", () => queued(scene).join() === "1-poisoned.json");
    scene.server.fault("/session-end", { status, body: { detail: "no" } }, 1);
    await oneMorePrompt(scene, laterSession(scene, "1796000001002_x"));
    const refused = join(scene.stateDir, "refused");
    await until("it is set aside", () => existsSync(refused) && readdirSync(refused).join() === "1-poisoned.json");
    assert.equal(JSON.parse(readFileSync(join(refused, "1-poisoned.json"), "utf8")).reason, "bad-response");
    await oneMorePrompt(scene, laterSession(scene, "1796000001003_x"));
    assert.equal(scene.server.calls("/session-end").length, 3);
  });
}

test("a capture that a server in trouble stored all the same is not refused, and not sent again", async (t) => {
  const scene = await openScene(t);
  const queue = join(scene.stateDir, "queue");
  mkdirSync(queue, { recursive: true });
  writeFileSync(join(queue, "1-good.json"), itemText());
  scene.server.fault("/session-end", { status: 500 }, 1);
  await oneMorePrompt(scene, laterSession(scene, "1796000001001_x"));
  await until("it was tried", () => scene.server.sessions.length === 1);
  await until("it waits", () => queued(scene).join() === "1-good.json");
  await oneMorePrompt(scene, laterSession(scene, "1796000001002_x"));
  await until("it was looked up", () => queued(scene).length === 0);
  assert.equal(scene.server.calls("/session-end").length, 1);
  assert.ok(!existsSync(join(scene.stateDir, "refused")));
});

test("the tail of a session that ended without a word is sent by a later one, once", async (t) => {
  const scene = await openScene(t);
  await work(scene, PROMPTS.slice(0, 5));
  await scene.host.kill();
  const tails = join(scene.stateDir, "tails");
  const [name = ""] = readdirSync(tails);
  // The worker lived in this process, which goes on: an owner that is gone is one that is not running any more.
  const tail = JSON.parse(readFileSync(join(tails, name), "utf8"));
  writeFileSync(join(tails, name), JSON.stringify({ ...tail, pid: 999999 }));
  for (const id of ["1796000000005_x", "1796000000006_y"]) await oneMorePrompt(scene, laterSession(scene, id));
  await until("the tail arrived", () => scene.server.sessions.length === 2);
  await oneMorePrompt(scene, laterSession(scene, "1796000000007_z"));
  assert.deepEqual(
    scene.server.sessions.map((body) => String(body.summary).split("\n")[0]),
    ["Cline session, 3 prompts.", "Cline session, 5 prompts."],
  );
});

test("the tail of a session that goes on is left alone until nobody touched it for half an hour", async (t) => {
  const scene = await openScene(t);
  await work(scene, PROMPTS.slice(0, 5));
  await oneMorePrompt(scene, laterSession(scene));
  await scene.host.beforeModel(scene.chat.beforeModel());
  assert.equal(scene.server.sessions.length, 1);
  const tails = join(scene.stateDir, "tails");
  const [tail = ""] = readdirSync(tails);
  const untouchedFor = (minutes: number): void => {
    const at = Date.now() / 1000 - minutes * 60;
    utimesSync(join(tails, tail), at, at);
  };
  untouchedFor(29);
  await oneMorePrompt(scene, laterSession(scene, "1796000000007_z"));
  await scene.host.beforeModel(scene.chat.beforeModel());
  assert.equal(scene.server.sessions.length, 1);
  untouchedFor(31);
  await oneMorePrompt(scene, laterSession(scene, "1796000000008_z"));
  await until("the tail arrived", () => scene.server.sessions.length === 2);
});

test("queue files of any shape are set aside, and a capture of any age is tried", async (t) => {
  const scene = await openScene(t);
  const queue = join(scene.stateDir, "queue");
  mkdirSync(queue, { recursive: true });
  for (const [name, text] of [
    ["1-a.json", "{"],
    ["2-b.json", "null"],
    ["3-c.json", "[]"],
    ["4-d.json", '{"body":{}}'],
    ["5-e.json", itemText({ createdAt: Date.now() - 8 * 86_400_000 })],
    ["6-f.json", itemText()],
  ] as const) {
    writeFileSync(join(queue, name), text);
  }
  await oneMorePrompt(scene, scene.host);
  await until("both good ones arrived", () => scene.server.sessions.length === 2);
  await until("none waits", () => queued(scene).every((name) => name.endsWith(".bad")));
  assert.deepEqual(scene.host.failures, []);
});

test("a capture that was changed on disk is set aside, not sent", async (t) => {
  const scene = await openScene(t);
  const queue = join(scene.stateDir, "queue");
  mkdirSync(queue, { recursive: true });
  const body = { decisions: [], blockers: [] };
  writeFileSync(join(queue, "1-long.json"), itemText({ body: { ...body, summary: "x".repeat(1201) } }));
  writeFileSync(join(queue, "2-half.json"), itemText({ body: { ...body, summary: "half a character: \ud83d" } }));
  writeFileSync(join(queue, "3-good.json"), itemText({ body: { ...body, summary: "x".repeat(1200) } }));
  await oneMorePrompt(scene, laterSession(scene));
  await until("the good one arrives", () => scene.server.sessions.length > 0);
  await until("the others are set aside", () => queued(scene).sort().join() === "1-long.json.bad,2-half.json.bad");
  assert.deepEqual(
    scene.server.sessions.map(({ summary }) => summary),
    ["x".repeat(1200)],
  );
});

test("one bad date in a queue file holds nobody up", async (t) => {
  const scene = await openScene(t);
  const queue = join(scene.stateDir, "queue");
  mkdirSync(queue, { recursive: true });
  writeFileSync(join(queue, "1-bad.json"), itemText({ unknownSince: 1e300 }));
  writeFileSync(join(queue, "2-worse.json"), itemText({ createdAt: -1 }));
  writeFileSync(join(queue, "3-good.json"), itemText({ sessionId: "good" }));
  await oneMorePrompt(scene, scene.host);
  await until("both good ones arrived", () => scene.server.sessions.length === 2);
  await until("the other is set aside", () => queued(scene).join() === "2-worse.json.bad");
});

test("what certainly never arrived is sent again without a look at what the server has", async (t) => {
  for (const fault of [{ status: 429 }, { status: 401 }, { status: 403 }]) {
    const scene = await openScene(t);
    scene.server.fault("/session-end", fault);
    await work(scene, PROMPTS.slice(0, 3));
    await until("it waits", () => queued(scene).some((name) => name.endsWith(".json")));
    const item = JSON.parse(readFileSync(join(scene.stateDir, "queue", queued(scene)[0] ?? ""), "utf8"));
    assert.deepEqual([item.unknownSince, item.refusals], [undefined, 0], JSON.stringify(fault));
  }
  const away = await openScene(t);
  await away.server.close();
  await work(away, PROMPTS.slice(0, 3));
  const item = JSON.parse(readFileSync(join(away.stateDir, "queue", queued(away)[0] ?? ""), "utf8"));
  assert.equal(item.unknownSince, undefined);
});

test("a capture is taken for stored only by an entry of its own session that says what it says", async () => {
  const summary =
    "Cline session, 3 prompts.\nTopic: the exporter of the shop\nLast answer: fixed on 2026-03-01 in the parser";
  const item = readItem(JSON.parse(itemText({ sessionId: "job-1", body: { summary, decisions: [], blockers: [] } })));
  assert.ok(item);
  const entry = (text: string, id: string) =>
    `## Session End — 2026-03-01T10:00:00Z\n\n**Summary:** ${text}\n\n**Session ID:** ${id}\n`;
  const other = "Cline session, 3 prompts.\nTopic: review what the exporter does\nLast answer: two remarks, see above";
  const notes: [string, boolean][] = [
    [entry(summary, "job-1"), true],
    [entry(summary.replace("on 2026-03-01", "yesterday"), "job-1"), true],
    [entry(summary, "job-12"), false],
    [entry(other, "job-1"), false],
    [entry(summary, "job-12") + entry(other, "job-1"), false],
    ["", false],
  ];
  for (const [content, isStored] of notes) {
    const client: Client = { get: async () => ({ content }), post: () => Promise.reject(new Error("not asked")) };
    assert.deepEqual(await lookUp(client, item, Date.parse("2026-03-01T10:00:00Z"), { timeoutMs: 5000 }), { isStored });
  }
});

test("what may have arrived is looked up under the days around, whatever the server's clock and zone", async () => {
  const files: string[] = [];
  const client: Client = {
    get: async (_, { file_path: file = "" }) => {
      files.push(file);
      throw new PalinodeError("/read", "bad-response", 404);
    },
    post: () => Promise.reject(new Error("not asked")),
  };
  const item = readItem(JSON.parse(itemText()));
  assert.ok(item);
  for (const at of ["2026-03-01T00:00:02Z", "2026-02-28T23:59:58Z"]) {
    files.length = 0;
    assert.deepEqual(await lookUp(client, item, Date.parse(at), { timeoutMs: 5000 }), { isStored: false });
    assert.deepEqual(
      files.filter((file) => file.startsWith("daily/")).sort(),
      [-1, 0, 1].map((day) => `daily/${new Date(Date.parse(at) + day * 86_400_000).toISOString().slice(0, 10)}.md`),
    );
  }
});

test("copies of the plugin in several processes send one after the other, each capture once", async (t) => {
  const scene = await openScene(t);
  const queue = join(scene.stateDir, "queue");
  mkdirSync(queue, { recursive: true });
  for (let index = 0; index < 6; index += 1)
    writeFileSync(join(queue, `${1000 + index}-x.json`), itemText({ sessionId: `waiting-${index}` }));
  scene.server.fault("/session-end", { delayMs: 200 });
  const own = [1, 2, 3].map(async (index) => {
    const host = laterSession(scene, `179600000700${index}_own`);
    const chat = createChat({ conversationId: `conv_own_${index}` });
    for (const words of PROMPTS.slice(0, 3)) {
      chat.say(`${words} (${index})`);
      await scene.model(chat, host);
      chat.answer("Done");
      await scene.finish(chat, host);
    }
  });
  await Promise.all(own);
  // What had to wait for another copy goes with the next prompt; here nobody waits a minute for that.
  for (let round = 0; round < 3 && scene.server.sessions.length < 9; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await oneMorePrompt(scene, laterSession(scene, `179600000800${round}_late`));
  }
  await until("all arrived", () => scene.server.sessions.length === 9 && queued(scene).length === 0);
  assert.equal(scene.server.mostAtOnce("/session-end"), 1);
  assert.equal(new Set(scene.server.sessions.map((body) => body.session_id)).size, 9);
});

test("what is said after an undo is captured, and what was told before is not told again", async (t) => {
  for (const withIds of [true, false]) {
    const scene = await openScene(t, { onDispose: true });
    const chat = createChat({ withIds });
    const turn = async (words: string): Promise<void> => {
      chat.say(words);
      await scene.model(chat);
      chat.answer(`Done: ${words}`);
      await scene.finish(chat);
    };
    for (const words of PROMPTS.slice(0, 6)) await turn(words);
    assert.equal(scene.server.sessions.length, 2);
    // Back to the second prompt's answer.
    chat.messages.splice(4);
    await turn("Use the heliotrope theme for the login page");
    await turn("And the indigo one on phones");
    await scene.host.dispose();
    assert.equal(scene.server.sessions.length, 3, `ids: ${withIds}`);
    const last = String(scene.server.sessions[2]?.summary);
    assert.match(last, /heliotrope[\s\S]*indigo/);
    assert.doesNotMatch(last, /And on the phone|fix it, please/);
  }
});

for (const json of ["ok", [], {}, { status: "ok" }]) {
  test(`an answer without a receipt, ${JSON.stringify(json)}, is not taken for one`, async (t) => {
    const scene = await openScene(t);
    scene.server.fault("/session-end", { json }, 1);
    await work(scene, PROMPTS.slice(0, 3));
    await until("it waits", () => queued(scene).some((name) => name.endsWith(".json")));
    assert.doesNotMatch(JSON.stringify(scene.host.logs), /captured 3 prompts/);
  });
}

test("the queue keeps to its bounds while the server is away", async (t) => {
  const scene = await openScene(t);
  const queue = join(scene.stateDir, "queue");
  mkdirSync(queue, { recursive: true });
  for (let index = 0; index < 1060; index += 1) writeFileSync(join(queue, `${1000 + index}-x.json`), itemText());
  await scene.server.close();
  await work(scene, PROMPTS.slice(0, 3));
  await until("1,000 are left", () => queued(scene).length <= 1001);
});

test("the server names a capture's file as the look-up expects", async (t) => {
  const scene = await openScene(t, { server: { dedup: false } });
  await work(scene, PROMPTS.slice(0, 3));
  const { summary } = scene.server.sessions[0] as { summary: string };
  const hash = createHash("sha256").update(summary).digest("hex").slice(0, 8);
  assert.ok(
    [...scene.server.memories.keys()].some(
      (file) => file.startsWith("projects/session-end-") && file.endsWith(`-shop-${hash}.md`),
    ),
  );
});

test("what a session left unsaid goes out after ten minutes' rest, and waits while it goes on", async (t) => {
  const { server, stateDir, folder } = await openScene(t);
  const plugin = createPalinodePlugin({ apiUrl: server.url, stateDir });
  plugin.setup(
    { registerTool() {} },
    { session: { sessionId: "1796000000000_rest" }, workspaceInfo: { rootPath: folder } },
  );
  const chat = createChat();
  const turn = async (words: string): Promise<void> => {
    chat.say(words);
    await plugin.hooks.beforeModel(chat.beforeModel());
    chat.answer(`Done: ${words}`);
    await plugin.hooks.afterRun(chat.afterRun());
  };
  for (const words of PROMPTS.slice(0, 3)) await turn(words);
  assert.equal(server.sessions.length, 1);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  await turn("A fourth prompt about the footer");
  t.mock.timers.tick(9 * 60_000);
  await turn("A fifth prompt about the header");
  t.mock.timers.tick(9 * 60_000);
  // Nobody can wait for what does not come: the timer is what has to be told.
  assert.equal(server.sessions.length, 1);
  t.mock.timers.tick(60_000);
  t.mock.timers.reset();
  await until("the rest arrived", () => server.sessions.length === 2);
  assert.match(String(server.sessions[1]?.summary), /^Cline session, 5 prompts\.[\s\S]*footer[\s\S]*header/);
});

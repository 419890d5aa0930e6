// A server that is away or slow: prompts stop waiting, memory comes back by itself, and every silence has its reason.
import assert from "node:assert/strict";
import { test } from "node:test";
import { noState, openState, type State } from "../../src/base/store.ts";
import { Breaker } from "../../src/server/breaker.ts";
import { retryAfterMs } from "../../src/server/client.ts";
import { commandOutput } from "../helpers/chat.ts";
import { filesBelow, openScene, ROLLBACK_PROMPT, type Scene, until } from "../helpers/scene.ts";

/** A state in memory, as a file system would keep it. */
function memoryState(): State {
  const files = new Map<string, string>();
  return {
    ...noState,
    read: (name) => JSON.parse(files.get(name) ?? "null"),
    write: (name, value) => Boolean(files.set(name, JSON.stringify(value))),
  };
}

test("three failures in a row pause for 30 s, doubling to 5 min, with one probe each", () => {
  let now = 1_000_000;
  const breaker = new Breaker(noState, "x", () => now);
  for (const failure of [1, 2, 3]) {
    assert.equal(breaker.start(), undefined, `failure ${failure} does not pause`);
    breaker.finish("failed");
  }
  for (const pauseMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    now += pauseMs - 1;
    assert.equal(breaker.start(), "paused");
    now += 1;
    assert.equal(breaker.start(), undefined, "the probe");
    assert.equal(breaker.start(), "paused", "one probe only");
    breaker.finish("failed");
  }
  now += 300_000;
  assert.equal(breaker.start(), undefined);
  breaker.finish("answered");
  assert.equal(breaker.start(), undefined);
  breaker.finish("failed");
  assert.equal(breaker.start(), undefined, "it is all forgotten");
});

test("quiet that the server asked for outlasts an answer on another route, and is never shortened", () => {
  let now = 1_000_000;
  const breaker = new Breaker(memoryState(), "x", () => now);
  breaker.start();
  breaker.finish("failed");
  breaker.limit(120_000);
  breaker.finish("answered");
  assert.equal(breaker.start(), "rate-limited");
  breaker.limit(1000);
  now += 60_000;
  assert.equal(breaker.start(), "rate-limited");
  now += 60_000;
  assert.equal(breaker.start(), undefined);
});

test("a clock that is set back makes no pause longer than pauses are", () => {
  let now = 100 * 86_400_000;
  const breaker = new Breaker(noState, "x", () => now);
  breaker.limit(60_000);
  for (let failure = 0; failure < 3; failure += 1) breaker.finish("failed");
  assert.equal(breaker.isPaused(), true);
  now -= 86_400_000;
  assert.equal(breaker.isPaused(), false);
  assert.equal(breaker.start(), undefined);
});

test("what missed a deadline is waited for less until it answers in time, in fresh processes too", () => {
  const state = memoryState();
  const open = () => new Breaker(state, "x", () => 0);
  const breaker = open();
  breaker.finish("failed");
  assert.equal(breaker.isSlow, false);
  breaker.finish("late");
  breaker.finish("unknown");
  assert.deepEqual([breaker.isSlow, open().isSlow], [true, true]);
  breaker.finish("failed");
  assert.deepEqual([breaker.isSlow, breaker.start()], [true, "paused"], "a missed deadline is a failure");
  breaker.finish("answered");
  assert.deepEqual([breaker.isSlow, open().isSlow, breaker.start()], [false, false, undefined]);
});

for (const isOneShot of [false, true]) {
  const where = isOneShot ? "six one-shot runs" : "six prompts";
  test(`${where} with a server that hangs wait for it thrice, and only once for long`, async (t) => {
    const { server, chat, host, restart } = await openScene(t, { env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "2000" } });
    server.fault("*", { hang: true });
    const waits: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const process = isOneShot ? restart({ context: { session: { sessionId: `179600000600${index}_x` } } }) : host;
      await process.start();
      chat.say(`Why does deploy number ${index} of the api hang for so long?`);
      waits.push((await process.beforeModel(chat.beforeModel())).ms);
      chat.answer("ok");
    }
    const [first = 0, second = 0, third = 0, ...rest] = waits;
    assert.ok(first >= 1900, `${waits}`);
    assert.ok(Math.max(second, third) < 1500 && Math.max(...rest) < 450, `${waits}`);
  });
}

test("what comes before the whole deadline has answered in time, though it was waited for less", async (t) => {
  const { server, chat, model, memory, stateDir } = await openScene(t, {
    env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "2500", PALINODE_HOOK_INJECT_MAX_FILES: "0" },
  });
  for (const route of ["/search", "/check-triggers"]) server.fault(route, { hang: true });
  chat.say(ROLLBACK_PROMPT);
  await model();
  chat.answer("ok");
  for (const route of ["/search", "/check-triggers"]) server.fault(route, { delayMs: 1200 });
  chat.say("And how is the api deployed, by which command?");
  await model();
  const isSlow = (): boolean => filesBelow(stateDir).some(({ text }) => text.includes('"isSlow":true'));
  assert.ok(isSlow());
  await until("it has answered", () => !isSlow());
  chat.answer("ok");
  chat.say("Which page shows the health of a rollback of the api?");
  // Waited for in whole again.
  assert.match((await memory()).join("\n"), /rollback/);
});

test("one or two failures among answers never pause", () => {
  const breaker = new Breaker(noState, "x", () => 0);
  for (let round = 0; round < 10; round += 1) {
    for (const outcome of ["failed", "failed", "answered"] as const) {
      assert.equal(breaker.start(), undefined);
      breaker.finish(outcome);
    }
  }
});

test("a fresh process knows of the pause, and does not trust a clock that was set back", () => {
  const state = memoryState();
  let now = 1_000_000_000;
  const first = new Breaker(state, "x", () => now);
  for (let failure = 0; failure < 3; failure += 1) {
    first.start();
    first.finish("failed");
  }
  assert.equal(new Breaker(state, "x", () => now).start(), "paused");
  assert.equal(new Breaker(state, "another server", () => now).start(), undefined);
  now -= 100_000_000;
  const later = new Breaker(state, "x", () => now);
  now += 300_000;
  assert.equal(later.start(), undefined);
});

test("quiet that was asked for before the clock was set back lasts no longer than any pause", () => {
  const state = memoryState();
  let now = 1_000_000_000;
  new Breaker(state, "x", () => now).limit(300_000);
  now -= 100_000_000;
  const later = new Breaker(state, "x", () => now);
  assert.equal(later.start(), "rate-limited");
  now += 300_000;
  assert.equal(later.start(), undefined);
});

test("of many servers the latest are remembered, and the file stops growing", () => {
  const state = memoryState();
  for (let server = 0; server < 100; server += 1) new Breaker(state, `server ${server}`, () => 0).limit(60_000);
  const names = Object.keys(state.read("server.json") as object);
  assert.ok(names.length <= 40, String(names.length));
  assert.equal(names.at(-1), "server 99");
  assert.equal(new Breaker(state, "server 98", () => 0).start(), "rate-limited");
});

test("Retry-After is honoured in seconds and as a date, is a minute when it says nothing, and is capped", () => {
  const now = Date.parse("2026-11-30T12:00:00Z");
  assert.equal(retryAfterMs("7", now), 7000);
  assert.equal(retryAfterMs("Mon, 30 Nov 2026 12:01:30 GMT", now), 90_000);
  assert.equal(retryAfterMs("Mon, 30 Nov 2026 11:00:00 GMT", now), 0);
  for (const nothing of [null, "", "soon", "-5", "1e3"])
    assert.equal(retryAfterMs(nothing, now), 60_000, String(nothing));
  let clock = now;
  const breaker = new Breaker(noState, "x", () => clock);
  breaker.limit(3_600_000);
  clock += 299_999;
  assert.equal(breaker.start(), "rate-limited");
  clock += 1;
  assert.equal(breaker.start(), undefined);
});

test("a probe that says nothing of the server is given back", () => {
  let now = 1_000_000;
  const breaker = new Breaker(noState, "x", () => now);
  for (let failure = 0; failure < 3; failure += 1) {
    breaker.start();
    breaker.finish("failed");
  }
  now += 30_000;
  for (let probe = 0; probe < 3; probe += 1) {
    assert.equal(breaker.start(), undefined, `probe ${probe}`);
    breaker.finish("unknown");
  }
  assert.equal(breaker.start(), undefined);
  breaker.finish("failed");
  now += 59_999;
  assert.equal(breaker.start(), "paused", "what is given back changes nothing of the pauses");
});

async function ask(scene: Scene, words: string): Promise<{ blocks: string[]; ms: number; requests: number }> {
  const before = scene.server.requests.length;
  scene.chat.say(words);
  const { result, ms } = await scene.host.beforeModel(scene.chat.beforeModel());
  scene.chat.answer("ok");
  const messages =
    (result as { messages?: { content: { text: string }[]; metadata?: { kind: string } }[] } | undefined)?.messages ??
    [];
  const blocks = messages
    .filter((message) => message.metadata?.kind === "palinode-recall")
    .map((message) => message.content[0]?.text ?? "");
  return { blocks, ms, requests: scene.server.requests.length - before };
}

test("a hung server: one prompt waits for the deadline, two half a second, none after that or a restart", async (t) => {
  const scene = await openScene(t, {
    context: { session: { sessionId: "1796000000000_hung" } },
    env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "1000" },
  });
  scene.server.fault("*", { hang: true });
  const waits: number[] = [];
  for (let prompt = 0; prompt < 10; prompt += 1) {
    if (prompt === 6) await scene.host.kill();
    if (prompt === 6) await scene.host.start();
    waits.push((await ask(scene, `${ROLLBACK_PROMPT} (${prompt})`)).ms);
  }
  assert.ok(
    waits.slice(0, 3).every((ms, index) => ms >= (index === 0 ? 990 : 490)),
    String(waits),
  );
  assert.ok(waits.slice(1).every((ms) => ms < 900) && waits.slice(3).every((ms) => ms < 400), String(waits));
  assert.ok(scene.server.requests.length <= 4);
});

test("a channel that is slow while others answer is paused alone, and its cause stays findable", async (t) => {
  const scene = await openScene(t, { env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "1500" } });
  scene.server.fault("/check-triggers", { hang: true });
  const rounds = [];
  for (let prompt = 0; prompt < 5; prompt += 1) {
    scene.server.remember({
      file: `insights/extra-${prompt}.md`,
      body: `${ROLLBACK_PROMPT} number ${prompt} ${"abcdefgh"[prompt]?.repeat(9)}`,
    });
    rounds.push(await ask(scene, `${ROLLBACK_PROMPT} number ${prompt} ${"abcdefgh"[prompt]?.repeat(9)}`));
  }
  assert.equal(scene.server.calls("/check-triggers").length, 3);
  assert.equal(scene.server.calls("/search").length, 5);
  assert.ok(
    rounds.slice(3).every(({ ms }) => ms < 1400),
    String(rounds.map(({ ms }) => ms)),
  );
  assert.ok(rounds.every(({ blocks }) => blocks.length > 0));
  const record = JSON.parse(filesBelow(scene.stateDir).find(({ name }) => name.startsWith("sessions/"))?.text ?? "");
  assert.deepEqual([record.channels.triggers.reason, record.channels.triggers.cause], ["paused", "timeout"]);
});

test("a probe that no channel of a prompt may make is left for what may", async (t) => {
  const scene = await openScene(t, { env: { PALINODE_HOOK_RECALL_PROFILE: "investigation" } });
  const state = openState(scene.stateDir);
  const paused = { failures: 3, pauseMs: 30_000, limitedUntil: 0 };
  state.write("server.json", {
    [scene.server.url]: { ...paused, pausedUntil: Date.now() - 1 },
    [`${scene.server.url} search`]: { ...paused, pausedUntil: Date.now() + 200_000 },
  });
  await ask(scene, ROLLBACK_PROMPT);
  assert.deepEqual(scene.server.calls("/search"), []);
  scene.chat.tool("run_commands", { commands: ["make"] }, commandOutput("make", "Error: it broke", 1));
  await scene.model();
  assert.equal(scene.server.calls("/search").length, 1, "the failed command is the probe");
});

test("one failure does not turn memory off", async (t) => {
  const scene = await openScene(t, { context: { session: undefined } });
  scene.server.fault("*", { status: 500 });
  assert.deepEqual((await ask(scene, ROLLBACK_PROMPT)).blocks, []);
  scene.server.fault("*", null);
  assert.equal((await ask(scene, `${ROLLBACK_PROMPT} again`)).blocks.length, 2);
});

test("after a 429 nothing is asked in between", async (t) => {
  const scene = await openScene(t);
  await ask(scene, ROLLBACK_PROMPT);
  scene.server.fault("/search", {
    status: 429,
    headers: { "retry-after": "3600" },
    body: { detail: "Rate limit exceeded" },
  });
  await ask(scene, `${ROLLBACK_PROMPT} (1)`);
  for (let prompt = 2; prompt < 6; prompt += 1)
    assert.equal((await ask(scene, `${ROLLBACK_PROMPT} (${prompt})`)).requests, 0);
  assert.ok(scene.host.logs.some((line) => JSON.stringify(line).includes("rate-limited")));
});

test("every silence has its own reason in the log", async (t) => {
  const reasons: [string, (scene: Scene) => void, string][] = [
    ["refused", (scene) => void scene.server.close(), ROLLBACK_PROMPT],
    ["timeout", (scene) => scene.server.fault("/search", { hang: true }), ROLLBACK_PROMPT],
    ["unauthorized", (scene) => scene.server.fault("*", { status: 401 }), ROLLBACK_PROMPT],
    ["denied", (scene) => scene.server.fault("*", { status: 403, body: { detail: "recall_paused" } }), ROLLBACK_PROMPT],
    ["rate-limited", (scene) => scene.server.fault("/search", { status: 429 }), ROLLBACK_PROMPT],
    ["bad-response", (scene) => scene.server.fault("/search", { html: true }), ROLLBACK_PROMPT],
    ["too-short", () => undefined, "ok"],
    ["no-hits", (scene) => scene.server.fault("/search", { json: [] }), ROLLBACK_PROMPT],
    [
      "below-threshold",
      (scene) => scene.server.fault("/search", { json: [{ rel_path: "a.md", snippet: "x", raw_score: 0.3 }] }),
      ROLLBACK_PROMPT,
    ],
  ];
  for (const [reason, arrange, words] of reasons) {
    const scene = await openScene(t, { env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "1500" } });
    arrange(scene);
    await ask(scene, words);
    assert.match(JSON.stringify(scene.host.logs), new RegExp(`\\b${reason}\\b`), reason);
  }
});

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { test } from "node:test";
import type { WorkerHost, WorkerHostOptions } from "./worker-host.ts";
import { createWorkerHost } from "./worker-host.ts";

/** A host of a plugin whose hooks and setup are given as source. */
async function hostOf(t: TestContext, source: string, options: WorkerHostOptions = {}): Promise<WorkerHost> {
  const dir = await mkdtemp(join(tmpdir(), "worker-host-"));
  const file = join(dir, "plugin.js");
  await writeFile(file, source);
  await writeFile(join(dir, "package.json"), '{"type":"module"}');
  const host = createWorkerHost({ file, ...options });
  t.after(async () => {
    await host.kill();
    await rm(dir, { recursive: true });
  });
  return host;
}

function pluginWith(members: string): string {
  return `let calls = 0; export default { name: "p", manifest: { capabilities: ["hooks"] }, ${members} };`;
}

test("start reports what the plugin registers, and how long that takes", async (t) => {
  const host = await hostOf(
    t,
    pluginWith(`
    setup(api, ctx) {
      api.registerTool({ name: "tool", execute: (input, { cwd }) => ({ input, cwd, session: ctx.session.sessionId }) });
      api.registerCommand({ name: "command", handler: (text) => "did " + text });
      api.registerRule({ id: "rule", content: () => "Be brief." });
    },
    hooks: { beforeModel: ({ n }) => ({ n: n + 1 }) },
  `),
    { context: { session: { sessionId: "s1" } } },
  );
  const { importMs, setupMs, ...started } = await host.start();
  assert.deepEqual(started, {
    name: "p",
    manifest: { capabilities: ["hooks"] },
    hooks: ["beforeModel"],
    tools: ["tool"],
    commands: ["command"],
    rules: ["Be brief."],
  });
  assert.ok(importMs > 0 && setupMs >= 0);
  assert.deepEqual((await host.beforeModel({ n: 1 })).result, { n: 2 });
  assert.deepEqual(await host.callTool("tool", { a: 1 }, { cwd: "/w" }), { input: { a: 1 }, cwd: "/w", session: "s1" });
  assert.equal(await host.runCommand("command", "it"), "did it");
  assert.deepEqual([host.status, host.failures, host.violations], ["ready", [], []]);
});

test("a hook over its limit is ended, and the next call works in a fresh thread", async (t) => {
  const source = pluginWith(`hooks: { beforeModel: ({ stall }) => { calls += 1; while (stall); return { calls }; } }`);
  const host = await hostOf(t, source, { limits: { hookMs: 100 } });
  assert.deepEqual((await host.beforeModel({})).result, { calls: 1 });
  assert.deepEqual((await host.beforeModel({})).result, { calls: 2 });
  assert.equal((await host.beforeModel({ stall: true })).result, undefined);
  assert.equal(host.status, "degraded");
  assert.deepEqual(host.failures, [{ phase: "hook:beforeModel", message: "Timed out after 100 ms" }]);
  assert.deepEqual((await host.beforeModel({})).result, { calls: 1 });
  assert.equal(host.status, "ready");
});

test("five failures in a row turn the plugin off, four and a success do not", async (t) => {
  const host = await hostOf(
    t,
    pluginWith(`hooks: { beforeModel: ({ bad }) => { if (bad) throw new Error("no"); return "fine"; } }`),
  );
  for (let count = 0; count < 4; count += 1) await host.beforeModel({ bad: true });
  assert.equal((await host.beforeModel({})).result, "fine");
  for (let count = 0; count < 4; count += 1) await host.beforeModel({ bad: true });
  assert.equal(host.status, "degraded");
  await host.beforeModel({ bad: true });
  assert.equal(host.status, "failed");
  assert.equal(host.failures.length, 9);
  assert.equal((await host.beforeModel({})).result, undefined);
  await assert.rejects(host.start(), /The plugin is off: no/);
});

test("what a plugin prints is recorded as a violation", async (t) => {
  const host = await hostOf(
    t,
    `console.log("on import");` +
      pluginWith(`
    hooks: { beforeModel() { console.error("oops"); process.stdout.write("raw"); return {}; } }
  `),
  );
  await host.beforeModel({});
  assert.deepEqual(host.output, [
    { via: "stdout", text: "on import\n" },
    { via: "stderr", text: "oops\n" },
    { via: "stdout", text: "raw" },
  ]);
  assert.deepEqual(host.violations, ["stdout: on import", "stderr: oops", "stdout: raw"]);
});

// Bun binds what a module imports from `node:fs` when it is loaded, so there the host cannot put itself in between.
test("what a plugin writes to a descriptor is recorded as a violation", {
  skip: process.versions.bun !== undefined,
}, async (t) => {
  const host = await hostOf(
    t,
    `import { writeSync } from "node:fs";${pluginWith('hooks: { beforeModel: () => writeSync(1, "direct") }')}`,
  );
  await host.beforeModel({});
  assert.deepEqual(host.violations, ["fd 1: direct"]);
});

test("only plain data crosses in either direction", async (t) => {
  const host = await hostOf(
    t,
    pluginWith(`
    hooks: {
      beforeModel: (input) =>
        ({ keys: Object.keys(input), when: new Date(0), deep: [{ call() {} }], map: new Map() })
    }
  `),
  );
  const { result } = await host.beforeModel({ kept: 1, call: () => 1, missing: undefined });
  assert.deepEqual(result, { keys: ["kept"], when: "1970-01-01T00:00:00.000Z", deep: [{}], map: {} });
  assert.deepEqual(host.violations, [
    "hook:beforeModel: result.when is a Date",
    "hook:beforeModel: result.deep.0.call is a function",
    "hook:beforeModel: result.map is a Map",
  ]);
});

for (const [what, source, message] of [
  ["an uncaught error", 'setTimeout(() => { throw new Error("late"); }); await new Promise(() => {});', /^late$/],
  ["an unhandled rejection", 'Promise.reject(new Error("floating")); await new Promise(() => {});', /^floating$/],
  ["process.exit", "process.exit(3);", /exit code 3/],
] as const) {
  test(`${what} ends the thread and turns the plugin off`, async (t) => {
    const host = await hostOf(t, pluginWith(`hooks: { async beforeModel() { ${source} } }`));
    assert.equal((await host.beforeModel({})).result, undefined);
    assert.equal(host.status, "failed");
    assert.equal(host.failures.length, 1);
    assert.equal(host.failures[0]?.phase, "uncaught");
    assert.match(host.failures[0]?.message ?? "", message);
  });
}

test("a module that is no plugin, or hangs on import or in setup, is failed", async (t) => {
  const noPlugin = await hostOf(t, "export default { name: 'p', manifest: {} };");
  await assert.rejects(noPlugin.start(), /Invalid plugin module at .*plugin\.js: manifest\.capabilities/);
  assert.deepEqual([noPlugin.status, noPlugin.failures[0]?.phase], ["failed", "import"]);
  const stuck = await hostOf(t, "await new Promise(() => setInterval(() => {}, 1000));", { limits: { importMs: 100 } });
  await assert.rejects(stuck.start(), /Timed out after 100 ms/);
  const slow = await hostOf(t, pluginWith("setup: () => new Promise(() => {})"), { limits: { setupMs: 100 } });
  await assert.rejects(slow.start(), /Timed out after 100 ms/);
  assert.deepEqual([slow.status, slow.failures], ["failed", [{ phase: "setup", message: "Timed out after 100 ms" }]]);
});

test("a failing tool rejects and counts, and so does one over its own limit", async (t) => {
  const host = await hostOf(
    t,
    pluginWith(`setup(api) {
    api.registerTool({ name: "bad", execute() { throw new Error("no such memory"); } });
    api.registerTool({ name: "slow", timeoutMs: 50, execute: () => new Promise(() => {}) });
  }`),
  );
  await assert.rejects(host.callTool("bad", {}), /^Error: no such memory$/);
  await assert.rejects(host.callTool("slow", {}), /^Error: Timed out after 50 ms$/);
  assert.deepEqual(
    host.failures.map(({ phase }) => phase),
    ["tool:bad", "tool:slow"],
  );
});

test("the thread sees the given environment and folder, and nothing of ours but PATH", async (t) => {
  const host = await hostOf(
    t,
    pluginWith(`hooks: { beforeModel: () => ({ env: Object.keys(process.env).sort(), cwd: process.cwd() }) }`),
    {
      env: { PALINODE_API_URL: "http://127.0.0.1:1" },
      context: { cwd: "/w/shop" },
    },
  );
  assert.deepEqual((await host.beforeModel({})).result, { env: ["PALINODE_API_URL", "PATH"], cwd: "/w/shop" });
});

test("logger and onDispose exist only when offered, and are heard", async (t) => {
  const source = pluginWith(`
    setup(api, ctx) { ctx.logger?.debug("set up", { n: 1 }); ctx.onDispose?.(() => ctx.logger.log("disposed")); },
    hooks: { beforeModel: () => 1 },
  `);
  const bare = await hostOf(t, source);
  await bare.start();
  await bare.dispose();
  assert.deepEqual([bare.logs, bare.failures], [[], []]);
  const full = await hostOf(t, source, { logger: true, onDispose: true });
  await full.start();
  await full.dispose();
  assert.deepEqual(full.logs, [
    { level: "debug", entry: ["set up", { n: 1 }] },
    { level: "log", entry: ["disposed"] },
  ]);
});

test("a killed thread is replaced by one that imports and sets up again", async (t) => {
  const host = await hostOf(t, pluginWith(`setup() { calls += 10; }, hooks: { beforeModel: () => (calls += 1) }`));
  assert.deepEqual([(await host.beforeModel({})).result, (await host.beforeModel({})).result], [11, 12]);
  await host.kill();
  assert.equal((await host.beforeModel({})).result, 11);
  assert.deepEqual(host.failures, []);
});

test("as an agent runtime, setup gets one argument and only what it returns counts", async (t) => {
  const host = await hostOf(
    t,
    pluginWith(`
    setup(...args) { return { hooks: { beforeModel: () => args }, tools: [{ name: "own", execute: () => "ok" }] }; },
    hooks: { beforeModel: () => "never" },
  `),
    { agentRuntime: true, context: { agentId: "a1", agentRole: "lead", systemPrompt: "Be." } },
  );
  assert.deepEqual((await host.start()).tools, ["own"]);
  assert.deepEqual((await host.beforeModel({})).result, [{ agentId: "a1", agentRole: "lead", systemPrompt: "Be." }]);
  assert.equal(await host.callTool("own", {}), "ok");
});

test("exitsWithin tells a thread that ends by itself from one held by a timer", async (t) => {
  const clean = await hostOf(t, pluginWith(`setup() { setInterval(() => {}, 1000).unref(); }`));
  await clean.start();
  assert.equal(await clean.exitsWithin(2000), true);
  const held = await hostOf(t, pluginWith(`setup() { setInterval(() => {}, 1000); }`));
  await held.start();
  assert.equal(await held.exitsWithin(200), false);
  assert.deepEqual([clean.failures, held.failures], [[], []]);
});

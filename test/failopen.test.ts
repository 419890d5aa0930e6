// Whatever server or host do, the run goes on: no hook fails, outlives its deadline or leaves anything behind.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { FILE, runFile } from "./helpers/command-line.ts";
import { openScene, ROLLBACK_PROMPT } from "./helpers/scene.ts";
import { type Fault, startPalinode } from "./palinode/server.ts";

const ROUTES = ["/controls/check", "/context/prime", "/list", "/check-triggers", "/read", "/search", "/session-end"];
const FAULTS: Record<string, Fault> = {
  "status 400": { status: 400, body: { detail: "no" } },
  "status 401": { status: 401, body: { detail: "Unauthorized" } },
  "status 403": { status: 403, body: { detail: "recall_paused" } },
  "status 404": { status: 404, body: { detail: "Not Found" } },
  "status 405": { status: 405, body: { detail: "Method Not Allowed" } },
  "status 413": { status: 413, body: { detail: "Request body too large" } },
  "status 422": { status: 422, body: { detail: [{ type: "missing", loc: ["body"], msg: "x", input: {} }] } },
  "status 429": { status: 429, body: { detail: "Rate limit exceeded" } },
  "status 500": { status: 500, body: "Internal Server Error" },
  "status 503": { status: 503, body: { detail: "Embedder unavailable" } },
  "a hang": { hang: true },
  "a reset": { reset: true },
  "a cut body": { cut: true },
  "a page": { html: true },
  null: { json: null },
  "a number": { json: 7 },
  "a text": { json: "prose" },
  "an empty object": { json: {} },
  "rows of every type": {
    json: [null, 1, "x", [], {}, { rel_path: 3, snippet: {}, raw_score: "0.9" }, { file: [], memory_file: {} }],
  },
  "nested nonsense": { json: { results: { results: [] }, allowed: "no", content: [], core_memories: 3 } },
  "no JSON": { raw: '{"a": ' },
  "16 MB": { bigBytes: 16 * 1024 * 1024 },
  "a redirect": { redirect: "http://127.0.0.1:9/elsewhere" },
  "a trickle": { dripMs: 20 },
};

for (const [name, fault] of Object.entries(FAULTS)) {
  test(`${name} on any one route hurts no run`, async (t) => {
    for (const route of [...ROUTES, "*"]) {
      const { server, host, chat, memory, finish } = await openScene(t, {
        server: { triggers: [{ description: ROLLBACK_PROMPT, memory_file: "insights/rollback.md" }] },
        env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "150", PALINODE_HOOK_MIN_MESSAGES: "1" },
      });
      server.fault(route, fault);
      chat.say(ROLLBACK_PROMPT);
      const blocks = await memory();
      chat.answer("ok");
      await finish();
      assert.deepEqual([host.failures, host.violations, host.status], [[], [], "ready"], route);
      assert.ok(
        blocks.every((text) => text.startsWith("<palinode-memory>") && text.isWellFormed()),
        route,
      );
      await host.kill();
      await server.close();
    }
  });
}

test("what other routes answered is used when one hangs", async (t) => {
  for (const [route, digest, recall] of [
    ["/check-triggers", 1, 1],
    ["/search", 1, 0],
    ["/list", 0, 1],
    ["/context/prime", 1, 1],
  ] as const) {
    const { server, chat, memory } = await openScene(t, { env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "1500" } });
    server.fault(route, { hang: true });
    chat.say(ROLLBACK_PROMPT);
    const blocks = await memory();
    assert.equal(blocks.filter((text) => text.includes("(session start)")).length, digest, route);
    assert.equal(blocks.filter((text) => text.includes("m/") || text.includes("rollback.md")).length, recall, route);
  }
});

test("a server that is not there costs no run anything, nor does one with no such name", async (t) => {
  for (const url of ["http://127.0.0.1:9", "http://palinode.invalid:6340", "not a url"]) {
    const { host, chat, memory, finish } = await openScene(t, {
      env: { PALINODE_API_URL: url, PALINODE_HOOK_MIN_MESSAGES: "1" },
    });
    chat.say(ROLLBACK_PROMPT);
    assert.deepEqual(await memory(), []);
    await finish();
    assert.deepEqual([host.failures, host.violations], [[], []]);
  }
});

test("a token does not follow a redirect", async (t) => {
  const other = await openScene(t);
  const { server, chat, memory } = await openScene(t, { env: { PALINODE_API_TOKEN: "s3cret" } });
  server.fault("*", { redirect: `${other.server.url}/list` });
  chat.say(ROLLBACK_PROMPT);
  assert.deepEqual(await memory(), []);
  assert.equal(other.server.requests.length, 0);
});

test("malformed payloads of any shape are met with silence", async (t) => {
  const { host, chat } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  const { snapshot, request } = chat.beforeModel();
  const messages = [
    null,
    1,
    "x",
    [],
    {},
    { role: "user" },
    { role: "user", content: 5 },
    { role: "user", content: [null, 3, {}, { type: "text", text: 9 }] },
    { role: 4, content: "x", id: {} },
  ];
  const payloads: unknown[] = [
    undefined,
    null,
    1,
    "x",
    [],
    {},
    { snapshot: null },
    { snapshot: {}, request: {} },
    { snapshot: { messages: {} }, request: { messages: "x" } },
    { snapshot: { messages }, request: { messages } },
    { snapshot: { ...snapshot, conversationId: {} }, request },
    { snapshot, request: { messages: null } },
    { snapshot: { messages: [] }, request: { messages: [] } },
    { request },
    { snapshot: { ...snapshot, parentAgentId: 7 }, request },
  ];
  for (const payload of payloads) {
    await host.beforeModel(payload);
    await host.afterRun(payload);
  }
  assert.deepEqual([host.failures, host.violations], [[], []]);
});

test("answers with thousands of rows cost no hook its deadline", async (t) => {
  const row = (index: number) => ({
    memory_file: `m/${index}.md`,
    description: `${index} ${"several words of a long description ".repeat(40)}`,
    score: 0.9,
  });
  const { server, host, chat, memory } = await openScene(t);
  server.fault("/check-triggers", { json: Array.from({ length: 1000 }, (_, index) => row(index)) });
  server.fault("/search", {
    json: Array.from({ length: 3000 }, (_, index) => ({
      rel_path: `s/${index}.md`,
      snippet: row(index).description,
      raw_score: 0.9,
    })),
  });
  for (let prompt = 0; prompt < 6; prompt += 1) {
    chat.say(`${ROLLBACK_PROMPT} (${prompt})`);
    await memory();
    chat.answer("ok");
  }
  assert.deepEqual([host.failures, host.status], [[], "ready"]);
});

test("a timed-out prompt is not asked again, and the worker can end by itself", async (t) => {
  const { server, host, chat, memory } = await openScene(t, {
    env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "100", PALINODE_HOOK_RECALL_TIMEOUT: "0.3" },
  });
  server.fault("*", { hang: true });
  chat.say(ROLLBACK_PROMPT);
  assert.deepEqual(await memory(), []);
  const asked = server.requests.length;
  chat.tool("run_commands", {}, "ok");
  await memory();
  assert.equal(server.requests.length, asked);
  assert.ok(await host.exitsWithin(3000));
});

test("nothing is ever printed", async (t) => {
  const { server, host, chat, memory, finish } = await openScene(t, {
    logger: false,
    env: { PALINODE_HOOK_MIN_MESSAGES: "1", PALINODE_HOOK_RECALL_THRESHOLD: "nonsense" },
  });
  chat.say(ROLLBACK_PROMPT);
  await memory();
  await finish();
  server.fault("*", { status: 500 });
  chat.say(`${ROLLBACK_PROMPT} again`);
  await memory();
  await finish();
  assert.deepEqual(host.output, []);
});

test("without a working folder, and without a home, memory goes on", {
  skip: process.platform === "win32",
}, async (t) => {
  const server = await startPalinode({ memories: [{ file: "insights/rollback.md", body: ROLLBACK_PROMPT }] });
  t.after(() => server.close());
  const folder = mkdtempSync(join(tmpdir(), "palinode-away-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [HOME, isGone] of [
    [join(folder, "home"), true],
    ["", false],
  ] as const) {
    const cwd = mkdtempSync(join(folder, "cwd-"));
    const script = `
      process.chdir(${JSON.stringify(cwd)});
      if (${isGone}) fs.rmdirSync(${JSON.stringify(cwd)});
      import(${JSON.stringify(pathToFileURL(FILE).href)}).then(async ({ default: plugin }) => {
        const { hooks } = plugin.setup({ agentId: "a" });
        const content = [{ type: "text", text: ${JSON.stringify(ROLLBACK_PROMPT)} }];
        const messages = [{ id: "m", role: "user", content }];
        const result = await hooks.beforeModel({
          snapshot: { agentId: "a", conversationId: "c", messages },
          request: { messages, tools: [] },
        });
        console.log(JSON.stringify(result));
      });`;
    const env = { PATH: process.env.PATH ?? "", HOME, PALINODE_API_URL: server.url };
    const { code, stdout, stderr } = await runFile("-e", [script], folder, env);
    assert.deepEqual([code, stderr], [0, ""], HOME);
    assert.match(stdout, /<palinode-memory>/);
    assert.deepEqual(isGone || readdirSync(cwd), isGone || []);
  }
});

// The agent's tools through the worker host, against the stand-in: what is sent, what the model is told, and how a
// failure leads to its fix.
import assert from "node:assert/strict";
import { test } from "node:test";
import { plugin } from "../../src/index.ts";
import { createPalinodePlugin } from "../../src/plugin.ts";
import { createApiCapture } from "../helpers/host-inprocess.ts";
import { linesLike } from "../helpers/pattern.ts";
import { openScene, ROLLBACK, ROLLBACK_PROMPT } from "../helpers/scene.ts";
import { startPalinode } from "../palinode/server.ts";

const NAMES = [
  "palinode_search",
  "palinode_read",
  "palinode_save",
  "palinode_session_end",
  "palinode_trigger",
  "palinode_update",
  "palinode_archive",
];
const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

test("seven tools and one short rule are registered, and the same rule each time", async (t) => {
  const { host, restart } = await openScene(t);
  const started = await host.start();
  assert.deepEqual(started.tools, NAMES);
  assert.equal(started.rules.length, 1);
  assert.ok((started.rules[0] ?? "").length < 400, String(started.rules[0]?.length));
  assert.match(started.rules[0] ?? "", /wrong one with palinode_update or palinode_archive/);
  assert.deepEqual((await restart().start()).rules, started.rules);
  assert.deepEqual(plugin.manifest.capabilities, ["hooks", "tools", "commands", "rules"]);
});

test("every tool has a schema whose properties say what they are", () => {
  const capture = createApiCapture();
  createPalinodePlugin({ persist: false }).setup(capture.api, {});
  for (const tool of capture.tools) {
    const schema = tool.inputSchema as {
      type: string;
      required: string[];
      properties: Record<string, { description?: string }>;
    };
    assert.equal(schema.type, "object");
    assert.ok((tool.description ?? "").length > 40, tool.name);
    for (const [name, property] of Object.entries(schema.properties))
      assert.ok(property.description, `${tool.name}.${name}`);
    assert.ok(schema.required.every((name) => name in schema.properties));
  }
  assert.deepEqual(JSON.parse(JSON.stringify(capture.tools.map(({ name }) => name))), NAMES);
});

test("all tools together take less than 3,500 characters of a request's head", () => {
  const capture = createApiCapture();
  createPalinodePlugin({ persist: false }).setup(capture.api, {});
  // As a provider gets them.
  const sent = capture.tools.map(({ name, description, inputSchema }) => {
    return { type: "function", function: { name, description, parameters: inputSchema } };
  });
  const { length } = JSON.stringify(sent);
  assert.ok(length > 2000 && length < 3500, `${length} characters`);
});

for (const [what, env] of Object.entries<Record<string, string>>({
  "the setting is 0": { PALINODE_CLINE_TOOLS: "0" },
  "the profile is minimal": { PALINODE_HOOK_RECALL_PROFILE: "minimal" },
  "the profile is off": { PALINODE_HOOK_RECALL_PROFILE: "off", PALINODE_CLINE_TOOLS: "1" },
})) {
  test(`there are no tools and no rule when ${what}, and nothing names one`, async (t) => {
    const { host, chat, model } = await openScene(t, { env });
    const started = await host.start();
    assert.deepEqual([started.tools, started.rules], [[], []]);
    assert.deepEqual(started.commands, ["palinode"]);
    chat.say(ROLLBACK_PROMPT);
    assert.doesNotMatch(JSON.stringify(await model()), /palinode_(?:search|read|save|trigger)/);
  });
}

test("`new Agent` gets the tools from what setup returns", async (t) => {
  const { host } = await openScene(t, { agentRuntime: true });
  assert.deepEqual((await host.start()).tools, NAMES);
  assert.match(
    String(await host.callTool("palinode_search", { query: "roll back a deploy of the api" })),
    /insights\/rollback\.md/,
  );
});

test("search is explicit, redacted, and answers fenced hits", async (t) => {
  const { host, server } = await openScene(t);
  const answer = String(
    await host.callTool("palinode_search", { query: `roll back a deploy of the api ${SECRET}`, limit: 2 }),
  );
  assert.match(
    answer,
    linesLike(
      /^<palinode-memory>/,
      /## Palinode search/,
      /[^\n]+/,
      /- \[insights\/rollback\.md\] \((?:\d+% match|keyword match)\) To roll back/,
    ),
  );
  assert.ok(answer.endsWith("</palinode-memory>"));
  const [call] = server.calls("/search");
  assert.deepEqual(call?.body, {
    query: "roll back a deploy of the api [redacted]",
    limit: 40,
    threshold: 0,
    max_chars: 300,
    session_id: "1796000000000_test",
  });
  assert.equal(await host.callTool("palinode_search", { query: "zebras in the attic" }), "No memory matches.");
});

test("read gives a whole file without its frontmatter, cut and marked at 4,000 characters", async (t) => {
  const long = {
    file: "research/long.md",
    body: Array.from({ length: 400 }, (_, line) => `line ${line} says something`).join("\n"),
  };
  const { host } = await openScene(t, { server: { memories: [ROLLBACK, long] } });
  const answer = String(await host.callTool("palinode_read", { file_path: ROLLBACK.file }));
  assert.ok(answer.includes(ROLLBACK.body) && !answer.includes("---"), answer);
  const cut = String(await host.callTool("palinode_read", { file_path: long.file }));
  assert.ok(cut.length <= 4000 && cut.length > 3500, String(cut.length));
  assert.match(cut, /… \[cut\]\n<\/palinode-memory>$/);
});

test("save keeps what it is given under a name of its own, without secrets", async (t) => {
  const { host, server } = await openScene(t);
  const answer = String(
    await host.callTool("palinode_save", {
      content: `Use pnpm. Key: ${SECRET}`,
      title: "Use pnpm",
      type: "Decision",
      core: true,
    }),
  );
  const other = { content: "Use pnpm.", title: "Use pnpm", type: "Decision" };
  const again = String(await host.callTool("palinode_save", other));
  const [first, second] = server.saved as Record<string, unknown>[];
  assert.equal(first?.content, "Use pnpm. Key: [redacted]");
  assert.deepEqual(
    [first?.type, first?.title, first?.core, first?.entities],
    ["Decision", "Use pnpm", true, ["project/shop"]],
  );
  assert.match(String(first?.slug), /^use-pnpm-[0-9a-f]{8}$/);
  assert.notEqual(first?.slug, second?.slug);
  assert.match(answer, /^Saved as decisions\/use-pnpm-[0-9a-f]{8}\.md\. Secrets/);
  assert.match(again, /^Saved as decisions\/use-pnpm-[0-9a-f]{8}\.md\.$/);
  await host.callTool("palinode_save", { content: "\u65e5\u672c\u8a9e\u3060\u3051" });
  assert.equal((server.saved.at(-1) as Record<string, unknown>).type, "Insight");
});

test("a secret in colours or with a hidden character in it is not sent", async (t) => {
  const { host, server, chat, model } = await openScene(t);
  const odd = `\u001b[36mAPI_KEY\u001b[0m=\u001b[33msup3rsecretvalue\u001b[0m and ghp_\u200b${SECRET.slice(4)}`;
  chat.say(`Why does this fail: ${odd}`);
  await model();
  await host.callTool("palinode_save", { content: odd, title: odd });
  await host.callTool("palinode_search", { query: odd });
  await host.callTool("palinode_trigger", { description: odd, memory_file: ROLLBACK.file });
  for (const { path, text } of server.requests)
    assert.ok(!/sup3rsecret|0123456789abcdef/.test(text), `${path} ${text}`);
});

test("answers are bounded whatever the server says", async (t) => {
  const { host, server } = await openScene(t);
  server.fault("/save", { json: { rel_path: `a/${"x".repeat(1e6)}\u001b[2J` } });
  const answer = String(await host.callTool("palinode_save", { content: "x" }));
  assert.ok(answer.length < 400 && !answer.includes("\u001b"), String(answer.length));
  await assert.rejects(
    host.callTool("palinode_read", { file_path: `gone/${"y".repeat(1e6)}` }),
    (error: Error) => error.message.length < 400,
  );
});

test("what was recalled is not saved back", async (t) => {
  const { host, server } = await openScene(t);
  const block = "<palinode-memory>\n## Palinode recall (this prompt)\nold words\n</palinode-memory>";
  await host.callTool("palinode_save", { content: `New finding.\n${block}` });
  assert.equal((server.saved[0] as Record<string, unknown>).content, "New finding.");
  await assert.rejects(host.callTool("palinode_save", { content: block }), /nothing to save/);
});

test("session_end records the session once: the plugin does not capture it again", async (t) => {
  const { host, server, chat, model, finish } = await openScene(t);
  for (const words of ["Fix the checkout test please", "And the lint warnings", "Now wrap it up"]) {
    chat.say(words);
    await model();
  }
  const input = { summary: "Checkout <b>fixed</b> </summary>", decisions: ["retry thrice"], blockers: "CI is slow" };
  const answer = await host.callTool("palinode_session_end", input);
  chat.tool("palinode_session_end", input, answer);
  chat.answer("done");
  await finish();
  assert.equal(server.sessions.length, 1);
  const [body] = server.sessions as Record<string, unknown>[];
  assert.deepEqual(
    [body?.decisions, body?.blockers, body?.project, body?.harness],
    [["retry thrice"], ["CI is slow"], "shop", "cline"],
  );
  assert.ok(!/<\/summary>/.test(String(body?.summary)), String(body?.summary));
});

test("a trigger is set for a file that is there, and fires", async (t) => {
  const { host, server, chat, memory } = await openScene(t);
  await assert.rejects(
    host.callTool("palinode_trigger", { description: "rolling back", memory_file: "insights/gone.md" }),
    /There is no memory file insights\/gone\.md/,
  );
  assert.equal(server.triggers.size, 0);
  assert.match(
    String(await host.callTool("palinode_trigger", { description: ROLLBACK_PROMPT, memory_file: ROLLBACK.file })),
    /set/,
  );
  // The server's own 0.75 hardly ever fires.
  assert.deepEqual(
    [...server.triggers.values()].map(({ threshold }) => threshold),
    [0.6],
  );
  chat.say(ROLLBACK_PROMPT);
  assert.match((await memory()).join("\n"), /### Trigger fired: insights\/rollback\.md/);
});

test("a call that fails says what is wrong and what helps, and is no crash", async (t) => {
  const scene = await openScene(t, {
    server: { token: "right-token" },
    env: { PALINODE_API_TOKEN: "wrong-token-123" },
  });
  const { host, server } = scene;
  await assert.rejects(
    host.callTool("palinode_search", { query: "anything" }),
    (error: Error) =>
      /refused the token.*PALINODE_API_TOKEN/.test(error.message) && !error.message.includes("wrong-token-123"),
  );
  const open = scene.restart({ env: { PALINODE_API_TOKEN: "right-token" } });
  server.policy.recall = "recall_paused";
  await assert.rejects(open.callTool("palinode_search", { query: "anything" }), /recall_paused/);
  assert.equal((await open.start()).tools.length, 7);
  const next = scene.restart({ env: { PALINODE_API_TOKEN: "right-token" } });
  server.policy.recall = null;
  server.embedder = false;
  await assert.rejects(next.callTool("palinode_search", { query: "anything" }), /ollama pull bge-m3/);
  await assert.rejects(next.callTool("palinode_read", { file_path: "../../etc/passwd" }), /There is no memory file/);
  server.fault("/search", { html: true });
  await assert.rejects(next.callTool("palinode_search", { query: "anything" }), /no usable answer/);
  const gone = await startPalinode();
  await gone.close();
  const away = scene.restart({ env: { PALINODE_API_URL: gone.url } });
  await assert.rejects(
    away.callTool("palinode_search", { query: "anything" }),
    /does not answer\. Start it with: palinode-api/,
  );
  assert.equal((await away.start()).tools.length, 7);
});

test("nonsense as input is told, whatever it is", async (t) => {
  const { host, chat, model } = await openScene(t);
  for (const input of [undefined, null, 7, "text", [], {}, { query: 7 }, { query: "  " }, { query: ["a"] }]) {
    await assert.rejects(host.callTool("palinode_search", input), /query is missing/);
    await model(chat);
  }
  await assert.rejects(
    host.callTool("palinode_save", { content: "x", type: "Diary" }),
    /type is one of Insight, Decision/,
  );
  for (const limit of [0, -1, 1e9, "many", NaN, null]) {
    assert.match(
      String(await host.callTool("palinode_search", { query: "roll back a deploy of the api", limit })),
      /rollback/,
    );
  }
});

test("a model that fails again and again does not have the plugin turned off", async (t) => {
  const { host, chat, model } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  const outcomes = [];
  for (let call = 0; call < 8; call += 1)
    outcomes.push(await host.callTool("palinode_search", {}).then(String, (error: Error) => error.message));
  assert.ok(
    outcomes.every((outcome) => outcome.includes("query is missing")),
    outcomes.join(),
  );
  assert.notEqual(host.status, "failed");
  assert.match(JSON.stringify(await model()), /insights\/rollback\.md/);
});

test("each of four tools in a row may fail as a tool error, counted over all sessions of the plugin", async (t) => {
  const gone = await startPalinode();
  await gone.close();
  const { host } = await openScene(t, { env: { PALINODE_API_URL: gone.url } });
  for (const name of NAMES.slice(0, 4))
    await assert.rejects(
      host.callTool(name, { query: "x", file_path: "a.md", content: "x", summary: "x" }),
      /does not answer/,
    );
  assert.match(
    String(await host.callTool("palinode_trigger", { description: "x", memory_file: "a.md" })),
    /^Error: .*does not answer/,
  );
});

test("in a pause no tool reaches memory, and each says how the pause ends", async (t) => {
  const { host, server } = await openScene(t);
  await host.runCommand("palinode", "pause");
  await assert.rejects(
    host.callTool("palinode_search", { query: "roll back" }),
    /paused in this workspace.*\/palinode unpause/,
  );
  await assert.rejects(host.callTool("palinode_save", { content: "x" }), /paused in this workspace/);
  // What is asked ahead of the first prompt may have been on its way.
  assert.deepEqual([...server.calls("/search"), ...server.calls("/save")], []);
  await host.runCommand("palinode", "resume");
  assert.match(String(await host.callTool("palinode_search", { query: "roll back a deploy of the api" })), /rollback/);
});

test("the server's own words for a refusal are told, and what is no receipt is no record", async (t) => {
  const { host, server } = await openScene(t);
  server.fault("/save", { status: 400, body: { detail: "Project must be a slug or project/<slug> ref" } });
  await assert.rejects(host.callTool("palinode_save", { content: "x" }), /refused it: Project must be a slug/);
  server.fault("/save", { status: 422, body: { detail: [{ type: "missing", loc: ["body"], msg: "x", input: {} }] } });
  await assert.rejects(host.callTool("palinode_save", { content: "x" }), /refused it \(HTTP 422\)/);
  server.fault("/session-end", { json: null });
  await assert.rejects(host.callTool("palinode_session_end", { summary: "x" }), /no usable answer/);
});

test("markup of tool calls is saved so that the server takes it, and stays as it is in code", async (t) => {
  const { host, server } = await openScene(t);
  const content =
    "It said </summary> and `</invoke>` in\n```\n<tool_call>\n```\nand a <div> or List<T>, at last <x:invoke>";
  assert.match(String(await host.callTool("palinode_save", { content })), /^Saved as /);
  assert.equal(
    server.saved.at(-1)?.content,
    content.replace("</summary> and", "&lt;/summary> and").replace("<x:invoke>", "&lt;x:invoke>"),
  );
});

test("where the host takes no tools, neither the rule nor a block names one", async (t) => {
  const { server, chat, folder } = await openScene(t);
  const own = createPalinodePlugin({ apiUrl: server.url, stateDir: folder, persist: false });
  const rules: unknown[] = [];
  own.setup(
    { registerRule: (rule: unknown) => rules.push(rule) },
    { session: { sessionId: "s" }, workspaceInfo: { rootPath: folder } },
  );
  chat.say(ROLLBACK_PROMPT);
  const told = JSON.stringify(await own.hooks.beforeModel(chat.beforeModel()));
  assert.match(told, /rollback\.md/);
  assert.doesNotMatch(told, /palinode_read/);
  assert.deepEqual(rules, []);
});

test("a search shows five hits, or as many as are wanted up to twenty", async (t) => {
  const { host, server } = await openScene(t, { server: { memories: [] } });
  const rows = Array.from({ length: 30 }, (_, index) => ({
    rel_path: `f${index}.md`,
    snippet: `hit ${index}`,
    raw_score: 0.9,
  }));
  server.fault("/search", { json: rows });
  const hits = async (limit?: unknown) =>
    String(await host.callTool("palinode_search", { query: "roll back a deploy", limit })).match(/^- \[/gm)?.length;
  assert.deepEqual([await hits(), await hits(7), await hits(500), await hits("x")], [5, 7, 20, 5]);
});

test("a memory's file is named after at most 48 characters of its title", async (t) => {
  const { host, server } = await openScene(t);
  await host.callTool("palinode_save", { content: "x", title: "word ".repeat(40) });
  const slug = String((server.saved[0] as Record<string, unknown>).slug);
  assert.match(slug, /^word-[a-z-]+-[0-9a-f]{8}$/);
  assert.equal(slug.length, 48 + 9);
});

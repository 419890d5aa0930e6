// Recall after a failed command: what counts as failed, what is searched, where the block goes, and that it costs no
// more than it may.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newestPrompt } from "../../src/cline/prompt.ts";
import { failuresIn } from "../../src/recall/repair.ts";
import { createEntry, replay } from "../../src/recall/replay.ts";
import { commandOutput, createChat, injected, type Message, sharedPrefix, textOf } from "../helpers/chat.ts";
import { linesLike } from "../helpers/pattern.ts";
import { filesBelow, openScene, until } from "../helpers/scene.ts";

const COMMAND = "npm test checkout";
const ERROR = "AssertionError: expected 200 got 502";
const FIX = {
  file: "insights/checkout-502.md",
  body: `${COMMAND} ${ERROR} means the payment mock is not running; start it with make mock`,
};
const SCENE = { server: { memories: [FIX] }, env: { PALINODE_HOOK_INJECT_MAX_FILES: "0" } };

/** The failures of a transcript that ends in one tool result. */
function failuresOf(
  output: unknown,
  { name = "run_commands", input = {}, isError }: { name?: string; input?: unknown; isError?: boolean } = {},
) {
  const chat = createChat();
  chat.say("Do it");
  chat.tool(name, input, output, isError);
  return failuresIn(chat.messages as Message[]);
}

test("a failed command is recalled for, right after its result, and stays there", async (t) => {
  const { chat, model, server } = await openScene(t, SCENE);
  chat.say("Please have a look at this");
  const first = await model();
  chat.tool("run_commands", { commands: [COMMAND] }, commandOutput(COMMAND, ERROR, 1));
  const second = await model();
  const block = second.at(-1);
  assert.match(
    textOf(block),
    linesLike(
      /^<palinode-memory>/,
      /## Palinode recall \(failed command\)/,
      /.+/,
      /### Related memories/,
      /- \[insights\/checkout-502\.md\]/,
    ),
  );
  assert.deepEqual([block?.role, block?.metadata], ["user", { kind: "palinode-recall" }]);
  assert.equal(second.at(-2)?.role, "tool");
  assert.equal(sharedPrefix(first, second), first.length);
  assert.deepEqual(
    server
      .calls("/search")
      .map((call) => (call.body as { query: string }).query)
      .at(-1),
    `${COMMAND}\n${ERROR}`,
  );
  chat.tool("run_commands", { commands: ["ls"] }, commandOutput("ls", "a.txt"));
  const third = await model();
  assert.equal(sharedPrefix(second, third), second.length);
  chat.answer("It works now.");
  chat.say("Thanks, what else is to do?");
  const fourth = await model();
  assert.equal(sharedPrefix(third, fourth), third.length);
});

test("what a tool of an MCP server says is searched for, in every form that a failure takes", () => {
  const text = 'ERROR: relation "users" does not exist';
  const parts = [{ type: "text", text }];
  for (const [output, isError] of [
    [{ content: parts, isError: true }, false],
    [{ content: parts }, true],
    [parts, true],
    [JSON.stringify({ content: parts, isError: true }), false],
    [text, true],
    [{ error: text }, false],
  ] as const) {
    assert.deepEqual(
      failuresOf(output, { name: "pg__query", isError }).map(({ about, query }) => [about, query]),
      [["pg__query", `pg__query\n${text}`]],
      JSON.stringify(output),
    );
  }
  for (const output of [{ content: parts }, parts, [], {}, null])
    assert.deepEqual(failuresOf(output, { name: "pg__query" }), []);
  assert.equal(failuresOf([], { name: "pg__query", isError: true }).length, 1);
});

test("another process replays it without asking", async (t) => {
  const { chat, model, server, restart } = await openScene(t, SCENE);
  chat.say("Please have a look at this");
  chat.tool("run_commands", { commands: [COMMAND] }, commandOutput(COMMAND, ERROR, 1));
  const before = await model();
  const asked = server.calls("/search").length;
  assert.deepEqual(await model(chat, restart()), before);
  assert.equal(server.calls("/search").length, asked);
});

test("success, and the same failure again, cost nothing", async (t) => {
  const { chat, model, server } = await openScene(t, SCENE);
  chat.say("Please have a look at this");
  await model();
  const asked = () => server.calls("/search").length;
  const before = asked();
  chat.tool("run_commands", { commands: ["ls"] }, commandOutput("ls", "error.log"));
  await model();
  assert.equal(asked(), before);
  for (let time = 0; time < 3; time += 1) {
    chat.tool(
      "run_commands",
      { commands: [COMMAND] },
      commandOutput(COMMAND, `${time}:04:11 ${ERROR} after ${time}9 ms`, 1),
    );
    await model();
  }
  assert.equal(asked(), before + 1);
});

test("two failures of a prompt are recalled for, no more; the next prompt has two of its own", async (t) => {
  const { chat, model, server } = await openScene(t, SCENE);
  const fail = async (what: string): Promise<void> => {
    chat.tool("run_commands", { commands: [what] }, commandOutput(what, `Error: ${what} broke`, 2));
    await model();
  };
  chat.say("Please have a look at this");
  await model();
  const before = server.calls("/search").length;
  for (const what of ["make alpha", "make beta", "make gamma"]) await fail(what);
  assert.equal(server.calls("/search").length, before + 2);
  chat.answer("hm");
  chat.say("ok");
  await model();
  await fail("make delta");
  assert.equal(server.calls("/search").length, before + 3);
});

for (const [what, env] of Object.entries<Record<string, string>>({
  "the setting is 0": { PALINODE_CLINE_REPAIR: "0" },
  "search is off": { PALINODE_HOOK_RECALL_MAX_RESULTS: "0" },
  "the profile is conversation": { PALINODE_HOOK_RECALL_PROFILE: "conversation" },
})) {
  test(`no failure is recalled for when ${what}`, async (t) => {
    const { chat, model, server } = await openScene(t, { ...SCENE, env: { ...SCENE.env, ...env } });
    chat.say("Please have a look at this");
    await model();
    const before = server.requests.length;
    chat.tool("run_commands", { commands: [COMMAND] }, commandOutput(COMMAND, ERROR, 1));
    assert.equal(injected(await model()).length, 0);
    assert.equal(server.requests.length, before);
  });
}

test("a search that takes longer than 800 ms is placed in the next request", async (t) => {
  const { chat, host, server, stateDir } = await openScene(t, SCENE);
  chat.say("ok");
  await host.beforeModel(chat.beforeModel());
  server.fault("/search", { delayMs: 1200 }, 1);
  chat.tool("run_commands", { commands: [COMMAND] }, commandOutput(COMMAND, ERROR, 1));
  const { result, ms } = await host.beforeModel(chat.beforeModel());
  assert.equal(result, undefined);
  assert.ok(ms < 1150, `${ms} ms`);
  await until("the late answer is kept", () =>
    filesBelow(stateDir).some((file) => file.text.includes("palinode-repair")),
  );
  chat.tool("run_commands", { commands: ["ls"] }, commandOutput("ls", "a"));
  const messages = ((await host.beforeModel(chat.beforeModel())).result as { messages: Message[] }).messages;
  assert.match(textOf(messages.at(-1)), /failed command/);
});

test("slow searches for failed commands pause no prompt, only themselves", async (t) => {
  const { chat, model, server } = await openScene(t, {
    ...SCENE,
    env: { ...SCENE.env, PALINODE_CLINE_HOOK_DEADLINE_MS: "400" },
  });
  const searches = (): number => server.calls("/search").length;
  server.fault("/search", { delayMs: 1500 });
  // Too short to be recalled for: no answer comes between the failures.
  for (const words of ["ok", "go on"]) {
    chat.say(words);
    await model();
    for (const what of ["make alpha", "make beta"].map((command) => `${command} ${words}`)) {
      chat.tool("run_commands", { commands: [what] }, commandOutput(what, `Error: ${what} broke`, 2));
      await model();
    }
  }
  assert.equal(searches(), 3, "the fourth is not waited for");
  server.fault("/search", null);
  chat.say("Why does the checkout test fail?");
  await model();
  assert.equal(searches(), 4, "a prompt is");
});

test("every way in which hosts report a failure is understood", () => {
  const ways: [unknown, Parameters<typeof failuresOf>[1]][] = [
    [commandOutput(COMMAND, ERROR, 1), {}],
    [JSON.stringify(commandOutput(COMMAND, ERROR, 1)), {}],
    [`Command failed with exit code 1.\nOutput:\n${ERROR}`, { name: "execute_command", input: { command: COMMAND } }],
    [`Command exited with code 1\n${ERROR}`, { name: "execute_command", input: { command: COMMAND } }],
    [ERROR, { name: COMMAND, isError: true }],
    [{ error: ERROR }, { name: COMMAND, isError: true }],
    [{ query: COMMAND, success: false, error: ERROR }, {}],
  ];
  for (const [output, options] of ways) {
    const [failure] = failuresOf(output, options);
    assert.ok(failure?.query.includes(COMMAND) && failure.query.includes(ERROR), JSON.stringify([output, failure]));
  }
});

test("what is no failure of the agent's work is none", () => {
  const quiet = [
    commandOutput("ls", "Error: in a file name"),
    "Command exited with code 0\nError: in a file name",
    "all good",
    null,
    undefined,
    7,
    [],
    {},
    [null],
    { success: true },
  ];
  for (const output of quiet) assert.deepEqual(failuresOf(output), []);
  assert.deepEqual(failuresOf("The Palinode server does not answer", { name: "palinode_search", isError: true }), []);
});

test("the query, at most 500 characters, has no colours, stack frames, times, temporary paths or secrets", () => {
  const noise = [
    "\u001b[31m2026-11-30T10:11:12.345Z TypeError: cannot read properties of undefined (reading 'id')\u001b[39m",
    "    at Object.<anonymous> (/home/ann/shop/src/checkout.ts:12:5)",
    "    at node:internal/main:1:2",
    "[stderr]",
    '  File "/usr/lib/python3/foo.py", line 12, in bar',
    "wrote /tmp/palinode-x8Kd/report.json",
    "token=ghp_0123456789abcdefghijklmnopqrstuvwxyz is invalid",
    ...Array.from({ length: 500 }, (_, line) => `progress ${line}`),
  ].join("\n");
  const [failure] = failuresOf(commandOutput("node /tmp/run-81/x.js", noise, 1));
  const query = failure?.query ?? "";
  assert.ok(query.includes("TypeError: cannot read properties of undefined (reading 'id')"), query);
  for (const word of [
    "\u001b",
    "at Object",
    "node:internal",
    "stderr",
    'File "',
    "/tmp/",
    "10:11:12",
    "ghp_",
    "progress",
  ])
    assert.ok(!query.includes(word), `${word}: ${query}`);
  const [huge] = failuresOf(commandOutput("x".repeat(3000), `Error: ${"\u{1F600} fails ".repeat(2000)}`, 1));
  assert.ok((huge?.query ?? "").length <= 500 && huge?.query.isWellFormed());
});

const REFUSALS = [
  "This tool call was rejected by the user and not executed. -- NOT a tool or system failure. Clarify with user.",
  "any client's own reason -- NOT a tool or system failure. Clarify with user before proceeding.",
  "User rejected the tool call",
  'Tool "run_commands" was not approved',
  "Command not executed: npm test can modify files, and file modifications are blocked in plan mode.",
];

test("a call that was refused is no failure, in a running session and in one that was read again", async (t) => {
  for (const error of REFUSALS)
    for (const output of [{ error }, JSON.stringify({ error }), error])
      assert.deepEqual(failuresOf(output, { input: { commands: [COMMAND] }, isError: true }), [], error);
  const { chat, memory, server } = await openScene(t, SCENE);
  chat.say("Run the tests");
  await memory();
  const asked = server.calls("/search").length;
  chat.tool("run_commands", { commands: [COMMAND] }, { error: REFUSALS[0] }, true);
  await memory();
  assert.equal(server.calls("/search").length, asked);
});

test("six lines that tell something are asked about, else the last three", () => {
  const lines = (word: string): string =>
    Array.from({ length: 9 }, (_, line) => `${word} ${"abcdefghi"[line]}`).join("\n");
  const [telling] = failuresOf(commandOutput("make", lines("error:"), 2));
  assert.equal(telling?.query, `make\n${lines("error:").split("\n").slice(0, 6).join("\n")}`);
  const [silent] = failuresOf(commandOutput("make", lines("step"), 2));
  assert.equal(silent?.query, "make\nstep g\nstep h\nstep i");
});

test("a secret that stands where a long output is cut is not sent in half", () => {
  for (let shift = 0; shift < 60; shift += 1) {
    const before = `Error: broken\n${"x".repeat(15_000)}${"y".repeat(4_990 + shift)}`;
    const secret = '{"password":"hunter2hunter2hunter2","error":"failed"}';
    const output = `${before} ${secret} ${"z".repeat(9_960)} error`;
    const [failure] = failuresOf(commandOutput("npm test", output, 1));
    assert.ok(!failure?.query.includes("hunter2"), `${shift}: ${failure?.query}`);
  }
});

test("private spans and recalled blocks in an output are not sent", () => {
  const block = "<palinode-memory>\n## Palinode recall (this prompt)\nError: recalled words\n</palinode-memory>";
  const [failure] = failuresOf(
    commandOutput("echo <private>zqcommand</private>", `Error: broken <private>zqprivate</private>\n${block}`, 1),
  );
  assert.deepEqual(failure?.query, "echo\nError: broken");
});

test("hostile output is read in linear time", () => {
  const time = (size: number): number => {
    const text = [
      "-".repeat(size),
      "at ".repeat(size),
      "1:".repeat(size),
      "/tmp/".repeat(size),
      "error ".repeat(size),
    ].join("\n");
    const start = process.cpuUsage();
    for (let round = 0; round < 5; round += 1) failuresOf(commandOutput(text, text, 1));
    return process.cpuUsage(start).user / 1000;
  };
  time(1000);
  assert.ok(time(80_000) < 20 * time(10_000) + 200, "eight times the output takes at most twenty times as long");
});

test("a failure that is left for the next prompt moves nothing, where the one before had no answer", () => {
  for (const [unanswered, place] of [
    [[], 3],
    [["What is wrong with the test?"], 5],
  ] as const) {
    const chat = createChat();
    chat.say("Please have a look at this");
    chat.tool("run_commands", { commands: [COMMAND] }, commandOutput(COMMAND, ERROR, 1));
    for (const words of [...unanswered, "Are you still there?"]) chat.say(words);
    const request = chat.messages as Message[];
    const prompt = newestPrompt(request);
    assert.ok(prompt);
    const entry = createEntry(prompt, { kind: "repair", atEnd: false, text: "block", seen: [] }, request[2]);
    const { messages } = replay([entry], { request, transcript: request, prompt });
    assert.equal(
      messages?.findIndex(({ id }) => id === entry.id),
      place,
    );
  }
});

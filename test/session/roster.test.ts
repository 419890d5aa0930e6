// Who is who: parallel sessions of one plugin object, and the sub-agents and teammates that a host starts beside them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createPalinodePlugin } from "../../src/plugin.ts";
import { type Chat, createChat, type Message, type Payload } from "../helpers/chat.ts";
import { openScene, ROLLBACK_PROMPT } from "../helpers/scene.ts";
import type { WorkerHost } from "../helpers/worker-host.ts";

const TEAM = ["team_status", "team_run_task", "run_commands", "palinode_search", "palinode_save"];

/** The payload as the host's Core makes it: with the session's id and the tools that the model is offered. */
function ofCore(payload: Payload, sessionId: string, tools: readonly string[] = []): Payload {
  const offered = tools.map((name) => ({ name, description: name, inputSchema: {} }));
  return { ...payload, request: { ...payload.request, options: { metadata: { sessionId } }, tools: offered } };
}

async function openPlugin(t: TestContext) {
  const { server, stateDir, folder } = await openScene(t);
  const plugin = createPalinodePlugin({ apiUrl: server.url, stateDir, minMessages: 1 });
  const registered: string[] = [];
  const api = {
    registerTool: ({ name }: { name: string }) => registered.push(name),
    registerRule: ({ id }: { id: string }) => registered.push(`rule ${id}`),
    registerCommand: ({ name }: { name: string }) => registered.push(`/${name}`),
  };
  const setUp = (id: string): undefined =>
    plugin.setup(api, {
      session: { sessionId: id },
      workspaceInfo: {
        rootPath: join(folder, id),
        associatedRemoteUrls: [`origin: https://example.com/acme/${id}.git`],
      },
    });
  return { server, plugin, registered, api, setUp };
}

function namesOf(tools: readonly unknown[] = []): string[] {
  return tools.map((tool) => (tool as { name: string }).name);
}

function says(name: string): Chat {
  const chat = createChat({ conversationId: `conv_${name}`, agentId: `agent_${name}` });
  chat.say(`${ROLLBACK_PROMPT} For ${name}`);
  return chat;
}

test("parallel sessions keep their ids and projects, in whatever order they are set up and asked", async (t) => {
  const { server, plugin, setUp } = await openPlugin(t);
  const names = ["one", "two", "three"];
  for (const name of names) setUp(name);
  for (const name of ["two", "one", "three"]) {
    const chat = says(name);
    await plugin.hooks.beforeModel(ofCore(chat.beforeModel(), name));
    chat.answer("Done");
    await plugin.hooks.afterRun(chat.afterRun());
  }
  const asked = server.calls("/search").map(({ body }) => body as { query: string; session_id: string });
  assert.deepEqual(
    asked.map(({ query, session_id: id }) => [query.split(" ").at(-1), id]),
    [
      ["two", "two"],
      ["one", "one"],
      ["three", "three"],
    ],
  );
  assert.deepEqual(
    server.sessions.map(({ project, session_id: id, summary }) => [project, id, String(summary).includes(`For ${id}`)]),
    [
      ["two", "two", true],
      ["one", "one", true],
      ["three", "three", true],
    ],
  );
});

test("a call of a session that was not set up here is nobody's, where several were", async (t) => {
  const { server, plugin, setUp } = await openPlugin(t);
  for (const name of ["one", "two"]) setUp(name);
  const chat = says("stranger");
  assert.equal(await plugin.hooks.beforeModel(ofCore(chat.beforeModel(), "stranger")), undefined);
  chat.answer("Done");
  await plugin.hooks.afterRun(chat.afterRun());
  assert.deepEqual([server.calls("/search").length, server.sessions.length], [0, 0]);
});

test("teammates get nothing, no tools of ours either, and are not captured", async (t) => {
  const { server, plugin, setUp } = await openPlugin(t);
  setUp("lead");
  const lead = says("lead");
  const tools = [...TEAM, "team_spawn_teammate"];
  const change = await plugin.hooks.beforeModel(ofCore(lead.beforeModel(), "lead", tools));
  assert.equal(change?.messages?.length, 3);
  assert.equal(change.tools, undefined);
  const before = server.calls("/search").length;

  const mate = createChat({ conversationId: "conv_mate", agentId: "agent_mate" });
  mate.say("", { content: [{ type: "text", text: ROLLBACK_PROMPT }] });
  const answer = await plugin.hooks.beforeModel(ofCore(mate.beforeModel(), "lead", TEAM));
  assert.deepEqual(
    [answer?.messages, namesOf(answer?.tools)],
    [undefined, ["team_status", "team_run_task", "run_commands"]],
  );
  mate.answer("Done");
  await plugin.hooks.afterRun(mate.afterRun());
  assert.deepEqual([server.calls("/search").length, server.sessions.length], [before, 0]);

  lead.answer("Done");
  await plugin.hooks.afterRun(lead.afterRun());
  assert.deepEqual(
    server.sessions.map(({ session_id: id }) => id),
    ["lead"],
  );
});

test("sub-agents get no tools of ours, and a request without any is left alone", async (t) => {
  const { plugin, setUp } = await openPlugin(t);
  setUp("lead");
  const chat = createChat({ conversationId: "conv_sub", parentAgentId: "agent_lead" });
  chat.say(ROLLBACK_PROMPT);
  const answer = await plugin.hooks.beforeModel(ofCore(chat.beforeModel(), "lead", ["run_commands", "palinode_read"]));
  assert.deepEqual(namesOf(answer?.tools), ["run_commands"]);
  assert.equal(await plugin.hooks.beforeModel(ofCore(chat.beforeModel(), "lead", ["run_commands"])), undefined);
});

test("a setup that is told nothing, as for an agent of an agent, registers the command alone", async (t) => {
  const { plugin, registered, api, setUp } = await openPlugin(t);
  plugin.setup(api, { session: undefined, client: undefined, user: undefined, workspaceInfo: undefined });
  assert.deepEqual(registered, ["/palinode"]);
  setUp("lead");
  assert.ok(registered.includes("rule palinode") && registered.includes("palinode_search"));
});

const TALK = [ROLLBACK_PROMPT, "Where do the packages of the api come from?", "And who restarts the api after it?"];

/** A session of three prompts in one process, and a second host with its messages under another id. */
async function openFork(t: TestContext) {
  const scene = await openScene(t);
  const requests: Message[][] = [];
  for (const words of TALK) {
    scene.chat.say(words);
    requests.push(await scene.model());
    scene.chat.answer(`Done: ${words}`);
    await scene.finish();
  }
  await scene.host.kill();
  const forkWith = (kept: number): [Chat, WorkerHost] => {
    const chat = createChat({ conversationId: "conv_fork", agentId: "agent_fork" });
    for (const message of scene.chat.messages.slice(0, kept)) chat.add(message);
    return [chat, scene.restart({ context: { session: { sessionId: "1796000000099_fork" } } })];
  };
  return { ...scene, requests, forkWith };
}

for (const [act, keptMessages, keptPrompts] of [
  ["a fork", 6, 3],
  ["an undo", 4, 2],
] as const)
  test(`${act} under a new id sends the bytes that were sent, and asks and captures only what is new`, async (t) => {
    const { server, model, finish, requests, forkWith } = await openFork(t);
    assert.equal(server.sessions.length, 1);
    const asked = server.calls("/search").length;
    const [chat, host] = forkWith(keptMessages);
    chat.say("What does the deploy of the api cost?");
    const request = await model(chat, host);
    const before = requests[keptPrompts - 1] ?? [];
    assert.deepEqual(request.slice(0, before.length), before);
    assert.equal(server.calls("/search").length, asked + 1);
    chat.answer("Done");
    await finish(chat, host);
    assert.equal(server.sessions.length, 1);
  });

test("a fork goes on where the captures of the other stopped", async (t) => {
  const { server, model, finish, forkWith } = await openFork(t);
  const [chat, host] = forkWith(6);
  for (const words of ["A fourth question", "A fifth question", "A sixth question"]) {
    chat.say(words);
    await model(chat, host);
    chat.answer("Done");
    await finish(chat, host);
  }
  assert.deepEqual(
    server.sessions.map(({ summary }) => /\d+ prompts/.exec(String(summary))?.[0]),
    ["3 prompts", "6 prompts"],
  );
});

test("a session of messages that nobody knows takes over nothing", async (t) => {
  const { server, restart, model } = await openFork(t);
  const chat = createChat({ conversationId: "conv_other" });
  chat.say("Something said elsewhere before");
  chat.answer("Done");
  chat.say(ROLLBACK_PROMPT);
  const asked = server.calls("/search").length;
  const request = await model(chat, restart({ context: { session: { sessionId: "1796000000098_other" } } }));
  assert.equal(server.calls("/search").length, asked + 1);
  // The digest and what the prompt recalls, at the newest prompt.
  assert.equal(request.length, chat.messages.length + 2);
});

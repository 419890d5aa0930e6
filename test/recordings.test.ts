// The recorded payloads of the real host, replayed through the built plugin: the prefix promise, who is told what, and
// what is captured.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { injected, type Message, type Payload, sent, sharedPrefix, textOf, wire } from "./helpers/chat.ts";
import { openScene, type Scene } from "./helpers/scene.ts";
import type { Fields } from "./palinode/store.ts";

declare const REPOSITORY: string;

type Line = { hook: string; payload: Payload };
type Call = { sent: Message[]; host: Message[]; payload: Payload };

/** One memory for each prompt of the recordings, so that every prompt recalls something of its own. */
const MEMORIES = [
  { file: "decisions/core.md", core: true, summary: "always in view", body: "Core." },
  { file: "m/checkout.md", body: "The checkout test fails on CI, find out why" },
  { file: "m/retry.md", body: "Now explain the retry policy of the payment client" },
  { file: "m/steer.md", body: "Actually also check the retry policy while you are there" },
  { file: "m/lint.md", body: "Fix the lint warnings" },
  { file: "m/audit.md", body: "Thanks, what did the audit say about retries?" },
];

function read(name: string): Line[] {
  const text = readFileSync(join(REPOSITORY, `test/recordings/hooks/${name}.jsonl`), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

async function replay(t: TestContext, name: string): Promise<{ scene: Scene; calls: Call[] }> {
  const [setup, ...lines] = read(name);
  const scene = await openScene(t, {
    server: { memories: MEMORIES },
    context: setup?.payload as unknown as Record<string, unknown>,
  });
  const calls: Call[] = [];
  for (const { hook, payload } of lines) {
    if (hook === "beforeModel") {
      const { result } = await scene.host.beforeModel(payload);
      calls.push({ payload, host: payload.request?.messages as Message[], sent: sent(payload, result) });
    } else if (hook === "afterRun") {
      await scene.host.afterRun(payload);
    }
  }
  assert.deepEqual(scene.host.failures, []);
  assert.deepEqual(scene.host.violations, []);
  return { scene, calls };
}

for (const name of ["tool-loop", "steer", "hook-context", "subagent", "compaction-basic", "compaction-agentic"]) {
  test(`${name}: where the host keeps the prefix, so does the plugin`, async (t) => {
    const { calls } = await replay(t, name);
    const root = calls.filter((call) => call.payload.snapshot.parentAgentId == null);
    for (const [index, call] of root.entries()) {
      assert.deepEqual(
        wire(call.sent.filter((message) => injected([message]).length === 0)),
        wire(call.host),
        "the host's own messages stay as they are",
      );
      const previous = root[index - 1];
      if (previous === undefined || sharedPrefix(previous.host, call.host) < previous.host.length) continue;
      assert.equal(sharedPrefix(previous.sent, call.sent), previous.sent.length, `request ${index + 1}`);
    }
    assert.ok(root.every((call) => injected(call.sent).length > 0));
  });

  test(`${name}: no message stands between a tool call and its result`, async (t) => {
    const { calls } = await replay(t, name);
    for (const call of calls) {
      call.sent.forEach((message, index) => {
        const before = call.sent[index - 1];
        if (injected([message]).length > 0 && Array.isArray(before?.content))
          assert.ok(!before.content.some((part: { type: string }) => part.type === "tool-call"));
      });
    }
  });

  test(`${name}: the digest is in every request of the root agent, once`, async (t) => {
    const { calls } = await replay(t, name);
    for (const call of calls) {
      const digests = injected(call.sent).filter((message) =>
        textOf(message).includes("## Palinode memory (session start)"),
      );
      assert.equal(digests.length, call.payload.snapshot.parentAgentId == null ? 1 : 0);
    }
  });
}

test("tool-loop: the first prompt's recall is in all four of its requests with the same bytes", async (t) => {
  const { calls } = await replay(t, "tool-loop");
  const blocks = calls.slice(0, 4).map((call) => injected(call.sent).map(textOf));
  assert.equal(blocks[0]?.length, 2);
  assert.match(blocks[0]?.[1] ?? "", /m\/checkout\.md/);
  for (const block of blocks) assert.deepEqual(block, blocks[0]);
});

test("tool-loop: three prompts are captured once, with the failed command and its exit code", async (t) => {
  const { scene } = await replay(t, "tool-loop");
  assert.equal(scene.server.sessions.length, 1);
  const { summary, project, model, session_id } = scene.server.sessions[0] as Fields;
  assert.match(String(summary), /^Cline session, 3 prompts\.\nTopic: The checkout test fails on CI, find out why/);
  assert.match(String(summary), /\(exit 1\)/);
  assert.deepEqual([project, model, session_id], ["shop", "fake", "1796044586994_tt0np"]);
});

test("steer: what a person says during a run is recalled for", async (t) => {
  const { scene, calls } = await replay(t, "steer");
  const queries = scene.server.calls("/search").map((call) => (call.body as { query: string }).query);
  assert.ok(queries.includes("Actually also check the retry policy while you are there"));
  assert.match(
    injected(calls.at(-1)?.sent ?? [])
      .map(textOf)
      .at(-1) ?? "",
    /m\/steer\.md/,
  );
});

test("hook-context: what another plugin adds is neither recalled for nor captured", async (t) => {
  const { scene } = await replay(t, "hook-context");
  assert.ok(
    scene.server.requests.every(
      (request) => !request.text.includes("hook_context") && !request.text.includes("2 warnings"),
    ),
  );
});

test("subagent: children get no memory and are not captured as sessions of their own", async (t) => {
  const { scene, calls } = await replay(t, "subagent");
  const child = calls.filter((call) => call.payload.snapshot.parentAgentId != null);
  assert.equal(child.length, 1);
  assert.deepEqual(child[0]?.sent, child[0]?.host);
  assert.equal(scene.server.calls("/list").length, 1);
  assert.equal(scene.server.calls("/search").length, 2);
  assert.equal(scene.server.sessions.length, 0);
});

for (const name of ["compaction-basic", "compaction-agentic"]) {
  test(`${name}: prompts after the compaction are recalled for, turns that are gone lose their blocks`, async (t) => {
    const { scene, calls } = await replay(t, name);
    const queries = scene.server.calls("/search").map((call) => (call.body as { query: string }).query.slice(0, 20));
    assert.equal(queries.length, 10);
    assert.match(queries.at(-1) ?? "", /^Follow-up number 10/);
    const kept = calls.map((call) => injected(call.sent).length);
    assert.ok(Math.max(...kept.slice(-3)) <= 2 + (calls.at(-1)?.host.length ?? 0));
  });
}

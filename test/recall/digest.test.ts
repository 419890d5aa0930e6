// The session-start digest: core memories first, then where the project stands, each once and within its cap.
import assert from "node:assert/strict";
import { test } from "node:test";
import { filesBelow, openScene, PNPM, until } from "../helpers/scene.ts";
import type { MemoryInput } from "../palinode/server.ts";

function memory(file: string, type: string, day: number, words: string, more: Partial<MemoryInput> = {}): MemoryInput {
  return {
    file,
    type,
    title: words,
    body: `${words}.`,
    entities: ["project/shop"],
    updated: `2026-11-${String(day).padStart(2, "0")}T10:00:00Z`,
    ...more,
  };
}

const STANDING: MemoryInput[] = [
  ...[1, 2, 3, 4].map((day) =>
    memory(`projects/session-end-${day}.md`, "ProjectSnapshot", day, `Session of day ${day}`),
  ),
  ...[11, 12, 13, 14].map((day) => memory(`decisions/d${day}.md`, "Decision", day, `Decision of day ${day}`)),
  ...[21, 22, 23, 24].map((day) => memory(`inbox/a${day}.md`, "ActionItem", day, `Open item of day ${day}`)),
];

test("where the project stands comes after the core memories: at most three of each kind, newest first", async (t) => {
  const { chat, memory: recalled } = await openScene(t, { server: { memories: [PNPM, ...STANDING] } });
  chat.say("ok");
  const [digest] = await recalled();
  const lines = (digest ?? "").split("\n").slice(3);
  assert.equal(lines[0], "- [decisions/use-pnpm.md] use-pnpm — pnpm everywhere");
  assert.equal(lines[1], "### Where this project stands");
  assert.deepEqual(
    lines.slice(2, -1).map((line) => /^- \[(.+)\] \((.+)\) .*of day (\d+)/.exec(line)?.slice(1)),
    [
      ["projects/session-end-4.md", "snapshot", "4"],
      ["projects/session-end-3.md", "snapshot", "3"],
      ["projects/session-end-2.md", "snapshot", "2"],
      ["decisions/d14.md", "decision", "14"],
      ["decisions/d13.md", "decision", "13"],
      ["decisions/d12.md", "decision", "12"],
      ["inbox/a24.md", "open", "24"],
      ["inbox/a23.md", "open", "23"],
      ["inbox/a22.md", "open", "22"],
    ],
  );
});

test("a line on where the project stands has 240 characters at most, and says that it was cut", async (t) => {
  const file = `decisions/${"long-".repeat(30)}.md`;
  const { chat, memory: recalled } = await openScene(t, {
    server: { memories: [memory(file, "Decision", 3, "Decide ".repeat(100))] },
  });
  chat.say("ok");
  const [line = ""] = ((await recalled())[0] ?? "").split("\n").filter((text) => text.startsWith("- [decisions/long"));
  assert.equal(line.length, 240);
  assert.ok(line.endsWith("… [cut]"), line);
});

test("a project that has nothing core starts with where it stands", async (t) => {
  const { chat, memory: recalled } = await openScene(t, { server: { memories: STANDING } });
  chat.say("ok");
  assert.match(
    (await recalled())[0] ?? "",
    /session start\)\n.+\n### Where this project stands\n- \[projects\/session-end-4\.md\]/,
  );
});

test("nothing is listed twice", async (t) => {
  const core = memory("decisions/d14.md", "Decision", 14, "Decision of day 14", { core: true });
  const { chat, memory: recalled } = await openScene(t, {
    server: { memories: [...STANDING.filter(({ file }) => file !== core.file), core] },
  });
  chat.say("ok");
  const digest = (await recalled()).join("\n");
  assert.equal(digest.split("[decisions/d14.md]").length, 2);
  assert.match(digest, /\[decisions\/d11\.md\]/);
});

test("PALINODE_CLINE_DIGEST=core keeps core memories alone", async (t) => {
  const { chat, memory: recalled } = await openScene(t, {
    server: { memories: [PNPM, ...STANDING] },
    env: { PALINODE_CLINE_DIGEST: "core" },
  });
  chat.say("ok");
  assert.doesNotMatch((await recalled()).join("\n"), /Where this project stands|session-end/);
});

test("core memories come first in the cap, and what is left out is said", async (t) => {
  const { chat, memory: recalled } = await openScene(t, {
    server: { memories: [PNPM, ...STANDING] },
    env: { PALINODE_HOOK_INJECT_MAX_CHARS: "420" },
  });
  chat.say("ok");
  const [digest = ""] = await recalled();
  assert.ok(digest.length <= 420, String(digest.length));
  assert.match(
    digest,
    /use-pnpm.+\n### Where this project stands\n(?:- .+\n)+… \[cut\] \d more left out\n<\/palinode-memory>$/,
  );
});

test("with slow priming the core memories come in time, and where the project stands comes late, once", async (t) => {
  const {
    chat,
    memory: recalled,
    server,
    stateDir,
  } = await openScene(t, { server: { memories: [PNPM, ...STANDING] } });
  server.fault("/context/prime", { delayMs: 900 }, 1);
  chat.say("ok");
  const first = (await recalled()).join("\n");
  assert.match(first, /use-pnpm/);
  assert.doesNotMatch(first, /stands/);
  await until("the rest is kept", () =>
    filesBelow(stateDir).some((file) => file.text.includes("Where this project stands")),
  );
  chat.answer("hm");
  chat.say("and?");
  const later = await recalled();
  assert.equal(later.length, 2);
  assert.match(later[1] ?? "", /## Palinode memory \(later\)\n.+\n### Where this project stands/);
  assert.ok(later.join("").length <= 4000);
});

for (const [what, answer] of Object.entries({
  "an old server": { status: 404, body: { detail: "Not Found" } },
  nonsense: {
    json: { recent_snapshots: "x", recent_decisions: [null, 7, {}, { file: 3 }], open_action_items: { a: 1 } },
  },
  null: { json: null },
})) {
  test(`${what} at /context/prime leaves the core memories`, async (t) => {
    const { chat, memory: recalled, server, host } = await openScene(t, { server: { memories: [PNPM] } });
    server.fault("/context/prime", answer);
    chat.say("ok");
    const [digest] = await recalled();
    assert.match(digest ?? "", /use-pnpm/);
    assert.doesNotMatch(digest ?? "", /stands/);
    assert.deepEqual(host.failures, []);
  });
}

test("a capture, which has no title, is told by its first words", async (t) => {
  const { chat, memory: recalled, server } = await openScene(t, { server: { memories: [] } });
  await fetch(`${server.url}/session-end`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      summary: "Cline session, 3 prompts.\nTopic: Moved the checkout to the new payment client",
      decisions: [],
      blockers: [],
      project: "shop",
    }),
  });
  chat.say("ok");
  assert.match(
    (await recalled())[0] ?? "",
    /- \[projects\/session-end-[\w-]+\.md\] \(snapshot\) .*Topic: Moved the checkout to the new payment client/,
  );
});

test("where the list of core memories cannot be had, those that the prime names are told", async (t) => {
  for (const fault of [{ status: 500 }, { status: 404 }, { json: {} }]) {
    const { chat, memory: recalled, server } = await openScene(t, { server: { memories: [PNPM, ...STANDING] } });
    server.fault("/list", fault);
    chat.say("ok");
    const digest = (await recalled()).join("\n");
    assert.match(
      digest,
      /session start\)\n.+\n- \[decisions\/use-pnpm\.md\] .*pnpm.*\n### Where this project stands\n/,
      JSON.stringify(fault),
    );
    chat.answer("hm");
    chat.say("and?");
    assert.equal((await recalled()).length, 1);
    assert.equal(server.calls("/list").length, 1);
  }
});

test("a prime that hangs holds nobody up where the list fails, and one without a file is none", async (t) => {
  const { host, chat, server } = await openScene(t, { server: { memories: [PNPM] } });
  server.fault("/list", { status: 500 });
  server.fault("/context/prime", { delayMs: 10_000 });
  chat.say("How do we deploy the api?");
  const { ms } = await host.beforeModel(chat.beforeModel());
  assert.ok(ms < 1500, `${ms} ms`);
  chat.answer("ok");
  server.fault("/context/prime", { json: { core_memories: [null, {}, { file: 7 }] } });
  chat.say("Where were we?");
  await host.beforeModel(chat.beforeModel());
  server.fault("/list", null);
  chat.answer("ok");
  chat.say("And now, what do we know?");
  assert.match(JSON.stringify((await host.beforeModel(chat.beforeModel())).result), /use-pnpm/);
});

test("a core memory that nobody summed up is told by its title and first sentence", async (t) => {
  const core = (file: string, day: number, more: Partial<MemoryInput>) =>
    memory(file, "Insight", day, "", { core: true, ...more });
  const { chat, memory: recalled } = await openScene(t, {
    server: {
      memories: [
        core("insights/1796085494.md", 9, { title: "部署", body: "# 部署\n\n先在预发环境验证。然后再上线。" }),
        core("insights/use-pnpm.md", 8, { title: undefined, body: "We use pnpm. Never npm." }),
        core("insights/repeats.md", 7, { title: "Tabs, not spaces", body: "Tabs, not spaces, in every file. Really." }),
        core("insights/long.md", 6, { title: "Long", body: `One sentence. ${"x ".repeat(5000)}` }),
        core("insights/empty.md", 5, { title: "Empty", body: "" }),
        core("insights/summed.md", 4, { title: "Summed", summary: "its own summary", body: "Not this." }),
      ],
    },
  });
  chat.say("ok");
  assert.deepEqual(((await recalled())[0] ?? "").split("\n").slice(3, -1), [
    "- [insights/1796085494.md] 部署 — 先在预发环境验证。",
    "- [insights/use-pnpm.md] use-pnpm — We use pnpm.",
    "- [insights/repeats.md] Tabs, not spaces, in every file.",
    "- [insights/long.md] Long",
    "- [insights/empty.md] Empty",
    "- [insights/summed.md] Summed — its own summary",
  ]);
});

test("files that are read too slowly are told by their names, and nobody waits for them", async (t) => {
  const {
    chat,
    memory: recalled,
    server,
  } = await openScene(t, {
    server: { memories: [memory("insights/slow.md", "Insight", 1, "Slow", { core: true, body: "What it says." })] },
  });
  server.fault("/read", { hang: true });
  chat.say("ok");
  assert.match((await recalled())[0] ?? "", /^- \[insights\/slow\.md\] Slow$/m);
});

test("a decision that has a title alone is told with its first sentence", async (t) => {
  const { chat, memory: recalled } = await openScene(t, {
    server: {
      memories: [
        memory("decisions/queue.md", "Decision", 2, "The queue", { body: "Jobs go through Redis. Not through cron." }),
        memory("inbox/logs.md", "ActionItem", 1, "Logs", { body: "Rotate them", description: "weekly" }),
      ],
    },
  });
  chat.say("ok");
  const digest = (await recalled())[0] ?? "";
  assert.match(digest, /^- \[decisions\/queue\.md\] \(decision\) The queue — Jobs go through Redis\.$/m);
  assert.match(digest, /^- \[inbox\/logs\.md\] \(open\) Logs — weekly$/m);
});

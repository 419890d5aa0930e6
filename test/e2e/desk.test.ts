// What people and agents touch, on the real CLI: the tools, the rule, the recall after a failed command, where the
// project stands, and `/palinode` in the real terminal program.
import assert from "node:assert/strict";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { linesLike } from "../helpers/pattern.ts";
import { texts } from "./model-server.ts";
import { run } from "./process.ts";
import { assertChain, assertRemembered, memoryMessages, systemAndTools } from "./requests.ts";
import { arrange, e2e, MEMORIES, memory, PROMPTS, ROLLBACK, type Scene } from "./scene.ts";
import { say } from "./talk.ts";
import type { Terminal } from "./terminal.ts";

const FIX = "potoroo-6617";
/** The digest tells a first sentence; the fix stands behind it. */
const WITH_FIX = {
  ...MEMORIES,
  "insights/ledger.md": memory(
    "Ledger",
    `The books are closed at night. Error the ledger is out of balance means ${FIX}.`,
  ),
};

async function oneShot(scene: Scene, prompt: string) {
  return scene.during(async () => {
    const { code, stdout, stderr } = await scene.sandbox.cline(prompt);
    assert.equal(code, 0, stdout + stderr);
  });
}

e2e(
  "the agent searches, reads and saves with tools, the rule stands in a system prompt that never changes",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    const plain = await oneShot(scene, "Nothing to do");
    scene.sandbox.dropIn();
    const calls = [
      '⟦palinode_search {"query":"How do we roll back a deploy of the api?"}⟧',
      '⟦palinode_read {"file_path":"decisions/staging.md"}⟧',
      '⟦palinode_read {"file_path":"decisions/gone.md"}⟧',
      '⟦palinode_save {"content":"The deploy bell is green","title":"Deploy bell","type":"Decision"}⟧',
    ];
    const requests = await oneShot(scene, `Use your memory. ${calls.join(" ")}`);
    assert.equal(requests.length, 5);
    assertChain(requests);
    const { system, tools } = systemAndTools(requests[0]!);
    assert.ok(requests.every((request) => systemAndTools(request).system === system));
    assert.ok(system.includes("palinode_search"), "the rule is in the system prompt");
    assert.ok(!systemAndTools(plain[0]!).system.includes("palinode_search"));
    const names = JSON.stringify(tools);
    for (const name of ["search", "read", "save", "update", "archive", "session_end", "trigger"])
      assert.ok(names.includes(`palinode_${name}`), name);
    const results = requests
      .at(-1)!
      .json.messages.filter(({ role }) => role === "tool")
      .map((message) => texts(message).join() || JSON.stringify(message.content));
    assert.match(results[0] ?? "", new RegExp(`decisions/rollback\\.md.*${ROLLBACK}`, "s"));
    assert.match(results[1] ?? "", /bilby-1864/);
    assert.match(results[2] ?? "", /There is no memory file decisions\/gone\.md/);
    assert.match(results[3] ?? "", /Saved as decisions\/deploy-bell-[0-9a-f]{8}\.md/);
    assert.equal(
      Object.keys(scene.palinode.files("decisions")).filter((name) => name.startsWith("deploy-bell-")).length,
      1,
    );
  },
);

e2e(
  "the agent corrects one memory and archives another: new prompts get it so, those before keep their bytes",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    scene.sandbox.dropIn();
    const calls = [
      '⟦palinode_archive {"file_path":"decisions/rollback.md","reason":"we roll forward now"}⟧',
      '⟦palinode_update {"file_path":"decisions/retries.md","content":"The retry policy is potoroo."}⟧',
      '⟦palinode_save {"content":"The deploy bell is green","title":"Deploy bell"}⟧',
      '⟦palinode_save {"content":"The deploy bell is green","title":"Deploy bell"}⟧',
    ];
    const requests = await oneShot(scene, `How do we roll back a deploy of the api? ${calls.join(" ")}`);
    assert.equal(requests.length, 5);
    assertChain(requests);
    for (const request of requests) assertRemembered(request, ROLLBACK);
    const told = JSON.stringify(requests.at(-1)!.json.messages.filter(({ role }) => role === "tool"));
    assert.match(told, /decisions\/rollback\.md is archived: no new prompt gets it/);
    assert.match(told, /Saved as decisions\/retries\.md\./);
    const decisions = scene.palinode.files("decisions");
    assert.match(decisions["rollback.md"] ?? "", /^status: archived$/m);
    assert.match(decisions["retries.md"] ?? "", /^- project\/shop$[\s\S]*^title: Retries$[\s\S]*potoroo/m);
    assert.equal(
      Object.keys(scene.palinode.files("insights")).filter((name) => name.startsWith("deploy-bell")).length,
      1,
    );

    const ask = async (): Promise<string> =>
      (await oneShot(scene, "How do we roll back a deploy of the api?")).flatMap(memoryMessages).join("\n");
    assert.ok(!(await ask()).includes(ROLLBACK));
    const file = join(scene.sandbox.clineDir, "plugins/palinode.js");
    const restored = await run(parts.node, [file, "restore", "decisions/rollback.md"], {
      cwd: scene.sandbox.workspace,
      env: scene.sandbox.env,
    });
    assert.equal(restored.stdout, "decisions/rollback.md is back: prompts get it again.\n", restored.stderr);
    assert.ok((await ask()).includes(ROLLBACK));
  },
);

e2e("a failed command recalls its fix in the very next request, and the prefix stays", async (t, parts) => {
  const scene = await arrange(t, parts, WITH_FIX);
  scene.sandbox.dropIn();
  // The prompt holds the command's words; the memory has the error's alone.
  writeFileSync(join(scene.sandbox.workspace, "check.sh"), "echo 'Error: the ledger is out of balance' >&2\nexit 4\n");
  const requests = await oneShot(
    scene,
    `Look at it. ⟦run_commands {"commands":["sh check.sh"]}⟧ ⟦run_commands {"commands":["ls"]}⟧`,
  );
  assert.equal(requests.length, 3);
  assertChain(requests);
  assert.ok(!memoryMessages(requests[0]!).join().includes(FIX));
  for (const request of requests.slice(1)) {
    assertRemembered(request, FIX);
    assert.equal(
      memoryMessages(request).filter((text) => text.includes("## Palinode recall (failed command)")).length,
      1,
    );
  }
});

e2e("a session captured yesterday is named in today's first request", async (t, parts) => {
  const scene = await arrange(t, parts);
  const body = {
    summary: "Moved the checkout to the new payment client",
    decisions: [],
    blockers: [],
    project: "shop",
    source: "cline-plugin",
    harness: "cline",
  };
  const answer = await fetch(`${scene.palinode.url}/session-end`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200);
  const [name] = Object.keys(scene.palinode.files("projects"));
  assert.ok(name);
  const yesterday = new Date(Date.now() - 24 * 3600_000);
  utimesSync(join(scene.palinode.directory, "projects", name), yesterday, yesterday);
  scene.sandbox.dropIn();
  const [first] = await oneShot(scene, "What is next?");
  const digest = memoryMessages(first!).find((text) => text.includes("session start")) ?? "";
  assert.match(
    digest,
    linesLike(
      /house-rule[\s\S]*/,
      /### Where this project stands/,
      /- \[projects\/session-end-[\w-]+\.md\] \(snapshot\) [\s\S]*payment client/,
    ),
  );
});

e2e(
  "/palinode in the terminal program tells of server and session, and its pause mutes the session until resume",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    scene.sandbox.dropIn();
    await oneShot(scene, PROMPTS.retries);
    const terminal = scene.sandbox.terminal("-i", "--id", scene.sandbox.sessions()[0] ?? "");
    await terminal.until(
      "the resumed conversation",
      () => terminal.shown().includes("Ask anything") && terminal.shown().includes("Done:"),
    );
    await slash(terminal, "/palinode status", () =>
      /server +http:\/\/127\.0\.0\.1:\d+: \d+\.\d+\.\d+, ok, embedder ready/.test(terminal.shown()),
    );
    assert.match(terminal.shown(), /queue +0 waiting/);
    await slash(terminal, "/palinode why", () => /decisions\/retries\.md/.test(terminal.shown()));
    await slash(terminal, "/palinode pause", () => /paused in this workspace/.test(terminal.shown()));
    const muted = await oneShot(scene, PROMPTS.staging);
    assert.deepEqual(muted.flatMap(memoryMessages), []);
    await slash(terminal, "/palinode resume", () => /Memory is on in this workspace/.test(terminal.shown()));
    assertRemembered((await oneShot(scene, PROMPTS.staging))[0]!, "bilby-1864");
    terminal.kill();
  },
);

e2e("a fork in the terminal program goes on with the bytes that were sent", async (t, parts) => {
  const scene = await arrange(t, parts);
  scene.sandbox.dropIn();
  const before = await oneShot(scene, PROMPTS.rollback);
  const [id = ""] = scene.sandbox.sessions();
  const terminal = scene.sandbox.terminal("-i", "--id", id);
  await terminal.until(
    "the resumed conversation",
    () => terminal.shown().includes("Ask anything") && terminal.shown().includes("Done:"),
  );
  await slash(terminal, "/fork", () => scene.sandbox.sessions().length === 2);
  const fork = scene.sandbox.sessions().find((name) => name !== id) ?? "";
  const after = await scene.during(() => say(scene, fork, terminal, PROMPTS.retries));
  assertChain([before.at(-1)!, ...after]);
  for (const request of after) assertRemembered(request, ROLLBACK);
  terminal.kill();
});

/** Types a command and presses Enter until it is answered; a second Enter in an empty line does nothing. */
async function slash(terminal: Terminal, command: string, isAnswered: () => boolean): Promise<void> {
  await sleep(800);
  terminal.type(command);
  for (let press = 1; ; press += 1) {
    await sleep(500);
    terminal.type("\r");
    const answered = terminal.until(`the answer to ${command}`, isAnswered, 6000);
    if (press >= 6) return answered;
    if (
      await answered.then(
        () => true,
        () => false,
      )
    )
      return;
  }
}

// The real CLI with the shipped file dropped into its plugins folder.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox, PROVIDER } from "./cline.ts";
import type { Recorded } from "./model-server.ts";
import {
  assertChain,
  assertExtends,
  assertRemembered,
  count,
  DIGEST,
  memoryMessages,
  systemAndTools,
} from "./requests.ts";
import { arrange, CORE, e2e, PROMPTS, RETRIES, ROLLBACK, type Scene, STAGING } from "./scene.ts";
import { converse } from "./talk.ts";

/** Two tools, one of which fails, and the answer. */
const MODEL_CALLS = 3;

async function oneShot(scene: Scene, prompt: string): Promise<Recorded[]> {
  return scene.during(async () => {
    const { code, stdout, stderr } = await scene.sandbox.cline(prompt);
    assert.equal(code, 0, stdout + stderr);
  });
}

e2e("cline auth configures the provider that these tests write by hand", async (t, parts) => {
  const modelUrl = "http://127.0.0.1:1/v1";
  const sandbox = await createSandbox(parts, { model: modelUrl });
  t.after(sandbox.stop);
  const file = join(sandbox.clineDir, "data/settings/providers.json");
  const read = (): unknown =>
    JSON.parse(readFileSync(file, "utf8"), (key, value) => (key === "updatedAt" ? "" : value));
  const ours = read();
  const { id, key, model: modelId } = PROVIDER;
  const { code } = await sandbox.cline("auth", "-p", id, "-k", key, "-m", modelId, "-b", modelUrl);
  assert.equal(code, 0);
  assert.deepEqual(read(), ours);
});

e2e(
  "a one-shot run has memory, system prompt and tools as without the plugin, and without the server nothing more",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    // Tools and the rule that explains them are an addition the user can see and switch off; what must never happen is
    // that recalled memory moves the cached head.
    scene.sandbox.env.PALINODE_CLINE_TOOLS = "0";
    const plain = await oneShot(scene, PROMPTS.rollback);
    scene.sandbox.dropIn();
    const requests = await oneShot(scene, PROMPTS.rollback);

    assert.equal(requests.length, MODEL_CALLS);
    assert.deepEqual(plain.flatMap(memoryMessages), []);
    assertChain(requests);
    for (const [index, request] of requests.entries()) {
      assertRemembered(request, CORE);
      assertRemembered(request, ROLLBACK);
      assert.deepEqual(systemAndTools(request), systemAndTools(plain[index]!));
    }

    await scene.palinode.stop();
    const alone = await oneShot(scene, PROMPTS.rollback);
    assert.deepEqual(alone.flatMap(memoryMessages), []);
    assert.equal(alone.length, MODEL_CALLS);
  },
);

/** One shot, then a terminal for each further group of prompts, all in one session. */
async function session(scene: Scene, ...groups: string[][]): Promise<Recorded[]> {
  scene.sandbox.dropIn();
  const requests = await oneShot(scene, PROMPTS.rollback);
  assert.equal(requests.length, MODEL_CALLS);
  const [id] = scene.sandbox.sessions();
  assert.ok(id);
  for (const prompts of groups) {
    const more = await scene.during(() => converse(scene, id, prompts));
    assert.equal(more.length, prompts.length);
    requests.push(...more);
  }
  assert.deepEqual(scene.sandbox.sessions(), [id]);
  return requests;
}

e2e(
  "a session in the hub daemon, resumed in the terminal, recalls new prompts and is captured at the third",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    assert.equal((await scene.sandbox.cline("hub", "start")).code, 0);
    assert.ok(scene.sandbox.hubPid());
    const requests = await session(scene, [PROMPTS.retries, PROMPTS.staging]);
    assertChain(requests.slice(0, MODEL_CALLS));
    const [second, third] = requests.slice(MODEL_CALLS);
    assertRemembered(requests[0]!, ROLLBACK);
    assertRemembered(second!, RETRIES);
    assertRemembered(third!, STAGING);
    assertExtends(second!, third!);
    for (const request of requests) assert.equal(count(request, DIGEST), 1);
    assert.equal(Object.keys(scene.palinode.files("projects")).length, 1);

    assert.match((await scene.sandbox.cline("hub", "stop")).stdout, /"stopped":true/);
    assert.equal(scene.sandbox.hubPid(), undefined);
  },
);

e2e(
  "a session resumed twice sends the bytes it sent before, and asks the server only about what is new",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    const requests = await session(scene, [PROMPTS.retries], [PROMPTS.staging]);
    assertChain(requests);
    for (const request of requests) assert.equal(count(request, DIGEST), 1);
    for (const token of [CORE, ROLLBACK, RETRIES, STAGING]) assertRemembered(requests.at(-1)!, token);
    const asked = scene.palinode.requests();
    // The server's own warm-up is the first search; the first prompt has a command that fails.
    assert.equal(asked.filter((line) => line === "POST /search").length, 1 + 3 + 1);
  },
);

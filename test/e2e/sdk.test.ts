// The ways an SDK host can be given the plugin, each on the real SDK.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { PLUGIN } from "./cline.ts";
import type { Recorded } from "./model-server.ts";
import { assertChain, assertRemembered, count, DIGEST, memoryMessages, systemAndTools } from "./requests.ts";
import { CORE, e2e, PROMPTS, RETRIES, ROLLBACK, type Scene, visit } from "./scene.ts";

const TWO_PROMPTS = [PROMPTS.rollback, PROMPTS.retries];
/** Three model calls for the first prompt (two tools, one answer), one for the second. */
const MODEL_CALLS = 4;

/** Has one host process hold a session for each way, and returns the requests of each. */
async function drive(scene: Scene, ...how: string[]): Promise<Recorded[][]> {
  // Tools and their rule belong to the head of a request; that recalled memory does not is what is asserted here.
  scene.sandbox.env.PALINODE_CLINE_TOOLS = "0";
  // The file alone: from the built folder hosts take the skill beside it too.
  const plugin = join(scene.sandbox.home, "palinode.js");
  copyFileSync(PLUGIN, plugin);
  const job = { how, plugin, model: scene.model.url, prompts: TWO_PROMPTS };
  const requests = await scene.during(() => scene.sandbox.drive(job));
  assert.equal(requests.length, how.length * MODEL_CALLS);
  return how.map((_, index) => requests.slice(index * MODEL_CALLS, (index + 1) * MODEL_CALLS));
}

/** What holds whichever way the plugin was given. */
function assertMemoryThroughout(requests: Recorded[], plain: Recorded[]): void {
  assertChain(requests);
  for (const [index, request] of requests.entries()) {
    assertRemembered(request, CORE);
    assertRemembered(request, ROLLBACK);
    assert.equal(count(request, DIGEST), 1);
    assert.deepEqual(systemAndTools(request), systemAndTools(plain[index]!));
  }
  assertRemembered(requests.at(-1)!, RETRIES);
}

e2e("config.extensions gives an in-process host memory", async (t, parts) => {
  const [plain, requests] = await drive(await visit(t, parts), "none", "extensions");
  assertMemoryThroughout(requests!, plain!);
});

e2e("localRuntime.pluginPaths gives a sandboxed plugin memory", async (t, parts) => {
  const [plain, requests] = await drive(await visit(t, parts), "none", "localRuntime");
  assertMemoryThroughout(requests!, plain!);
});

e2e("the drop-in folder serves SDK hosts too", async (t, parts) => {
  const scene = await visit(t, parts);
  const [plain] = await drive(scene, "none");
  scene.sandbox.dropIn();
  const [requests] = await drive(scene, "dropIn");
  assertMemoryThroughout(requests!, plain!);
});

e2e(
  "new Agent({ plugins }) has memory without Core, beside a Core session that has the same plugin object",
  async (t, parts) => {
    const [plain, , requests] = await drive(await visit(t, parts), "agentAlone", "extensions", "agent");
    assertMemoryThroughout(requests!, plain!);
  },
);

// Not our behaviour but the host's, as its documentation has it otherwise: when this fails, the README may say less.
e2e("config.pluginPaths alone loads nothing in SDK 0.0.86", async (t, parts) => {
  const [requests] = await drive(await visit(t, parts), "configPluginPaths");
  assert.deepEqual(requests!.flatMap(memoryMessages), []);
});

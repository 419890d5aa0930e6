// The ways an SDK host can be given the plugin, each on the real SDK.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PLUGIN } from "./cline.ts";
import type { Recorded } from "./model-server.ts";
import { assertChain, assertRemembered, count, DIGEST, memoryMessages, systemAndTools } from "./requests.ts";
import { arrange, CORE, e2e, PROMPTS, RETRIES, ROLLBACK, type Scene, visit } from "./scene.ts";

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

e2e("sessions that start at the same time are captured each under its own id and project", async (t, parts) => {
  const scene = await arrange(t, parts);
  scene.sandbox.env.PALINODE_HOOK_MIN_MESSAGES = "1";
  const names = ["wombat", "quokka", "bandicoot"];
  const folders = names.map((name) => join(scene.sandbox.home, name));
  for (const folder of folders) mkdirSync(folder);
  // Unlike one another: of captures that say nearly the same the server makes one file.
  const prompts = [
    "Where does the wombat exporter keep its invoices?",
    "Why is the login page of quokka blinking on phones?",
    "Who approves a schema migration of bandicoot on Fridays?",
  ];
  const job = { how: "parallel", plugin: PLUGIN, model: scene.model.url, prompts, folders };
  const { sessionIds = [] } = await scene.sandbox.drive(job);
  const captures = Object.entries(scene.palinode.files("projects")).map(([file, text]) => ({ file, text }));
  assert.equal(captures.length, names.length, JSON.stringify(captures, null, 1));
  for (const [index, name] of names.entries()) {
    const own = captures.filter(({ text }) => text.includes(prompts[index]!));
    assert.equal(own.length, 1, name);
    assert.ok(own[0]!.text.includes(sessionIds[index]!), own[0]!.text);
    assert.match(own[0]!.file, new RegExp(`-${name}-`));
  }
  // Posts that overlap lose entries of the day's notes.
  const notes = Object.values(scene.palinode.files("daily")).join("\n");
  for (const id of sessionIds) assert.equal(notes.split(id).length, 2, `${id} in the day's notes:\n${notes}`);
});

for (const how of ["extensions", "localRuntime"])
  e2e(`a teammate by ${how} has no memory, no tools of ours, and is in no capture`, async (t, parts) => {
    const scene = await arrange(t, parts);
    scene.sandbox.env.PALINODE_HOOK_MIN_MESSAGES = "1";
    const task = `Scout: ${PROMPTS.retries}`;
    const spawn = '⟦team_spawn_teammate {"agentId":"scout","rolePrompt":"You scout."}⟧';
    const run = `⟦team_run_task ${JSON.stringify({ agentId: "scout", task, runMode: "sync" })}⟧`;
    const prompts = [`${PROMPTS.rollback} ${spawn} ${run}`];
    const job = { how, plugin: PLUGIN, model: scene.model.url, prompts, team: true };
    const requests = await scene.during(() => scene.sandbox.drive(job));
    const isMate = ({ json }: Recorded) =>
      !json.tools?.some(({ function: { name } }) => name === "team_spawn_teammate");
    const [mates, leads] = [requests.filter(isMate), requests.filter((request) => !isMate(request))];
    assert.ok(mates.length > 0 && leads.length > 0, `${mates.length} and ${leads.length} requests`);
    assert.deepEqual(mates.flatMap(memoryMessages), []);
    assert.ok(!JSON.stringify(mates.flatMap(({ json }) => json.tools ?? [])).includes("palinode_"));
    for (const lead of leads) assertRemembered(lead, ROLLBACK);
    const captures = Object.values(scene.palinode.files("projects"));
    assert.equal(captures.length, 1, JSON.stringify(captures));
    assert.ok(!/Topic: Scout|- Scout:/.test(captures[0]!), captures[0]);
  });

// How long a process lives that has done its work while the server hangs: nothing of the plugin's holds it. A process
// that waits for an answer by hand is held until that comes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createChat } from "./helpers/chat.ts";
import { type Fault, type Palinode, startPalinode } from "./palinode/server.ts";

declare const REPOSITORY: string;

const FILE = join(REPOSITORY, "dist/palinode.js");
const DEADLINE_MS = 300;
/** Without a hold a process ends at once; with one, after the five seconds of a request at the earliest. */
const LONGEST_MS = 2500;

/** A host of one run, and nothing else that would keep it: it says when its work is done. */
const HOST = `
  const [file, given] = process.argv.slice(1);
  const { context, beforeModel, afterRun } = JSON.parse(given);
  const { plugin } = await import(file);
  plugin.setup({ registerTool() {} }, context);
  await plugin.hooks.beforeModel(beforeModel);
  await plugin.hooks.afterRun(afterRun);
  process.stdout.write("done");
`;

async function sceneOf(
  t: TestContext,
  fault: Fault,
  paths: readonly string[],
): Promise<{ server: Palinode; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-life-"));
  const server = await startPalinode({ memories: [{ file: "insights/a.md", body: "Deploys go out on Mondays" }] });
  for (const path of paths) server.fault(path, fault);
  t.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { server, folder };
}

function environmentOf({ server, folder }: { server: Palinode; folder: string }): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    PALINODE_API_URL: server.url,
    PALINODE_CLINE_STATE_DIR: join(folder, "state"),
    PALINODE_CLINE_HOOK_DEADLINE_MS: String(DEADLINE_MS),
    PALINODE_HOOK_MIN_MESSAGES: "1",
  };
}

const FAULTS: [string, Fault, readonly string[]][] = [
  ["hangs", { hang: true }, ["*"]],
  ["hangs where it searches and stores", { hang: true }, ["/search", "/session-end"]],
  ["trickles", { dripMs: 50 }, ["*"]],
  ["is well", { delayMs: 0 }, ["/search"]],
];

for (const [name, fault, paths] of FAULTS) {
  test(`a process whose work is done ends, where the server ${name}`, async (t) => {
    const scene = await sceneOf(t, fault, paths);
    const chat = createChat();
    chat.say("When do deploys go out?");
    const beforeModel = chat.beforeModel();
    chat.answer("On Mondays.");
    const context = { session: { sessionId: "1796000000000_life" }, workspaceInfo: { rootPath: scene.folder } };
    const given = JSON.stringify({ context, beforeModel, afterRun: chat.afterRun() });
    const child = spawn(process.execPath, ["--input-type=module", "-e", HOST, "--", `file://${FILE}`, given], {
      env: environmentOf(scene),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exit = once(child, "exit");
    await once(child.stdout, "data");
    const doneAt = performance.now();
    const [code] = await exit;
    const lifeMs = performance.now() - doneAt;
    assert.equal(code, 0);
    assert.ok(lifeMs < LONGEST_MS, `${Math.round(lifeMs)} ms after its work was done`);
  });
}

test("a command waits for its answer", async (t) => {
  const scene = await sceneOf(t, { delayMs: 700 }, ["*"]);
  const child = spawn(process.execPath, [FILE, "search", "when do deploys go out"], { env: environmentOf(scene) });
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  assert.match(out, /Deploys go out on Mondays/);
});

test("a tool of the agent's is waited for, whatever else the process has to do", async (t) => {
  const scene = await sceneOf(t, { delayMs: 700 }, ["*"]);
  const program = `
    const { plugin } = await import(process.argv[1]);
    const tools = new Map();
    const host = { registerTool: (tool) => tools.set(tool.name, tool) };
    plugin.setup(host, { session: { sessionId: "1796000000000_tool" } });
    process.stdout.write(await tools.get("palinode_search").execute({ query: "when do deploys go out" }));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, "--", `file://${FILE}`], {
    env: environmentOf(scene),
  });
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  assert.match(out, /Deploys go out on Mondays/);
});

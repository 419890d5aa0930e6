// A host built with the real SDK: starts a session for each way in `how`, sends it the prompts in turn, and prints one
// line of JSON. It runs under the cached Node, outside the test process, because a host has a home folder of its own.
//   node sdk-driver.mjs '{ "sdk", "how", "plugin"?, "model", "prompts", "compaction"?, "contextWindow"?, "team"?, "folders"? }'
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

const job = JSON.parse(process.argv[2]);
const sdk = await import(pathToFileURL(job.sdk).href);
const { Agent, ClineCore } = sdk;

const PROVIDER = { providerId: "openai-compatible", modelId: "scripted", apiKey: "not-a-real-key", baseUrl: job.model };
const SYSTEM = "You are a terse assistant.";

const kinds = { agent: runAgent, agentAlone: runAgent, parallel: runParallel };
let result;
for (const how of [job.how].flat()) result = await (kinds[how] ?? runCore)(how);
console.log(JSON.stringify(result));
// The SDK keeps timers of half a minute; a person's own program would go on, this one is done.
process.exit(0);

async function loadPlugin() {
  return (await import(pathToFileURL(job.plugin).href)).default;
}

function settings(folder = process.cwd()) {
  return {
    ...PROVIDER,
    cwd: folder,
    workspaceRoot: folder,
    mode: "act",
    systemPrompt: SYSTEM,
    enableTools: true,
    enableSpawnAgent: false,
    enableAgentTeams: job.team === true,
    ...modelLimits(),
  };
}

/** A session for each prompt, in a folder of its own, all at once, beside a plugin that takes its time to set up. */
async function runParallel() {
  const slow = {
    name: "slow",
    manifest: { capabilities: ["hooks"] },
    hooks: { afterRun: () => undefined },
    setup: () => new Promise((resolve) => setTimeout(resolve, 200)),
  };
  const extensions = [await loadPlugin(), slow];
  const cline = await ClineCore.create({ clientName: "palinode-e2e", backendMode: "local" });
  const sessions = job.prompts.map(async (prompt, index) => {
    const config = { ...settings(job.folders[index]), extensions };
    const { sessionId } = await cline.start({ config, source: "core", interactive: true });
    await cline.send({ sessionId, prompt });
    await cline.stop(sessionId);
    return sessionId;
  });
  const sessionIds = await Promise.all(sessions);
  await cline.dispose();
  return { sessionIds, answers: [] };
}

async function runCore(how) {
  const config = settings();
  const input = { config, source: "core", interactive: true };
  // The ways to hand a plugin over; for "dropIn" nothing is said, nor for "none", which is there to compare with.
  if (how === "extensions") config.extensions = [await loadPlugin()];
  if (how === "configPluginPaths") config.pluginPaths = [job.plugin];
  if (how === "localRuntime") input.localRuntime = { pluginPaths: [job.plugin] };

  const cline = await ClineCore.create({ clientName: "palinode-e2e", backendMode: "local" });
  const { sessionId } = await cline.start(input);
  const answers = [];
  for (const prompt of job.prompts) answers.push((await cline.send({ sessionId, prompt }))?.text ?? "");
  await cline.stop(sessionId);
  await cline.dispose();
  return { sessionId, answers };
}

/** Without known limits the host never compacts. */
function modelLimits() {
  if (!job.compaction) return {};
  const limits = { contextWindow: job.contextWindow, maxInputTokens: job.contextWindow, maxTokens: 500 };
  const knownModels = { scripted: { id: "scripted", name: "scripted", ...limits } };
  return { knownModels, compaction: { enabled: true, strategy: job.compaction } };
}

async function runAgent(how) {
  const plugins = how === "agent" ? [await loadPlugin()] : [];
  const agent = new Agent({ ...PROVIDER, systemPrompt: SYSTEM, plugins, tools: [runCommands()] });
  const answers = [];
  for (const [index, prompt] of job.prompts.entries()) {
    const run = index === 0 ? await agent.run(prompt) : await agent.continue(prompt);
    answers.push(run.outputText);
  }
  return { answers };
}

/** A bare agent has no tools of its own; this one fails and succeeds as Core's does. */
function runCommands() {
  return {
    name: "run_commands",
    description: "Runs shell commands.",
    inputSchema: { type: "object", properties: { commands: { type: "array", items: { type: "string" } } } },
    execute: ({ commands }) =>
      commands.map((query) => {
        const { status, stdout, stderr } = spawnSync("sh", ["-c", query], { encoding: "utf8" });
        const ok = { query, result: stdout + stderr, success: status === 0 };
        return status === 0 ? ok : { ...ok, error: `Command exited with code ${status}` };
      }),
  };
}

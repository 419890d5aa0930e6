// The skill beside the shipped file: Cline offers it when the folder is installed, and misses nothing without it.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { PLUGIN } from "./cline.ts";
import { type Recorded, texts } from "./model-server.ts";
import { assertRemembered } from "./requests.ts";
import { CORE, e2e, type Scene, visit } from "./scene.ts";

const FOLDER = dirname(PLUGIN);
/** Makes the model call the host's tool for skills, as it would when one matches. */
const PROMPT = 'What did we decide about the house rule? ⟦skills {"skill":"palinode"}⟧';

interface Tool {
  function: { name: string; description?: string };
}

/** What the host's tool for skills says is there; 3.0.65 has no command that lists them without a terminal. */
function listed(request: Recorded): string | undefined {
  const tools = (request.json.tools ?? []) as Tool[];
  return /Available skills: (.*)\.$/.exec(
    tools.find((tool) => tool.function.name === "skills")?.function.description ?? "",
  )?.[1];
}

async function talk(scene: Scene): Promise<Recorded[]> {
  const requests = await scene.during(async () => {
    const { code, stdout, stderr } = await scene.sandbox.cline(PROMPT);
    assert.equal(code, 0, stdout + stderr);
  });
  for (const request of requests) assertRemembered(request, CORE);
  return requests;
}

async function assertOffered(scene: Scene): Promise<void> {
  const requests = await talk(scene);
  assert.equal(listed(requests[0]!), "palinode");
  const told = requests
    .at(-1)!
    .json.messages.filter(({ role }) => role === "tool")
    .flatMap(texts)
    .join("\n");
  assert.match(told, /# Palinode memory/);
  for (const name of ["palinode_search", "palinode_save", "/palinode status"]) assert.ok(told.includes(name), told);
}

e2e("cline plugin install of the built folder lists the skill, and uninstall takes it away", async (t, parts) => {
  const scene = await visit(t, parts);
  const { code, stderr } = await scene.sandbox.cline("plugin", "install", FOLDER);
  assert.equal(code, 0, stderr);
  await assertOffered(scene);
  assert.equal((await scene.sandbox.cline("plugin", "uninstall", "palinode.js")).code, 0);
  const [request] = await scene.during(() => scene.sandbox.cline("Which skills are there?"));
  assert.equal(listed(request!), undefined);
});

e2e("the built folder, dropped into the plugins folder, lists the skill too", async (t, parts) => {
  const scene = await visit(t, parts);
  cpSync(FOLDER, join(scene.sandbox.clineDir, "plugins/palinode"), { recursive: true });
  await assertOffered(scene);
});

e2e("the file alone has memory and no skill", async (t, parts) => {
  const scene = await visit(t, parts);
  scene.sandbox.dropIn();
  assert.equal(listed((await talk(scene))[0]!), undefined);
});

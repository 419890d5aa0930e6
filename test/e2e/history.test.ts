// Cline's own history as the real CLI has just written it: listed, imported into the real server, recalled from there.
import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import { PLUGIN, PROJECT } from "./cline.ts";
import { texts } from "./model-server.ts";
import { type Result, run } from "./process.ts";
import { memoryMessages } from "./requests.ts";
import { arrange, e2e, PROMPTS, type Scene } from "./scene.ts";
import { openTerminal } from "./terminal.ts";

const TOPIC = "Why does the wallaby-3307 exporter skip leap days?";

async function palinode(scene: Scene, ...words: string[]): Promise<Result> {
  const { workspace, env } = scene.sandbox;
  return run(scene.parts.node, [PLUGIN, ...words], { cwd: workspace, env, timeoutMs: 120_000 });
}

e2e(
  "a session of the real CLI is imported, and a new session recalls it with the line that reopens it",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    for (const prompt of [TOPIC, PROMPTS.rollback]) assert.equal((await scene.sandbox.cline(prompt)).code, 0);
    const [id] = scene.sandbox.sessions();
    const line = `cd ${scene.sandbox.workspace} && cline --id ${id}`;

    const rows = JSON.parse((await palinode(scene, "history", "--json")).stdout);
    assert.deepEqual(
      rows.map((row: Record<string, unknown>) => [row.project, row.prompts]),
      [
        [PROJECT, 1],
        [PROJECT, 1],
      ],
    );
    assert.deepEqual([rows[1].id, rows[1].title, rows[1].resume], [id, TOPIC, line]);
    assert.equal((await palinode(scene, "resume", "--print", "wallaby-3307")).stdout, `${line}\n`);

    const sent = await palinode(scene, "import", "--min-prompts", "1");
    assert.match(sent.stdout, /^sent 2, unchanged 0, too short 0, broken 0, refused 0$/m, sent.stderr);
    const files = scene.palinode.files("projects");
    const memories = Object.values(files).filter((text) => text.includes("Cline session of"));
    assert.equal(memories.length, 2);
    // The model was told to run a command that fails and one that does not.
    assert.ok(
      memories.some((text) => /`exit 3` \(exit 3\)[\s\S]*`ls` \(exit 0\)/.test(text)),
      memories.join("\n"),
    );
    assert.match((await palinode(scene, "import", "--min-prompts", "1")).stdout, /^sent 0, unchanged 2/m);
    assert.deepEqual(scene.palinode.files("projects"), files);

    scene.sandbox.dropIn();
    const requests = await scene.during(() =>
      scene.sandbox.cline("What about the wallaby-3307 exporter and leap days?"),
    );
    const recalled = requests.flatMap(memoryMessages).join("\n");
    assert.ok(recalled.includes(line) && recalled.includes(`cline-session-${id!.replace("_", "-")}`), recalled);

    const handed = await palinode(scene, "handoff", "--print");
    assert.match(handed.stdout, /### Last session here[\s\S]*### Recent sessions[\s\S]*cline-session-/, handed.stderr);
  },
);

e2e("handoff opens the terminal program with the prompt, which is sent as it is printed", async (t, parts) => {
  const scene = await arrange(t, parts);
  assert.equal((await scene.sandbox.cline(TOPIC)).code, 0);
  const words = "Carry on with the numbat-5502 exporter.";
  const printed = (await palinode(scene, "handoff", "--print", words)).stdout.trim();
  assert.ok(printed.startsWith(words) && printed.includes(TOPIC), printed);

  const { workspace, env } = scene.sandbox;
  const path = [join(parts.modules, ".bin"), env.PATH].join(delimiter);
  const terminal = openTerminal([parts.node, PLUGIN, "handoff", words], {
    python: parts.python,
    cwd: workspace,
    env: { ...env, PATH: path },
  });
  t.after(() => terminal.kill());
  const sent = () => scene.model.agentRequests().filter(({ body }) => body.includes("numbat-5502"));
  await terminal.until("the request", () => sent().length > 0);
  const prompt = texts(sent()[0]!.json.messages.findLast(({ role }) => role === "user")!).join("\n");
  assert.ok(prompt.includes(printed), prompt);
});

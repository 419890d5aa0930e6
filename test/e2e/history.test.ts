// Cline's own history as the real CLI has just written it: listed, imported into the real server, recalled from there.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
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

e2e("what a repository says is taken by the real server, each memory once, and found there", async (t, parts) => {
  const scene = await arrange(t, parts);
  const { workspace, env } = scene.sandbox;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  write("README.md", "# Shop\n\nSells bandicoot-6601 hats.\n\n## Install\n\nx\n");
  write("CONTRIBUTING.md", "# Contributing\n\nRun potoroo-6602 first: `make </summary>` <summary>\n");
  write("docs/adr/1.md", "# 1. Use bettong-6603\n\n## Status\n\nAccepted\n");
  write("docs/adr/2.md", "# 2. Use bilby-6604\n\n## Status\n\nSuperseded by [1](1.md)\n");
  for (const words of [
    ["add", "."],
    ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "Round quoll-6605"],
  ])
    assert.equal((await run("git", words, { cwd: workspace, env })).code, 0);

  assert.match((await palinode(scene, "import", "--git", "--dry-run")).stdout, /^would send 5, unchanged 0/m);
  const sent = await palinode(scene, "import", "--git");
  assert.equal(sent.stdout, "sent 5, unchanged 0, broken 0, refused 0\n", sent.stderr);
  const isFound = async (name: string, words: string): Promise<boolean> =>
    (await palinode(scene, "search", words)).stdout.split(`/repository-shop-${name}-`).length === 2;
  assert.ok(await isFound("readme", "sells bandicoot-6601 hats"));
  assert.ok(await isFound("contributing", "run potoroo-6602 first"));
  assert.ok(await isFound("1", "use bettong-6603"));
  assert.ok(await isFound("changes", "round quoll-6605"));
  assert.ok(!(await isFound("2", "use bilby-6604")), "what no longer stands is archived");
  // A server keeps the rest of what it is sent over: it has to be told that this stands again.
  write("docs/adr/2.md", "# 2. Use bilby-6604\n\n## Status\n\nAccepted\n");
  assert.match((await palinode(scene, "import", "--git")).stdout, /^sent 1, unchanged 4,/);
  assert.ok(await isFound("2", "use bilby-6604"));
  assert.equal(Object.keys(scene.palinode.files("decisions")).filter((name) => /^repository-/.test(name)).length, 2);
});

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

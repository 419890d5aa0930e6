// Whose memory is recalled, and whose words it is recalled for, on the real parts: the project's own, while the server
// allows it, and not for what a person refused.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { PLUGIN } from "./cline.ts";
import { run } from "./process.ts";
import { assertRemembered, memoryMessages } from "./requests.ts";
import { arrange, e2e, MEMORIES, memory, PROMPTS, RETRIES, ROLLBACK, STAGING } from "./scene.ts";
import { say } from "./talk.ts";

const BILLING = "dunnart-2208";
const OLD = "potoroo-9914";

e2e("another project's memory is recalled only for a prompt that names the project", async (t, parts) => {
  const others = memory("Invoices", `An invoice is cancelled with ${BILLING}.`).replace(
    "project/shop",
    "project/billing",
  );
  const scene = await arrange(t, parts, { ...MEMORIES, "decisions/invoices.md": others });
  scene.sandbox.dropIn();
  const ask = (prompt: string) => scene.during(() => scene.sandbox.cline(prompt));
  const unnamed = await ask("How is an invoice cancelled?");
  assert.ok(!unnamed.flatMap(memoryMessages).join("\n").includes(BILLING));
  assertRemembered((await ask("How is an invoice cancelled in billing?"))[0]!, BILLING);
});

e2e("what was replaced is not told as settled", async (t, parts) => {
  const retired = memory("Old roll back", `How we roll back a deploy of the api: ${OLD}.`, [
    "status: superseded",
    "superseded_by: decisions/rollback.md",
  ]);
  const scene = await arrange(t, parts, { ...MEMORIES, "decisions/old-rollback.md": retired });
  scene.sandbox.dropIn();
  const [request] = await scene.during(() => scene.sandbox.cline("How do we roll back a deploy of the api?"));
  assertRemembered(request!, ROLLBACK);
  assert.ok(!memoryMessages(request!).join("\n").includes(OLD));
});

e2e("a server that denies recall is heard again when it allows it", async (t, parts) => {
  const scene = await arrange(t, parts);
  scene.sandbox.dropIn();
  // Where the project stands is told at its start, decisions and all.
  scene.sandbox.env.PALINODE_CLINE_DIGEST = "core";
  const controls = (...words: string[]) =>
    run(parts.python, [join(dirname(parts.palinodeApi), "palinode"), "controls", ...words], {
      cwd: scene.palinode.directory,
      env: { ...process.env, PALINODE_DIR: scene.palinode.directory, PALINODE_API_URL: scene.palinode.url },
    });
  const scripted = async (word: string) => {
    const { code, stdout, stderr } = await controls(word, "--recall");
    assert.equal(code, 0, stdout + stderr);
  };
  await scene.sandbox.cline("Nothing to do");
  await scripted("pause");
  const [id = ""] = scene.sandbox.sessions();
  const terminal = scene.sandbox.terminal("-i", "--id", id);
  t.after(() => terminal.kill());
  await terminal.until("the conversation", () => terminal.shown().includes("Done:"));
  const denied = await scene.during(() => say(scene, id, terminal, PROMPTS.retries));
  assert.ok(!denied.flatMap(memoryMessages).join("\n").includes(RETRIES));
  await scripted("resume");
  const heard = await scene.during(() => say(scene, id, terminal, PROMPTS.staging));
  assertRemembered(heard.at(-1)!, STAGING);
});

e2e("a command that nobody approved is no failure", async (t, parts) => {
  const scene = await arrange(t, parts);
  scene.sandbox.dropIn();
  const prompt = `${PROMPTS.retries} ⟦run_commands {"commands":["exit 3"]}⟧`;
  const requests = await scene.during(() => scene.sandbox.cline("--auto-approve", "false", prompt));
  assert.ok(
    requests.length > 1 && JSON.stringify(requests.at(-1)!.json.messages).includes("NOT a tool or system failure"),
  );
  assertRemembered(requests.at(-1)!, RETRIES);
  assert.equal(scene.palinode.requests().filter((line) => line === "POST /search").length, 2, "one for the index, one");
});

e2e("what was said in a pause is not imported, and what was laid down is kept as a decision", async (t, parts) => {
  const scene = await arrange(t, parts);
  scene.sandbox.env.PALINODE_HOOK_MIN_MESSAGES = "1";
  scene.sandbox.dropIn();
  const { workspace, env } = scene.sandbox;
  const palinode = (...words: string[]) => run(parts.node, [PLUGIN, ...words], { cwd: workspace, env });
  await scene.sandbox.cline("From now on the wombat-4711 exporter writes UTC. Is that clear?");
  assert.equal((await palinode("pause")).code, 0);
  await scene.sandbox.cline("What does the secret-bilby-4712 importer do?");
  assert.equal((await palinode("unpause")).code, 0);

  const captured = Object.values(scene.palinode.files("projects")).join("\n");
  assert.match(captured, /\*\*Decisions:\*\*\n- From now on the wombat-4711 exporter writes UTC\./);
  const sent = await palinode("import", "--min-prompts", "1");
  assert.match(sent.stdout, /^sent 1, unchanged 0, too short 1/m, sent.stderr);
  const stored = ["projects", "daily", "insights"].map((folder) => Object.values(scene.palinode.files(folder)));
  assert.ok(!stored.flat().join("\n").includes("bilby-4712"));
});

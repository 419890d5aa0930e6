// Started below the repository's root: Cline takes the root as workspace, and so does all that is asked by hand.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PLUGIN } from "./cline.ts";
import type { Parts } from "./install.ts";
import { type Result, run } from "./process.ts";
import { assertRemembered, memoryMessages } from "./requests.ts";
import { arrange, CORE, e2e, PROMPTS, type Scene, visit } from "./scene.ts";
import { openTerminal } from "./terminal.ts";

/** Makes a folder in the repository, and returns what runs programs there. */
function below({ sandbox }: Scene, parts: Parts) {
  const cwd = join(sandbox.workspace, "packages/api");
  mkdirSync(cwd, { recursive: true });
  const { env } = sandbox;
  const start = (...args: string[]): Promise<Result> => run(parts.node, args, { cwd, env, timeoutMs: 120_000 });
  return {
    cline: (...args: string[]) => start(parts.cline, ...args),
    verb: (...args: string[]) => start(PLUGIN, ...args),
    terminal: (...args: string[]) =>
      openTerminal([parts.node, parts.cline, ...args], { python: parts.python, cwd, env }),
  };
}

e2e(
  "what install --project puts in from a subfolder is loaded there, and why and status tell of it",
  async (t, parts) => {
    const scene = await visit(t, parts);
    const { cline, verb } = below(scene, parts);
    const target = join(scene.sandbox.workspace, ".cline/plugins/palinode.js");
    assert.ok((await verb("install", "--project", ".")).stdout.includes(`: ${target}\n`));
    const [request] = await scene.during(() => cline(PROMPTS.retries));
    assertRemembered(request!, CORE);
    assert.match((await verb("why")).stdout, /What is the retry policy.*decisions\/retries\.md/s);
    const { workspace, session } = JSON.parse((await verb("status", "--json")).stdout);
    assert.deepEqual([workspace, session.id], [scene.sandbox.workspace, scene.sandbox.sessions()[0]]);
  },
);

e2e(
  "a pause from the terminal program in a subfolder is one of the repository, and ends in a shell there",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    scene.sandbox.dropIn();
    const { cline, verb, terminal: open } = below(scene, parts);
    await cline(PROMPTS.retries);
    const terminal = open("-i", "--id", scene.sandbox.sessions()[0] ?? "");
    t.after(() => terminal.kill());
    const shows = (text: string): boolean => terminal.shown().includes(text);
    await terminal.until("the resumed conversation", () => shows("Ask anything") && shows("Done:"));
    await sleep(800);
    terminal.type("/palinode pause");
    for (let press = 0; press < 6 && !shows("Memory is paused"); press += 1) {
      await sleep(500);
      terminal.type("\r");
      await terminal.until("the answer", () => shows("Memory is paused"), 6000).catch(() => undefined);
    }
    terminal.kill();
    assert.match((await verb("status")).stdout, /paused +since/);
    assert.deepEqual((await scene.during(() => cline(PROMPTS.staging))).flatMap(memoryMessages), []);
    assert.match((await verb("unpause")).stdout, /Memory is on in this workspace/);
    assertRemembered((await scene.during(() => cline(PROMPTS.staging)))[0]!, "bilby-1864");
  },
);

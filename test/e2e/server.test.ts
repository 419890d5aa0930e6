// What a session leaves on the memory server: the capture, in the server's own files.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { PLUGIN, PROJECT } from "./cline.ts";
import { arrange, CORE, e2e, PROMPTS, RETRIES, ROLLBACK, type Scene, STAGING } from "./scene.ts";

const TWO_PROMPTS = [PROMPTS.rollback, PROMPTS.retries];
const THREE_PROMPTS = [...TWO_PROMPTS, PROMPTS.staging];

function captures({ palinode }: Scene): string[] {
  return Object.entries(palinode.files("projects"))
    .filter(([name]) => name.startsWith("session-end-"))
    .map(([, text]) => text);
}

/** The sandbox child may post after the host has gone on; the wait ends as soon as the file is there. */
async function firstCapture(scene: Scene): Promise<string> {
  for (let round = 0; round < 100; round++) {
    const [capture] = captures(scene);
    if (capture) return capture;
    await sleep(100);
  }
  throw new Error(`No capture arrived. The server was asked: ${scene.palinode.requests().join(", ")}`);
}

e2e("two prompts leave nothing, three are captured in the day's file and in their project", async (t, parts) => {
  const scene = await arrange(t, parts);
  const job = { how: "extensions", plugin: PLUGIN, model: scene.model.url };
  await scene.sandbox.drive({ ...job, prompts: TWO_PROMPTS });
  assert.ok(!scene.palinode.requests().includes("POST /session-end"));
  await scene.sandbox.drive({ ...job, prompts: THREE_PROMPTS });

  const capture = await firstCapture(scene);
  assert.match(capture, /roll back a deploy of the api/);
  assert.match(capture, new RegExp(`project/${PROJECT}\\b`));
  const daily = Object.values(scene.palinode.files("daily")).join("\n");
  assert.match(daily, /\*\*Source:\*\* cline-plugin/);
  assert.equal(daily.split("## Session End").length - 1, 1);
});

e2e(
  "a capture holds nothing that memory said and nothing that the host wrapped around the prompts",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    await scene.sandbox.drive({ how: "localRuntime", plugin: PLUGIN, model: scene.model.url, prompts: THREE_PROMPTS });

    const stored = [await firstCapture(scene), ...Object.values(scene.palinode.files("daily"))].join("\n");
    for (const token of [CORE, ROLLBACK, RETRIES, STAGING]) assert.ok(!stored.includes(token), `${token} was captured`);
    assert.doesNotMatch(stored, /palinode-memory|user_input/);
  },
);

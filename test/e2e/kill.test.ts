// The process dies while it captures: whenever that is, a later session's server holds the capture, once.
import assert from "node:assert/strict";
import { createServer, request as httpRequest } from "node:http";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { PLUGIN } from "./cline.ts";
import { listen, readBody } from "./loopback.ts";
import { sweep } from "./process.ts";
import { arrange, e2e, PROMPTS, type Scene } from "./scene.ts";

const CAPTURE = "/session-end";
const THREE_PROMPTS = [PROMPTS.rollback, PROMPTS.retries, PROMPTS.staging];

/** When the host dies, seen from the wire: the capture never reaches the server, or only its answer is lost. */
type Moment = "before the server has the capture" | "before the host has the answer" | "after the answer";

/** Stands between plugin and server and calls `strike` at the moment of the first capture. */
async function startWire(t: TestContext, target: string, moment: Moment, strike: () => void): Promise<string> {
  let struck = false;
  const wire = createServer(async (request, response) => {
    const body = await readBody(request);
    const now = request.url === CAPTURE && !struck;
    struck ||= now;
    if (now && moment === "before the server has the capture") return strike();
    const { method, headers } = request;
    const onward = httpRequest(new URL(request.url ?? "/", target), { method, headers }, async (answer) => {
      const text = await readBody(answer);
      if (now && moment === "before the host has the answer") return strike();
      response.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
      if (now) setTimeout(strike, 20);
    });
    onward.on("error", () => response.destroy());
    onward.end(body);
  });
  const { port, stop } = await listen(wire);
  t.after(stop);
  return `http://127.0.0.1:${port}`;
}

function captures({ palinode }: Scene): number {
  const daily = Object.values(palinode.files("daily")).join("\n");
  return daily.split("## Session End").length - 1;
}

for (const moment of [
  "before the server has the capture",
  "before the host has the answer",
  "after the answer",
] as const) {
  e2e(`a host killed ${moment} loses nothing and doubles nothing`, async (t, parts) => {
    const scene = await arrange(t, parts);
    const { sandbox, model, palinode } = scene;
    const job = { how: "localRuntime", plugin: PLUGIN, model: model.url };
    let strikes = 0;
    sandbox.env.PALINODE_API_URL = await startWire(t, palinode.url, moment, () => {
      strikes++;
      sweep(sandbox.home);
    });
    await assert.rejects(sandbox.drive({ ...job, prompts: THREE_PROMPTS }), /SDK driver failed/);
    assert.equal(strikes, 1);

    // A later session of the same home, its server in good health, brings what was left.
    sandbox.env.PALINODE_API_URL = palinode.url;
    await sandbox.drive({ ...job, prompts: [PROMPTS.retries] });
    for (let round = 0; round < 50 && captures(scene) === 0; round++) await sleep(100);
    assert.equal(captures(scene), 1);
    // The one whose fate was unknown is the one to be brought again by mistake.
    if (moment !== "before the host has the answer") return;
    await sandbox.drive({ ...job, prompts: [PROMPTS.staging] });
    assert.equal(captures(scene), 1);
  });
}

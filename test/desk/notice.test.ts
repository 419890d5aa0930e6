// Whoever types `/` in Cline's TUI sees there why memory is off, and nothing of the kind when all is well.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPalinodePlugin } from "../../src/plugin.ts";
import { createApiCapture } from "../helpers/host-inprocess.ts";
import { openScene, ROLLBACK_PROMPT, type Scene } from "../helpers/scene.ts";

/** The description that the TUI's command process registers, which sets the plugin up without a session. */
function description({ folder, stateDir, server }: Scene): string | undefined {
  const capture = createApiCapture();
  const options = { stateDir, apiUrl: server.url };
  createPalinodePlugin(options).setup(capture.api, { cwd: folder });
  return capture.commands.find(({ name }) => name === "palinode")?.description;
}

async function prompt({ chat, model }: Scene): Promise<void> {
  chat.say(ROLLBACK_PROMPT);
  await model();
}

test("the command describes itself where nothing is wrong, before and after a prompt", async (t) => {
  const scene = await openScene(t);
  assert.match(String(description(scene)), /^Long-term memory: status, search/);
  await prompt(scene);
  assert.match(String(description(scene)), /^Long-term memory: status, search/);
});

test("a server that is away or refuses the token is told, until it answers again", async (t) => {
  const scene = await openScene(t, { server: { token: "right" }, env: { PALINODE_API_TOKEN: "wrong" } });
  await prompt(scene);
  assert.equal(description(scene), "Memory is off: the server refused the token; see /palinode status");
  const away = await openScene(t);
  await away.server.close();
  await prompt(away);
  const told = "Memory is off: the server does not answer; see /palinode status";
  assert.equal(description(away), told);
  away.chat.answer("ok");
  away.chat.say("thanks");
  await away.model();
  assert.equal(description(away), told);
});

test("a pause is told", async (t) => {
  const scene = await openScene(t);
  await scene.host.runCommand("palinode", "pause");
  assert.equal(description(scene), "Memory is paused here; /palinode unpause ends that");
});

test("a channel that is denied says nothing of memory while others are answered", async (t) => {
  const scene = await openScene(t, { env: { PALINODE_HOOK_INJECT_MAX_FILES: "0" } });
  scene.server.fault("/check-triggers", { status: 403 });
  await prompt(scene);
  assert.match(String(description(scene)), /^Long-term memory: status, search/);
});

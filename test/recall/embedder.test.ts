// Without an embedder nobody waits: triggers cannot fire there, and a server takes seconds to say so.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Embedder } from "../../src/server/embedder.ts";
import { openScene, ROLLBACK_PROMPT, type Scene, type SceneOptions, until } from "../helpers/scene.ts";

const LEXICAL = { json: { embed_functional: null, ollama_reachable: null } };
const AWAY = { json: { embed_functional: false, ollama_reachable: false } };
const ROW = { rel_path: "a.md", raw_score: null, keyword_score: 0.9, snippet: "roll back a deploy", score: 1 };
const LEXICAL_ROWS = { json: [{ ...ROW, retrieval_mode: "lexical", mode: "lexical" }] };

/** A server that would let whoever asks for triggers wait. */
async function withoutEmbedder(t: TestContext, options: SceneOptions = {}): Promise<Scene> {
  const scene = await openScene(t, options);
  scene.server.fault("/check-triggers", { hang: true });
  return scene;
}

/** Returns why triggers were silent, prompt by prompt, as `why` tells it. */
async function reasons(scene: Scene): Promise<string[]> {
  const told = String(await scene.host.runCommand("palinode", "why"));
  return [...told.matchAll(/^ {2}triggers: (.+)$/gm)].map(([, reason]) => reason!);
}

async function say(scene: Scene, prompts: number): Promise<void> {
  for (let prompt = 1; prompt <= prompts; prompt += 1) {
    scene.chat.say(`${ROLLBACK_PROMPT} (${prompt})`);
    await scene.model();
    scene.chat.answer("So.");
  }
}

test("what the status tells is taken in: triggers are never asked for, the first prompt included", async (t) => {
  const scene = await withoutEmbedder(t);
  scene.server.fault("/status", LEXICAL);
  await say(scene, 3);
  assert.equal(scene.server.calls("/check-triggers").length, 0);
  assert.equal(scene.server.calls("/search").length, 3);
  assert.deepEqual(await reasons(scene), ["no-embedder", "no-embedder", "no-embedder"]);
  assert.match(String(await scene.host.runCommand("palinode", "status")), /triggers .* no-embedder, just now/);
});

test("so is what the first answer tells, where the status tells nothing", async (t) => {
  const scene = await withoutEmbedder(t);
  scene.server.fault("/status", { status: 404 });
  scene.server.fault("/search", LEXICAL_ROWS);
  await say(scene, 3);
  assert.equal(scene.server.calls("/check-triggers").length, 1);
  assert.deepEqual((await reasons(scene)).slice(1), ["no-embedder", "no-embedder"]);
});

test("a status that comes late ends the wait for triggers", async (t) => {
  const scene = await withoutEmbedder(t, { env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "2700" } });
  let answer: () => void = () => undefined;
  scene.server.fault("/status", { until: new Promise((resolve) => (answer = resolve)) });
  // Of a server of the newest version: neither an embedder, nor Ollama.
  scene.server.embedder = false;
  scene.chat.say(ROLLBACK_PROMPT);
  const told = scene.model();
  await until("triggers are asked for", () => scene.server.calls("/check-triggers").length === 1);
  answer();
  await told;
  assert.deepEqual(await reasons(scene), ["no-embedder"]);
});

test("a fresh process knows it, and a server that gets an embedder is asked for triggers again", async (t) => {
  const scene = await withoutEmbedder(t);
  scene.server.fault("/status", LEXICAL);
  await say(scene, 1);
  const fresh = scene.restart();
  scene.server.fault("/status", { hang: true });
  scene.chat.say(`${ROLLBACK_PROMPT} Again.`);
  await scene.model(scene.chat, fresh);
  assert.equal(scene.server.calls("/check-triggers").length, 0);
  scene.server.fault("/status", null);
  scene.server.fault("/check-triggers", null);
  const third = scene.restart();
  scene.chat.say(`${ROLLBACK_PROMPT} Once more.`);
  await scene.model(scene.chat, third);
  assert.deepEqual([scene.server.calls("/status").length, scene.server.calls("/check-triggers").length], [3, 0]);
  scene.chat.say(`${ROLLBACK_PROMPT} For the last time.`);
  await scene.model(scene.chat, third);
  assert.equal(scene.server.calls("/check-triggers").length, 1);
});

test("where Ollama is away, triggers wait until it is back; nothing of that is kept", async (t) => {
  const scene = await withoutEmbedder(t);
  scene.server.fault("/status", AWAY);
  await say(scene, 2);
  assert.equal(scene.server.calls("/check-triggers").length, 0);
  scene.server.fault("/status", null);
  scene.server.fault("/check-triggers", null);
  const fresh = scene.restart();
  scene.chat.say(`${ROLLBACK_PROMPT} Again.`);
  await scene.model(scene.chat, fresh);
  assert.equal(scene.server.calls("/check-triggers").length, 1);
});

test("a server with an embedder is asked about it once, also by later processes", async (t) => {
  const scene = await openScene(t);
  await say(scene, 3);
  const fresh = scene.restart();
  scene.chat.say(`${ROLLBACK_PROMPT} Again.`);
  await scene.model(scene.chat, fresh);
  assert.deepEqual([scene.server.calls("/status").length, scene.server.calls("/check-triggers").length], [1, 4]);
});

test("while it is missing, the server is asked once a minute whether it has one by now", async () => {
  let now = 1_000_000;
  let asked = 0;
  const state = { read: () => undefined, write: () => true } as unknown as ConstructorParameters<typeof Embedder>[0];
  const client = {
    get: async () => {
      asked += 1;
      return { embed_functional: asked < 3 ? null : true };
    },
    post: async () => undefined,
  };
  const embedder = new Embedder(state, "http://localhost:6340", () => now);
  const look = () => embedder.look(client);
  assert.deepEqual([await look(), await look(), asked], [true, true, 1]);
  now += 59_000;
  assert.deepEqual([await look(), asked], [true, 1]);
  now += 2000;
  assert.deepEqual([await look(), asked], [true, 2]);
  now -= 3600_000;
  assert.deepEqual([await look(), await look(), asked], [false, false, 3], "a clock that was set back");
  embedder.doubt();
  assert.deepEqual([await look(), asked], [false, 4], "what needs it has failed");
});

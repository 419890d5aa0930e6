// A disk that takes its time: no hook waits for it longer than it may, and the session goes on without it.
import assert from "node:assert/strict";
import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { withBudget } from "../../src/base/slow-disk.ts";
import { openState } from "../../src/base/store.ts";
import { createPalinodePlugin } from "../../src/plugin.ts";
import { createChat, injected, type Message } from "../helpers/chat.ts";
import { startPalinode } from "../palinode/server.ts";

const OPERATIONS = [
  "writeFileSync",
  "renameSync",
  "readFileSync",
  "statSync",
  "utimesSync",
  "unlinkSync",
  "readdirSync",
] as const;
/** The host ends a plugin whose hook takes longer. */
const HOST_MS = 3000;

/** Has each operation below a folder take so long. Returns how many there were. */
function slowDown(t: TestContext, folder: string, ms: number): () => number {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let count = 0;
  for (const name of OPERATIONS) {
    const real = fs[name] as (...given: unknown[]) => unknown;
    const slow = (...given: unknown[]): unknown => {
      if (String(given[0]).startsWith(folder)) {
        count += 1;
        Atomics.wait(cell, 0, 0, ms);
      }
      return real(...given);
    };
    Object.assign(fs, { [name]: slow });
    t.after(() => Object.assign(fs, { [name]: real }));
  }
  syncBuiltinESMExports();
  t.after(() => syncBuiltinESMExports());
  return () => count;
}

async function play(t: TestContext, operationMs: number) {
  const folder = mkdtempSync(join(tmpdir(), "palinode-slow-"));
  const memory = { file: "insights/rollback.md", body: "To roll back a deploy of the api run deploy rollback" };
  const server = await startPalinode({ memories: [memory] });
  t.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const stateDir = join(folder, "state");
  const count = slowDown(t, stateDir, operationMs);
  const logs: string[] = [];
  const plugin = createPalinodePlugin({ apiUrl: server.url, stateDir });
  plugin.setup(
    { registerTool() {} },
    {
      session: { sessionId: "1796000000000_slow" },
      workspaceInfo: { rootPath: folder },
      logger: { debug: (line: string) => logs.push(line) },
    },
  );
  const chat = createChat();
  const longest = { ms: 0, operations: 0 };
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const [startedAt, before] = [performance.now(), count()];
    const result = await work();
    longest.ms = Math.max(longest.ms, performance.now() - startedAt);
    longest.operations = Math.max(longest.operations, count() - before);
    return result;
  };
  let told: Message[] = [];
  for (const words of [
    "How do we roll back a deploy of the api?",
    "And the web page?",
    "Then do it, please",
    "Done?",
  ]) {
    chat.say(words);
    told = (await timed(() => plugin.hooks.beforeModel(chat.beforeModel())))?.messages as Message[];
    chat.answer("ok");
    await timed(() => plugin.hooks.afterRun(chat.afterRun()));
  }
  return { server, logs: logs.join("\n"), longest, told, stateDir };
}

test("at 50 ms an operation, as on a network, no hook comes near the host's limit, and all is kept", async (t) => {
  const { server, logs, longest, told, stateDir } = await play(t, 50);
  assert.ok(longest.ms < HOST_MS / 2, `${longest.ms} ms`);
  assert.ok(longest.operations <= 18, `${longest.operations} operations`);
  assert.doesNotMatch(logs, /in memory/);
  assert.ok(injected(told).length > 0);
  assert.equal(server.sessions.length, 1);
  const state = openState(stateDir);
  assert.deepEqual([state.list("sessions").length, state.list("queue")], [1, []]);
});

test("a disk that is slower still is left alone, and said to be: the session goes on in memory", async (t) => {
  const { server, logs, longest, told } = await play(t, 400);
  assert.ok(longest.ms < HOST_MS, `${longest.ms} ms`);
  assert.match(logs, /the disk under .* took \d+ ms: this session goes on in memory/);
  assert.equal(logs.match(/goes on in memory/g)?.length, 1);
  assert.ok(injected(told).length > 0);
  assert.equal(server.sessions.length, 1);
});

test("the budget is a hook's, and what was done within it counts", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palinode-slow-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let now = 0;
  const touch = (): void => {
    now += 300;
  };
  const heard: number[] = [];
  const { state, renew } = withBudget(
    { ...openState(folder), touch },
    (ms) => heard.push(ms),
    () => now,
  );
  for (let hook = 0; hook < 5; hook += 1) {
    renew();
    for (let time = 0; time < 2; time += 1) state.touch("a");
  }
  assert.deepEqual([heard, state.write("a.json", 1)], [[], true]);
  for (let time = 0; time < 2; time += 1) state.touch("a");
  renew();
  assert.deepEqual([heard, state.write("b.json", 1), state.read("a.json")], [[900], false, undefined]);
});

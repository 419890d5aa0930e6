// A session that finds nobody where the server should be: one that was installed from here is started, once in a minute
// over all processes; nobody waits for it, and the next prompt has memory.
import assert from "node:assert/strict";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openState } from "../../src/base/store.ts";
import { startAgain } from "../../src/local/start-again.ts";
import { readConfig, setPaused } from "../../src/settings/index.ts";
import { createMachine, type Machine } from "../helpers/machine.ts";
import { openScene, type Scene, until } from "../helpers/scene.ts";

const PROMPT = "How do we roll back a deploy of the api?";

/** A machine whose server is installed and does not run, as after a reboot, and a session on it. */
async function afterReboot(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ machine: Machine; scene: Scene; before: number }> {
  const machine = await createMachine(t);
  assert.equal((await machine.run("server", "install")).code, 0);
  const pid = await machine.pid();
  assert.ok(pid);
  process.kill(pid, "SIGKILL");
  await until("the server is gone", () => !isThere(pid));
  const stateDir = { PALINODE_CLINE_STATE_DIR: join(machine.clineDir, "data/palinode") };
  const scene = await openScene(t, { env: { ...machine.env, ...stateDir, ...env } });
  return { machine, scene, before: machine.starts().length };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function isAnswering(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    (answer) => answer.ok,
    () => false,
  );
}

test("a session starts the server that was installed and is not there; the prompt goes on without", async (t) => {
  const { machine, scene } = await afterReboot(t);
  scene.chat.say(PROMPT);
  assert.deepEqual(await scene.memory(), []);
  await until("it is started", () => machine.starts().length === 2);
  while (!(await isAnswering(machine.url)));
  assert.ok(scene.host.logs.some(({ entry }) => /the server that was installed from here/.test(String(entry))));
  const [first, second] = machine.starts();
  for (const name of ["PALINODE_DIR", "PALINODE_API_PORT", "PALINODE_RETRIEVAL_MODE"])
    assert.equal(second?.[name], first?.[name]);
  assert.equal(await machine.pid().then(isThere as (pid: unknown) => boolean), true);
  assert.deepEqual([scene.host.failures, scene.host.violations], [[], []]);
});

test("it is started once in a minute over all processes, however many sessions miss it", async (t) => {
  const { machine, scene } = await afterReboot(t);
  // One that comes to nothing: whoever looks again finds nobody.
  const program = join(machine.place, machine.named("env-")[0] ?? "", "bin/palinode-api");
  writeFileSync(program, '#!/bin/sh\necho "{}" >> "$PALINODE_DIR/starts.jsonl"\n');
  const hosts = [1, 2, 3].map((id) => scene.restart({ context: { session: { sessionId: `179600000000${id}_test` } } }));
  await Promise.all(
    [scene.host, ...hosts].map(async (host) => {
      scene.chat.say(PROMPT);
      await scene.model(scene.chat, host);
      await scene.finish(scene.chat, host);
    }),
  );
  await until("one has started it", () => machine.starts().length > 1);
  await scene.memory();
  assert.equal(machine.starts().length, 2);
});

test("a minute is over all processes, also across the turn of one, and whatever the clock was set to", async (t) => {
  const { machine } = await afterReboot(t);
  const program = join(machine.place, machine.named("env-")[0] ?? "", "bin/palinode-api");
  writeFileSync(program, "#!/bin/sh\nexit 0\n");
  const { config } = readConfig(undefined, machine.env);
  const tryAt = (ms: number): boolean => startAgain(config, machine.env, ms) !== undefined;
  const turn = 30_000_000 * 60_000;
  assert.deepEqual([turn - 100, turn + 100, turn + 59_000].map(tryAt), [true, false, false]);
  assert.deepEqual([turn + 59_950, turn + 60_100, turn + 119_000].map(tryAt), [true, false, false]);
  assert.equal(tryAt(turn - 3600_000), true, "a clock that was set back");
  assert.ok(machine.named("start-").length <= 2, "the marks of former minutes go");
});

const NEVER: [string, Record<string, string>, (machine: Machine) => unknown][] = [
  ["server stop", {}, (machine) => machine.run("server", "stop")],
  ["serverStart off", { PALINODE_CLINE_SERVER_START: "0" }, () => undefined],
  ["another port", { PALINODE_API_URL: "http://127.0.0.1:9" }, () => undefined],
  ["a remote address", { PALINODE_API_URL: "http://192.0.2.1:6340" }, () => undefined],
  ["a server installed otherwise", {}, (machine) => machine.run("server", "remove")],
];
for (const [name, env, arrange] of NEVER) {
  test(`nothing is started after: ${name}`, async (t) => {
    const { machine, scene } = await afterReboot(t, env);
    await arrange(machine);
    scene.chat.say(PROMPT);
    await scene.memory();
    await scene.finish();
    const config = { ...readConfig(undefined, { ...machine.env, ...env }).config };
    assert.equal(startAgain(config, machine.env), undefined);
    assert.deepEqual([machine.starts().length, machine.named("start-")], [1, []]);
  });
}

test("in a pause, and where memory is off, nothing is started", async (t) => {
  const { machine, scene } = await afterReboot(t, { PALINODE_HOOK_RECALL_PROFILE: "off" });
  scene.chat.say(PROMPT);
  await scene.memory();
  await scene.finish();
  const stateDir = join(machine.clineDir, "data/palinode");
  assert.equal(setPaused(openState(stateDir), realpathSync(scene.folder), Date.now()), true);
  const paused = scene.restart({ env: { PALINODE_HOOK_RECALL_PROFILE: "coding" } });
  await scene.memory(scene.chat, paused);
  assert.deepEqual([machine.starts().length, machine.named("start-")], [1, []]);
});

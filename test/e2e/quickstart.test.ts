// The README's first lines, as a new user types them: from nothing to the first recall, with the real server from its
// registry and the real CLI in a terminal. And what a reboot leaves: the server is there again with the second prompt.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSandbox, PLUGIN } from "./cline.ts";
import { freePort, listen } from "./loopback.ts";
import { startModelServer } from "./model-server.ts";
import { run } from "./process.ts";
import { isRegistryAway, useRegistry } from "./registry.ts";
import { assertRemembered, memoryMessages } from "./requests.ts";
import { e2e } from "./scene.ts";
import { openTerminal } from "./terminal.ts";

declare const REPOSITORY: string;

/** Machine time that a new user waits at most, all lines together. */
const LIMIT_MS = 180_000;
const RELEASES = /https:\/\/github\.com\/[\w.-]+\/[\w.-]+\/releases\/latest\/download\//;

/** Returns the lines of the first two blocks of shell below a heading. */
function linesBelow(heading: string): string[] {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const section = readme.slice(readme.indexOf(`\n${heading}\n`));
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].slice(0, 2);
  return blocks.flatMap(([, text = ""]) => text.trim().split("\n"));
}

e2e("the README's first lines lead from nothing to a first recall, and a reboot is made good", async (t, parts) => {
  const model = await startModelServer();
  const sandbox = await createSandbox(parts, { model: model.url });
  t.after(() => sandbox.stop().then(() => model.stop()));
  const release = await listen(createServer((_, response) => response.end(readFileSync(PLUGIN))));
  t.after(release.stop);
  const { env, workspace: cwd, home } = sandbox;
  const offline = { ...env };
  env.PATH = [join(parts.modules, ".bin"), env.PATH].join(":");
  env.PALINODE_API_URL = `http://localhost:${await freePort()}`;
  env.OLLAMA_URL = `http://127.0.0.1:${await freePort()}`;

  const [take = "", server = "", install = "", cline = "", save = "", ask = ""] = linesBelow("## Install");
  assert.deepEqual(
    [take.split(" ")[0], server, install, cline],
    ["curl", "node palinode.js server install", "node palinode.js install", "cline"],
  );
  const startedAt = performance.now();
  const type = (line: string) => run("sh", ["-c", line], { cwd, env, timeoutMs: LIMIT_MS });
  const must = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await type(line);
    assert.equal(code, 0, `${line}\n${stdout}${stderr}`);
    return stdout;
  };
  await must(take.replace(RELEASES, `http://127.0.0.1:${release.port}/`));
  useRegistry(sandbox);
  const installed = await type(server);
  if (installed.code !== 0 && isRegistryAway(installed.stderr)) return t.skip("the registry is away");
  assert.equal(installed.code, 0, installed.stderr);
  Object.assign(env, { ...offline, PATH: env.PATH, PALINODE_API_URL: env.PALINODE_API_URL });
  await must(install);
  await must(save);

  const terminal = openTerminal(["sh", "-c", cline], { python: parts.python, cwd, env });
  t.after(() => terminal.kill());
  await terminal.until("the prompt", () => terminal.shown().includes("What can I do for you?"));
  const question = /"(.+)"/.exec(ask)?.[1] ?? "";
  // A first start shows an offer, and any key closes it.
  const offer = /any other key to close/;
  await terminal.until("the offer", () => offer.test(terminal.shown()), 10_000).catch(() => undefined);
  if (offer.test(terminal.shown())) terminal.type(" ");
  await sleep(500);
  terminal.type(question);
  await terminal.until("it to be typed", () => terminal.shown().includes(question));
  terminal.type("\r");
  await terminal.until("the request", () => model.agentRequests().length > 0);
  assertRemembered(model.agentRequests()[0]!, "quokka");
  assert.ok(performance.now() - startedAt < LIMIT_MS, "a new user has waited for more than three minutes");
  terminal.kill();

  const own = `node ${join(sandbox.clineDir, "plugins/palinode.js")}`;
  const { pid } = JSON.parse(await must(`${own} server status --json`)) as { pid: number };
  process.kill(pid, "SIGKILL");
  while ((await type(`${own} server status`)).code === 0) await sleep(100);
  // A hub of the session before may still hold what it recalled: this is another session.
  const before = model.agentRequests().length;
  await must(ask);
  assert.deepEqual(model.agentRequests().slice(before).flatMap(memoryMessages), [], "nobody waits for a server");
  const status = async (): Promise<{ answers: string | null }> =>
    JSON.parse((await type(`${own} server status --json`)).stdout) as { answers: string | null };
  const deadline = performance.now() + LIMIT_MS / 3;
  while ((await status()).answers === null && performance.now() < deadline) await sleep(200);
  const later = model.agentRequests().length;
  await must(ask);
  assertRemembered(model.agentRequests()[later]!, "quokka");
  assert.match(await must(`${own} server remove`), new RegExp(`Memory stays: ${join(home, "palinode")}`));
});

// `cline plugin install`: of the shipped file, by its path and by its address, and of the repository, by its folder and
// as the README has it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join, relative } from "node:path";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { PLUGIN } from "./cline.ts";
import { cloneInto } from "./clone.ts";
import { load } from "./loader.ts";
import { listen } from "./loopback.ts";
import { run } from "./process.ts";
import { isRegistryAway, useRegistry } from "./registry.ts";
import { assertChain, assertRemembered, count, DIGEST } from "./requests.ts";
import { CORE, e2e, PROMPTS, ROLLBACK, type Scene, visit } from "./scene.ts";

declare const REPOSITORY: string;

/** What `--json` prints. */
interface Installed {
  installPath: string;
  entryPaths: string[];
}

/** 3.0.65 has no `cline plugin list`: what is installed is what the host's own search finds to load. */
async function listed({ parts, sandbox }: Scene): Promise<string[]> {
  const storage = join(parts.modules, "@cline/shared/dist/storage/index.js");
  const host = (await import(pathToFileURL(storage).href)) as { discoverPluginModulePaths(folder: string): string[] };
  return host.discoverPluginModulePaths(join(sandbox.clineDir, "plugins"));
}

async function assertWorks(scene: Scene): Promise<void> {
  const requests = await scene.during(() => scene.sandbox.cline(PROMPTS.rollback));
  assert.equal(requests.length, 3);
  assertChain(requests);
  for (const request of requests) {
    assertRemembered(request, CORE);
    assertRemembered(request, ROLLBACK);
    assert.equal(count(request, DIGEST), 1);
  }
}

async function assertUninstalls(scene: Scene, name: string): Promise<void> {
  const { code, stdout, stderr } = await scene.sandbox.cline("plugin", "uninstall", name, "--json");
  assert.equal(code, 0, stderr);
  assert.equal((JSON.parse(stdout) as { name: string }).name, name);
  assert.deepEqual(await listed(scene), []);
}

e2e("cline plugin install takes the shipped file", async (t, parts) => {
  const scene = await visit(t, parts);
  const { code, stdout, stderr } = await scene.sandbox.cline("plugin", "install", PLUGIN, "--json");
  assert.equal(code, 0, stderr);
  const { entryPaths } = JSON.parse(stdout) as Installed;
  assert.equal(entryPaths.length, 1);
  assert.deepEqual(await listed(scene), entryPaths);
  await assertWorks(scene);
  await assertUninstalls(scene, "palinode");
});

e2e("cline plugin install takes the file from an https address", async (t, parts) => {
  const scene = await visit(t, parts);
  const { home, env, cline } = scene.sandbox;
  const [key, certificate] = [join(home, "key.pem"), join(home, "certificate.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate];
  const { code: failed } = await run("openssl", [...made, ...subject], { cwd: home });
  if (failed) return t.skip("there is no openssl here to make a certificate with");
  const identity = { key: readFileSync(key), cert: readFileSync(certificate) };
  const server = await listen(createServer(identity, (_, response) => response.end(readFileSync(PLUGIN))));
  t.after(server.stop);
  env.NODE_EXTRA_CA_CERTS = certificate;
  const address = `https://127.0.0.1:${server.port}/palinode.js`;
  const { code, stdout, stderr } = await cline("plugin", "install", address, "--json");
  assert.equal(code, 0, stderr);
  const [entry] = (JSON.parse(stdout) as Installed).entryPaths;
  assert.deepEqual(await listed(scene), [entry]);
  assert.deepEqual(readFileSync(entry!), readFileSync(PLUGIN));
  assert.deepEqual((await load(parts, parts.node, entry!)).plugins, ["palinode"]);
});

/** Has Cline install the repository and returns the file that it loads: the built one, and no other of that folder. */
async function installRepository(t: TestContext, scene: Scene, source: string): Promise<string | undefined> {
  // The CLI runs `npm install` in a folder it installs.
  useRegistry(scene.sandbox);
  const { code, stdout, stderr } = await scene.sandbox.cline("plugin", "install", source, "--json");
  if (code !== 0 && isRegistryAway(stderr)) return void t.skip(`the registry is away: ${stderr.slice(0, 200)}`);
  assert.equal(code, 0, stderr);
  const { installPath, entryPaths } = JSON.parse(stdout) as Installed;
  const inside = (paths: string[]): string[] => paths.map((path) => relative(installPath, path));
  assert.deepEqual(inside(entryPaths), ["package/dist/palinode.js"]);
  assert.deepEqual(inside(await listed(scene)), ["package/dist/palinode.js"]);
  assert.deepEqual(readFileSync(entryPaths[0]!), readFileSync(PLUGIN));
  assert.ok(!existsSync(join(installPath, "package/node_modules")), "the tools lie there still");
  return entryPaths[0];
}

e2e("cline plugin install takes the repository's folder, and loads what it has built there", async (t, parts) => {
  const scene = await visit(t, parts);
  const folder = join(scene.sandbox.home, "palinode.js");
  cloneInto(folder);
  if (!(await installRepository(t, scene, folder))) return;
  await assertWorks(scene);
  await assertUninstalls(scene, "palinode.js");
});

e2e("cline plugin install takes the repository's address, as the README has it", async (t, parts) => {
  const scene = await visit(t, parts);
  const { home, env } = scene.sandbox;
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const address = /`cline plugin install (https:\S+)`/.exec(readme)?.[1];
  assert.ok(address, "README.md does not install the repository by its address");
  const origin = join(home, "origin");
  cloneInto(origin);
  const author = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"];
  const commit = [...author, "commit", "--quiet", "--message=All of it"];
  for (const args of [["init", "--quiet"], ["add", "--all"], commit])
    assert.equal((await run("git", args, { cwd: origin })).code, 0);
  // In place of the address git takes the clone of this work tree; all else is as a stranger has it.
  const instead = { COUNT: "1", KEY_0: `url.${pathToFileURL(origin).href}.insteadOf`, VALUE_0: address };
  for (const [name, value] of Object.entries(instead)) env[`GIT_CONFIG_${name}`] = value;
  const entry = await installRepository(t, scene, address);
  if (entry) assert.deepEqual((await load(parts, parts.node, entry)).plugins, ["palinode"]);
});

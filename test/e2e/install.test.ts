// `cline plugin install`, of the shipped file and of the repository folder.
import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { PLUGIN } from "./cline.ts";
import { cloneInto } from "./clone.ts";
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

e2e(
  "cline plugin install takes the repository folder and loads nothing of it but the shipped file",
  async (t, parts) => {
    const scene = await visit(t, parts);
    const folder = copyRepository(join(scene.sandbox.home, "palinode.js"));
    useRegistry(scene);
    const { code, stdout, stderr } = await scene.sandbox.cline("plugin", "install", folder, "--json");
    if (code !== 0 && isRegistryAway(stderr)) return t.skip(`the registry is away: ${stderr.slice(0, 200)}`);
    assert.equal(code, 0, stderr);
    const { installPath, entryPaths } = JSON.parse(stdout) as Installed;
    const inside = (paths: string[]): string[] => paths.map((path) => relative(installPath, path));
    assert.deepEqual(inside(entryPaths), ["package/dist/palinode.js"]);
    assert.deepEqual(inside(await listed(scene)), ["package/dist/palinode.js"]);
    await assertWorks(scene);
    await assertUninstalls(scene, "palinode.js");
  },
);

/** What a clone holds, and the bundle as `npm run build` leaves it. */
function copyRepository(folder: string): string {
  cloneInto(folder);
  mkdirSync(join(folder, "dist"));
  cpSync(PLUGIN, join(folder, relative(REPOSITORY, PLUGIN)));
  return folder;
}

/** The CLI runs `npm install` in a folder it installs; npm needs the machine's own way to its registry for that. */
function useRegistry({ sandbox }: Scene): void {
  const machine = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
  ];
  for (const name of [...machine, "npm_config_registry"]) sandbox.env[name] = process.env[name];
  sandbox.env.npm_config_userconfig = process.env.npm_config_userconfig ?? join(homedir(), ".npmrc");
  sandbox.env.npm_config_cache = process.env.npm_config_cache ?? join(homedir(), ".npm");
}

function isRegistryAway(text: string): boolean {
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|\bE5\d\d\b/.test(text);
}

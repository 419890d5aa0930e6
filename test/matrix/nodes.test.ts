// The shipped file on each line of Node, in each kind of folder: what Cline's loader makes of it, and what an old Node
// is told.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { PLUGIN } from "../e2e/cline.ts";
import { load } from "../e2e/loader.ts";
import { run } from "../e2e/process.ts";
import { e2e } from "../e2e/scene.ts";
import { installOldNodes, installRuntimes } from "./parts.ts";

/** What the package.json above the file says; undefined for none. */
const FOLDERS = { bare: undefined, untyped: {}, commonjs: { type: "commonjs" }, module: { type: "module" } };

/** Returns where the file lies in a folder of each kind. */
function files(t: TestContext): Record<keyof typeof FOLDERS, string> {
  const root = mkdtempSync(join(tmpdir(), "palinode-nodes-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const entries = Object.entries(FOLDERS).map(([kind, manifest]) => {
    const folder = join(root, kind);
    mkdirSync(folder);
    if (manifest) writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    copyFileSync(PLUGIN, join(folder, "palinode.js"));
    return [kind, join(folder, "palinode.js")];
  });
  return Object.fromEntries(entries);
}

e2e(
  "Cline's loader leaves the file to every Node that is supported, unless it is said to be CommonJS",
  async (t, parts) => {
    const { first } = await installOldNodes();
    const nodes = [first, ...(await installRuntimes()).filter(({ name }) => name.startsWith("node"))];
    for (const { name, file: node } of nodes)
      for (const [kind, file] of Object.entries(files(t))) {
        const { plugins, failures, isNative, stderr } = await load(parts, node, file);
        assert.deepEqual(failures, []);
        assert.deepEqual(plugins, ["palinode"]);
        assert.equal(isNative, kind !== "commonjs", `${name}, ${kind}: ${stderr}`);
      }
  },
);

e2e(
  "a Node that is too old is told so in one line, where it can run the file and where it cannot",
  async (t, parts) => {
    const { old } = await installOldNodes();
    const { bare, module } = files(t);
    for (const { name, file: node } of old) {
      const needed = `palinode.js needs Node 20.19 or newer, and this is ${name.replace("node ", "")}`;
      const asProgram = (file: string) => run(node, [file, "doctor"], { cwd: parts.cache });
      assert.deepEqual(await asProgram(module), { code: 1, stdout: "", stderr: `${needed}\n` });
      const { code, stderr } = await asProgram(bare);
      assert.equal(code, 1);
      assert.match(stderr, /^import.* needs Node 20\.19, 22\.7 or newer/m);
      // The loader's Babel makes of either what an old Node can run.
      for (const file of [module, bare]) assert.deepEqual((await load(parts, node, file)).failures, [needed]);
    }
  },
);

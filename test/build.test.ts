// What the build promises of the file that it writes, and that it fails where it cannot keep that.
import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { cloneInto } from "./e2e/clone.ts";
import { type Result, run } from "./e2e/process.ts";

declare const REPOSITORY: string;

const BUNDLE = join(REPOSITORY, "dist/palinode.js");

/** A clone of this repository, with the tools of this one or without any. */
function clone(t: TestContext, { tools }: { tools: boolean }): string {
  const folder = mkdtempSync(join(tmpdir(), "palinode-build-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cloneInto(folder);
  if (tools) symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function build(folder: string, ...words: string[]): Promise<Result> {
  const offline = { npm_config_registry: "http://127.0.0.1:9", npm_config_cache: join(folder, ".cache/npm") };
  return run(process.execPath, ["build.mjs", ...words], { cwd: folder, env: { ...process.env, ...offline } });
}

test("nothing in the built file looks like an ES module to Cline's loader", () => {
  // That this is the loader's own pattern is tested where the loader is: in the end-to-end suite.
  const pattern = /\n {2}\/(.+)\/m;/.exec(readFileSync(join(REPOSITORY, "build.mjs"), "utf8"))?.[1];
  assert.ok(pattern);
  assert.doesNotMatch(readFileSync(BUNDLE, "utf8"), new RegExp(pattern, "m"));
});

for (const [what, added] of [
  ["a comment", (text: string) => `// Words that are imported, say, from elsewhere.\n${text}`],
  ["code", (text: string) => `${text}export const here = import.meta.url;\n`],
] as const)
  test(`${what} that looks like an ES module fails the build, which names the line`, async (t) => {
    const folder = clone(t, { tools: true });
    const file = join(folder, "src/base/node.ts");
    writeFileSync(file, added(readFileSync(file, "utf8")));
    const { code, stderr } = await build(folder);
    assert.equal(code, 1);
    assert.match(stderr, /Babel for this line; word it otherwise: .*(?:imported, say, from|import\.meta\.url)/);
    assert.ok(!existsSync(join(folder, "dist/palinode.js")));
  });

test("the types name what the file exports, and import nothing", async () => {
  const types = readFileSync(join(REPOSITORY, "dist/palinode.d.ts"), "utf8");
  const names = /^export \{ (.+) \};\n$/m.exec(types)?.[1]?.split(", ") ?? [];
  const values = Object.keys(await import(pathToFileURL(BUNDLE).href));
  const ofTypes = ["PalinodeHooks", "PalinodeOptions", "PalinodePlugin", "Profile"];
  assert.deepEqual(names.map((name) => name.replace("plugin as ", "")).sort(), [...values, ...ofTypes].sort());
  assert.doesNotMatch(types, /\bimport\b|\brequire\b/);
});

test("types that two files declare fail the build, which names them", async (t) => {
  const folder = clone(t, { tools: true });
  appendFileSync(join(folder, "src/base/node.ts"), "export interface PalinodeHooks {}\n");
  const { code, stderr } = await build(folder);
  assert.equal(code, 1);
  assert.match(stderr, /one declaration of PalinodeHooks/);
});

test("npm's prepare, without tools and without a network, says what is missing and keeps what is built", async (t) => {
  const folder = clone(t, { tools: false });
  const missing = /esbuild, typescript.* are needed to build, and npm could not install them/;
  const { code, stderr } = await build(folder, "prepare");
  assert.equal(code, 1);
  assert.match(stderr, missing);
  mkdirSync(join(folder, "dist"));
  writeFileSync(join(folder, "dist/palinode.js"), "built");
  const again = await build(folder, "prepare");
  assert.equal(again.code, 0);
  assert.match(again.stderr, missing);
  assert.equal(readFileSync(join(folder, "dist/palinode.js"), "utf8"), "built");
});

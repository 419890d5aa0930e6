// The package as people have it who build on the SDK: packed, installed into a project of their own, typed, and used by
// the program that the README shows.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Parts } from "./install.ts";
import { run } from "./process.ts";
import { assertRemembered } from "./requests.ts";
import { CORE, e2e, type Scene, visit } from "./scene.ts";

declare const REPOSITORY: string;

const TSC = join(REPOSITORY, "node_modules/typescript/bin/tsc");

/** What a program may say of the types, and what it may not. It needs no types of Node's. */
const TYPED = `
import palinode, { createPalinodePlugin, plugin } from "palinode.js";
import type { PalinodeHooks, PalinodeOptions, PalinodePlugin, Profile } from "palinode.js";

const recallProfile: Profile = "coding";
const options: PalinodeOptions = { recallProfile, apiUrl: "http://localhost:6340", tokenFile: "/etc/token" };
export const plugins: PalinodePlugin[] = [palinode, plugin, createPalinodePlugin(), createPalinodePlugin(options)];
export const hooks: PalinodeHooks = plugin.hooks;
// @ts-expect-error
createPalinodePlugin({ recallProfile: "codign" });
// @ts-expect-error
createPalinodePlugin({ recallMaxHits: 3 });
`;

/** The kinds of module a project may have, as tsc's options. Under `node16`, CommonJS may only `import()` it. */
const KINDS = {
  module: ["nodenext nodenext", "node16 node16", "esnext bundler", "preserve bundler"],
  commonjs: ["nodenext nodenext", "node20 node16", "commonjs bundler", "preserve bundler"],
} as const;
type Kind = keyof typeof KINDS;

let packed: Promise<string> | undefined;

/** Returns a new project with the packed package installed, and with the SDK as if it were installed too. */
async function project({ cache, modules }: Parts, home: string, type: Kind): Promise<string> {
  const folder = join(home, type);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type }));
  packed ??= must("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", cache], REPOSITORY);
  const [{ filename }] = JSON.parse(await packed) as [{ filename: string }];
  await must("npm", ["install", "--offline", join(cache, filename)], folder);
  // npm follows links, and would clear out what they lead to.
  mkdirSync(join(folder, "node_modules/@types"));
  symlinkSync(join(modules, "@cline"), join(folder, "node_modules/@cline"));
  symlinkSync(join(REPOSITORY, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
  return folder;
}

async function must(command: string, args: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { cwd });
  assert.equal(code, 0, `${command} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Runs a file of a project as a person's own program, on the sandbox's workspace. */
async function runProgram({ parts, sandbox, model }: Scene, folder: string, file: string): Promise<string> {
  const env = { ...sandbox.env, OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "not-a-real-key" };
  const { code, stdout, stderr } = await run(parts.node, [join(folder, file)], {
    cwd: sandbox.workspace,
    env,
    timeoutMs: 120_000,
  });
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

function tsc(folder: string, file: string, kind: string, ...more: string[]): Promise<string> {
  const [module, moduleResolution] = kind.split(" ") as [string, string];
  const options = ["--strict", "--target", "es2023", "--module", module, "--moduleResolution", moduleResolution];
  return must(process.execPath, [TSC, ...options, ...more, file], folder);
}

e2e("the installed package can be imported and required, and fits a strict program of every kind", async (t, parts) => {
  const scene = await visit(t, parts);
  for (const type of ["module", "commonjs"] as const) {
    const folder = await project(parts, scene.sandbox.home, type);
    writeFileSync(join(folder, "a.mjs"), 'import { plugin } from "palinode.js"; console.log(plugin.name);');
    writeFileSync(join(folder, "b.cjs"), 'const { plugin } = require("palinode.js"); console.log(plugin.name);');
    for (const file of ["a.mjs", "b.cjs"]) assert.equal(await runProgram(scene, folder, file), "palinode\n");
    writeFileSync(join(folder, "typed.ts"), TYPED);
    for (const kind of KINDS[type]) await tsc(folder, "typed.ts", kind, "--noEmit", "--types", "");
  }
});

e2e("the README's program has memory, in JavaScript and in TypeScript", async (t, parts) => {
  const scene = await visit(t, parts);
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const program = /```(?:js|ts)\n(import \{ ClineCore[\s\S]*?)```/.exec(readme)?.[1];
  assert.ok(program, "README.md shows no program for the SDK");
  const folder = await project(parts, scene.sandbox.home, "module");
  writeFileSync(join(folder, "script.mjs"), program);
  writeFileSync(join(folder, "program.ts"), program);
  // The SDK's own types fit no other kind, and have an error or two of their own.
  await tsc(folder, "program.ts", "esnext bundler", "--types", "node", "--skipLibCheck");
  for (const file of ["script.mjs", "program.js"]) {
    const [request] = await scene.during(() => runProgram(scene, folder, file));
    assertRemembered(request!, CORE);
  }
});

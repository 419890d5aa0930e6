// How the real loader takes the shipped file: without Babel, and so in time also where little of a processor is left.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PLUGIN } from "./cline.ts";
import { load } from "./loader.ts";
import { run } from "./process.ts";
import { assertRemembered } from "./requests.ts";
import { CORE, e2e, PROMPTS, ROLLBACK, visit } from "./scene.ts";

declare const REPOSITORY: string;

const ROUNDS = 5;
const MAX_RATIO = 1.5;
/** A plugin that does nothing, in a form that is no ES module. */
const EMPTY = "module.exports = { name: 'empty', manifest: { capabilities: ['hooks'] }, hooks: {} };\n";

e2e("the pattern that the build goes by is the loader's own, and the file does not match it", async (_t, parts) => {
  const loader = readFileSync(join(parts.modules, "jiti/dist/jiti.cjs"), "utf8");
  const pattern = /=\/(\(\?:\[\\s;\].*?import\\\.meta\\b\))\/m[,;]/.exec(loader)?.[1];
  assert.ok(pattern, "the loader decides in another way now");
  assert.ok(readFileSync(join(REPOSITORY, "build.mjs"), "utf8").includes(`/${pattern}/m`));
  assert.doesNotMatch(readFileSync(PLUGIN, "utf8"), new RegExp(pattern, "m"));
});

// Processor time, of which a busy machine takes little, and of several first loads the least.
e2e("a first load takes hardly more processor time than that of an empty plugin", async (t, parts) => {
  const { sandbox } = await visit(t, parts);
  sandbox.dropIn();
  const empty = join(sandbox.home, "empty.js");
  writeFileSync(empty, EMPTY);
  const least = { empty: Infinity, palinode: Infinity };
  for (let round = 0; round < ROUNDS; round++)
    for (const file of [empty, join(sandbox.clineDir, "plugins/palinode.js")]) {
      const { plugins, failures, isNative, cpuMs } = await load(parts, parts.node, file);
      const [name] = plugins as (keyof typeof least)[];
      assert.ok(name && isNative, failures.join());
      least[name] = Math.min(least[name], cpuMs);
    }
  const ratio = least.palinode / least.empty;
  t.diagnostic(`${least.palinode} ms, ${least.empty} ms: ${ratio.toFixed(2)}`);
  assert.ok(ratio <= MAX_RATIO, `${ratio}`);
});

/** Returns a processor that this process may run on, where there is a `taskset` to tell. */
async function aProcessor(): Promise<string | undefined> {
  const { stdout } = await run("taskset", ["--cpu-list", "--pid", String(process.pid)], { cwd: REPOSITORY });
  return /: (\d+)/.exec(stdout)?.[1];
}

/**
 * Runs a program beside three loops. Linux shares a processor out by sessions first, and root may put one ahead: then
 * what else the machine has to do does not count. All of it is one process group, so the loops end with the program.
 */
const BESIDE_LOOPS = `
  { echo -20 > /proc/self/autogroup; } 2> /dev/null
  for loop in 1 2 3; do (while :; do :; done) & done
  "$@"
  code=$?
  kill $(jobs -p)
  exit $code
`;

// The package.json is what a stray `npm install` leaves in a home folder. Node warns of the file where it has no type.
e2e("on one processor beside three busy loops the bare file is loaded in Cline's own time", async (t, parts) => {
  const processor = await aProcessor();
  if (processor === undefined) return t.skip("there is no taskset here");
  const scene = await visit(t, parts);
  const { workspace: cwd, env, home, dropIn, hostLog } = scene.sandbox;
  dropIn();
  writeFileSync(join(home, "package.json"), '{ "dependencies": {} }');
  env.CLINE_PLUGIN_IMPORT_TIMEOUT_MS = undefined;
  let output = "";
  const requests = await scene.during(async () => {
    const words = ["--cpu-list", processor, "sh", "-c", BESIDE_LOOPS, "sh", parts.node, parts.cline, PROMPTS.rollback];
    const { code, stdout, stderr } = await run("taskset", words, { cwd, env, timeoutMs: 120_000 });
    output = stdout + stderr;
    assert.equal(code, 0, output);
  });
  // What a starved server says late is told with the next request.
  for (const token of [CORE, ROLLBACK]) assertRemembered(requests.at(-1)!, token);
  assert.doesNotMatch([output, ...hostLog()].join("\n"), /MODULE_TYPELESS|module syntax/);
});

// The tests that drive the shipped file, in the worker host and behind a proxy, on every runtime that a host may have.
// Each test file runs in a process of its own, two at a time, as built for the run that this file belongs to.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { installRuntimes, type Runtime } from "./parts.ts";

declare const REPOSITORY: string;

const SUITE = ["helpers/worker-host", "life", "recordings", "server/proxy", "session/session"];
const LIMIT_MS = 240_000;

type Run = { code: number | null; signal: NodeJS.Signals | null; output: string };

function start({ file, flags }: Runtime, name: string): Promise<Run> {
  // Under the variable of the outer run the inner one would report to it in a format of its own.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  // Bun takes a name without a path for a pattern.
  const child = spawn(file, [...flags, join(REPOSITORY, `.cache/build/test/${name}.test.js`)], {
    env,
    timeout: LIMIT_MS,
    cwd: REPOSITORY,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, output }));
  });
}

/** Where Node itself crashed (20.20 does, when many worker threads are ended), once more; a failed test never is. */
async function runSuite(runtime: Runtime, name: string): Promise<Run> {
  const run = await start(runtime, name);
  const hasCrashed = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL"].includes(run.signal ?? "");
  return hasCrashed && !/^not ok |^\(fail\) /m.test(run.output) ? start(runtime, name) : run;
}

/** Node writes `# pass 15`, Bun ` 15 pass`. */
function passed(output: string): number {
  return Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? /^ *(\d+) pass$/m.exec(output)?.[1] ?? 0);
}

test("the shipped file works in the worker host on every runtime", { concurrency: 2 }, async (t) => {
  const runtimes = await installRuntimes();
  const jobs = runtimes.flatMap((runtime) => SUITE.map((name) => ({ runtime, name })));
  await Promise.all(
    jobs.map(({ runtime, name }) =>
      t.test(`${runtime.name}: ${name}`, async () => {
        const { code, signal, output } = await runSuite(runtime, name);
        assert.equal(code, 0, `exit code ${code}, signal ${signal}\n${output}`);
        assert.ok(passed(output) > 0, `no test ran\n${output}`);
      }),
    ),
  );
});

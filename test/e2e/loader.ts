// The host's own plugin process without a host: its script loads a plugin file when a message tells it to.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Parts } from "./install.ts";

/** What came of loading one file. */
export interface Loading {
  /** The names of the plugins in it: one, or none. */
  plugins: string[];
  /** What the host would log of a failure. */
  failures: string[];
  /** Whether Node imported it, and nothing was left for Babel to do. */
  isNative: boolean;
  /** Processor time of the whole script; Node's own start is left out. */
  cpuMs: number;
  /** The host keeps the end of it and shows that only when the process dies. */
  stderr: string;
}

interface Answer {
  ok: boolean;
  error?: { message: string };
  result?: { plugins: { name: string }[]; failures: { message: string }[] };
}

/** Runs ahead of the script. */
const PROBE = `
  const start = process.cpuUsage();
  process.on("disconnect", () => {
    const { user, system } = process.cpuUsage(start);
    require("node:fs").writeSync(1, "cpu " + (user + system) / 1000);
  });
`;

/** Has Cline's loader load a file under any Node, as for the first time: what it caches goes with its home folder. */
export async function load({ modules }: Parts, node: string, file: string): Promise<Loading> {
  const home = mkdtempSync(join(tmpdir(), "palinode-e2e-loader-"));
  const probe = join(home, "probe.cjs");
  writeFileSync(probe, PROBE);
  // The CLI's copy of the script is the same to the byte; this one's folder says that it is a module.
  const script = join(modules, "@cline/core/dist/extensions/plugin-sandbox-bootstrap.js");
  // Not the working directory itself: of one that is, the loader thinks nothing, and caches in the machine's.
  const temporary = join(home, "tmp");
  mkdirSync(temporary);
  const env = { HOME: home, TMPDIR: temporary, JITI_DEBUG: "1", NO_COLOR: "1" };
  const options = { execPath: node, execArgv: ["--require", probe], cwd: home, env };
  const child = fork(script, { ...options, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const outputs = Promise.all([text(child.stdout!), text(child.stderr!)]);
  try {
    child.send({ type: "call", id: "1", method: "initialize", args: { pluginPaths: [file], cwd: home } });
    const [answer] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [Answer];
    if (child.connected) child.disconnect();
    const [stdout, stderr] = await outputs;
    if (!answer?.result) throw new Error(answer?.error?.message ?? `no answer: ${stderr}`);
    return { ...read(answer.result, stdout), stderr };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function read({ plugins, failures }: NonNullable<Answer["result"]>, stdout: string): Omit<Loading, "stderr"> {
  return {
    plugins: plugins.map(({ name }) => name),
    failures: failures.map(({ message }) => message),
    isNative: stdout.includes("[native]") && !/\[(?:fallback|transpile)\]/.test(stdout),
    cpuMs: Number(/cpu ([\d.]+)/.exec(stdout)?.[1]),
  };
}

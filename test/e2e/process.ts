// Starts programs and makes sure that none outlives the test that started it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string | undefined>;
  /** @default no limit */
  timeoutMs?: number;
}

const DRAIN_MS = 1000;

/** Runs a program to its end with no input. A missing program is a result with code 127, as a shell has it. */
export async function run(command: string, args: string[], options: RunOptions): Promise<Result> {
  const { cwd, env = process.env, timeoutMs = 0 } = options;
  // Its own process group: at the limit the program's children go with it.
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const limit = timeoutMs > 0 ? setTimeout(() => end(-(child.pid ?? 0)), timeoutMs) : undefined;
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("exit", (status, signal) => {
      const code = status ?? (signal ? 128 : 1);
      child.once("close", () => resolve(code));
      // "close" may never come: a daemon that the program left behind can hold the pipes open.
      setTimeout(() => resolve(code), DRAIN_MS).unref();
    });
  });
  clearTimeout(limit);
  return { code, stdout: Buffer.concat(out).toString("utf8"), stderr: Buffer.concat(err).toString("utf8") };
}

/** Ends one process, or with a negative number its whole group; one that is gone already is no error. */
export function end(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

/** Live processes that were given this home folder: a hub daemon detaches from its parent but keeps its environment. */
export function processesOf(home: string): number[] {
  const mark = `HOME=${home}`;
  if (existsSync("/proc/self/environ")) {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark);
        } catch {
          return false;
        }
      });
  }
  const { stdout } = spawnSync("ps", ["axeww", "-o", "pid=,command="], { encoding: "utf8" });
  return (stdout ?? "")
    .split("\n")
    .filter((line) => line.split(" ").includes(mark))
    .map((line) => parseInt(line, 10));
}

const homes = new Set<string>();

/** From now on everything that runs with this home ends with the test process, however that ends. */
export function guard(home: string): void {
  if (homes.size === 0) {
    process.once("exit", () => homes.forEach(sweep));
    // A run that is interrupted must not leave daemons: exit handlers do not run on signals.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  }
  homes.add(home);
}

/** Ends everything that runs with this home; again, because one that is being ended may just have started another. */
export function sweep(home: string): void {
  for (let round = 0; round < 3; round++) {
    for (const pid of processesOf(home)) end(pid);
  }
}

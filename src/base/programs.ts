// Other programs: where they are in the user's PATH, and running one to its end.
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

const IS_WINDOWS = process.platform === "win32";
/** Of what a program prints, so much is kept: its end. */
const MAX_OUTPUT_CHARS = 64 * 1024;

/** Returns the path of a program in `PATH`, or undefined. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  return pathsOf(name, env).find(isProgram);
}

/** Returns the paths of all programs of a name in `PATH`, the one that is taken first. */
export function findPrograms(name: string, env: NodeJS.ProcessEnv): string[] {
  return pathsOf(name, env).filter(isProgram);
}

function pathsOf(name: string, env: NodeJS.ProcessEnv): string[] {
  const endings = IS_WINDOWS ? (env.PATHEXT ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** How a program ended. */
export interface Ended {
  /** Its exit code; 127 where it could not be started, 128 where it was ended. */
  readonly code: number;
  /** What it printed, on both streams: the last 64,000 characters. */
  readonly output: string;
}

interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Hears each line as it is printed. */
  readonly onLine?: (line: string) => void;
}

/** Runs a program to its end, without input. Never rejects. */
export function runProgram(path: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const { env, cwd, signal, timeoutMs, onLine } = options;
  const child = spawn(path, args, { env, cwd, signal, timeout: timeoutMs, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let line = "";
  const take = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-MAX_OUTPUT_CHARS);
    const lines = (line + chunk.toString()).split(/[\r\n]+/);
    line = (lines.pop() ?? "").slice(-MAX_OUTPUT_CHARS);
    for (const each of lines) onLine?.(each);
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  return new Promise((resolve) => {
    let code = 128;
    child.once("error", (error) => {
      if (child.pid !== undefined) return;
      resolve({ code: 127, output: error.message });
    });
    child.once("exit", (status) => {
      code = status ?? 128;
    });
    child.once("close", () => resolve({ code, output }));
  });
}

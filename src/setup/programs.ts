// Programs in the user's PATH: where they are, and which version they have.
import { spawn } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { readRecord } from "../base/files.ts";
import { asText } from "../base/json.ts";

const IS_WINDOWS = process.platform === "win32";
const MAX_OUTPUT_CHARS = 2000;

/** Returns the path of a program in `PATH`, or undefined. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const endings = IS_WINDOWS ? (env.PATHEXT ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find(isProgram);
}

/**
 * Returns the version of the Cline CLI at `path`: from its npm package where that can be seen, since it takes seconds
 * to start, else as `--version` prints it within `timeoutMs`. Undefined when neither tells.
 */
export async function versionOfCline(
  path: string,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<string | undefined> {
  const manifest = readRecord(join(dirname(realpathSync(path)), "..", "package.json"));
  if (/\bcline\b/.test(String(manifest.name)) && asText(manifest.version)) return asText(manifest.version);
  return printedVersion(path, env, timeoutMs);
}

/** Returns the version that a program prints for `--version` within `timeoutMs`, or undefined. Never rejects. */
export async function printedVersion(
  path: string,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<string | undefined> {
  // Windows runs .cmd files through a shell only.
  const child = spawn(IS_WINDOWS ? `"${path}"` : path, ["--version"], {
    env,
    shell: IS_WINDOWS,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    const finish = (): void => {
      clearTimeout(timer);
      resolve();
    };
    child.stdout.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(0, MAX_OUTPUT_CHARS);
    });
    child.once("error", finish);
    child.once("close", finish);
  });
  // What a child of it left running may hold the pipe open, and must not hold this process.
  child.kill("SIGKILL");
  child.stdout.destroy();
  child.unref();
  return /\d+\.\d+[\w.+-]*/.exec(output)?.[0];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

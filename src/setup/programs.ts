// Which version a program has.
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { readRecord } from "../base/files.ts";
import { asText } from "../base/json.ts";

const IS_WINDOWS = process.platform === "win32";
const MAX_OUTPUT_CHARS = 2000;

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

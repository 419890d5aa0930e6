// The shipped file as a command line, in a home folder of its own: nothing of the developer's environment but Node.
import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

declare const REPOSITORY: string;
declare const PLUGIN_VERSION: string;

/** The shipped file, and what is in it. */
export const FILE = join(REPOSITORY, "dist/palinode.js");
export const BYTES = readFileSync(FILE);
export const VERSION = PLUGIN_VERSION;

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
  /** What stands on standard output, parsed. */
  json(): unknown;
}

export interface Home {
  home: string;
  workspace: string;
  /** `~/.cline` of this home. */
  clineDir: string;
  /** Where `install` puts the file. */
  target: string;
  env: Record<string, string>;
  run(...args: string[]): Promise<Outcome>;
  /** Writes a file below the home and returns its path. */
  write(path: string, data: string | Uint8Array): string;
  /** Puts a program into this home's `PATH`. */
  program(name: string, script: string): void;
}

export function createHome(t: TestContext, env: Record<string, string> = {}): Home {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "palinode-home-")));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const [workspace, bin, clineDir] = [join(home, "workspace"), join(home, "bin"), join(home, ".cline")];
  for (const folder of [workspace, bin]) mkdirSync(folder);
  // Cline starts plugins with the `node` in PATH.
  symlinkSync(process.execPath, join(bin, "node"));
  const all = { PATH: bin, HOME: home, ...env };
  const write: Home["write"] = (path, data) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), data);
    return join(home, path);
  };
  return {
    home,
    workspace,
    clineDir,
    env: all,
    write,
    target: join(clineDir, "plugins/palinode.js"),
    run: (...args) => runFile(FILE, args, workspace, all),
    program: (name, script) => chmodSync(write(`bin/${name}`, `#!/bin/sh\n${script}\n`), 0o755),
  };
}

/** Runs a file under this Node to its end. */
export async function runFile(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  uid?: number,
): Promise<Outcome> {
  const child = spawn(process.execPath, [file, ...args], { cwd, env, uid, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const code = await new Promise<number>((resolve) => child.once("close", (status) => resolve(status ?? 128)));
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
}

/** The shipped file, called another version. */
export function called(version: string): string {
  return BYTES.toString("utf8").replace(`palinode.js ${VERSION} |`, `palinode.js ${version} |`);
}

// Starts `cline` in the foreground.
import { spawn } from "node:child_process";
import type { Shell } from "../base/shell.ts";

/** Returns the exit code of `cline`, or 1 when it could not be started: then the user is told to type `line`. */
export function startCline(shell: Shell, args: readonly string[], cwd: string, line: string): Promise<number> {
  const isWindows = process.platform === "win32";
  const options = { cwd, env: shell.env, stdio: "inherit", shell: isWindows } as const;
  return new Promise((resolve) => {
    const child = spawn("cline", isWindows ? args.map(quotedForWindows) : args, options);
    child.on("error", () => {
      const hint = line === "" ? "" : ` Otherwise: ${line}`;
      shell.err(`palinode: cline could not be started; is it in PATH?${hint}\n`);
      resolve(1);
    });
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/** On Windows `cline` is a script that only a shell can start, and a shell reads more into words than it should. */
function quotedForWindows(word: string): string {
  return `"${word.replace(/["%!^&|<>\r\n]+/g, " ")}"`;
}

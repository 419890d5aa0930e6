// The list of promises: the plugin as default export and as `plugin`, a factory for hosts that configure it themselves,
// and the public types. Run directly, the file is a command line.
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { runCli } from "./cli.ts";
import { createPalinodePlugin } from "./plugin.ts";

export type { PalinodeHooks, PalinodePlugin } from "./plugin.ts";
export type { PalinodeOptions, Profile } from "./settings/index.ts";
export { createPalinodePlugin };

/** The plugin, configured from its surroundings when a session starts. */
export const plugin = createPalinodePlugin();
export default plugin;

if (isRunDirectly()) {
  // A reader that has seen enough, as `head` has, is no failure; a full disk is one.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "EPIPE") process.exit(0);
      if (stream === process.stdout) process.stderr.write(`palinode: the output could not be written (${code})\n`);
      process.exit(1);
    });
  }
  void runCli(process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    cwd: process.cwd(),
    isTerminal: process.stdout.isTTY === true,
  }).then((code) => {
    process.exitCode = code;
  });
}

/**
 * Only under its own name: bundled into somebody's program, this code is that program's main file. The file system is
 * only asked where the names agree, which they never do in a host.
 */
function isRunDirectly(): boolean {
  const script = process.argv[1];
  if (!isMainThread || script === undefined || !import.meta.url.startsWith("file:")) return false;
  const file = fileURLToPath(import.meta.url);
  if (!basename(file).startsWith("palinode") || basename(script) !== basename(file)) return false;
  try {
    return realpathSync(script) === realpathSync(file);
  } catch {
    return false;
  }
}

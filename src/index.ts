// The list of promises: the plugin as default export and as `plugin`, a factory for hosts that configure it themselves,
// and the public types. Run directly, the file is a command line.
import { isRunDirectly } from "./base/node.ts";
import { workingFolder } from "./base/process.ts";
import { runCli } from "./cli.ts";
import { createPalinodePlugin, type PalinodePlugin } from "./plugin.ts";

export type { PalinodeHooks, PalinodePlugin } from "./plugin.ts";
export type { PalinodeOptions, Profile } from "./settings/index.ts";
export { createPalinodePlugin };

/** The plugin, configured from its surroundings when a session starts. */
export const plugin: PalinodePlugin = createPalinodePlugin();
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
  const cwd = workingFolder();
  if (cwd === undefined) {
    process.stderr.write("palinode: the working folder is gone; change to one that is there\n");
    process.exit(1);
  }
  void runCli(process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    cwd,
    isTerminal: process.stdout.isTTY === true,
  }).then((code) => {
    process.exitCode = code;
  });
}

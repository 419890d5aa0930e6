// The server's own web page, where memory can be looked at: the verb `open`, and its address for `status` and `why`.
import { spawn } from "node:child_process";
import { findProgram } from "../base/programs.ts";
import { type Command, plainText, printJson, UsageError } from "../base/shell.ts";
import { checkHealth, createClient, explain, isLoopback } from "../server/index.ts";
import { type Config, readConfig, workspaceOf } from "../settings/index.ts";

/** Source: api/ui/router.py of 0.17 to 0.23. */
const PAGE = "/ui";
const TIMEOUT_MS = 4000;

/** Returns the address of the page: servers from 0.17 on have one, which is shown on their own machine alone. */
export function pageAddress({ apiUrl }: Pick<Config, "apiUrl">, version: string | undefined): string | undefined {
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  const hasPage = major > 0 || minor >= 17;
  return hasPage && isLoopback(apiUrl) ? `${apiUrl}${PAGE}` : undefined;
}

/** Returns the same after asking the server for its version, within `timeoutMs`. Throws `PalinodeError`. */
export async function askForPage(config: Config, timeoutMs = TIMEOUT_MS): Promise<string | undefined> {
  const { version } = await checkHealth(createClient(config), { timeoutMs });
  return pageAddress(config, version);
}

export const openCommand: Command = {
  usage: "[--json]",
  help: "opens the server's own web page, where memory can be looked at, and prints its address",
  options: { json: { type: "boolean" } },
  async run(shell, words, values) {
    if (words.length > 0) throw new UsageError(`unexpected argument "${words[0]}"`);
    const { config } = readConfig(undefined, shell.env, workspaceOf(shell.cwd));
    const address = await addressFor(config);
    const isOpened = openInBrowser(address, shell.env);
    if (values.json === true) printJson(shell, { address, isOpened });
    else shell.out(`${plainText(address)}\n`);
    if (config.token !== "") shell.err("palinode: where the server wants its token, a browser gets no page\n");
    return 0;
  },
};

/** Throws an `Error` for the user where there is no page. */
async function addressFor(config: Config): Promise<string> {
  const address = await askForPage(config).catch((error: unknown) => {
    throw new Error(explain(error, { config }));
  });
  if (address !== undefined) return address;
  throw new Error("there is no page: servers from 0.17 on have one, and show it on their own machine alone");
}

/** Has the system show it, where there is a screen to show it on. Returns whether it was asked to. */
function openInBrowser(address: string, env: NodeJS.ProcessEnv): boolean {
  const line = lineThatOpens(address, env);
  const program = line && findProgram(line[0], env);
  if (program === undefined || line === undefined) return false;
  const child = spawn(program, line.slice(1), { env, detached: true, stdio: "ignore" });
  child.on("error", () => undefined);
  child.unref();
  return true;
}

type Line = readonly [program: string, ...args: string[]];

function lineThatOpens(address: string, env: NodeJS.ProcessEnv, platform = process.platform): Line | undefined {
  if (platform === "darwin") return ["open", address];
  if (platform === "win32") return ["explorer", address];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open", address] : undefined;
}

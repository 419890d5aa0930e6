// The file as a command line: `node palinode.js VERB`. Which verbs there are, and what a wrong call is told.
import { parseArgs } from "node:util";
import { type Command, plainText, type Shell, UsageError } from "./base/shell.ts";
import { HOMEPAGE, VERSION } from "./base/version.ts";
import { deskCommands } from "./desk/index.ts";
import { handoff, history, importCommand, resume } from "./history/index.ts";
import { DEFAULT_API_URL, settingRows } from "./settings/index.ts";
import { doctorCommand, installCommand, uninstallCommand } from "./setup/index.ts";

/** The verbs, in the order in which help lists them. */
const COMMANDS: Readonly<Record<string, Command>> = {
  doctor: doctorCommand,
  install: installCommand,
  uninstall: uninstallCommand,
  ...deskCommands(["status", "search", "read", "save", "why"]),
  history,
  import: importCommand,
  resume,
  handoff,
};

const COMMON = { help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } } as const;

/** Runs the command line and returns its exit code: 0 done, 1 it failed, 2 wrong use. Never rejects. */
export async function runCli(args: readonly string[], shell: Shell): Promise<number> {
  try {
    const [verb = "help", ...rest] = args;
    if (verb === "-v" || verb === "--version") return say(shell, `palinode.js ${VERSION}\n`);
    if (verb === "help" || verb === "-h" || verb === "--help") return say(shell, helpText());
    const command = Object.hasOwn(COMMANDS, verb) ? COMMANDS[verb] : undefined;
    if (command === undefined)
      throw new UsageError(verb.startsWith("-") ? `unknown option "${verb}"` : `unknown command "${verb}"`);
    const { values, positionals } = readArgs(rest, command);
    if (values.help) return say(shell, `Usage: node palinode.js ${verb} ${command.usage}\n\n${command.help}\n`);
    return await command.run(shell, positionals, values as Record<string, string | boolean>);
  } catch (error) {
    const isWrongUse = error instanceof UsageError;
    shell.err(
      `palinode: ${error instanceof Error ? plainText(error.message) : "failed"}\n${isWrongUse ? "Try: node palinode.js --help\n" : ""}`,
    );
    return isWrongUse ? 2 : 1;
  }
}

function readArgs(args: readonly string[], command: Command) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...command.options, ...COMMON } });
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? (error.message.split(". ")[0] ?? "") : "arguments that cannot be read",
    );
  }
}

function say(shell: Shell, text: string): number {
  shell.out(text);
  return 0;
}

function helpText(): string {
  const usages = Object.entries(COMMANDS).map(
    ([verb, { usage, help }]) => [`${verb} ${usage}`.trimEnd(), help] as const,
  );
  const rows = settingRows().map(
    ({ variable, effect, fallback }) => [variable, effect + withDefault(fallback)] as const,
  );
  return `palinode.js ${VERSION}: persistent memory for Cline from a Palinode server

This file is a Cline plugin. Put it into ~/.cline/plugins and start palinode-api (${DEFAULT_API_URL}).

Usage: node palinode.js VERB
${table([...usages, ["--help", "this text; after a verb, what it does"], ["--version", "the version"]])}

Settings (environment variable, effect, default):
${table(rows)}

${HOMEPAGE}
`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join("\n");
}

function withDefault(value: string): string {
  return value === "" ? "" : ` [${value}]`;
}

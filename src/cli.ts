// The file as a command line: `node palinode.js VERB`. What a wrong call is told, and what help says, in 80 columns.
import { parseArgs } from "node:util";
import { type Command, plainText, type Shell, UsageError } from "./base/shell.ts";
import { holding } from "./base/time.ts";
import { HOMEPAGE, VERSION } from "./base/version.ts";
import { DEFAULT_API_URL, settingRows } from "./settings/index.ts";
import { SESSION_VERBS, VERBS } from "./verbs.ts";

const COMMON = { help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } } as const;
const HELP_COLUMNS = 80;
const ABOUT =
  'This file is a Cline plugin: "install" puts it into ~/.cline/plugins, and "server install" brings up what it ' +
  `talks to, palinode-api at ${DEFAULT_API_URL}.`;

/** Runs the command line and returns its exit code: 0 done, 1 it failed, 2 wrong use. Never rejects. */
export async function runCli(args: readonly string[], shell: Shell): Promise<number> {
  try {
    const [verb = "help", ...rest] = args;
    if (verb === "-v" || verb === "--version") return print(shell, `palinode.js ${VERSION}\n`);
    if (verb === "help" || verb === "-h" || verb === "--help") return print(shell, helpText());
    const command = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
    if (command === undefined) throw new UsageError(`unknown ${verb.startsWith("-") ? "option" : "command"} "${verb}"`);
    const { values, positionals } = readArgs(rest, command);
    if (values.help) return print(shell, verbHelp(verb, command));
    return await holding(command.run(shell, positionals, values as Record<string, string | boolean>));
  } catch (error) {
    const isWrongUse = error instanceof UsageError;
    shell.err(`palinode: ${error instanceof Error ? plainText(error.message) : "failed"}\n`);
    if (isWrongUse) shell.err("Try: node palinode.js --help\n");
    return isWrongUse ? 2 : 1;
  }
}

function readArgs(args: readonly string[], command: Command) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...COMMON, ...command.options } });
  } catch (error) {
    const why = error instanceof Error ? error.message.split(". ")[0] : undefined;
    throw new UsageError(why ?? "arguments that cannot be read");
  }
}

function print(shell: Shell, text: string): number {
  shell.out(text);
  return 0;
}

function verbHelp(verb: string, { usage, help }: Command): string {
  return `${wrapped(`Usage: node palinode.js ${verb} ${usage}`.trimEnd(), 4)}\n\n${wrapped(help, 0)}\n`;
}

function helpText(): string {
  const verbs = Object.entries(VERBS).map(([verb, { usage, help }]) => described(`${verb} ${usage}`.trimEnd(), help));
  const settings = settingRows().map(({ variable, effect, fallback }) => [variable, effect + withDefault(fallback)]);
  return `palinode.js ${VERSION}: persistent memory for Cline from a Palinode server

${wrapped(ABOUT, 0)}

Usage: node palinode.js VERB
${verbs.join("\n")}
${described("--help", "this text; after a verb, what it does")}
${described("--version", "the version")}

${wrapped(`In a session, after /palinode: ${Object.keys(SESSION_VERBS).join(", ")}.`, 0)}

Settings (environment variable, effect, default):
${table(settings)}

${HOMEPAGE}
`;
}

/** Returns a usage, and below it what it is for. */
function described(usage: string, help: string): string {
  return `${wrapped(`  ${usage}`, 6)}\n${wrapped(`      ${help}`, 6)}`;
}

/** Returns rows of a name and a text, side by side. */
function table(rows: readonly string[][]): string {
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  return rows.map(([name = "", text]) => wrapped(`  ${name.padEnd(width)}  ${text}`, width + 4)).join("\n");
}

/** Returns a line broken between words, but not between an option and its value. Lines after the first are indented. */
function wrapped(line: string, indent: number): string {
  const [first = "", ...words] = line.split(/ (?![^\s[]+\])/);
  const rows = [first];
  for (const word of words) {
    const longer = `${rows.at(-1)} ${word}`;
    if (longer.length <= HELP_COLUMNS) rows.splice(-1, 1, longer);
    else rows.push(" ".repeat(indent) + word);
  }
  return rows.join("\n");
}

function withDefault(value: string): string {
  return value === "" ? "" : ` [${value}]`;
}

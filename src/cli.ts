// The file as a command line: `node palinode.js VERB`.
import { parseArgs } from "node:util";
import { DEFAULT_API_URL, SETTINGS, TOKEN_FILE_VARIABLE } from "./config.ts";
import { HOMEPAGE, VERSION } from "./version.ts";

/** Where the command line writes; a test passes its own. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
}

/** Runs the command line and returns its exit code: 0 done, 2 wrong use. */
export function runCli(args: readonly string[], streams: Streams): number {
  const parsed = readArgs(args);
  if (typeof parsed === "string") return wrongUse(streams, parsed);
  const { values, positionals } = parsed;
  if (values.version) {
    streams.out(`palinode.js ${VERSION}\n`);
    return 0;
  }
  if (values.help || positionals.length === 0 || positionals[0] === "help") {
    streams.out(helpText());
    return 0;
  }
  return wrongUse(streams, `unknown command "${positionals[0]}"`);
}

function readArgs(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } },
    });
  } catch (error) {
    return error instanceof Error ? (error.message.split(". ")[0] ?? "") : "arguments that cannot be read";
  }
}

function wrongUse(streams: Streams, what: string): number {
  streams.err(`palinode: ${what}\nTry: node palinode.js --help\n`);
  return 2;
}

function helpText(): string {
  const rows = Object.values(SETTINGS).map(({ variable, fallback, help, shown }) => [variable, help, shown ?? inShell(fallback)] as const);
  rows.splice(2, 0, [TOKEN_FILE_VARIABLE, "a file that holds the token", ""]);
  const width = Math.max(...rows.map(([variable]) => variable.length));
  const table = rows.map(([variable, help, fallback]) => `  ${variable.padEnd(width)}  ${help}${fallback ? ` [${fallback}]` : ""}`);
  return `palinode.js ${VERSION}: persistent memory for Cline from a Palinode server

This file is a Cline plugin. Put it into ~/.cline/plugins and start palinode-api (${DEFAULT_API_URL}).

Usage:
  node palinode.js --help       this text
  node palinode.js --version    the version

Settings (environment variable, effect, default):
${table.join("\n")}

${HOMEPAGE}
`;
}

function inShell(value: unknown): string {
  return typeof value === "boolean" ? String(Number(value)) : String(value);
}

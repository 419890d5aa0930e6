// What a command of the command line gets and gives back. Commands print through it alone: a test passes its own.
import { fileURLToPath } from "node:url";
import { type ParseArgsConfig, stripVTControlCharacters } from "node:util";

/** Returns a word as a shell takes it: on Windows PowerShell, else any POSIX shell. */
export function quoted(word: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return platform === "win32" ? `"${word.replace(/[`$]/g, "`$&")}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns how a shell in any folder runs this file with `words`. */
export function thisProgram(words: string): string {
  return `node ${quoted(fileURLToPath(import.meta.url))} ${words}`;
}

/** Where a command reads and writes. */
export interface Shell {
  out(text: string): void;
  err(text: string): void;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** True when `out` is a terminal; progress and colours are for those. */
  readonly isTerminal: boolean;
}

/** Options as `parseArgs` read them. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** One verb of the command line. */
export interface Command {
  /** What follows the verb, as in `[QUERY] [--limit N]`. */
  readonly usage: string;
  readonly help: string;
  readonly options?: NonNullable<ParseArgsConfig["options"]>;
  /** Returns the exit code: 0 done, 1 it failed. Throws `UsageError` when it was called wrongly. */
  run(shell: Shell, words: readonly string[], values: Values): Promise<number>;
}

/** Somebody called a command wrongly; the command line says why and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Codes that begin and end a style. Node's `styleText` came with 20.12, and to import it would stop any older one. */
const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** Returns text in a colour, where colours are wanted: on a terminal, and not with `NO_COLOR`. */
export function styled(shell: Shell, style: keyof typeof STYLES, text: string): string {
  const [begin, end] = STYLES[style];
  return shell.isTerminal && !shell.env.NO_COLOR ? `\u001b[${begin}m${text}\u001b[${end}m` : text;
}

/**
 * Returns text from memory, files or the server as it may go to a terminal: without escape sequences, and with what
 * turns the direction of reading, and so may show one thing as another, as escapes.
 */
export function plainText(text: string): string {
  const bare = stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
  return bare.replace(TURNS, escapeOf);
}

const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function escapeOf(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Writes a value as JSON. */
export function printJson(shell: Shell, value: unknown): void {
  // JSON leaves these as they are; to a terminal they are the start of an escape sequence.
  const text = JSON.stringify(value, null, 2)
    .replace(/[\u007f-\u009f]/g, escapeOf)
    .replace(TURNS, escapeOf);
  shell.out(`${text}\n`);
}

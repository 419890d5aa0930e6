// Trouble with one file of Cline's: it is told, and costs nothing but that file.
import { asRecord, asText } from "../base/json.ts";
import { plainText, type Shell } from "../base/shell.ts";

/** Hears of each file that could not be used; `isLost` where that costs a session. */
export type Warn = (text: string, isLost?: boolean) => void;

/** Returns what `work` does, or undefined when it throws: then `path` is named as what a session is lost with. */
export function attempt<T>(path: string, warn: Warn, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    warn(`skipped ${path}: ${reasonFor(error)}`, true);
    return undefined;
  }
}

/** Returns why a file could not be used, without a word of what it holds. */
export function reasonFor(error: unknown): string {
  // The parser quotes what it stumbled over.
  if (error instanceof SyntaxError) return "it is not whole JSON";
  const { code, message } = asRecord(error);
  return asText(code) ?? asText(message) ?? "unreadable";
}

/** Returns a listener that writes to the command line's error output, over a progress bar where one may be drawn. */
export function warnOn(shell: Shell): Warn {
  const start = shell.isTerminal ? "\r\u001b[K" : "";
  return (text) => shell.err(`${start}palinode: ${plainText(text)}\n`);
}

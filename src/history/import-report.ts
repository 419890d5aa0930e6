// What an import says on the command line: how far it is, what a memory holds, how many sessions became what.

import { plainText, type Shell } from "../base/shell.ts";
import type { SaveRequest } from "../server/index.ts";
import type { Counts } from "./import-each.ts";
import { MAX_WRITES_A_MINUTE } from "./import-send.ts";

const BAR_CHARS = 24;
/** Sessions for each line of progress where no bar can be drawn. */
const SESSIONS_PER_LINE = 20;

/** Returns a listener that draws a bar on a terminal, and elsewhere writes a line per 20 sessions. */
export function progressOn(shell: Shell): (done: number, total: number) => void {
  const startedAt = Date.now();
  return (done, total) => {
    const text = progressText(done, total, (Date.now() - startedAt) / 60_000);
    if (shell.isTerminal) shell.err(`\r\u001b[K${bar(done / total)} ${text}${done === total ? "\n" : ""}`);
    else if (done % SESSIONS_PER_LINE === 0) shell.err(`${text}\n`);
  };
}

/** Returns how far an import is after some minutes, its rate, and the time left: by the rate, or the server's limit. */
export function progressText(done: number, total: number, minutes: number): string {
  const byRate = (minutes / done) * (total - done);
  // The first thirty need no minute.
  const byLimit = (total - 1) / MAX_WRITES_A_MINUTE - 1 - minutes;
  // A rate of the first second would be no rate.
  const perMinute = Math.round(done / Math.max(minutes, 1 / 60));
  return `${done} of ${total}, ${perMinute} a minute, ${Math.ceil(Math.max(byRate, byLimit))} min left`;
}

/** Returns a memory as a dry run shows it. */
export function memoryText({ slug, title, content, entities, metadata }: SaveRequest): string {
  return `${plainText(`# ${slug}: ${title}\n${JSON.stringify({ entities, metadata })}\n${content}`)}\n\n`;
}

/** Returns the line that an import ends with. */
export function countsText({ sent, stopped: _, ...others }: Counts, isDry: boolean): string {
  const rest = Object.entries(others).map(([name, count]) => `${name.replace("_", " ")} ${count}`);
  return `${isDry ? "would send" : "sent"} ${sent}, ${rest.join(", ")}\n`;
}

/** Returns what a dry run prints as JSON: what would be sent, in place of how much was. */
export function dryRunJson({ sent: _, ...others }: Counts, bodies: readonly unknown[]): unknown {
  return { would_send: bodies, ...others };
}

function bar(share: number): string {
  const filled = Math.round(share * BAR_CHARS);
  return "█".repeat(filled) + "░".repeat(BAR_CHARS - filled);
}

// What a long installation says while it runs: on a terminal its newest line, elsewhere one every few seconds.
import { plainText, type Shell } from "../base/shell.ts";

const EVERY_MS = 10_000;
const MAX_CHARS = 76;

/** Returns who hears the installer's lines; `end` takes the last one away. */
export function progressOn(
  { isTerminal, err }: Shell,
  now: () => number = () => performance.now(),
): { line(text: string): void; end(): void } {
  let toldAt = now();
  return {
    line(text) {
      const short = plainText(text).trim().slice(0, MAX_CHARS);
      if (short === "") return;
      if (isTerminal) return err(`\r\u001b[K  ${short}`);
      if (now() - toldAt < EVERY_MS) return;
      toldAt = now();
      err(`  ${short}\n`);
    },
    end: () => (isTerminal ? err("\r\u001b[K") : undefined),
  };
}

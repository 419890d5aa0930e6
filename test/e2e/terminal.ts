// A program in a pseudo-terminal, as a person at the keyboard has it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { end } from "./process.ts";

declare const REPOSITORY: string;

export interface Terminal {
  /** All that was shown so far, in the order it was drawn, without colours and cursor moves. */
  shown(): string;
  type(keys: string): void;
  /** Waits until `done` holds; `what` goes into the error when it does not within the limit. */
  until(what: string, done: () => boolean, limitMs?: number): Promise<void>;
  /** Leaves as a person does, with Ctrl+D; resolves to the exit code. */
  close(): Promise<number>;
  kill(): void;
}

export interface TerminalOptions {
  python: string;
  cwd: string;
  env: Record<string, string | undefined>;
}

const WAIT_MS = 45_000;
const END_OF_INPUT = "\x04";

export function openTerminal(command: string[], options: TerminalOptions): Terminal {
  const { python, cwd, env } = options;
  const helper = join(REPOSITORY, "test/e2e/terminal.py");
  const child = spawn(python, [helper, ...command], { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  let raw = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      raw += chunk.toString();
    });
  // Keys sent to a program that has just ended are nobody's error.
  child.stdin.on("error", () => {});
  const exited = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 128)));
  const shown = (): string => plain(raw);
  const lately = (): string => `It showed: …${shown().slice(-1500)}`;
  const type = (keys: string): void => void child.stdin.write(keys);
  const until = async (what: string, done: () => boolean, limitMs = WAIT_MS): Promise<void> => {
    const deadline = Date.now() + limitMs;
    while (!done()) {
      if (child.exitCode !== null) throw new Error(`The program ended before ${what}. ${lately()}`);
      if (Date.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what}. ${lately()}`);
      await sleep(50);
    }
  };
  // The helper ends the program when its input closes, so this needs no pid of the program itself.
  const kill = (): void => {
    child.stdin.destroy();
    setTimeout(() => end(-(child.pid ?? 0)), 1000).unref();
  };
  const close = async (): Promise<number> => {
    // It is deaf to this key while it still works, so the key is pressed until it is heard.
    for (let press = 0; press < 40; press++) {
      type(END_OF_INPUT);
      const code = await Promise.race([exited, sleep(500)]);
      if (code !== undefined) return code;
    }
    throw new Error(`Ctrl+D did not end the program. ${lately()}`);
  };
  return { shown, type, until, close, kill };
}

/** Cursor moves become a space: the words on both sides stand apart on the screen. */
function plain(raw: string): string {
  return raw
    .replace(/\x1b[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)/g, "")
    .replace(/\x1b\[[0-9;?<>=$ ]*[a-zA-Z]/g, " ")
    .replace(/\x1b./g, "")
    .replace(/\s+/g, " ");
}

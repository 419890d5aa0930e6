// What each step of `server` works with, and that there is one at a time.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, makeFolder, readSmallFile } from "../base/files.ts";
import { isAlive } from "../base/process.ts";
import { plainText, type Shell } from "../base/shell.ts";
import type { Config } from "../settings/index.ts";
import type { Place } from "./place.ts";

export interface Task {
  readonly shell: Shell;
  readonly config: Config;
  readonly place: Place;
  /** Aborted where the user interrupts: what is half done is taken back then. */
  readonly signal: AbortSignal;
}

export function say({ shell }: Pick<Task, "shell">, line: string): void {
  shell.out(`${plainText(line)}\n`);
}

/** Does the work while no other process does any here. Throws an `Error` for the user where one does. */
export async function alone<T>({ place }: Task, work: () => Promise<T>): Promise<T> {
  const lock = join(place.folder, "busy.lock");
  makeFolder(place.folder, 0o700);
  take(lock);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string, isSecondTry = false): void {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    const pid = Number(readSmallFile(lock));
    if (isSecondTry || isAlive(pid))
      throw new Error(`another \`server\` command is at work (process ${pid}); if not, remove ${lock}`);
    // Who held it has died.
    rmSync(lock, { force: true });
    take(lock, true);
  }
}

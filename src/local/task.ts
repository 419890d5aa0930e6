// What each step of `server` works with, and that there is one at a time.
import { existsSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, entryAt, makeFolder, readSmallFile } from "../base/files.ts";
import { isAlive } from "../base/process.ts";
import { plainText, type Shell } from "../base/shell.ts";
import { reasonOf } from "../server/index.ts";
import type { Config } from "../settings/index.ts";
import type { Place } from "./place.ts";
import { answering, runningPid } from "./running.ts";

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

/**
 * Returns the version of the Palinode that answers at the address, if one does, and whether a server that was started
 * from here runs. Throws an `Error` for the user where something else is there.
 */
export async function whoAnswers({ config, place }: Task): Promise<{ version: string | undefined; isOurs: boolean }> {
  const { version, isOther, error } = await answering(config);
  const isOurs = runningPid(place) !== undefined;
  const isTaken = isOther || (error !== undefined && !isOurs && reasonOf(error) !== "refused");
  if (isTaken)
    throw new Error(`something else than Palinode is at ${config.apiUrl}; PALINODE_API_URL names another address`);
  return { version, isOurs };
}

export function usedAsItIs({ config }: Task, version: string): string {
  return `Palinode ${version} answers at ${config.apiUrl} already, and is used as it is.`;
}

/** Does the work while no other process does any here. Throws an `Error` for the user where one does. */
export async function alone<T>({ place }: Task, work: () => Promise<T>): Promise<T> {
  const lock = join(place.folder, "busy.lock");
  take(lock, place);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
    if (existsSync(place.folder) && readdirSync(place.folder).length === 0) rmdirSync(place.folder);
  }
}

function take(lock: string, place: Place, isSecondTry = false): void {
  try {
    makeFolder(place.folder, 0o700);
    writeFileSync(lock, String(process.pid), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (entryAt(lock) === undefined) throw new Error(`cannot write below ${place.folder} (${codeOf(error)})`);
    const pid = Number(readSmallFile(lock));
    if (isSecondTry || isAlive(pid))
      throw new Error(`another \`server\` command is at work (process ${pid}); if not, remove ${lock}`);
    // Who held it has died.
    rmSync(lock, { force: true });
    take(lock, place, true);
  }
}

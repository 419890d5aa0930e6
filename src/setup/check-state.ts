// What the doctor says of what is kept on disk: can the state folder be written to, is it private, is memory paused.
import { mkdtempSync, readdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, entryAt } from "../base/files.ts";
import { quoted, thisProgram } from "../base/shell.ts";
import { openState } from "../base/store.ts";
import { clineDataDir, homeDir } from "../cline/index.ts";
import { pausedSince, type ReadConfig } from "../settings/index.ts";
import { type Check, ok, warning } from "./check.ts";
import { renaming, setting } from "./mend.ts";

/** A folder that is not there yet is not made: another one is, in the nearest that is, to see that it can be. */
export function checkState({ config, sources }: ReadConfig, env: NodeJS.ProcessEnv): Check {
  const { persist, stateDir } = config;
  if (!persist) return ok("state", "nothing is kept on disk (persist is off)");
  const { path, isFolder, mode } = nearest(stateDir);
  const elsewhere = setting("stateDir", otherThan(stateDir, env), sources.stateDir, env);
  if (!isFolder) return warning("state", `${path} is no folder, so nothing can be kept there`, elsewhere);
  const refusal = refusalIn(path);
  if (path !== stateDir) {
    if (refusal !== undefined) return warning("state", `${stateDir} cannot be made (${refusal})`, elsewhere);
    return ok("state", `${stateDir} will be made when it is needed`);
  }
  const startedAt = performance.now();
  const closed = [stateDir, ...foldersIn(stateDir)].find((folder) => refusalIn(folder) !== undefined);
  if (closed !== undefined) return closedLine(closed, elsewhere);
  const slow = slowLine(stateDir, (performance.now() - startedAt) / (1 + foldersIn(stateDir).length), elsewhere);
  if (slow !== undefined) return slow;
  const close = `chmod 700 ${quoted(stateDir)}`;
  const isOpen = process.platform !== "win32" && (mode & 0o077) !== 0;
  return isOpen ? warning("state", `others may look into ${stateDir}`, close) : ok("state", `${stateDir} is writable`);
}

/** To make and remove a folder takes a local disk a few milliseconds. */
const SLOW_MS = 200;

function slowLine(stateDir: string, ms: number, elsewhere: string): Check | undefined {
  if (ms < SLOW_MS) return undefined;
  const message = `the disk under ${stateDir} is slow (${Math.round(ms)} ms to make and remove a folder)`;
  return warning("state", `${message}: sessions go on in memory, and keep nothing for the next one`, elsewhere);
}

function otherThan(stateDir: string, env: NodeJS.ProcessEnv): string {
  const usual = join(clineDataDir(env), "palinode");
  return stateDir === usual ? join(homeDir(env), ".palinode-state") : usual;
}

/** What `sudo` has made belongs to root: out of the way with it, where the folder around it is the user's own. */
function closedLine(folder: string, elsewhere: string): Check {
  const refusal = refusalIn(folder);
  const owner = entryAt(folder)?.uid;
  const isTheirs = process.getuid !== undefined && owner !== undefined && owner !== process.getuid();
  const message = `${folder} cannot be written to (${refusal}${isTheirs ? `, it belongs to user ${owner}` : ""})`;
  if (!isTheirs) return warning("state", message, refusal === "EACCES" ? `chmod 700 ${quoted(folder)}` : elsewhere);
  const isMovable = refusalIn(dirname(folder)) === undefined;
  return warning("state", message, isMovable ? renaming(folder, freeName(folder)) : elsewhere);
}

function freeName(path: string, number = 1): string {
  const name = `${path}.old${number === 1 ? "" : number}`;
  return entryAt(name, { followsLinks: false }) === undefined ? name : freeName(path, number + 1);
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const isOurs = (name: string): boolean => !/\.old\d*$/.test(name);
    return entries.filter((entry) => entry.isDirectory() && isOurs(entry.name)).map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

/**
 * Returns why nothing can be made in a folder, or undefined. Rights alone do not tell: a disk may be read-only, and
 * root may do all.
 */
function refusalIn(folder: string): string | undefined {
  try {
    rmdirSync(mkdtempSync(join(folder, ".palinode-doctor-")));
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

/** Returns what stands at a path, or at the nearest place above where anything does. */
function nearest(path: string): { path: string; isFolder: boolean; mode: number } {
  const entry = entryAt(path);
  if (entry === undefined && dirname(path) !== path) return nearest(dirname(path));
  return { path, isFolder: entry?.isDirectory() === true, mode: entry?.mode ?? 0 };
}

/** Returns a line where memory is paused in this workspace. */
export function checkPause({ config }: ReadConfig, workspace: string): Check[] {
  const since = pausedSince(openState(config.stateDir), workspace);
  if (since === undefined) return [];
  // Of a time that no calendar has, `toISOString` would throw.
  const message = `memory is paused in this workspace since ${new Date(since).toJSON()}`;
  const mend = thisProgram("unpause");
  return [warning("paused", `${message}; to end it, in Cline: /palinode unpause, or in a shell:`, mend)];
}

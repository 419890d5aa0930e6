// What the doctor asks about Cline: is it there, which copies does it load, did loading fail, what does its hub see.
// Sources: the real CLI 3.0.65, its log and its hub record.

import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { entryAt, readRecord, readSmallFile } from "../base/files.ts";
import { asRecord, asText, parseJson } from "../base/json.ts";
import { isAlive } from "../base/process.ts";
import { findProgram } from "../base/programs.ts";
import { redact } from "../base/redact.ts";
import { quoted, thisProgram } from "../base/shell.ts";
import { openState } from "../base/store.ts";
import { VERSION } from "../base/version.ts";
import { clineLogFile, hubRecordFile } from "../cline/index.ts";
import type { Config } from "../settings/index.ts";
import { type Check, failure, ok, warning } from "./check.ts";
import { type Copy, findCopies, isNewer } from "./copies.ts";
import { barePath, ownFolderPath, packageInTheWay, removalOf } from "./layout.ts";
import { exporting } from "./mend.ts";
import { versionOfCline } from "./programs.ts";

const VERSION_TIMEOUT_MS = 5000;
const MAX_LOG_BYTES = 64 * 1024 * 1024;
const MAX_LOGGED_CHARS = 300;
const TIME_TO_LOAD = "CLINE_PLUGIN_IMPORT_TIMEOUT_MS";

/** Returns where the CLI is, and its version. */
export async function checkCline(env: NodeJS.ProcessEnv): Promise<Check> {
  const path = findProgram("cline", env);
  if (path === undefined) return failure("cline", "cline is not in PATH", "npm install -g cline");
  const version = await versionOfCline(path, env, VERSION_TIMEOUT_MS);
  return ok("cline", `${path}, ${version ?? "which did not tell its version"}`);
}

/** One line for what Cline loads, and one for each copy that is in the way. */
export function checkCopies(env: NodeJS.ProcessEnv, workspace: string): Check[] {
  const copies = findCopies(env, workspace);
  const loadable = copies.filter(({ passedOver }) => passedOver === undefined);
  const loaded = loadable.at(-1);
  if (loaded === undefined) return [noneLoaded(copies[0])];
  // The best is kept, else the one that Cline takes.
  const kept = loadable.reduce((best, copy) => (isBetter(copy, best) ? copy : best), loaded);
  const spare = copies.filter((copy) => copy !== kept && copy !== loaded);
  return [
    loadedLine(loaded, kept, installing(loaded, workspace)),
    ...spare.map(({ path, version }) => {
      return warning("plugin", `one copy too many, ${version}: ${path}`, removalOf(path));
    }),
  ];
}

/** Newer, or as new and quicker to load. */
function isBetter(copy: Copy, other: Copy): boolean {
  if (copy.version !== other.version) return isNewer(copy.version, other.version);
  return packageInTheWay(dirname(copy.path)) === undefined && packageInTheWay(dirname(other.path)) !== undefined;
}

/** A copy is renewed where it stands: the workspace's in the workspace. */
function installing({ path }: Copy, workspace: string): string {
  const isOfWorkspace = [barePath, ownFolderPath].some((at) => at(join(workspace, ".cline", "plugins")) === path);
  return thisProgram(isOfWorkspace ? `install --project ${quoted(workspace)}` : "install");
}

function loadedLine(loaded: Copy, kept: Copy, install: string): Check {
  const message = `Cline loads ${loaded.version}: ${loaded.path}`;
  if (kept !== loaded)
    return warning("plugin", `${message}, and passes over ${kept.version}: ${kept.path}`, removalOf(loaded.path));
  if (isNewer(VERSION, loaded.version))
    return warning("plugin", `${message}, older than this file (${VERSION})`, install);
  const manifest = packageInTheWay(dirname(loaded.path));
  const isBare = barePath(dirname(loaded.path)) === loaded.path && basename(dirname(loaded.path)) === "plugins";
  if (manifest === undefined || !isBare) return ok("plugin", message);
  const why = `but ${manifest} does not say "type": "module": it wants a folder of its own`;
  return warning("plugin", `${message}, ${why}`, install);
}

function noneLoaded(copy: Copy | undefined): Check {
  if (copy === undefined)
    return failure("plugin", "palinode.js is in none of Cline's plugins folders", thisProgram("install"));
  const { path, version, passedOver: why } = copy;
  if (why === "a link")
    return failure("plugin", `${path} (${version}) is a link, and Cline loads no links`, thisProgram("install"));
  return failure(
    "plugin",
    `${path} (${version}) is switched off in Cline's settings; switch it on under plugins`,
    "cline config",
  );
}

/** A failure that is older than the copies, or than a session of the plugin, is over. */
export function checkLog(env: NodeJS.ProcessEnv, workspace: string, { stateDir }: Config): Check[] {
  const log = clineLogFile(env);
  const lines = readSmallFile(log, MAX_LOG_BYTES)?.split("\n") ?? [];
  const writtenAt = entryAt(log)?.mtimeMs ?? 0;
  const last = lines.map((line) => readFailure(line, writtenAt)).findLast((entry) => entry !== undefined);
  if (last === undefined) return [];
  const state = openState(stateDir);
  const sessions = state.list("sessions").map((name) => state.writtenAt(`sessions/${name}`) ?? 0);
  const copies = findCopies(env, workspace).map(({ path }) => entryAt(path)?.mtimeMs ?? 0);
  if (Math.max(0, ...sessions, ...copies) >= last.at) return [];
  const limitMs = Number(/timed out after (\d+) ?ms/.exec(last.message)?.[1] ?? NaN);
  // The time that Cline gives has been raised since.
  if (Number(env[TIME_TO_LOAD]) > limitMs) return [];
  const message = `Cline's log says of the newest load: ${redact(last.message)}`;
  const loaded = findCopies(env, workspace).findLast(({ passedOver }) => passedOver === undefined);
  const install = loaded === undefined ? thisProgram("install") : installing(loaded, workspace);
  const isSlow = loaded !== undefined && loadedLine(loaded, loaded, install).level !== "ok";
  if (isSlow || Number.isNaN(limitMs)) return [failure("log", message, `${install} --force`)];
  return [failure("log", `${message}. More time, for new shells:`, exporting(TIME_TO_LOAD, "20000", env))];
}

/**
 * Either loading failed as a whole, or the line names this plugin's file. A line without a time is as old as the log,
 * which was written at `writtenAt`.
 */
function readFailure(line: string, writtenAt: number): { at: number; message: string } | undefined {
  if (!/plugin loading failed|Plugin initialization failed/.test(line)) return undefined;
  const { time, msg, pluginPath, stack } = asRecord(parseJson(line));
  const text = asText(msg) ?? line;
  const isOurs = /palinode[^/\\]*\.[jt]s$/.test(String(pluginPath));
  if (!isOurs && !text.includes("plugin loading failed")) return undefined;
  const cause = isOurs ? asText(stack)?.split("\n")[0] : undefined;
  return {
    at: Date.parse(String(time)) || writtenAt,
    message: (cause ? `${text}: ${cause}` : text).slice(0, MAX_LOGGED_CHARS),
  };
}

/** Sessions of the CLI run in the hub, which keeps the environment of the shell that started it. */
export function checkHub(env: NodeJS.ProcessEnv): Check {
  const { pid } = readRecord(hubRecordFile(env));
  if (typeof pid !== "number" || !isAlive(pid))
    return ok("hub", "none is running: the next one gets this shell's environment");
  const theirs = environmentOf(pid);
  if (theirs === undefined) {
    const message = `process ${pid} has the environment of the shell that started it, which cannot be seen`;
    return ok("hub", `${message}; after a change: cline hub stop`);
  }
  const differing = [...new Set([...Object.keys(env), ...theirs.keys()])]
    .filter((key) => matters(key, env) && (env[key] ?? "") !== (theirs.get(key) ?? ""))
    .sort();
  if (differing.length === 0) return ok("hub", `process ${pid} has this shell's environment`);
  return warning("hub", `process ${pid} was started with other values of ${differing.join(", ")}`, "cline hub stop");
}

/**
 * The CLI gives its hub variables of its own; of Cline's only those count that this shell sets, or that move its
 * folders.
 */
function matters(key: string, env: NodeJS.ProcessEnv): boolean {
  if (key.startsWith("PALINODE_") || /^CLINE_(?:DATA_)?DIR$/.test(key)) return true;
  return key.startsWith("CLINE_") && env[key] !== undefined;
}

function environmentOf(pid: number): Map<string, string> | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").matchAll(/([^=\0]+)=([^\0]*)/g);
    return new Map([...entries].map(([, name = "", value = ""]) => [name, value]));
  } catch {
    return undefined;
  }
}

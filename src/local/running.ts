// The server as a process: started so that it outlives who started it, found again, and ended.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { entryAt, makeFolder, readSmallFile } from "../base/files.ts";
import { isAlive } from "../base/process.ts";
import { checkHealth, createClient } from "../server/index.ts";
import type { Config } from "../settings/index.ts";
import { listeningAt } from "./address.ts";
import { type Installation, lastPid, notePid, noteStopped, type Place, programOf } from "./place.ts";

const MAX_LOG_BYTES = 5 * 1024 * 1024;
const POLL_MS = 200;
const HEALTH_TIMEOUT_MS = 4000;
const STOP_TIMEOUT_MS = 10_000;
/** What the server gets of the environment of who starts it: no key of a model's provider, no setting of a session. */
const HANDED_ON = new RegExp(
  `^(?:${[
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\\w+|TZ|TMPDIR|TEMP|TMP|XDG_\\w+",
    "USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT",
    "SSL_CERT_\\w+|(?:HTTPS?|NO|ALL)_PROXY",
  ].join("|")})$`,
  "i",
);

interface StartOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly token: string;
  /** False where memories may lie there without an index: a server does not start on these unless it is told to. */
  readonly isIndexed: boolean;
}

/**
 * Starts the server detached, with its log in the place's folder, and notes its process. Returns false where that could
 * not be done, as where its memories are not there: a disk may not be mounted. Whether it comes to answer is not waited
 * for.
 */
export function startProcess(
  place: Place,
  { environment, memoryDir, apiUrl, variables }: Installation,
  { env, token, isIndexed }: StartOptions,
): boolean {
  const listening = listeningAt(apiUrl);
  if (listening === undefined) return false;
  try {
    const log = openLog(place);
    const child = spawn(programOf(place, environment, "palinode-api"), [], {
      cwd: memoryDir,
      detached: true,
      windowsHide: true,
      stdio: ["ignore", log, log],
      env: {
        ...Object.fromEntries(Object.entries(env).filter(([name]) => HANDED_ON.test(name))),
        ...variables,
        PALINODE_DIR: memoryDir,
        PALINODE_API_HOST: listening.host,
        PALINODE_API_PORT: listening.port,
        ...(isIndexed ? {} : { PALINODE_ALLOW_FRESH_DB: "1" }),
        ...(token === "" ? {} : { PALINODE_API_TOKEN: token }),
      },
    });
    closeSync(log);
    child.on("error", () => undefined);
    child.unref();
    if (child.pid !== undefined) notePid(place, child.pid);
    return child.pid !== undefined;
  } catch {
    return false;
  }
}

function openLog({ folder, logFile }: Place): number {
  makeFolder(folder, 0o700);
  if ((entryAt(logFile)?.size ?? 0) > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.old`);
  return openSync(logFile, "a", 0o600);
}

/** Returns the version of the server that answers at the address, or why none does. Never rejects. */
export async function answering(
  config: Config,
): Promise<{ readonly version?: string; readonly error?: unknown; readonly isOther?: boolean }> {
  try {
    const { version } = await checkHealth(createClient({ ...config, token: "" }), { timeoutMs: HEALTH_TIMEOUT_MS });
    return version === undefined ? { isOther: true } : { version };
  } catch (error) {
    return { error };
  }
}

/** Returns the version of the server as soon as it answers; undefined where it ends first, or `signal` comes. */
export async function untilAnswering(
  place: Place,
  config: Config,
  signal: AbortSignal,
  pollMs = POLL_MS,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const { version } = await answering(config);
    if (version !== undefined) return version;
    if (runningPid(place) === undefined) return undefined;
    await sleep(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return undefined;
}

/** Returns the process of the server that was started from here, while it lives; another may have its id by now. */
export function runningPid(place: Place): number | undefined {
  const pid = lastPid(place);
  return pid !== undefined && isAlive(pid) && isOfPlace(place, pid) ? pid : undefined;
}

function isOfPlace({ folder }: Place, pid: number): boolean {
  if (process.platform === "win32") {
    const { stdout } = spawnSync("tasklist", ["/FI", `PID eq ${pid}`, "/NH"], { encoding: "utf8" });
    return /palinode|python/i.test(stdout ?? "");
  }
  const line = readSmallFile(`/proc/${pid}/cmdline`) || commandLine(pid);
  return line.includes(join(folder, "env-"));
}

function commandLine(pid: number): string {
  return spawnSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
}

/** Ends the server that was started from here, and returns whether there was one, which is stopped until a start. */
export async function stopProcess(place: Place): Promise<boolean> {
  const pid = runningPid(place);
  if (pid === undefined) return false;
  // No session is to start the former one while another takes its place.
  noteStopped(place, true);
  end(pid, "SIGTERM");
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (isAlive(pid) && performance.now() < deadline) await sleep(POLL_MS / 4);
  if (isAlive(pid)) end(pid, "SIGKILL");
  notePid(place, undefined);
  return true;
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    // Windows' program is a launcher, whose child is the server.
    if (process.platform === "win32") spawnSync("taskkill", ["/PID", String(pid), "/T", "/F"]);
    else process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

// Brings the installed server up, for whoever waits for it.
import { readSmallFile } from "../base/files.ts";
import { createClient, palinodeErrorOf, reindex } from "../server/index.ts";
import { needsIndex } from "./memory-folder.ts";
import { type Installation, noteStopped } from "./place.ts";
import { runningPid, startProcess, untilAnswering } from "./running.ts";
import { say, type Task } from "./task.ts";

const START_TIMEOUT_MS = 90_000;
const INDEX_TIMEOUT_MS = 10 * 60_000;
const MAX_LOG_LINES = 8;
const MAX_LOG_BYTES = 8 * 1024 * 1024;

/**
 * Starts the server where it does not run, and waits until it answers. `mayLackVectors`: what was saved before may have
 * to be read anew. Throws an `Error` for the user.
 */
export async function bringUp(task: Task, installation: Installation, mayLackVectors = false): Promise<void> {
  const { shell, config, place, signal } = task;
  noteStopped(place, false);
  const wantsIndex = needsIndex(installation.memoryDir) || mayLackVectors;
  const isRunning = runningPid(place) !== undefined;
  const { token } = config;
  if (!isRunning && !startProcess(place, installation, { env: shell.env, token, isIndexed: !wantsIndex }))
    throw new Error(`the server could not be started in ${installation.memoryDir}; is that folder there?`);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]);
  const version = await untilAnswering(place, config, limit);
  signal.throwIfAborted();
  if (version === undefined)
    throw new Error(`the server does not answer. Its log, ${place.logFile}:\n${endOf(place.logFile)}`);
  say(task, `Palinode ${version} ${isRunning ? "runs" : "is started"} at ${config.apiUrl}`);
  if (wantsIndex) await index(task);
}

/** Memories that lay there before are found only after the server has read them. */
async function index(task: Task): Promise<void> {
  const { config, signal } = task;
  say(task, "It reads the memories that are there; that may take minutes");
  try {
    const count = await reindex(createClient(config), { timeoutMs: INDEX_TIMEOUT_MS, signal });
    say(task, `It has read ${count} files`);
  } catch (error) {
    signal.throwIfAborted();
    say(task, `It could not read all of them (${palinodeErrorOf(error).message}); to try again: palinode reindex`);
  }
}

/** Returns the last lines of the log. */
function endOf(path: string): string {
  const lines = (readSmallFile(path, MAX_LOG_BYTES) ?? "").trim().split("\n");
  return lines.slice(-MAX_LOG_LINES).join("\n");
}

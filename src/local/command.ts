// The verb `server`: a Palinode server on this machine, from installing it to taking it away again.
import { rmSync } from "node:fs";
import { type Command, printJson, thisProgram, UsageError, type Values } from "../base/shell.ts";
import { readConfig, workspaceOf } from "../settings/index.ts";
import { listeningAt } from "./address.ts";
import { install } from "./install.ts";
import { type Installation, installationIn, isStopped, noteInstallation, noteStopped, placeIn } from "./place.ts";
import { answering, runningPid, stopProcess } from "./running.ts";
import { bringUp } from "./start.ts";
import { alone, say, type Task, usedAsItIs, whoAnswers } from "./task.ts";

/** The exit code of a program that was interrupted. */
const INTERRUPTED = 130;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const VERSION = /^\d[\w.]{0,40}$/;

type Step = (task: Task, values: Values) => Promise<number>;

const STEPS: Readonly<Record<string, Step>> = {
  install: (task, { version }) => install(task, version as string | undefined),
  start,
  stop,
  status,
  remove,
};

export const serverCommand: Command = {
  usage: `${Object.keys(STEPS).join("|")} [--version X] [--json]`,
  help: "a Palinode server on this machine: installed into an environment of its own, started, looked at, removed",
  options: { version: { type: "string" }, json: { type: "boolean" } },
  async run(shell, words, values) {
    const [name = "", ...rest] = words;
    const step = Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
    if (step === undefined || rest.length > 0)
      throw new UsageError(`server takes one of ${Object.keys(STEPS).join(", ")}`);
    checkOptions(name, values);
    const { config } = readConfig(undefined, shell.env, workspaceOf(shell.cwd));
    if (listeningAt(config.apiUrl) === undefined)
      throw new Error(
        `PALINODE_API_URL is ${config.apiUrl}, and a server here listens at an http address of this machine`,
      );
    return interruptible((signal) => {
      const task = { shell, config, place: placeIn(config), signal };
      return name === "status" ? step(task, values) : alone(task, () => step(task, values));
    });
  },
};

function checkOptions(name: string, { version, json }: Values): void {
  if (version !== undefined && name !== "install") throw new UsageError("--version is for server install");
  if (version !== undefined && !VERSION.test(String(version))) throw new UsageError("--version is one such as 0.23.0");
  if (json === true && name !== "status") throw new UsageError("--json is for server status");
}

/** What is half done is taken back before the process ends. */
async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  for (const signal of SIGNALS) process.once(signal, interrupt);
  try {
    return await work(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

async function start(task: Task): Promise<number> {
  const { place } = task;
  const { version, isOurs } = await whoAnswers(task);
  if (version !== undefined && !isOurs) {
    say(task, usedAsItIs(task, version));
    return 0;
  }
  const installation = installed(task);
  // One that does not answer is started anew.
  if (version === undefined) await stopProcess(place);
  noteInstallation(place, installation);
  await bringUp(task, installation);
  return 0;
}

/** Returns what is installed, for this address. Throws an `Error` for the user where nothing is. */
function installed({ place, config }: Task): Installation {
  const installation = installationIn(place);
  if (installation === undefined)
    throw new Error(`no server is installed here; to get one: ${thisProgram("server install")}`);
  return { ...installation, apiUrl: config.apiUrl };
}

async function stop(task: Task): Promise<number> {
  const { place, config } = task;
  const isInstalled = installationIn(place) !== undefined;
  if (isInstalled) noteStopped(place, true);
  const wasRunning = await stopProcess(place);
  const again = `no session starts it again; to have it back: ${thisProgram("server start")}`;
  if (wasRunning) say(task, `The server is stopped, and ${again}`);
  else if (isInstalled) say(task, `The server did not run, and ${again}`);
  const { version } = await answering(config);
  if (version === undefined) return isInstalled ? 0 : nothingInstalled(task);
  say(task, `Palinode ${version} at ${config.apiUrl} was started by somebody else and is left alone.`);
  return wasRunning ? 0 : 1;
}

function nothingInstalled(task: Task): number {
  say(task, "No server is installed here, so none is stopped.");
  return 0;
}

async function status(task: Task, { json }: Values): Promise<number> {
  const { shell, place, config } = task;
  const installation = installationIn(place);
  const [{ version = null }, pid = null] = [await answering(config), runningPid(place)];
  const isStartedAgain = installation !== undefined && config.serverStart && !isStopped(place);
  const { apiUrl: url } = config;
  if (json === true)
    printJson(shell, {
      url,
      answers: version,
      pid,
      installed: installation ?? null,
      log: place.logFile,
      isStartedAgain,
    });
  else
    for (const line of statusLines({ url, version, pid, installation, logFile: place.logFile, isStartedAgain }))
      say(task, line);
  return version === null ? 1 : 0;
}

interface Standing {
  readonly url: string;
  readonly version: string | null;
  readonly pid: number | null;
  readonly installation: Installation | undefined;
  readonly logFile: string;
  readonly isStartedAgain: boolean;
}

function statusLines({ url, version, pid, installation, logFile, isStartedAgain }: Standing): string[] {
  const whose = pid === null ? "not started from here" : `process ${pid}`;
  const answer = version === null ? `nobody answers at ${url}` : `Palinode ${version} answers at ${url} (${whose})`;
  if (installation === undefined) return [answer, `Installed: none; to get one: ${thisProgram("server install")}`];
  const { version: ofInstalled, memoryDir, variables } = installation;
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return [
    answer,
    `Installed: palinode ${ofInstalled}${set.length > 0 ? `, with ${set.join(" ")}` : ""}`,
    `Memories:  ${memoryDir}`,
    `Log:       ${logFile}`,
    isStartedAgain
      ? "A session that does not find it starts it again."
      : `No session starts it; to start it: ${thisProgram("server start")}`,
  ];
}

async function remove(task: Task): Promise<number> {
  const { place } = task;
  const installation = installationIn(place);
  await stopProcess(place);
  rmSync(place.folder, { recursive: true, force: true });
  if (installation === undefined) say(task, "No server is installed here.");
  else say(task, `palinode ${installation.version} is removed. Memory stays: ${installation.memoryDir}`);
  return 0;
}

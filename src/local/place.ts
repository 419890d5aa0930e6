// Where a server that was installed from here lies, and what is noted of it: all below one folder of the plugin's own.
import { join } from "node:path";
import { asRecord, asText } from "../base/json.ts";
import { openState, type State } from "../base/store.ts";
import type { Config } from "../settings/index.ts";

/** The version of the server that this plugin is tested with. */
export const TESTED_VERSION = "0.23.0";

const FOLDER = "local-server";
const INSTALLED = "installed.json";
const STOPPED = "stopped.json";
const PROCESS = "process.json";

/** A server that was installed from here. */
export interface Installation {
  readonly version: string;
  /** The virtual environment, a name in the place's folder. */
  readonly environment: string;
  /** The address that it was installed for. */
  readonly apiUrl: string;
  /** Its `PALINODE_DIR`. */
  readonly memoryDir: string;
  /** What else it is started with, such as `PALINODE_RETRIEVAL_MODE`. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The folder of it all. Its parts that are notes are read and written through `notes`. */
export interface Place {
  readonly folder: string;
  readonly logFile: string;
  readonly notes: State;
}

/** Returns the place below the state folder. Makes nothing. */
export function placeIn({ stateDir }: Pick<Config, "stateDir">): Place {
  const folder = join(stateDir, FOLDER);
  return { folder, logFile: join(folder, "server.log"), notes: openState(folder) };
}

/** Returns what is installed, or undefined; a note that makes no sense is none. */
export function installationIn({ notes }: Place): Installation | undefined {
  const { version, environment, apiUrl, memoryDir, variables } = asRecord(notes.read(INSTALLED));
  const texts = [version, environment, apiUrl, memoryDir].map(asText);
  if (texts.includes(undefined) || !isPlainName(texts[1] as string)) return undefined;
  const [ofVersion = "", name = "", url = "", memory = ""] = texts as string[];
  const entries = Object.entries(asRecord(variables)).filter(([, value]) => typeof value === "string");
  return {
    version: ofVersion,
    environment: name,
    apiUrl: url,
    memoryDir: memory,
    variables: Object.fromEntries(entries) as Record<string, string>,
  };
}

/** A name that leads nowhere else: the folder is removed one day. */
function isPlainName(name: string): boolean {
  return /^[\w][\w.+-]*$/.test(name);
}

/** Notes what is installed. Throws an `Error` for the user where that cannot be noted. */
export function noteInstallation({ notes, folder }: Place, installation: Installation): void {
  if (!notes.write(INSTALLED, installation)) throw new Error(`cannot write below ${folder}; it has to be writable`);
}

/** Returns whether somebody stopped the server, so that no session is to start it. */
export function isStopped({ notes }: Place): boolean {
  return notes.read(STOPPED) !== undefined;
}

/** Notes that somebody stopped it, or wants it again. */
export function noteStopped({ notes }: Place, wantsStop: boolean): void {
  if (wantsStop) notes.write(STOPPED, true);
  else notes.remove(STOPPED);
}

/** Returns the process id of the server that was started last, or undefined. Whether it lives is not asked. */
export function lastPid({ notes }: Place): number | undefined {
  const pid = asRecord(notes.read(PROCESS)).pid;
  return typeof pid === "number" ? pid : undefined;
}

export function notePid({ notes }: Place, pid: number | undefined): void {
  if (pid === undefined) notes.remove(PROCESS);
  else notes.write(PROCESS, { pid });
}

/** Returns a program of an environment. */
export function programOf({ folder }: Place, environment: string, name: string): string {
  return process.platform === "win32"
    ? join(folder, environment, "Scripts", `${name}.exe`)
    : join(folder, environment, "bin", name);
}

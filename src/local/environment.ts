// The server's own virtual environment: made by uv where that is there, else by Python itself. A new one stands beside
// the old until it is whole, and one that did not get so far is taken away.
import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../base/files.ts";
import { findProgram, runProgram } from "../base/programs.ts";
import { type Place, programOf } from "./place.ts";
import { findPython, whatIsMissing } from "./python.ts";

/** What uv fetches where no Python here will do. */
const UV_PYTHON = "3.12";
const NAME = /^env-/;
const MAX_ERROR_LINES = 6;

/** What making an environment needs to know. */
export interface Making {
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Hears what is being done. */
  readonly onStep: (step: string) => void;
  /** Hears each line that the installers print. */
  readonly onLine: (line: string) => void;
}

/**
 * Returns the name of a new environment that holds the server. Throws an `Error` for the user that says what is missing
 * or went wrong; nothing is left then.
 */
export async function makeEnvironment(place: Place, making: Making): Promise<string> {
  const name = `env-${making.version}-${randomUUID().slice(0, 8)}`;
  const commands = await commandsFor(place, name, making);
  makeFolder(place.folder, 0o700);
  try {
    for (const command of commands) await must(command, making);
    const program = programOf(place, name, "palinode-api");
    if (!existsSync(program)) throw new Error(`palinode ${making.version} brought no ${program}`);
    return name;
  } catch (error) {
    removeEnvironment(place, name);
    throw error;
  }
}

type Line = readonly [program: string, ...args: string[]];

async function commandsFor(place: Place, name: string, { version, env, onStep }: Making): Promise<Line[]> {
  const uv = findProgram("uv", env);
  const python = await findPython(env, uv === undefined);
  const folder = join(place.folder, name);
  const wanted = `palinode==${version}`;
  if (uv !== undefined) {
    const own = python?.lacks === undefined ? python?.path : undefined;
    onStep(`palinode ${version}, with ${uv}${own === undefined ? ` and a Python ${UV_PYTHON} of its own` : ""}`);
    const which = own === undefined ? [UV_PYTHON, "--python-preference", "only-managed"] : [own];
    return [
      [uv, "venv", "--quiet", "--python", ...which, folder],
      [uv, "pip", "install", "--python", programOf(place, name, "python"), wanted],
    ];
  }
  if (python === undefined || python.lacks !== undefined) throw new Error(whatIsMissing(python));
  onStep(`palinode ${version}, with ${python.path} (${python.version})`);
  const pip = ["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"];
  return [
    [python.path, "-m", "venv", folder],
    [programOf(place, name, "python"), ...pip, wanted],
  ];
}

async function must([program, ...args]: Line, { env, signal, onLine, version }: Making): Promise<void> {
  signal.throwIfAborted();
  const { code, output } = await runProgram(program, args, { env, signal, onLine });
  signal.throwIfAborted();
  if (code === 0) return;
  const lines = output.trim().split("\n").slice(-MAX_ERROR_LINES);
  throw new Error(`${faultIn(output, version)}:\n${lines.join("\n")}`);
}

function faultIn(output: string, version: string): string {
  if (/No space left|ENOSPC/i.test(output)) return "the disk is full";
  if (/No matching distribution found for palinode|there is no version of palinode/i.test(output))
    return `there is no palinode ${version} that this Python can have, or the package index cannot be reached`;
  return `palinode ${version} could not be installed`;
}

/** Removes an environment. Throws what the system says. */
export function removeEnvironment({ folder }: Place, name: string): void {
  if (NAME.test(name)) rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
}

/** Removes all environments but one: what a killed installation left, and those of former versions. */
export function removeOtherEnvironments(place: Place, kept: string | undefined): void {
  for (const name of place.notes.list("")) if (name !== kept) removeEnvironment(place, name);
}

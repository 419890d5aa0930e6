// Brings the real programs of this suite into `.cache/e2e`, by exact version: the Cline CLI and SDK, a Node 22 to run
// the SDK with, and palinode-api in a virtual environment.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { locked } from "./lock.ts";
import { installNpmPackages, installPalinode, machineFault, nodePackage, say } from "./packages.ts";

declare const REPOSITORY: string;

/** What this project is tested with. */
export const VERSIONS = {
  cline: "3.0.65",
  "@cline/sdk": "0.0.86",
  node: "22.23.3",
  palinode: "0.23.0",
} as const;

const CACHE = join(REPOSITORY, ".cache/e2e");
const STAMP = join(CACHE, "installed.json");
const FAILURE = join(CACHE, "failed.json");
const LOCK = join(REPOSITORY, ".cache/e2e.lock");
/** The files of one run share a failure, so that an absent registry is waited for once. */
const FAILURE_LIFE_MS = 5 * 60_000;
const KEY = JSON.stringify({ ...VERSIONS, platform: process.platform, arch: process.arch });

/** Where the installed parts are. */
export interface Parts {
  cache: string;
  /** `node_modules` with `@cline/sdk` and its types. */
  modules: string;
  node: string;
  /** The script that starts the CLI: run it with `node`. */
  cline: string;
  python: string;
  palinodeApi: string;
}

export type Installed = { parts: Parts; skip?: undefined } | { parts?: undefined; skip: string };

/** What went wrong in one line, and whether the machine (disk, network) is the reason rather than this project. */
interface Failure {
  reason: string;
  machine: boolean;
}

/**
 * Installs what is missing. When something cannot be: outside CI, and for reasons of the machine, the suite skips and
 * says why (`.cache/e2e/failed.json` keeps the words for whoever prints the end of a run); in CI anything else throws.
 */
export async function install(): Promise<Installed> {
  mkdirSync(CACHE, { recursive: true });
  if (!isCurrent()) await locked(LOCK, installAll);
  if (isCurrent()) return { parts: parts() };
  const failure = readFailure() ?? { reason: "the installation left no stamp", machine: false };
  if (process.env.CI && !failure.machine) throw new Error(`Cannot install the end-to-end parts: ${failure.reason}`);
  return { skip: `cannot install: ${failure.reason}` };
}

/** Returns the parts when they are here already; installs nothing. */
export function installedParts(): Parts | undefined {
  return isCurrent() ? parts() : undefined;
}

function parts(): Parts {
  const modules = join(CACHE, "node_modules");
  return {
    cache: CACHE,
    modules,
    node: join(modules, nodePackage(), "bin/node"),
    cline: join(modules, "cline/bin/cline"),
    python: join(CACHE, "venv/bin/python"),
    palinodeApi: join(CACHE, "venv/bin/palinode-api"),
  };
}

function isCurrent(): boolean {
  const { node, cline, palinodeApi } = parts();
  return readText(STAMP) === KEY && [node, cline, palinodeApi].every((path) => existsSync(path));
}

async function installAll(): Promise<void> {
  if (isCurrent() || readFailure()) return;
  rmSync(STAMP, { force: true });
  try {
    if (process.platform === "win32") throw new Error("the suite drives POSIX terminals and process groups");
    const { cline, "@cline/sdk": sdk, node, palinode } = VERSIONS;
    await installNpmPackages(CACHE, [`cline@${cline}`, `@cline/sdk@${sdk}`, `${nodePackage()}@${node}`]);
    await installPalinode(join(CACHE, "venv"), palinode);
    writeFileSync(STAMP, KEY);
    rmSync(FAILURE, { force: true });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    say(text);
    const fault = machineFault(text);
    const failure: Failure = { reason: fault ?? text.split("\n")[0]!, machine: fault !== undefined };
    writeFileSync(FAILURE, JSON.stringify({ ...failure, key: KEY, at: Date.now() }));
  }
}

function readFailure(): Failure | undefined {
  const saved = JSON.parse(readText(FAILURE) || "{}") as Partial<Failure & { key: string; at: number }>;
  if (saved.key !== KEY || Date.now() - (saved.at ?? 0) > FAILURE_LIFE_MS || !saved.reason) return undefined;
  return { reason: saved.reason, machine: saved.machine === true };
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

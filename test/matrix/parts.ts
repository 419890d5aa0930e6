// What the matrix runs with beside the parts of the end-to-end suite: three lines of Node, the first that will do and
// two that will not, Bun, the oldest supported and the newest palinode-api, and the newest Cline CLI. Each comes from
// npm or PyPI into a folder of `.cache/matrix`.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSIONS } from "../e2e/install.ts";
import { locked } from "../e2e/lock.ts";
import {
  bunPackage,
  installNpmPackages,
  installPalinode,
  machineFault,
  newestOnNpm,
  newestOnPyPi,
  nodePackage,
  say,
} from "../e2e/packages.ts";

declare const REPOSITORY: string;

const CACHE = join(REPOSITORY, ".cache/matrix");

/** Node's long-term lines that Cline runs on, and Bun, which SDK users have. */
const RUNTIMES = { node: ["20.20.2", "22.23.5", "24.22.3"], bun: "1.4.5" } as const;

/** Node as people still have it, which only has to be told so, and the first that is supported. */
const OLD_NODES = ["16.20.2", "18.20.8"] as const;
const FIRST_NODE = "20.19.0";

/** The first server with all the routes that the plugin cannot do without. */
const OLDEST_PALINODE = "0.13.0";

export interface Runtime {
  /** With its version, as in "node 20.20.2". */
  readonly name: string;
  readonly file: string;
  /** What stands before the name of a test file. */
  readonly flags: readonly string[];
}

export interface ServerPart {
  readonly version: string;
  readonly palinodeApi: string;
}

/** Returns the runtimes, installed on first use. */
export async function installRuntimes(): Promise<Runtime[]> {
  const { node, bun } = RUNTIMES;
  const folder = await installed(`runtimes-${[...node, bun].join("-")}`, (folder) =>
    installNpmPackages(folder, [...node.map(nodeNamed), `${bunPackage()}@${bun}`]),
  );
  const modules = join(folder, "node_modules");
  return [
    ...node.map((version) => nodeIn(folder, version)),
    { name: `bun ${bun}`, file: join(modules, bunPackage(), "bin/bun"), flags: ["test", "--timeout", "240000"] },
  ];
}

/** Returns the Nodes that are too old and the first that is not, installed on first use. */
export async function installOldNodes(): Promise<{ old: Runtime[]; first: Runtime }> {
  const versions = [...OLD_NODES, FIRST_NODE];
  const folder = await installed(`nodes-${versions.join("-")}`, (folder) =>
    installNpmPackages(folder, versions.map(nodeNamed)),
  );
  return { old: OLD_NODES.map((version) => nodeIn(folder, version)), first: nodeIn(folder, FIRST_NODE) };
}

function nodeNamed(version: string): string {
  return `node-${version}@npm:${nodePackage()}@${version}`;
}

function nodeIn(folder: string, version: string): Runtime {
  const file = join(folder, "node_modules", `node-${version}`, "bin/node");
  return { name: `node ${version}`, file, flags: ["--enable-source-maps", "--test-reporter=tap"] };
}

/** Returns the oldest server that is supported and the newest there is, installed on first use. */
export async function installServers(): Promise<ServerPart[]> {
  const oldest = await installServer(OLDEST_PALINODE);
  const newest = await reporting("newest palinode", () =>
    newestOnPyPi("palinode", join(oldest.palinodeApi, "../python")),
  );
  return [oldest, await installServer(newest)];
}

/** Returns the script that starts the newest CLI, installed on first use; undefined when the pinned one is newest. */
export async function installNewestCli(): Promise<{ version: string; cline: string } | undefined> {
  const version = await reporting("newest cline", () => newestOnNpm("cline"));
  if (version === VERSIONS.cline) return undefined;
  const folder = await installed(`cline-${version}`, (folder) => installNpmPackages(folder, [`cline@${version}`]));
  return { version, cline: join(folder, "node_modules/cline/bin/cline") };
}

async function installServer(version: string): Promise<ServerPart> {
  const ofSuite = join(REPOSITORY, ".cache/e2e/venv/bin/palinode-api");
  if (version === VERSIONS.palinode && existsSync(ofSuite)) return { version, palinodeApi: ofSuite };
  const venv = await installed(`palinode-${version}`, (folder) => installPalinode(folder, version));
  return { version, palinodeApi: join(venv, "bin/palinode-api") };
}

/** Returns a folder of the cache, filled by `fill` unless that was done to its end before, in any process. */
async function installed(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(CACHE, name);
  const stamp = `${folder}.installed`;
  mkdirSync(CACHE, { recursive: true });
  await locked(`${folder}.lock`, async () => {
    if (existsSync(stamp)) return;
    rmSync(folder, { recursive: true, force: true });
    await reporting(name, () => fill(folder));
    writeFileSync(stamp, "");
  });
  return folder;
}

/** Does work that needs a registry. When that fails, the reason is left for whoever prints the end of a run. */
async function reporting<T>(name: string, work: () => Promise<T>): Promise<T> {
  const failure = join(CACHE, `failed-${name.replaceAll(" ", "-")}.json`);
  mkdirSync(CACHE, { recursive: true });
  rmSync(failure, { force: true });
  try {
    return await work();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const reason = machineFault(text) ?? text.split("\n")[0] ?? "";
    say(text);
    writeFileSync(failure, JSON.stringify({ part: name, reason }));
    throw new Error(`Cannot install ${name}: ${reason}`);
  }
}

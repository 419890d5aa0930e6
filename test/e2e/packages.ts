// Installs packages of npm and PyPI into folders of their own. Nothing here runs install scripts: the CLI's binary,
// Node's and Bun's are ordinary files of their platform packages.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./process.ts";

/** The npm package `node` only fetches one of these from an install script; asking for it directly needs no script. */
export function nodePackage(): string {
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  return `${prefix}-${process.platform}-${process.arch}`;
}

/** The same of Bun, which names Arm as its chips do. */
export function bunPackage(): string {
  return `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
}

/** Installs packages, each as `name@version`, into `node_modules` of a folder. Rejects with npm's own words. */
export async function installNpmPackages(folder: string, wanted: readonly string[]): Promise<void> {
  say(`npm install ${wanted.join(" ")} (several hundred MB the first time)`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  // npm's own patience with an absent registry is minutes for each package.
  const patience = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", ...patience];
  await must("npm", ["install", ...wanted, ...flags], folder);
}

/** Installs palinode into a new virtual environment in `venv`. Rejects with pip's own words. */
export async function installPalinode(venv: string, version: string): Promise<void> {
  mkdirSync(dirname(venv), { recursive: true });
  const python = (await findPython()) ?? (await installPython());
  say(`palinode ${version} into a virtual environment of ${python}`);
  await must(python, ["-m", "venv", "--clear", venv], dirname(venv));
  await must(join(venv, "bin/python"), ["-m", "pip", "install", ...PIP_FLAGS, `palinode==${version}`], venv);
}

/** Returns the newest version of a package of npm. */
export async function newestOnNpm(name: string): Promise<string> {
  return (await must("npm", ["view", name, "version", "--fetch-retries=2"], process.cwd())).trim();
}

/** Returns the newest version of a package of PyPI that can be installed here. */
export async function newestOnPyPi(name: string, python: string): Promise<string> {
  const flags = ["--dry-run", "--ignore-installed", "--no-deps", "--report", "-"];
  const report = JSON.parse(
    await must(python, ["-m", "pip", "install", ...PIP_FLAGS, ...flags, name], dirname(python)),
  );
  return (report as { install: [{ metadata: { version: string } }] }).install[0].metadata.version;
}

/** Names what the machine lacks, if that is what the output of a package manager complains of. */
export function machineFault(output: string): string | undefined {
  if (/ENOSPC|no space left|disk quota/i.test(output)) return "the disk is full";
  const network = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|network/i;
  const registry = /\bE5\d\d\b|name resolution|NewConnectionError|ConnectTimeout|ReadTimeout|failed to fetch/i;
  return network.test(output) || registry.test(output) ? "the package registry cannot be reached" : undefined;
}

/** Tells the person who waits what takes so long. */
export function say(line: string): void {
  process.stderr.write(`e2e: ${line}\n`);
}

const PIP_FLAGS = ["--disable-pip-version-check", "--quiet", "--retries", "2"];

/** palinode-api loads a vector extension into SQLite, which many builds of Python leave out. */
const PROBE =
  "import ensurepip, sqlite3, sys, venv; assert sys.version_info >= (3, 11);" +
  " sqlite3.connect(':memory:').enable_load_extension(True)";

async function findPython(): Promise<string | undefined> {
  for (const name of ["python3", "/usr/bin/python3", "python3.13", "python3.12", "python3.11"]) {
    const probe = await run(name, ["-c", PROBE], { cwd: process.cwd() });
    if (probe.code === 0) return name;
  }
  return undefined;
}

/** Continuous integration on Debian runs as root and may lack Python or its venv module altogether. */
async function installPython(): Promise<string> {
  const missing = "no Python 3.11 or newer with venv and loadable SQLite extensions (Debian's python3 has both)";
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) throw new Error(missing);
  say("apt-get install python3 python3-venv");
  await must("apt-get", ["update"], process.cwd());
  await must("apt-get", ["install", "-y", "python3", "python3-venv"], process.cwd());
  const python = await findPython();
  if (!python) throw new Error(missing);
  return python;
}

/** Returns what a command printed; rejects with the end of that when it fails. */
async function must(command: string, args: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { cwd });
  if (code === 0) return stdout;
  const end = `${stdout}\n${stderr}`.trim().split("\n").slice(-20).join("\n");
  throw new Error(`${command} ${args.join(" ")} failed with ${code}\n${end}`);
}

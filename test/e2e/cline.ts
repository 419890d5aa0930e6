// The real Cline CLI in a home folder of its own, pointed at the scripted model.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Parts } from "./install.ts";
import { freePort } from "./loopback.ts";
import { guard, type Result, run, sweep } from "./process.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

declare const REPOSITORY: string;

/** The shipped file. */
export const PLUGIN = join(REPOSITORY, "dist/palinode.js");
/** What the origin remote makes the project's name; the folder has another, so that the two cannot be mixed up. */
export const PROJECT = "shop";

/** A provider that the host has built in and that takes any base URL. */
export const PROVIDER = { id: "openai-compatible", model: "scripted", key: "not-a-real-key" };

export interface Sandbox {
  home: string;
  workspace: string;
  /** `~/.cline` of this home. */
  clineDir: string;
  env: Record<string, string | undefined>;
  /** Runs `cline ARGS` without a terminal. */
  cline(...args: string[]): Promise<Result>;
  /** Runs the SDK driver under the cached Node and returns what it printed as JSON. */
  drive(job: object): Promise<Driven>;
  terminal(...args: string[]): Terminal;
  /** Puts the shipped file into the plugins folder, as a person who drops it in. */
  dropIn(): void;
  /** Ids of the sessions in this home, oldest first. */
  sessions(): string[];
  /** The persisted transcript of a session, as text. */
  transcript(id: string): string;
  /** What the CLI and its daemon logged, by line. */
  hostLog(): string[];
  /** What the plugin keeps on disk here, path to content. */
  pluginState(): Record<string, string>;
  /** The hub daemon's process id, when its discovery record says that one runs. */
  hubPid(): number | undefined;
  stop(): Promise<void>;
}

/** What `sdk-driver.mjs` reports of its last session. */
export interface Driven {
  sessionId?: string;
  /** Of sessions that ran at the same time. */
  sessionIds?: string[];
  answers: string[];
}

const RUN_LIMIT_MS = 120_000;
/** A port that nobody listens on. */
const NOWHERE = "http://127.0.0.1:9";

export async function createSandbox(parts: Parts, urls: { model: string; palinode?: string }): Promise<Sandbox> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "palinode-e2e-home-")));
  const workspace = join(home, "checkout");
  const clineDir = join(home, ".cline");
  const data = join(clineDir, "data");
  guard(home);
  mkdirSync(join(home, "tmp"));
  createWorkspace(workspace);
  writeSettings(data, urls.model);
  const env = { ...(await environment(home, parts)), ...(urls.palinode ? { PALINODE_API_URL: urls.palinode } : {}) };
  const terminals: Terminal[] = [];
  const options = { cwd: workspace, env, timeoutMs: RUN_LIMIT_MS };
  const sessionFile = (id: string): string => join(data, "sessions", id, `${id}.messages.json`);
  return {
    home,
    workspace,
    clineDir,
    env,
    cline: (...args) => run(parts.node, [parts.cline, ...args], options),
    drive: (job) => drive(parts, job, options),
    terminal: (...args) => {
      const terminal = openTerminal([parts.node, parts.cline, ...args], { python: parts.python, cwd: workspace, env });
      terminals.push(terminal);
      return terminal;
    },
    dropIn: () => {
      mkdirSync(join(clineDir, "plugins"), { recursive: true });
      copyFileSync(PLUGIN, join(clineDir, "plugins", basename(PLUGIN)));
    },
    // Ids begin with the time of creation, so names sort by age.
    sessions: () => (existsSync(join(data, "sessions")) ? readdirSync(join(data, "sessions")).sort() : []),
    transcript: (id) => (existsSync(sessionFile(id)) ? readFileSync(sessionFile(id), "utf8") : ""),
    hostLog: () =>
      Object.values(readTree(join(data, "logs")))
        .join("\n")
        .split("\n"),
    pluginState: () => readTree(join(data, "palinode")),
    hubPid: () => hubPid(data),
    stop: async () => {
      for (const terminal of terminals) terminal.kill();
      sweep(home);
      await removeFolder(home);
    },
  };
}

/** Nothing of the developer's own environment but the search path: no keys, no `CLINE_*`, no `PALINODE_*`. */
async function environment(home: string, parts: Parts): Promise<Record<string, string | undefined>> {
  return {
    // The CLI runs its plugin sandbox with the `node` it finds here.
    PATH: [dirname(parts.node), process.env.PATH].join(delimiter),
    HOME: home,
    CLINE_DIR: join(home, ".cline"),
    CLINE_DATA_DIR: join(home, ".cline/data"),
    // The daemon's port is fixed otherwise, and sandboxes that run side by side would find each other's.
    CLINE_HUB_PORT: String(await freePort()),
    CLINE_NO_AUTO_UPDATE: "1",
    // After four seconds the host goes on without a plugin that it has not loaded. A machine may be too busy even to
    // start a process in that time; one test is about it, the others are about what follows.
    CLINE_PLUGIN_IMPORT_TIMEOUT_MS: "60000",
    // The host caches what it transformed here, and another test's cache would hide a first load.
    TMPDIR: join(home, "tmp"),
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    // Whatever is not on loopback is refused at once.
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: "127.0.0.1,localhost",
  };
}

function createWorkspace(workspace: string): void {
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "notes.txt"), "A workspace for the end-to-end suite.\n");
  const git = (...args: string[]): void => void execFileSync("git", args, { cwd: workspace, stdio: "ignore" });
  git("init", "--quiet");
  git("remote", "add", "origin", `https://example.com/acme/${PROJECT}.git`);
}

/** The two files that `cline auth` and the settings view write; writing them saves a start of the CLI each time. */
function writeSettings(data: string, modelUrl: string): void {
  const settings = { provider: PROVIDER.id, apiKey: PROVIDER.key, model: PROVIDER.model, baseUrl: modelUrl };
  const entry = { settings, updatedAt: new Date().toISOString(), tokenSource: "manual" };
  const providers = { version: 1, lastUsedProvider: PROVIDER.id, modes: {}, providers: { [PROVIDER.id]: entry } };
  mkdirSync(join(data, "settings"), { recursive: true });
  writeFileSync(join(data, "settings/providers.json"), JSON.stringify(providers));
  const global = { telemetryOptOut: true, autoUpdateEnabled: false };
  writeFileSync(join(data, "settings/global-settings.json"), JSON.stringify(global));
}

async function drive(parts: Parts, job: object, options: Parameters<typeof run>[2]): Promise<Driven> {
  const script = join(REPOSITORY, "test/e2e/sdk-driver.mjs");
  const sdk = join(parts.modules, "@cline/sdk/dist/index.js");
  const { code, stdout, stderr } = await run(parts.node, [script, JSON.stringify({ sdk, ...job })], options);
  const last = stdout.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !last.startsWith("{")) throw new Error(`The SDK driver failed (${code}):\n${stdout}\n${stderr}`);
  return JSON.parse(last) as Driven;
}

function readTree(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  // Node 20 before 20.12 calls it `path`.
  const paths = entries.map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
}

function hubPid(data: string): number | undefined {
  const record = join(data, "locks/hub/production.json");
  if (!existsSync(record)) return undefined;
  return (JSON.parse(readFileSync(record, "utf8")) as { pid?: number }).pid;
}

/** A process that is just ending may still write; its folder is worth a second try. */
async function removeFolder(folder: string): Promise<void> {
  for (let round = 0; round < 20; round++) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch {
      await sleep(100);
    }
  }
}

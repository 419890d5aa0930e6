// The thread that worker-host.ts runs a plugin in: it imports the built file, sets it up, and calls what the host asks
// for. Everything that crosses is plain data. Whatever the plugin prints is reported, never printed.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { ApiCapture } from "./host-inprocess.ts";
import { createApiCapture } from "./host-inprocess.ts";

/** What the host passes when it starts a thread. */
export type WorkerSetup = {
  file: string;
  context: Record<string, unknown>;
  /** Which members of a real context that are functions to add. */
  offers: { logger: boolean; onDispose: boolean };
  agentRuntime: boolean;
};

export type HostMessage =
  | { id: number; do: "import" | "setup" | "dispose" | "release" }
  | { id: number; do: "hook" | "tool" | "command"; name: string; input: unknown; context?: unknown };

export type WorkerMessage =
  | { id: number; ok: true; value: unknown; lost: string[] }
  | { id: number; ok: false; message: string }
  | { output: string; via: string }
  | { level: string; entry: unknown[] };

/** What a plugin registered, as the host sees it. */
export type Registered = {
  hooks: string[];
  tools: string[];
  toolTimeouts: Record<string, number | undefined>;
  commands: string[];
  rules: string[];
};

type Callable = (...args: unknown[]) => unknown;
type Plugin = {
  name: string;
  manifest: { capabilities: string[] };
  hooks?: Record<string, Callable>;
  setup?: Callable;
};

const setup = workerData as WorkerSetup;
const port = parentPort;
const disposers: Callable[] = [];
let plugin: Plugin | undefined;
let registered: Pick<ApiCapture, "tools" | "commands" | "rules"> & { hooks: Record<string, Callable> };

reportOutput();
if (typeof setup.context.cwd === "string") process.cwd = () => String(setup.context.cwd);
port?.on("message", (message: HostMessage) => {
  if (message.do === "release") port.close();
  else void answer(message);
});

async function answer(message: HostMessage): Promise<void> {
  try {
    const { value, lost } = plain(await perform(message));
    send({ id: message.id, ok: true, value, lost });
  } catch (error) {
    send({ id: message.id, ok: false, message: error instanceof Error ? error.message : String(error) });
  }
}

async function perform(message: HostMessage): Promise<unknown> {
  switch (message.do) {
    case "import":
      return timed(importPlugin);
    case "setup":
      return timed(setUp);
    case "hook":
      return registered.hooks[message.name]?.(message.input);
    case "tool":
      return named(registered.tools, message.name).execute(message.input, message.context);
    case "command":
      return named(registered.commands, message.name).handler?.(String(message.input));
    case "dispose":
      for (const dispose of disposers) await dispose();
      return undefined;
    default:
      return undefined;
  }
}

async function timed<Result>(work: () => Promise<Result>): Promise<Result & { ms: number }> {
  const start = performance.now();
  const result = await work();
  return { ...result, ms: performance.now() - start };
}

async function importPlugin(): Promise<Pick<Plugin, "name" | "manifest">> {
  const module = (await import(pathToFileURL(setup.file).href)) as Record<string, unknown>;
  const value = (module.default ?? module.plugin) as Plugin | undefined;
  if (typeof value?.name !== "string" || value.name === "") {
    throw new Error(`Invalid plugin module at ${setup.file}: it exports no plugin with a name`);
  }
  if (!Array.isArray(value.manifest?.capabilities) || value.manifest.capabilities.length === 0) {
    throw new Error(`Invalid plugin module at ${setup.file}: manifest.capabilities is missing or empty`);
  }
  plugin = value;
  return { name: value.name, manifest: value.manifest };
}

async function setUp(): Promise<Registered> {
  const capture = createApiCapture();
  if (setup.agentRuntime) {
    // `new Agent({ plugins })` calls setup with one argument, and uses nothing but what it returns.
    const result = (await plugin?.setup?.(setup.context)) as
      | { hooks?: Record<string, Callable>; tools?: ApiCapture["tools"] }
      | undefined;
    registered = { hooks: result?.hooks ?? {}, tools: result?.tools ?? [], commands: [], rules: [] };
  } else {
    await plugin?.setup?.(capture.api, { ...setup.context, ...offers() });
    registered = { ...capture, hooks: plugin?.hooks ?? {} };
  }
  return {
    hooks: Object.keys(registered.hooks),
    tools: registered.tools.map((tool) => tool.name),
    toolTimeouts: Object.fromEntries(registered.tools.map(({ name, timeoutMs }) => [name, timeoutMs])),
    commands: registered.commands.map((command) => command.name),
    rules: await Promise.all(
      registered.rules.map(async ({ content }) => (typeof content === "function" ? content() : content)),
    ),
  };
}

function offers(): Record<string, unknown> {
  const log =
    (level: string) =>
    (...entry: unknown[]) =>
      send({ level, entry: plain(entry).value as unknown[] });
  return {
    ...(setup.offers.logger ? { logger: { debug: log("debug"), log: log("log"), error: log("error") } } : {}),
    ...(setup.offers.onDispose ? { onDispose: (dispose: Callable) => void disposers.push(dispose) } : {}),
  };
}

function named<Entry extends { name: string }>(entries: Entry[], name: string): Entry {
  const entry = entries.find((candidate) => candidate.name === name);
  if (!entry) throw new Error(`Nothing is registered as "${name}"`);
  return entry;
}

/** Returns what is left of a value after a JSON round trip, and where something was lost on the way. */
function plain(value: unknown): { value: unknown; lost: string[] } {
  const text = JSON.stringify(value);
  return { value: text === undefined ? undefined : JSON.parse(text), lost: lostParts(value, "result") };
}

function lostParts(value: unknown, path: string): string[] {
  if (typeof value === "function" || typeof value === "symbol") return [`${path} is a ${typeof value}`];
  if (typeof value !== "object" || value === null) return [];
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value))
    return [`${path} is a ${value.constructor.name}`];
  return Object.entries(value).flatMap(([key, part]) => lostParts(part, `${path}.${key}`));
}

/** Catches console, the process streams, writes to their descriptors, and warnings. */
function reportOutput(): void {
  const report =
    (via: string) =>
    (text: unknown): boolean => {
      send({ output: String(text), via });
      return true;
    };
  process.stdout.write = report("stdout") as typeof process.stdout.write;
  process.stderr.write = report("stderr") as typeof process.stderr.write;
  process.on("warning", (warning) => report("warning")(warning.message));
  const { writeSync } = fs;
  fs.writeSync = ((fd: number, data: string | Uint8Array, ...rest: []) => {
    if (fd !== 1 && fd !== 2) return writeSync(fd, data as string, ...rest);
    report(`fd ${fd}`)(Buffer.from(data));
    return Buffer.byteLength(data);
  }) as typeof writeSync;
  syncBuiltinESMExports();
}

function send(message: WorkerMessage): void {
  port?.postMessage(message);
}

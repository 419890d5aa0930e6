// A host like Cline's newer one: it runs a built plugin in a worker thread and enforces the documented limits. Only
// plain data crosses, an overrun ends the thread and the next call gets a fresh one, five failures in a row turn the
// plugin off.
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { HostMessage, Registered, WorkerMessage, WorkerSetup } from "./worker.ts";

declare const REPOSITORY: string;

export type Limits = {
  importMs: number;
  setupMs: number;
  hookMs: number;
  toolMs: number;
  commandMs: number;
  disposeMs: number;
  /** Failed calls in a row that turn the plugin off. */
  failures: number;
};

export type WorkerHostOptions = {
  /** The built plugin. @default "<repository>/dist/palinode.js" */
  file?: string;
  /** The whole environment of the thread; of ours it gets PATH only. @default {} */
  env?: Record<string, string>;
  /** The plain members of setup's `ctx`: `session`, `workspaceInfo`, `cwd`… @default {} */
  context?: Record<string, unknown>;
  /** Whether `ctx.logger` exists; its calls end up in `host.logs`. @default false */
  logger?: boolean;
  /** Whether `ctx.onDispose` exists. @default false */
  onDispose?: boolean;
  /** Whether to act as `new Agent({ plugins })`: `setup(context)`, using only what that returns. @default false */
  agentRuntime?: boolean;
  /** @default what the docs say */
  limits?: Partial<Limits>;
  /** Node's own options for the thread. @default [] */
  execArgv?: string[];
};

export type Started = {
  name: string;
  manifest: { capabilities: string[] };
  hooks: string[];
  tools: string[];
  commands: string[];
  /** The texts of the rules. */
  rules: string[];
  importMs: number;
  setupMs: number;
};

export type Failure = { phase: string; message: string };

export type WorkerHost = {
  /** Imports and sets up, if that has not happened in the current thread yet. Rejects when the plugin is off. */
  start(): Promise<Started>;
  /** Calls a hook. A failing one has no result, as on the host; see `failures`. */
  hook(name: string, payload: unknown): Promise<{ result: unknown; ms: number }>;
  beforeModel(payload: unknown): Promise<{ result: unknown; ms: number }>;
  afterRun(payload: unknown): Promise<{ result: unknown; ms: number }>;
  /** Rejects when the tool fails. */
  callTool(name: string, input: unknown, context?: unknown): Promise<unknown>;
  /** Rejects when the command fails. */
  runCommand(name: string, input?: string): Promise<unknown>;
  /** Ends the thread without a word, as an idle eviction does. The next call gets a fresh one. */
  kill(): Promise<void>;
  /** Runs what was given to `ctx.onDispose`, then ends the thread. */
  dispose(): Promise<void>;
  /** Lets go of the thread and tells whether it ends by itself: it does not when a timer or a socket holds it. */
  exitsWithin(ms: number): Promise<boolean>;
  readonly status: "loading" | "ready" | "degraded" | "failed";
  readonly failures: Failure[];
  /** What the plugin printed. A plugin must not. */
  readonly output: { via: string; text: string }[];
  readonly logs: { level: string; entry: unknown[] }[];
  /** What a host would have lost or been hurt by: output, and parts of results that are no plain data. */
  readonly violations: string[];
};

/** The thread went away under a call; whoever made it go has written down why. */
class Gone extends Error {}

type Waiting = { resolve(answer: Answered): void; reject(error: Error): void };
type Answered = { value: unknown; lost: string[] };
type Thread = { worker: Worker; waiting: Map<number, Waiting>; isEnding: boolean };
type Setup = Started & Pick<Registered, "toolTimeouts">;
type Called = { result: unknown; ms: number };
/** A message before it has its number. */
type Call = HostMessage extends infer Message ? (Message extends HostMessage ? Omit<Message, "id"> : never) : never;

/** What is known across threads, and the thread of the moment. */
type State = Pick<WorkerHost, "failures" | "output" | "logs" | "violations"> & {
  readonly options: WorkerHostOptions;
  readonly limits: Limits;
  status: WorkerHost["status"];
  failedInRow: number;
  thread?: Thread;
  started?: Promise<Setup>;
};

const LIMITS: Limits = {
  importMs: 4000,
  setupMs: 4000,
  hookMs: 3000,
  toolMs: 60_000,
  commandMs: 60_000,
  disposeMs: 3000,
  failures: 5,
};

let lastId = 0;

export function createWorkerHost(options: WorkerHostOptions = {}): WorkerHost {
  const limits = { ...LIMITS, ...options.limits };
  const state: State = {
    options,
    limits,
    failures: [],
    output: [],
    logs: [],
    violations: [],
    status: "loading",
    failedInRow: 0,
  };
  const { failures, output, logs, violations } = state;
  const hook: WorkerHost["hook"] = async (name, payload) => {
    const message = { do: "hook", name, input: plain(payload) } as const;
    return perform(state, { phase: `hook:${name}`, message, limitMs: limits.hookMs }).catch(() => ({
      result: undefined,
      ms: 0,
    }));
  };
  return {
    failures,
    output,
    logs,
    violations,
    get status() {
      return state.status;
    },
    async start() {
      const { toolTimeouts, ...started } = await ensureStarted(state);
      return started;
    },
    hook,
    beforeModel: (payload) => hook("beforeModel", payload),
    afterRun: (payload) => hook("afterRun", payload),
    async callTool(name, input, context) {
      const { toolTimeouts } = await ensureStarted(state);
      const message = { do: "tool", name, input: plain(input), context: plain(context) } as const;
      return (await perform(state, { phase: `tool:${name}`, message, limitMs: toolTimeouts[name] ?? limits.toolMs }))
        .result;
    },
    async runCommand(name, input = "") {
      const message = { do: "command", name, input } as const;
      return (await perform(state, { phase: `command:${name}`, message, limitMs: limits.commandMs })).result;
    },
    kill: () => end(state),
    dispose: () => dispose(state),
    exitsWithin: (ms) => exitsWithin(state, ms),
  };
}

async function perform(
  state: State,
  { phase, message, limitMs }: { phase: string; message: Call; limitMs: number },
): Promise<Called> {
  await ensureStarted(state);
  const start = performance.now();
  try {
    const { value, lost } = await ask(state, message, limitMs);
    state.violations.push(...lost.map((part) => `${phase}: ${part}`));
    state.failedInRow = 0;
    state.status = "ready";
    return { result: value, ms: performance.now() - start };
  } catch (error) {
    if (error instanceof Gone) throw error;
    fail(state, phase, error);
    state.failedInRow += 1;
    state.status = state.failedInRow >= state.limits.failures ? "failed" : "degraded";
    throw error;
  }
}

/** Returns what setup gave in the current thread, starting one if there is none. Rejects when the plugin is off. */
async function ensureStarted(state: State): Promise<Setup> {
  if (state.status === "failed") throw new Error(`The plugin is off: ${state.failures.at(-1)?.message}`);
  if (!state.thread) {
    state.thread = createThread(state);
    state.started = boot(state);
  }
  return state.started as Promise<Setup>;
}

function createThread(state: State): Thread {
  const { file, env, context, logger = false, onDispose = false, agentRuntime = false, execArgv = [] } = state.options;
  const workerData: WorkerSetup = {
    file: file ?? join(REPOSITORY, "dist/palinode.js"),
    context: plain(context ?? {}) as Record<string, unknown>,
    offers: { logger, onDispose },
    agentRuntime,
  };
  const script = join(REPOSITORY, ".cache/build/test/helpers/worker.js");
  const worker = new Worker(script, {
    workerData,
    execArgv,
    env: { PATH: process.env.PATH, ...env },
    stdout: true,
    stderr: true,
  });
  const thread: Thread = { worker, waiting: new Map(), isEnding: false };
  worker.on("message", (message: WorkerMessage) => {
    if ("output" in message) print(state, message.via, message.output);
    else if ("level" in message) state.logs.push(message);
    else if (message.ok) thread.waiting.get(message.id)?.resolve(message);
    else thread.waiting.get(message.id)?.reject(new Error(message.message));
  });
  worker.stdout.on("data", (text) => print(state, "stdout", text));
  worker.stderr.on("data", (text) => print(state, "stderr", text));
  worker.on("error", (error) => crash(state, thread, error));
  worker.on("exit", (code) => crash(state, thread, new Error(`The thread ended by itself with exit code ${code}`)));
  return thread;
}

async function boot(state: State): Promise<Setup> {
  let phase = "import";
  try {
    const { value: imported } = await ask(state, { do: "import" }, state.limits.importMs);
    phase = "setup";
    const { value: registered } = await ask(state, { do: "setup" }, state.limits.setupMs);
    if (state.status === "loading") state.status = "ready";
    const { ms: importMs, ...plugin } = imported as Pick<Started, "name" | "manifest"> & { ms: number };
    const { ms: setupMs, ...parts } = registered as Registered & { ms: number };
    return { ...plugin, ...parts, importMs, setupMs };
  } catch (error) {
    if (error instanceof Gone) throw error;
    fail(state, phase, error);
    state.status = "failed";
    await end(state);
    throw error;
  }
}

/** Sends one message and waits for its answer. After an overrun the thread is gone. */
async function ask(state: State, message: Call, limitMs: number): Promise<Answered> {
  const { thread } = state;
  if (!thread) throw new Gone("The thread is gone");
  const id = ++lastId;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Answered>((resolve, reject) => {
      thread.waiting.set(id, { resolve, reject });
      thread.worker.postMessage({ id, ...message });
      timer = setTimeout(() => {
        reject(new Error(`Timed out after ${limitMs} ms`));
        void end(state);
      }, limitMs);
    });
  } finally {
    clearTimeout(timer);
    thread.waiting.delete(id);
  }
}

async function dispose(state: State): Promise<void> {
  if (!state.thread) return;
  await ask(state, { do: "dispose" }, state.limits.disposeMs).catch((error: unknown) => fail(state, "dispose", error));
  await end(state);
}

async function exitsWithin(state: State, ms: number): Promise<boolean> {
  const { thread } = state;
  if (!thread) return true;
  thread.isEnding = true;
  const exit = once(thread.worker, "exit", { signal: AbortSignal.timeout(ms) });
  thread.worker.postMessage({ id: ++lastId, do: "release" });
  const exits = await exit.then(
    () => true,
    () => false,
  );
  await end(state);
  return exits;
}

/** An uncaught error, an unhandled rejection or process.exit: the plugin is off, its host goes on. */
function crash(state: State, thread: Thread, error: unknown): void {
  if (thread.isEnding) return;
  fail(state, "uncaught", error);
  state.status = "failed";
  release(state, thread);
}

async function end(state: State): Promise<void> {
  const { thread } = state;
  if (!thread) return;
  release(state, thread);
  await thread.worker.terminate();
}

/** Forgets a thread, and fails the calls that wait for it. */
function release(state: State, thread: Thread): void {
  thread.isEnding = true;
  if (state.thread === thread) state.thread = undefined;
  for (const { reject } of thread.waiting.values()) reject(new Gone("The thread is gone"));
}

function fail(state: State, phase: string, error: unknown): void {
  state.failures.push({ phase, message: error instanceof Error ? error.message : String(error) });
}

function print(state: State, via: string, text: unknown): void {
  state.output.push({ via, text: String(text) });
  state.violations.push(`${via}: ${String(text).trimEnd()}`);
}

/** What is left of a value on its way to another thread. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

// A stage for tests of the built plugin: a stand-in server, the worker host, a conversation and a state folder, all
// cleaned up after the test.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Palinode, type PalinodeOptions, startPalinode } from "../palinode/server.ts";
import { type Chat, createChat, injected, type Message, sent, textOf } from "./chat.ts";
import { createWorkerHost, type WorkerHost } from "./worker-host.ts";

export type SceneOptions = {
  server?: PalinodeOptions;
  env?: Record<string, string>;
  /** Merged into the context of `setup`; `session: undefined` takes the session away. */
  context?: Record<string, unknown>;
  onDispose?: boolean;
  agentRuntime?: boolean;
  logger?: boolean;
};

export type Scene = {
  readonly server: Palinode;
  readonly host: WorkerHost;
  readonly chat: Chat;
  readonly folder: string;
  readonly stateDir: string;
  /** A host as a fresh process of the same session would be. */
  restart(options?: Pick<SceneOptions, "env" | "context">): WorkerHost;
  /** Calls `beforeModel` and returns the messages the model would get. */
  model(chat?: Chat, host?: WorkerHost): Promise<Message[]>;
  /** The same, and only the texts that the plugin added. */
  memory(chat?: Chat, host?: WorkerHost): Promise<string[]>;
  /** Calls `afterRun`. */
  finish(chat?: Chat, host?: WorkerHost): Promise<void>;
};

export const PNPM = {
  file: "decisions/use-pnpm.md",
  core: true,
  summary: "pnpm everywhere",
  body: "We use pnpm for all packages.",
};
export const ROLLBACK = {
  file: "insights/rollback.md",
  body: "To roll back a deploy of the api run deploy rollback and restart the api",
};
export const ROLLBACK_PROMPT = "How do we roll back a deploy of the api?";

/** Returns a scene; without options: one core memory, one other, a session, and defaults for everything. */
export async function openScene(t: TestContext, options: SceneOptions = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-test-"));
  const stateDir = join(folder, "state");
  const server = await startPalinode({ memories: [PNPM, ROLLBACK], ...options.server });
  const hosts: WorkerHost[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((host) => host.kill()));
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function open(more: Pick<SceneOptions, "env" | "context"> = {}): WorkerHost {
    const host = createWorkerHost({
      env: {
        HOME: folder,
        PALINODE_API_URL: server.url,
        PALINODE_CLINE_STATE_DIR: stateDir,
        ...options.env,
        ...more.env,
      },
      context: {
        session: { sessionId: "1796000000000_test" },
        workspaceInfo: { rootPath: folder, associatedRemoteUrls: ["origin: https://example.com/acme/shop.git"] },
        ...options.context,
        ...more.context,
      },
      logger: options.logger ?? true,
      onDispose: options.onDispose ?? false,
      agentRuntime: options.agentRuntime ?? false,
    });
    hosts.push(host);
    return host;
  }

  const host = open();
  const chat = createChat();
  const model = async (of = chat, by = host): Promise<Message[]> => {
    const payload = of.beforeModel();
    return sent(payload, (await by.beforeModel(payload)).result);
  };
  return {
    server,
    host,
    chat,
    folder,
    stateDir,
    model,
    restart: open,
    memory: async (of, by) => injected(await model(of, by)).map(textOf),
    finish: async (of = chat, by = host) => void (await by.afterRun(of.afterRun())),
  };
}

/** Returns every file below a folder with its text and permission bits, but for one that is moved meanwhile. */
export function filesBelow(folder: string): { name: string; text: string; mode: number }[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.flatMap((entry) => {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    return (
      present(() => ({
        name: path.slice(folder.length + 1),
        text: readFileSync(path, "utf8"),
        mode: statSync(path).mode & 0o777,
      })) ?? []
    );
  });
}

/**
 * Returns the names of the captures that wait or are on their way. By name alone, and in the order in which they move:
 * one that is taken between a listing and a look at the file must not count as gone.
 */
export function waitingCaptures(stateDir: string): string[] {
  const list = (name: string): string[] =>
    (present(() => readdirSync(join(stateDir, name))) ?? []).filter((file) => !file.endsWith(".tmp"));
  return ["tails", "queue"].flatMap((name) => list(name).map((file) => `${name}/${file}`));
}

/** Returns what `read` does, or undefined when the file is gone. */
export function present<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Waits until a condition holds, for what goes on behind a hook. Fails loudly after fifteen seconds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const end = performance.now() + 15_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

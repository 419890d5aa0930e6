// What every test of this suite starts from: the real parts, one model, one server with known memories, one home.
import { availableParallelism, loadavg } from "node:os";
import { after, type TestContext, test } from "node:test";
import { createSandbox, type Sandbox } from "./cline.ts";
import { install, type Parts } from "./install.ts";
import { type ModelServer, type Recorded, startModelServer } from "./model-server.ts";
import { type PalinodeServer, startPalinode } from "./palinode-server.ts";

/** Words that occur nowhere but in one memory each. */
export const CORE = "quokka-7391";
export const ROLLBACK = "wombat-4482";
export const RETRIES = "numbat-5520";
export const STAGING = "bilby-1864";

/** A command that fails, one that does not. The tool call is part of the prompt's text, so its words are too. */
const TOOL_LOOP = '⟦run_commands {"commands":["exit 3"]}⟧ ⟦run_commands {"commands":["ls"]}⟧';

/** Prompts that each come near one memory; the first makes the model call tools. */
export const PROMPTS = {
  rollback: `How do we roll back a deploy of the api? Run the commands. ${TOOL_LOOP}`,
  retries: "What is the retry policy of the payment client?",
  staging: "Where does the certificate of the staging host live?",
};

export const MEMORIES: Record<string, string> = {
  "decisions/house-rule.md": memory("House rule", `The house rule is ${CORE}.`, [
    "core: true",
    `summary: House rule ${CORE}`,
  ]),
  "decisions/rollback.md": memory(
    "Roll back",
    `How we roll back a deploy of the api: run the commands of ${ROLLBACK}.`,
  ),
  "decisions/retries.md": memory("Retries", `The retry policy of the payment client is ${RETRIES}.`),
  "decisions/staging.md": memory("Staging", `The certificate of the staging host does live in ${STAGING}.`),
};

export function memory(title: string, body: string, more: string[] = []): string {
  return ["---", `title: ${title}`, "type: Decision", "entities: [project/shop]", ...more, "---", body, ""].join("\n");
}

export interface Scene {
  parts: Parts;
  model: ModelServer;
  palinode: PalinodeServer;
  sandbox: Sandbox;
  /** The requests that arrive while `work` runs, of agents only (titles and summaries are asked for without tools). */
  during(work: () => Promise<unknown>): Promise<Recorded[]>;
}

const installed = await install();
/** A machine with two cores on a bad day; a test takes between five seconds and half a minute. */
const LIMIT_MS = 300_000;
const TRIES = 3;

/**
 * A test that has the real parts; skipped, with the reason, where they cannot be had.
 *
 * The host has limits of its own (four seconds to load a plugin, three for a hook) that a machine with twice the work
 * it has cores for misses, whatever the plugin does; only then is a failed test tried again.
 */
export function e2e(title: string, body: (t: TestContext, parts: Parts) => Promise<void>): void {
  const { parts, skip } = installed;
  test(title, { skip: skip ?? false, timeout: LIMIT_MS }, async (t) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await body(t, parts!);
      } catch (error) {
        t.diagnostic(evidence());
        if (attempt === TRIES || !isOverloaded()) throw error;
        t.diagnostic(`tried again, the machine is overloaded: ${String(error)}`);
      }
    }
  });
}

function isOverloaded(): boolean {
  return loadavg()[0]! > 2 * availableParallelism();
}

let current: Scene | undefined;

/** What a person would look at next when a test has failed: its folders are gone when the run is over. */
function evidence(): string {
  if (!current) return "failed before anything had started";
  const { palinode, sandbox, model } = current;
  const shapes = model.requests.map(({ json }) => json.messages.map(({ role }) => role[0]).join(""));
  return [
    `model requests by role: ${shapes.join(" ")}`,
    `server requests: ${palinode.requests().join(", ")}`,
    `host on plugins: ${
      sandbox
        .hostLog()
        .filter((line) => /plugin/i.test(line))
        .join("\n") || "nothing"
    }`,
    `plugin state: ${JSON.stringify(sandbox.pluginState(), null, 1)}`,
  ].join("\n");
}

interface Servers {
  model: ModelServer;
  palinode: PalinodeServer;
  stop(): Promise<void>;
}

async function startServers(parts: Parts, memories: Record<string, string>): Promise<Servers> {
  const model = await startModelServer();
  const palinode = await startPalinode(parts, memories);
  const stop = async (): Promise<void> => {
    await palinode.stop();
    await model.stop();
  };
  return { model, palinode, stop };
}

let shared: Promise<Servers> | undefined;
after(async () => (await shared)?.stop());

/** A home of the test's own with servers of its own; all of it ends with the test, whichever way that ends. */
export async function arrange(t: TestContext, parts: Parts, memories = MEMORIES): Promise<Scene> {
  const servers = await startServers(parts, memories);
  return furnish(t, parts, servers, servers.stop);
}

/** A home of the test's own with the servers of its file: for tests that neither stop them nor leave captures there. */
export async function visit(t: TestContext, parts: Parts): Promise<Scene> {
  shared ??= startServers(parts, MEMORIES);
  return furnish(t, parts, await shared);
}

async function furnish(t: TestContext, parts: Parts, servers: Servers, stop?: () => Promise<void>): Promise<Scene> {
  const { model, palinode } = servers;
  const sandbox = await createSandbox(parts, { model: model.url, palinode: palinode.url });
  // Hosts end first, then what they talk to.
  t.after(async () => {
    await sandbox.stop();
    await stop?.();
  });
  const during = async (work: () => Promise<unknown>): Promise<Recorded[]> => {
    const before = model.agentRequests().length;
    await work();
    return model.agentRequests().slice(before);
  };
  current = { parts, model, palinode, sandbox, during };
  return current;
}

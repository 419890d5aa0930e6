// The stage of one case: the shipped file as a host loads it, a stand-in server without sockets, a state folder.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PalinodePlugin } from "../../src/plugin.ts";
import type { PalinodeOptions } from "../../src/settings/config.ts";
import { createApiCapture } from "../helpers/host-inprocess.ts";
import { answerTo } from "../palinode/routes.ts";
import { createStore, type MemoryInput } from "../palinode/server.ts";
import type { Answer, Store } from "../palinode/store.ts";
import { type Network, openNetwork, type Request } from "./network.ts";
import { RECALLED } from "./values.ts";

declare const REPOSITORY: string;

export const API_URL = "http://127.0.0.1:6340";
export const SESSION_ID = "1796000000000_fuzz";
export const REMOTE = "origin: https://example.com/acme/shop.git";

const MEMORIES: MemoryInput[] = [
  { file: "decisions/core.md", core: true, summary: `always in view ${RECALLED}`, body: `Core ${RECALLED}.` },
  { file: "m/rollback.md", body: `How to roll back the deploy: ${RECALLED}` },
  { file: "m/retry.md", body: `why the checkout test has a retry of the api ${RECALLED}` },
  { file: "m/pnpm.md", body: `pnpm and 継続 デプロイ ${RECALLED}` },
];
const TRIGGERS = [
  { description: "roll back the deploy", memory_file: "m/rollback.md", threshold: 0.3, cooldown_hours: 0 },
];

export interface Stage {
  readonly network: Network;
  /** Removed with all that is in it when the fuzzer is closed. */
  readonly folder: string;
  /** A folder for the state of one case. */
  newFolder(): string;
  /** A stand-in that answers as the real server does. */
  newStore(more?: Parameters<typeof createStore>[0]): Store;
  /** The plugin, set up by a host for one session. */
  load(options: PalinodeOptions, context?: unknown): PalinodePlugin;
  close(): void;
}

/** Opens a stage. The environment has no setting of the plugin while it is open, and no home but its own. */
export async function openStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-fuzz-"));
  const { createPalinodePlugin } = (await import(pathToFileURL(join(REPOSITORY, "dist/palinode.js")).href)) as {
    createPalinodePlugin(options: PalinodeOptions): PalinodePlugin;
  };
  const network = openNetwork();
  const restore = withEnvironment({ HOME: folder });
  let cases = 0;
  return {
    network,
    folder,
    newFolder() {
      cases += 1;
      return join(folder, String(cases));
    },
    newStore: (more) =>
      createStore({ memories: MEMORIES, triggers: TRIGGERS, rateLimits: { search: 1e9, write: 1e9 }, ...more }),
    load(
      options,
      context = {
        session: { sessionId: SESSION_ID },
        workspaceInfo: { rootPath: folder, associatedRemoteUrls: [REMOTE] },
      },
    ) {
      const plugin = createPalinodePlugin(options);
      plugin.setup(createApiCapture().api, context);
      return plugin;
    },
    close() {
      restore();
      network.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Takes every setting out of the environment and puts others in. Returns what undoes that. */
export function withEnvironment(variables: Record<string, string | undefined>): () => void {
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) if (/^(?:PALINODE|CLINE)_/.test(name)) delete process.env[name];
  for (const [name, value] of Object.entries(variables)) if (value !== undefined) process.env[name] = value;
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  };
}

/** Answers as the stand-in does. It refuses no call of ours for its form. */
export function answerFrom(store: Store, request: Request): Answer {
  const answer = answerTo(store, request, { token: undefined, isTooLarge: false });
  assert.ok(
    ![400, 405, 413, 422].includes(answer.status),
    `${request.path} refuses ${request.text}: ${JSON.stringify(answer.body)}`,
  );
  return answer;
}

export function responseOf({ status, body, headers }: Answer): Response {
  return new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

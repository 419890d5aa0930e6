// The real palinode-api with the memories in its index, and the embedder behind it. An index is built once for the same
// memories, embedder and server, and kept in `.cache/bench/recall`.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Parts, VERSIONS } from "../../e2e/install.ts";
import { freePort } from "../../e2e/loopback.ts";
import { say } from "../../e2e/packages.ts";
import { end, guard } from "../../e2e/process.ts";
import type { Memory } from "./dataset.ts";
import { CACHE, type Embedder, type Installed, installEmbedder, must } from "./wheels.ts";

declare const REPOSITORY: string;

export type Mode = "lexical" | Embedder;

type Running = { readonly url: string; stop(): Promise<void> };

/** `home` is kept: the index, and what is known of it. */
export type RecallServer = Running & { readonly home: string };

const DIMENSIONS: Readonly<Record<Embedder, number>> = { minilm: 384, e5: 384, duo: 768 };
const SCRIPTS = join(REPOSITORY, "test/bench/recall");
const START_MS = 120_000;
const MAX_LOG_CHARS = 2000;

/** Starts the server with the memories indexed. Rejects with one line when an embedder cannot be installed. */
export async function startServer(mode: Mode, memories: readonly Memory[], parts: Parts): Promise<RecallServer> {
  const home = join(CACHE, `index-${mode}-${hashOf(mode, memories)}`);
  const folder = join(home, "memory");
  const stamp = join(home, "indexed");
  mkdirSync(CACHE, { recursive: true });
  const installed = mode === "lexical" ? undefined : await installEmbedder(mode, parts.python);
  if (!existsSync(stamp)) writeMemories(home, folder, memories);
  guard(home);
  const embedder = installed && (await startEmbedder(mode, folder, home, installed));
  writeFileSync(join(folder, "palinode.config.yaml"), configOf(mode, embedder?.url));
  const server = await startPalinode(mode, folder, home, parts);
  const stop = async (): Promise<void> => {
    await server.stop();
    await embedder?.stop();
  };
  try {
    if (!existsSync(stamp)) await buildIndex(mode, server.url, embedder?.url);
    writeFileSync(stamp, "");
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: server.url, home, stop };
}

function hashOf(mode: Mode, memories: readonly Memory[]): string {
  const script = mode === "lexical" ? "" : readFileSync(join(SCRIPTS, "embedder.py"), "utf8");
  const all = JSON.stringify([VERSIONS.palinode, script, memories]);
  return createHash("sha256").update(all).digest("hex").slice(0, 12);
}

function writeMemories(home: string, folder: string, memories: readonly Memory[]): void {
  rmSync(home, { recursive: true, force: true });
  for (const { path, text } of memories) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

async function buildIndex(mode: Mode, url: string, embedderUrl: string | undefined): Promise<void> {
  say(`${mode}: the server indexes the memories (up to five minutes the first time)`);
  if (mode === "duo") await fetch(`${embedderUrl}/index/on`);
  const answer = await fetch(`${url}/reindex`, { method: "POST", body: "{}", headers: JSON_HEADERS });
  if (mode === "duo") await fetch(`${embedderUrl}/index/off`);
  if (!answer.ok) throw new Error(`/reindex: ${answer.status} ${await answer.text()}`);
}

const JSON_HEADERS = { "content-type": "application/json" };

function configOf(mode: Mode, url: string | undefined): string {
  const lines = ["auto_summary: {enabled: false}", "git: {auto_commit: false}", ""];
  if (mode === "lexical") return lines.join("\n");
  const primary = `model: ${mode}, dialect: openai, url: "${url}", dimensions: ${DIMENSIONS[mode]}`;
  return [`embeddings: {primary: {${primary}}}`, ...lines].join("\n");
}

async function startEmbedder(mode: Mode, folder: string, home: string, { python, env }: Installed) {
  // The mean of the memories in use: it is taken off each vector.
  if (mode === "duo") await must(python, [join(SCRIPTS, "mean.py"), folder], SCRIPTS, env);
  const port = await freePort();
  const child = spawn(python, [join(SCRIPTS, "embedder.py"), String(port)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: home, PYTHONDONTWRITEBYTECODE: "1", ...env },
  });
  return running(child, `http://127.0.0.1:${port}`, "/", "the embedder");
}

async function startPalinode(mode: Mode, folder: string, home: string, parts: Parts) {
  const port = await freePort();
  const child = spawn(parts.palinodeApi, [], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      PALINODE_DIR: folder,
      PALINODE_API_PORT: String(port),
      PALINODE_ALLOW_FRESH_DB: "1",
      PALINODE_RATE_LIMIT_SEARCH: "1000000",
      // What was asked is no business of the next run.
      PALINODE_INSTRUMENTATION_DISABLED: "1",
      ...(mode === "lexical" ? { PALINODE_RETRIEVAL_MODE: "lexical" } : {}),
    },
  });
  return running(child, `http://127.0.0.1:${port}`, "/health", "palinode-api");
}

/** Waits until a program answers. Rejects with the end of its log when it does not. */
async function running(child: ChildProcess, url: string, route: string, name: string): Promise<Running> {
  let log = "";
  const note = (chunk: Buffer): void => {
    log = (log + chunk.toString()).slice(-MAX_LOG_CHARS);
  };
  child.stdout?.on("data", note);
  child.stderr?.on("data", note);
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    end(child.pid ?? 0);
    await gone;
  };
  const deadline = Date.now() + START_MS;
  const answers = (): Promise<boolean> =>
    fetch(url + route)
      .then(({ ok }) => ok)
      .catch(() => false);
  while (!(await answers())) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`${name} did not start: ${log}`);
    }
    await sleep(100);
  }
  return { url, stop };
}

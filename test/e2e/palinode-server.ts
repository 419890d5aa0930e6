// The real palinode-api in a folder of its own, with a deterministic embedder behind it.
import { spawn } from "node:child_process";
import {
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
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DIMENSIONS } from "../palinode/embedding.ts";
import { startEmbedder } from "./embedder.ts";
import type { Parts } from "./install.ts";
import { freePort } from "./loopback.ts";
import { end } from "./process.ts";

export interface PalinodeServer {
  url: string;
  /** Its `PALINODE_DIR`. */
  directory: string;
  /** What it was asked, oldest first: `POST /search`. */
  requests(): string[];
  /** Every file of a folder below its directory, name to content; empty when there is none. */
  files(folder: string): Record<string, string>;
  stop(): Promise<void>;
}

const START_MS = 60_000;

/**
 * `memories` are files by their path below the memory folder; search finds them when this returns. `env` is added to
 * the server's environment, for a token and the like.
 */
export async function startPalinode(
  parts: Pick<Parts, "palinodeApi">,
  memories: Record<string, string>,
  env: Record<string, string> = {},
): Promise<PalinodeServer> {
  const embedder = await startEmbedder();
  const root = realpathSync(mkdtempSync(join(tmpdir(), "palinode-e2e-server-")));
  const directory = join(root, "memory");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  writeFiles(directory, { ...memories, "palinode.config.yaml": config(embedder.url) });
  const child = spawn(parts.palinodeApi, [], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: root,
      PALINODE_DIR: directory,
      PALINODE_API_PORT: String(port),
      OLLAMA_URL: embedder.url,
      // It will not start on files that have no index yet.
      PALINODE_ALLOW_FRESH_DB: "1",
      ...env,
    },
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
  const gone = new Promise((resolve) => child.once("close", resolve));
  const onExit = (): void => end(child.pid ?? 0);
  process.once("exit", onExit);
  // A test may stop the server itself, and again when it ends.
  const stop = async (): Promise<void> => {
    process.removeListener("exit", onExit);
    end(child.pid ?? 0);
    await Promise.all([gone, embedder.stop()]);
    rmSync(root, { recursive: true, force: true });
  };
  try {
    await index(url, env.PALINODE_API_TOKEN, () => child.exitCode !== null);
  } catch (error) {
    await stop();
    throw new Error(`palinode-api did not start: ${String(error)}\n${log}`);
  }
  return { url, directory, requests: () => asked(log), files: (folder) => readFiles(join(directory, folder)), stop };
}

/** Waits for the server and lets it read the memory files; the search warms what its first query would wait for. */
async function index(url: string, token: string | undefined, isGone: () => boolean): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (
    !(await fetch(`${url}/health`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (isGone() || Date.now() > deadline) throw new Error("no answer from /health");
    await sleep(100);
  }
  await post(`${url}/reindex`, token, {});
  await post(`${url}/search`, token, { query: "warm up", mode: "passive" });
}

async function post(url: string, token: string | undefined, body: unknown): Promise<void> {
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

function config(embedderUrl: string): string {
  const primary = `model: bge-m3, url: "${embedderUrl}", dimensions: ${DIMENSIONS}, timeout_seconds: 5`;
  return [
    `embeddings: {primary: {${primary}, connect_timeout_seconds: 1}}`,
    "auto_summary: {enabled: false}",
    "git: {auto_commit: false}",
    "",
  ].join("\n");
}

/** From the server's own access log, so that it holds whoever asked and however. */
function asked(log: string): string[] {
  return [...log.matchAll(/"([A-Z]+ \/[^ ?"]*)[^"]* HTTP/g)].map((match) => match[1]!);
}

function writeFiles(directory: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

function readFiles(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

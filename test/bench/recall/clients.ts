// Who asks: the plugin as it is shipped, and two plain searches to hold it against. A prompt is the newest message of a
// fresh session each time.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { clipMiddle, weigh } from "../../../src/base/text.ts";
import { bareWords } from "../../../src/cline/index.ts";
import type { createPalinodePlugin } from "../../../src/plugin.ts";
import { RECALL_TITLE, renderBlock } from "../../../src/recall/block.ts";
import { injected, sent, textOf } from "../../helpers/chat.ts";
import { createApiCapture } from "../../helpers/host-inprocess.ts";
import { type Memory, type Prompt, payloadOf } from "./dataset.ts";
import { pathsIn, type Shown } from "./score.ts";
import type { RecallServer } from "./server.ts";

declare const REPOSITORY: string;

/** In the order of the tables. */
export const CLIENTS = ["raw message", "bare words", "palinode.js"] as const;

export type Client = { readonly name: (typeof CLIENTS)[number]; ask(prompt: Prompt): Promise<Shown> };

/** What a search asked for before recall had rules of its own. */
const PLAIN = { limit: 3, threshold: 0.5, max_chars: 300, mode: "passive" };
const PLAIN_MIN_CHARS = 12;
const PLAIN_MAX_CHARS = 2000;
const PLAIN_BLOCK_CHARS = 3000;
const SILENCE: Shown = { paths: [], chars: 0, requests: 0 };
/** Speed is not what is measured: where a cold embedder or a busy machine is late, it is asked again after a pause. */
const TRIES = 8;
const PAUSE_MS = 2000;

type PlainRow = { readonly rel_path: string; readonly raw_score: number | null; readonly snippet: string };
type PlainSearch = (query: string) => Promise<Shown>;

/** Returns a client that searches for the message as it is, attachments and envelopes with it. */
export function rawMessage(search: PlainSearch): Client {
  return { name: "raw message", ask: ({ parts }) => search(parts.join("\n")) };
}

/** Returns a client that searches for what the person said, as the plugin did before it had rules for it. */
export function bareWordsOnly(search: PlainSearch): Client {
  return {
    name: "bare words",
    ask: async (prompt) => {
      const messages = payloadOf(prompt).request?.messages as { role: string; content: unknown }[];
      const words = bareWords(messages.at(-1)!);
      return weigh(words) < PLAIN_MIN_CHARS ? SILENCE : search(clipMiddle(words, PLAIN_MAX_CHARS));
    },
  };
}

/** Returns the plain search. The same index says the same to the same words: what it said is kept beside it. */
export function plainSearch({ url, home }: RecallServer): PlainSearch {
  const file = join(home, "plain.jsonl");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  const known = new Map<string, PlainRow[]>(lines.map((line) => JSON.parse(line)));
  return async (query) => {
    const body = JSON.stringify({ ...PLAIN, query });
    const rows = known.get(body) ?? (await search(url, body));
    if (!known.has(body)) appendFileSync(file, `${JSON.stringify([body, rows])}\n`);
    known.set(body, rows);
    return shownOf(rows);
  };
}

/** Returns the shipped plugin as a client. What it counts is read from the messages that its hook returns. */
export async function shippedPlugin(
  url: string,
  memories: readonly Memory[],
  options: { hasTriggers: boolean },
): Promise<Client> {
  const { createPalinodePlugin: create } = (await import(pathToFileURL(join(REPOSITORY, "dist/palinode.js")).href)) as {
    createPalinodePlugin: typeof createPalinodePlugin;
  };
  let sessions = 0;
  const ask = async (prompt: Prompt, tries = TRIES): Promise<Shown> => {
    const log: string[] = [];
    sessions += 1;
    const plugin = create({
      apiUrl: url,
      project: prompt.project,
      persist: false,
      capture: false,
      // The digest of a session's start is not what is measured.
      injectMaxFiles: 0,
      recallTriggers: options.hasTriggers,
      hookDeadlineMs: 2700,
    });
    plugin.setup(createApiCapture().api, {
      session: { sessionId: `recall-bench-${sessions}` },
      workspaceInfo: { rootPath: join(tmpdir(), prompt.project) },
      logger: { debug: (line: string) => void log.push(line) },
    });
    const payload = payloadOf(prompt);
    const { result, requests } = await counted(url, () => plugin.hooks.beforeModel(payload));
    if (log.some((line) => / timeout/.test(line))) {
      if (tries === 1)
        throw new Error(`the server does not answer in time (prompt ${prompt.id}): is the machine busy?`);
      await sleep(PAUSE_MS);
      return ask(prompt, tries - 1);
    }
    const text = injected(sent(payload, result)).map(textOf).join("\n");
    return { paths: pathsIn(text, memories), chars: text.length, requests };
  };
  return { name: "palinode.js", ask: (prompt) => ask(prompt) };
}

async function search(url: string, body: string): Promise<PlainRow[]> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/search`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`/search: ${answer.status} ${await answer.text()}`);
  const rows = (await answer.json()) as PlainRow[];
  return rows.map(({ rel_path, raw_score, snippet }) => ({ rel_path, raw_score, snippet }));
}

/** Returns what the rows look like as a block of ours. */
function shownOf(rows: readonly PlainRow[]): Shown {
  const entries = rows.map(({ rel_path, raw_score, snippet }) => {
    const match = raw_score === null ? "keyword match" : `${Math.round(100 * raw_score)}% match`;
    return { heading: "### Related memories", lines: [`- [${rel_path}] (${match}) ${snippet.replace(/\s+/g, " ")}`] };
  });
  const block = renderBlock(RECALL_TITLE, entries, PLAIN_BLOCK_CHARS);
  return { paths: [...new Set(rows.map((row) => row.rel_path))], chars: block?.text.length ?? 0, requests: 1 };
}

/** Runs the work and counts what it asks of the server about the prompt; the policy is asked once a session. */
async function counted<T>(url: string, work: () => Promise<T>): Promise<{ result: T; requests: number }> {
  const plain = http.request;
  let requests = 0;
  http.request = ((...given: Parameters<typeof plain>) => {
    if (String(given[0]).startsWith(url) && !String(given[0]).endsWith("/controls/check")) requests += 1;
    return plain(...given);
  }) as typeof plain;
  syncBuiltinESMExports();
  try {
    return { result: await work(), requests };
  } finally {
    http.request = plain;
    syncBuiltinESMExports();
  }
}

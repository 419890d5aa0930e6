// Who asks: the plugin as it is shipped, and two plain searches to hold it against. A prompt is the newest message of a
// fresh session each time.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { clipMiddle, weigh } from "../../../src/base/text.ts";
import { bareWords } from "../../../src/cline/index.ts";
import type { createPalinodePlugin } from "../../../src/plugin.ts";
import { RECALL_TITLE, renderBlock } from "../../../src/recall/block.ts";
import { injected, sent, textOf } from "../../helpers/chat.ts";
import { createApiCapture } from "../../helpers/host-inprocess.ts";
import { type Memory, type Prompt, payloadOf } from "./dataset.ts";
import { pathsIn, type Shown } from "./score.ts";

declare const REPOSITORY: string;

/** In the order of the tables. */
export const CLIENTS = ["raw message", "bare words", "palinode.js"] as const;

export type Client = { readonly name: (typeof CLIENTS)[number]; ask(prompt: Prompt): Promise<Shown> };

/** What a search asked for before recall had rules of its own. */
const PLAIN = { limit: 3, threshold: 0.5, max_chars: 300, mode: "passive" };
const PLAIN_MIN_CHARS = 12;
const PLAIN_MAX_CHARS = 2000;
const SILENCE: Shown = { paths: [], chars: 0, requests: 0 };
/** A cold embedder may be late; what it made of the words is there when it is asked again. */
const TRIES = 4;

/** Returns a client that searches for the message as it is, attachments and envelopes with it. */
export function rawMessage(url: string): Client {
  return { name: "raw message", ask: ({ parts }) => search(url, parts.join("\n")) };
}

/** Returns a client that searches for what the person said, as the plugin did before it had rules for it. */
export function bareWordsOnly(url: string): Client {
  return {
    name: "bare words",
    ask: async (prompt) => {
      const newest = payloadOf(prompt).request?.messages as { role: string; content: unknown }[];
      const words = bareWords(newest.at(-1)!);
      return weigh(words) < PLAIN_MIN_CHARS ? SILENCE : search(url, clipMiddle(words, PLAIN_MAX_CHARS));
    },
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
      if (tries === 1) throw new Error(`the server does not answer ${prompt.id} in time: ${log.join("; ")}`);
      return ask(prompt, tries - 1);
    }
    const text = injected(sent(payload, result)).map(textOf).join("\n");
    return { paths: pathsIn(text, memories), chars: text.length, requests };
  };
  return { name: "palinode.js", ask: (prompt) => ask(prompt) };
}

async function search(url: string, query: string): Promise<Shown> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...PLAIN, query }),
  };
  const answer = await fetch(`${url}/search`, init);
  if (!answer.ok) throw new Error(`/search: ${answer.status} ${await answer.text()}`);
  const rows = (await answer.json()) as { rel_path: string; raw_score: number | null; snippet: string }[];
  const paths = [...new Set(rows.map((row) => row.rel_path))];
  const entries = rows.map(({ rel_path, raw_score, snippet }) => {
    const match = raw_score === null ? "keyword match" : `${Math.round(100 * raw_score)}% match`;
    return { heading: "### Related memories", lines: [`- [${rel_path}] (${match}) ${snippet.replace(/\s+/g, " ")}`] };
  });
  const block = renderBlock(RECALL_TITLE, entries, 3000);
  return { paths, chars: block?.text.length ?? 0, requests: 1 };
}

/** Runs the work and counts what it asks of the server about the prompt; the policy is asked once a session. */
async function counted<T>(url: string, work: () => Promise<T>): Promise<{ result: T; requests: number }> {
  const plain = globalThis.fetch;
  let requests = 0;
  globalThis.fetch = (input, init) => {
    if (String(input).startsWith(url) && !String(input).endsWith("/controls/check")) requests += 1;
    return plain(input, init);
  };
  try {
    return { result: await work(), requests };
  } finally {
    globalThis.fetch = plain;
  }
}

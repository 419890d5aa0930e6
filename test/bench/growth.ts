// What a long session costs, as ratios measured in one run: a model call with nothing new against copying the messages,
// memory over many calls, and the first prompt with a full state folder against an empty one.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPalinodePlugin } from "../../src/plugin.ts";
import { createChat, injected, type Payload, sent } from "../helpers/chat.ts";
import { startPalinode } from "../helpers/palinode.ts";

const MEMORIES = Array.from({ length: 60 }, (_, index) => ({ file: `m/${index}.md`, body: `What we know of topic number ${index} and its details` }));

/** Returns rows of `[what, figure]`. */
export async function measureGrowth(): Promise<[string, string][]> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-bench-"));
  const server = await startPalinode({ memories: MEMORIES, rateLimits: { search: 1e6 }, version: "0.13.0" });
  try {
    const rows: [string, string][] = [];
    for (const messages of [10, 100, 1000, 5000]) rows.push(...(await measureSilence(server.url, folder, messages)));
    rows.push(await measureMemory(server.url, folder));
    rows.push(await measureStart(server.url, folder));
    return rows;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureSilence(apiUrl: string, folder: string, messages: number): Promise<[string, string][]> {
  const { plugin, chat } = await longSession(apiUrl, folder, messages);
  const payload = chat.beforeModel();
  const blocks = injected(sent(payload, await plugin.hooks.beforeModel(payload))).length;
  const silence = await median(200, () => plugin.hooks.beforeModel(payload));
  const copy = await median(200, async () => structuredClone(payload.request));
  return [[`${messages} messages, ${blocks} blocks: a call with nothing new`, `${silence.toFixed(3)} ms = ${(silence / copy).toFixed(2)} × copying the messages`]];
}

async function measureMemory(apiUrl: string, folder: string): Promise<[string, string]> {
  const { plugin, chat } = await longSession(apiUrl, folder, 1000);
  const payload: Payload = chat.beforeModel();
  const used = async (calls: number): Promise<number> => {
    for (let call = 0; call < calls; call += 1) await plugin.hooks.beforeModel(payload);
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const before = await used(500);
  const after = await used(5000);
  return ["heap after 5,000 more model calls", `${(after / before).toFixed(3)} × before${globalThis.gc ? "" : " (without --expose-gc)"}`];
}

async function measureStart(apiUrl: string, folder: string): Promise<[string, string]> {
  const full = join(folder, "full");
  mkdirSync(join(full, "sessions"), { recursive: true });
  for (let index = 0; index < 2000; index += 1) writeFileSync(join(full, "sessions", `old-${index}.json`), JSON.stringify({ version: 1, asked: [], ledger: [], pad: "x".repeat(2000) }));
  const first = async (stateDir: string, round: number): Promise<void> => {
    const plugin = createPalinodePlugin({ apiUrl, stateDir });
    plugin.setup({}, { session: { sessionId: `start-${round}` } });
    const chat = createChat();
    chat.say("What do we know of topic number 7?");
    await plugin.hooks.beforeModel(chat.beforeModel());
  };
  const empty = await median(30, (round) => first(join(folder, `empty-${round}`), round));
  const crowded = await median(30, (round) => first(full, round));
  return ["first prompt with 2,000 old session files", `${(crowded / empty).toFixed(2)} × an empty state folder`];
}

/** A session with up to 60 prompts, each with a recall of its own, filled up with tool loops. */
async function longSession(apiUrl: string, folder: string, messages: number) {
  const plugin = createPalinodePlugin({ apiUrl, stateDir: join(folder, `s${messages}`), sessionMaxChars: 60_000 });
  plugin.setup({}, { session: { sessionId: `s${messages}` } });
  const chat = createChat();
  const prompts = Math.min(60, Math.ceil(messages / 16));
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    chat.say(`What do we know of topic number ${prompt} and its details`);
    await plugin.hooks.beforeModel(chat.beforeModel());
    while (chat.messages.length < ((prompt + 1) * messages) / prompts - 1) chat.tool("run_commands", { commands: ["ls"] }, [{ query: "ls", result: "x".repeat(400), success: true }]);
    chat.answer("ok");
  }
  return { plugin, chat };
}

async function median(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await work(round);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
}

// What a long session costs: a model call with nothing new against copying the messages, memory over many calls, the
// first prompt with a full state folder, and what is injected over many prompts on one topic.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createPalinodePlugin } from "../../src/plugin.ts";
import { createChat, injected, type Message, sent, textOf } from "../helpers/chat.ts";
import { createApiCapture } from "../helpers/host-inprocess.ts";
import { createRandom } from "../helpers/random.ts";
import { startPalinode } from "../palinode/server.ts";
import { recallAfresh } from "./forgetful.ts";
import { count, milliseconds, type Report, type Row, type Table } from "./report.ts";
import { SEED } from "./session.ts";
import { medianTime } from "./timing.ts";

const SIZES = [10, 100, 1000, 5000];
const MEMORIES = Array.from({ length: 60 }, (_, index) => ({
  file: `m/${index}.md`,
  body: `What we know of topic number ${index} and its details`,
}));

/** One topic, from many sides: each prompt comes near several of these, and after some turns near none that is new. */
const SIDES = [
  "health page",
  "migration",
  "cache",
  "feature flag",
  "queue worker",
  "certificate",
  "release note",
  "payment client",
  "log line",
  "search index",
];
const ON_TOPIC = SIDES.map((side, index) => ({
  file: `insights/rollback-${index}.md`,
  body:
    `To roll back a deploy of the api mind the ${side}: it is a step of its own when we roll back a deploy, ` +
    "and somebody has to look at it before the api is up again.",
}));
const TURNS = 60;
const SHOWN_TURNS = [10, 30, TURNS];

export async function measureGrowth(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-bench-"));
  const server = await startPalinode({
    memories: MEMORIES,
    rateLimits: { search: 1e6 },
    version: "0.13.0",
    now: () => 1_796_000_000_000,
  });
  try {
    const calls: Row[] = [];
    for (const size of SIZES) calls.push(await measureSilence(server.url, folder, size));
    const rest = [await measureMemory(server.url, folder), await measureStart(server.url, folder)];
    const injections = await measureInjections(folder);
    return {
      name: "growth",
      title: "What a long session costs",
      tables: [
        tableOfInjections(injections),
        {
          title: "A model call with nothing new",
          columns: ["Session", "Median of the hook", "Against copying the messages"],
          rows: calls,
        },
        { title: "Memory and start", columns: ["What", "Measured"], rows: rest },
      ],
      chart: {
        title: "What is injected over 60 prompts on one topic",
        caption: "Characters injected in all",
        bars: SHOWN_TURNS.flatMap((turn) => [
          {
            label: `${turn} prompts, each told afresh`,
            value: injections[turn - 1]?.afresh ?? 0,
            text: count(injections[turn - 1]?.afresh ?? 0),
          },
          {
            label: `${turn} prompts, palinode.js`,
            value: injections[turn - 1]?.ours ?? 0,
            text: count(injections[turn - 1]?.ours ?? 0),
            isOurs: true,
          },
        ]),
      },
    };
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Characters that were injected up to and with a turn. */
export type Injected = { readonly ours: number; readonly afresh: number };

/** Returns what is injected, turn by turn, and what the same plugin injects when it knows of no earlier prompt. */
export async function measureInjections(folder: string): Promise<Injected[]> {
  const server = await startPalinode({ memories: ON_TOPIC, rateLimits: { search: 1e6 }, now: () => 1_796_000_000_000 });
  try {
    const random = createRandom(SEED);
    const plugin = createPalinodePlugin({
      apiUrl: server.url,
      stateDir: join(folder, "topic"),
      hookDeadlineMs: 2700,
      capture: false,
    });
    plugin.setup(createApiCapture().api, { session: { sessionId: "topic" } });
    const chat = createChat();
    const turns: Injected[] = [];
    let afresh = 0;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const prompt = chat.say(`What about the ${random.pick(SIDES)} when we roll back a deploy of the api?`);
      const blocks = injected(await request(plugin, chat.beforeModel()));
      afresh += (await recallAfresh(server.url, prompt)).recall.length;
      turns.push({ ours: blocks.map(textOf).join("").length, afresh });
      chat.answer("It is done.");
    }
    return turns;
  } finally {
    await server.close();
  }
}

/** Returns the table of what is injected; the same on every run. */
export function tableOfInjections(turns: readonly Injected[]): Table {
  const rows = SHOWN_TURNS.map((turn): Row => {
    const { ours, afresh } = turns[turn - 1] ?? { ours: 0, afresh: 0 };
    return { source: "harness", cells: [String(turn), count(ours), count(afresh), `${(afresh / ours).toFixed(1)} ×`] };
  });
  return {
    title: "What is injected on one topic",
    columns: ["Prompts", "palinode.js, characters", "Without repeat suppression, characters", "More"],
    rows,
    notes: [
      `${TURNS} prompts that each come near several of ${ON_TOPIC.length} memories. palinode.js does not tell again ` +
        "what is in view; *without* is the same plugin, made to forget after each prompt. Standing memory is left out.",
    ],
  };
}

async function measureSilence(apiUrl: string, folder: string, messages: number): Promise<Row> {
  const { plugin, chat } = await longSession(apiUrl, folder, messages);
  const payload = chat.beforeModel();
  const blocks = injected(await request(plugin, payload)).length;
  const silence = await medianTime(200, () => plugin.hooks.beforeModel(payload));
  const copy = await medianTime(200, async () => structuredClone(payload.request));
  return {
    source: "harness",
    cells: [
      `${count(messages)} messages, of ours ${blocks}`,
      milliseconds(silence),
      `${(silence / copy).toFixed(2)} ×`,
    ],
  };
}

async function measureMemory(apiUrl: string, folder: string): Promise<Row> {
  const { plugin, chat } = await longSession(apiUrl, folder, 1000);
  const payload = chat.beforeModel();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = async (calls: number): Promise<number> => {
    for (let call = 0; call < calls; call += 1) await plugin.hooks.beforeModel(payload);
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await used(500);
  const after = await used(5000);
  const growth = `${(after / before).toFixed(2)} × before`;
  return { source: "harness", cells: ["heap after 5,000 more model calls", growth] };
}

async function measureStart(apiUrl: string, folder: string): Promise<Row> {
  const full = join(folder, "full");
  mkdirSync(join(full, "sessions"), { recursive: true });
  for (let index = 0; index < 2000; index += 1)
    writeFileSync(
      join(full, "sessions", `old-${index}.json`),
      JSON.stringify({ version: 1, asked: [], ledger: [], pad: "x".repeat(2000) }),
    );
  const first = async (stateDir: string, round: number): Promise<void> => {
    const plugin = createPalinodePlugin({ apiUrl, stateDir });
    plugin.setup(createApiCapture().api, { session: { sessionId: `start-${round}` } });
    const chat = createChat();
    chat.say("What do we know of topic number 7?");
    await request(plugin, chat.beforeModel());
  };
  const empty = await medianTime(30, (round) => first(join(folder, `empty-${round}`), round));
  const crowded = await medianTime(30, (round) => first(full, round));
  return {
    source: "harness",
    cells: ["first prompt with 2,000 old session files", `${(crowded / empty).toFixed(2)} × an empty state folder`],
  };
}

/** A session with up to 60 prompts, each with a recall of its own, filled up with tool loops. */
async function longSession(apiUrl: string, folder: string, messages: number) {
  const plugin = createPalinodePlugin({ apiUrl, stateDir: join(folder, `s${messages}`), sessionMaxChars: 60_000 });
  plugin.setup(createApiCapture().api, { session: { sessionId: `s${messages}` } });
  const chat = createChat();
  const prompts = Math.min(60, Math.ceil(messages / 16));
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    chat.say(`What do we know of topic number ${prompt} and its details`);
    await plugin.hooks.beforeModel(chat.beforeModel());
    while (chat.messages.length < ((prompt + 1) * messages) / prompts - 1)
      chat.tool("run_commands", { commands: ["ls"] }, [{ query: "ls", result: "x".repeat(400), success: true }]);
    chat.answer("ok");
  }
  return { plugin, chat };
}

async function request(
  plugin: ReturnType<typeof createPalinodePlugin>,
  payload: ReturnType<ReturnType<typeof createChat>["beforeModel"]>,
): Promise<Message[]> {
  return sent(payload, await plugin.hooks.beforeModel(payload));
}

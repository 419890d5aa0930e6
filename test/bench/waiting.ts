// How long a prompt waits for memory, as a multiple of one round trip to the server; what a call of a tool loop costs
// against handing its transcript to another thread; and what a server costs that hangs, refuses, or is left alone.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { createPalinodePlugin } from "../../src/plugin.ts";
import { createChat, type Payload } from "../helpers/chat.ts";
import { createApiCapture } from "../helpers/host-inprocess.ts";
import type { Fault } from "../palinode/server.ts";
import { milliseconds, type Report, type Row, type Table, verdict } from "./report.ts";
import { playSession, TRIGGERS } from "./session.ts";
import { type Ask, askInTurn, askInTurnAtStart } from "./strategies.ts";
import { medianOf, medianTime, quantileOf, timed } from "./timing.ts";

declare const REPOSITORY: string;

const LATENCIES_MS = [5, 30, 200];
/** Of five milliseconds, what the plugin does itself is a larger part. */
const LIMITS = { prompt: 1.2, promptAtOnce: 1.35, trigger: 2.2, ofCopy: 0.05 };
/** As many hits as the plugin asks for: what the server does for one more is no part of the plugin's work. */
const ASKED = 40;
const QUICK = 1 / 4;
const PROMPT = "How do we roll back a deploy of the api?";
const FIRING_PROMPT = TRIGGERS[0]?.description ?? "";
/** The plugin's first pause, and the next one, each with a second on top. */
const PAUSES_MS = [31_000, 61_000] as const;

type Server = { readonly url: string; fault(fault: Fault | null): Promise<unknown>; stop(): Promise<unknown> };

/** Sessions of the shipped file in this process, each with a state folder of its own. */
type Stage = { readonly server: Server; open(apiUrl?: string): Session };
/** `ask` and `end` return how many milliseconds the hook took. */
type Session = {
  ask(words: string): Promise<number>;
  /** A call of a tool loop. */
  step(payload: Payload): Promise<unknown>;
  /** The end of a run after so many prompts, about which the plugin was told nothing. */
  end(prompts: number): Promise<number>;
};

type Timed = {
  readonly what: string;
  readonly latencyMs: number;
  readonly ms: number;
  /** In round trips: of the medians, and of the quickest quarters, which are truer on a busy machine. */
  readonly ratio: number;
  readonly quickRatio: number;
  readonly limit?: number;
};

export async function measureWaiting(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-bench-"));
  const server = await startServer();
  try {
    const stage = { server, open: await createOpener(server.url, folder) };
    const prompts: Timed[] = [];
    for (const latencyMs of LATENCIES_MS) prompts.push(...(await measurePrompts(stage, latencyMs)));
    const ends = await measureEnds(stage);
    await server.fault(null);
    const tables = [promptTable(prompts), ends, await measureToolLoop(stage), await measureTrouble(stage)];
    const bars = prompts
      .filter(({ latencyMs }) => latencyMs === 30)
      .map(({ what, ratio }) => {
        return {
          label: what.replace(/ \(.*/, ""),
          value: ratio,
          text: ratio.toFixed(2),
          isOurs: /^(?:first|later) /.test(what),
        };
      });
    return {
      name: "waiting",
      title: "How long a prompt waits",
      tables,
      chart: {
        title: "What a prompt waits for memory",
        caption: "Round trips to a server that answers after 30 ms",
        bars,
      },
    };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measurePrompts({ server, open }: Stage, latencyMs: number): Promise<Timed[]> {
  const rounds = latencyMs > 100 ? 11 : 41;
  const ask = createAsk(server.url);
  await server.fault({ delayMs: latencyMs });
  await askInTurn(ask, PROMPT);
  const running = open();
  await running.ask(PROMPT);
  const fresh = async (headStartMs: number): Promise<number> => {
    const session = open();
    if (headStartMs > 0) await sleep(headStartMs);
    return session.ask(PROMPT);
  };
  const times: Record<string, number[]> = {};
  const note = (what: string, ms: number): void => {
    times[what] = [...(times[what] ?? []), ms];
  };
  // All kinds in each round, so that a busy moment of the machine falls on all of them.
  for (let round = 0; round < rounds; round += 1) {
    note(
      "round trip",
      await timed(() => ask("POST", "/search", { query: PROMPT, limit: ASKED, max_chars: 300, threshold: 0 })),
    );
    note(
      "two requests at once, no plugin",
      await timed(() =>
        Promise.all([
          ask("POST", "/search", { query: PROMPT, limit: ASKED, max_chars: 300, threshold: 0 }),
          ask("POST", "/check-triggers", { query: PROMPT }),
        ]),
      ),
    );
    note("later prompt", await running.ask(PROMPT));
    note("later prompt, trigger fires", await running.ask(FIRING_PROMPT));
    note("first prompt", await fresh(2 * latencyMs + 100));
    note("first prompt, at once (no time after `setup`)", await fresh(0));
    note("in turn: later prompt (model)", await timed(() => askInTurn(ask, PROMPT)));
    note("in turn: first prompt (model)", await timed(() => askInTurnAtStart(ask, PROMPT)));
  }
  const limits: Record<string, number> = {
    "later prompt": latencyMs < 10 ? LIMITS.promptAtOnce : LIMITS.prompt,
    "first prompt": latencyMs < 10 ? LIMITS.promptAtOnce : LIMITS.prompt,
    "later prompt, trigger fires": LIMITS.trigger,
  };
  const roundTrips = times["round trip"] ?? [];
  return Object.entries(times).map(([what, each]) => {
    const ms = medianOf(each);
    return {
      what,
      latencyMs,
      ms,
      ratio: ms / medianOf(roundTrips),
      quickRatio: quantileOf(each, QUICK) / quantileOf(roundTrips, QUICK),
      limit: limits[what],
    };
  });
}

function promptTable(prompts: readonly Timed[]): Table {
  const rows = prompts.map(({ what, latencyMs, ms, ratio, quickRatio, limit }): Row => {
    const target = limit === undefined ? "" : verdict(ratio, limit);
    return {
      source: "harness",
      cells: [`${latencyMs} ms`, what, milliseconds(ms), ratio.toFixed(2), quickRatio.toFixed(2), target],
    };
  });
  return {
    title: "A new prompt",
    columns: [
      "Server answers after",
      "What",
      "Median wait",
      "Round trips",
      "The same of the quickest quarter",
      "Target (of the median)",
    ],
    rows,
    notes: [
      "The shipped file in one thread, the stand-in server in another. " +
        "A round trip is one plain `fetch` of the plugin's search, in the same thread and round. " +
        "*First prompt*: `setup` was called with a session id, and what it asks ahead " +
        "(the server's policy, the digest) had come; *at once*: the prompt comes in the same moment. " +
        `Load of the machine meanwhile: ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors; ` +
        "what it is busy with adds to a wait. " +
        "*In turn* is a model (`test/bench/strategies.ts`) of clients that ask for triggers, read two files and " +
        "search one after the other, and prime the session before that.",
    ],
  };
}

/** A capture is due at the third prompt; what is stored is found by later searches, so this comes after those. */
async function measureEnds({ server, open }: Stage): Promise<Table> {
  const latencyMs = 30;
  await server.fault({ delayMs: latencyMs });
  const times = async (prompts: number): Promise<number> => {
    const each: number[] = [];
    for (let round = 0; round < 11; round += 1) each.push(await open().end(prompts));
    return medianOf(each);
  };
  const row = (what: string, ms: number): Row => ({
    source: "harness",
    cells: [`${latencyMs} ms`, what, milliseconds(ms)],
  });
  const rows = [
    row("nothing to capture yet", await times(2)),
    row("a capture is due (the server's policy is asked, then the post)", await times(3)),
  ];
  return { title: "The end of a run", columns: ["Server answers after", "What", "Median wait"], rows };
}

async function measureToolLoop({ open }: Stage): Promise<Table> {
  const echo = new Worker(
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => parentPort.postMessage(0));",
    { eval: true },
  );
  const rows: Row[] = [];
  for (const turns of [15, 140]) {
    const session = open();
    let payload: Payload = createChat().beforeModel();
    await playSession(
      {
        // Only prompts are told to the plugin, so that the last call finds as many blocks as there are.
        request: async (chat) => {
          if (chat.messages.at(-1)?.role !== "user") return;
          payload = chat.beforeModel();
          await session.step(payload);
        },
        runEnd: async () => undefined,
      },
      turns,
    );
    const { snapshot } = payload;
    await session.step(payload);
    const hookMs = await medianTime(2000, () => session.step(payload));
    const copyMs = await medianTime(50, async () => {
      echo.postMessage(snapshot);
      await once(echo, "message");
    });
    const share = hookMs / copyMs;
    const { messages } = snapshot as { messages: unknown[] };
    const millions = (JSON.stringify(messages).length / 1e6).toFixed(1);
    const size = `${messages.length} messages, ${millions} million characters`;
    rows.push({
      source: "harness",
      cells: [
        size,
        milliseconds(hookMs),
        milliseconds(copyMs),
        `${(100 * share).toFixed(1)} %`,
        `${100 * LIMITS.ofCopy} %: ${share <= LIMITS.ofCopy ? "met" : "missed"}`,
      ],
    });
  }
  await echo.terminate();
  return {
    title: "A call of a tool loop",
    columns: ["Transcript", "The hook", "Handing the transcript to another thread", "Share", "Target"],
    rows,
    notes: [
      "Nothing is asked then: what was injected is put back. The host copies the transcript (and the request " +
        "besides) to the plugin's thread or process for each call; that alone is what the hook is held against.",
    ],
  };
}

async function measureTrouble({ server, open }: Stage): Promise<Table> {
  const rows: Row[] = [];
  const add = (what: string, ms: number): void =>
    void rows.push({ source: "harness", cells: [what, milliseconds(ms)] });
  const threeTimes = async (session: Session): Promise<number> =>
    medianOf([await session.ask(PROMPT), await session.ask(PROMPT), await session.ask(PROMPT)]);
  const together = async (session: Session): Promise<number> =>
    (await session.ask(PROMPT)) + (await session.ask(PROMPT)) + (await session.ask(PROMPT));
  const clock = Date.now;
  try {
    const refusing = open("http://127.0.0.1:9");
    add("the server refuses: each of the first three prompts", await threeTimes(refusing));
    add("the same, during the pause that follows", await threeTimes(refusing));
    await server.fault({ hang: true });
    const hanging = open();
    add("the server hangs: the first three prompts together", await together(hanging));
    add("the same, during the pause that follows", await threeTimes(hanging));
    Date.now = () => clock() + PAUSES_MS[0];
    add("the first prompt after the pause, the server still hangs", await hanging.ask(PROMPT));
    await server.fault(null);
    Date.now = () => clock() + PAUSES_MS[0] + PAUSES_MS[1];
    add("the first prompt after the next pause, the server is back", await hanging.ask(PROMPT));
  } finally {
    Date.now = clock;
  }
  return { title: "A server in trouble", columns: ["What", "Median wait"], rows };
}

async function startServer(): Promise<Server> {
  const worker = new Worker(join(REPOSITORY, ".cache/build/test/bench/server.js"));
  const [url] = await once(worker, "message");
  const fault = async (value: Fault | null): Promise<unknown> => {
    worker.postMessage(value);
    return once(worker, "message");
  };
  return { url: String(url), fault, stop: () => worker.terminate() };
}

async function createOpener(url: string, folder: string): Promise<Stage["open"]> {
  const file = pathToFileURL(join(REPOSITORY, "dist/palinode.js")).href;
  const { createPalinodePlugin: create } = (await import(file)) as {
    createPalinodePlugin: typeof createPalinodePlugin;
  };
  let count = 0;
  return (apiUrl = url) => {
    count += 1;
    const name = `session-${count}`;
    const plugin = create({ apiUrl, stateDir: join(folder, name), sessionMaxChars: 1_000_000 });
    plugin.setup(createApiCapture().api, { session: { sessionId: name }, workspaceInfo: { rootPath: folder } });
    const chat = createChat({ conversationId: name });
    return {
      step: (payload) => plugin.hooks.beforeModel(payload),
      end(prompts) {
        for (let prompt = 0; prompt < prompts; prompt += 1) {
          chat.say(PROMPT);
          chat.answer("ok");
        }
        return timed(() => plugin.hooks.afterRun(chat.afterRun()));
      },
      async ask(words) {
        chat.say(words);
        const payload = chat.beforeModel();
        const ms = await timed(() => plugin.hooks.beforeModel(payload));
        chat.answer("ok");
        return ms;
      },
    };
  };
}

function createAsk(url: string): Ask {
  return async (method, route, body) => {
    const init =
      body === undefined
        ? { method }
        : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    return (await fetch(`${url}${route}`, init)).json();
  };
}

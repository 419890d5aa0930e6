// Everything at once, from a seed: prompts, tool loops, failing commands, kills, restarts, compactions, undo, a server
// that breaks in every way, and a clock that jumps. After each step the promises hold, and in the end nothing is lost.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  captureKey,
  checkRequest,
  checkServer,
  checkState,
  createClock,
  createTalk,
  type Talk,
} from "./helpers/chaos.ts";
import {
  commandOutput,
  createChat,
  injected,
  type Message,
  type Payload,
  sent,
  sharedPrefix,
  textOf,
} from "./helpers/chat.ts";
import { createRandom, type Random, seedOfRun } from "./helpers/random.ts";
import { until, waitingCaptures } from "./helpers/scene.ts";
import { createWorkerHost, type WorkerHost } from "./helpers/worker-host.ts";
import { type Fault, startPalinode } from "./palinode/server.ts";

declare const REPOSITORY: string;

const STEPS = 300;
const MINUTE = 60_000;
const MARK = "zqmark"; // In every memory, and in nothing that a person or a model says.
const TOPICS = [
  "roll back a deploy of the api",
  "retry policy of the payment client",
  "lint warnings in the shop",
  "reindex step and its ordering",
  "certificates on the mail relay",
  "colours of the landing page",
  "timeouts between queue and worker",
  "licence headers in generated code",
];
const MEMORIES = [
  { file: "decisions/core.md", core: true, summary: `always in view ${MARK}`, body: `Core ${MARK}.` },
  ...TOPICS.map((topic, index) => ({
    file: `m/topic-${index}.md`,
    body: `About ${topic}: what we know of ${topic} ${MARK}${index}.`,
  })),
];
const TRIGGERS = [0, 1].map((index) => ({
  description: TOPICS[index] ?? "",
  memory_file: `m/topic-${index}.md`,
  threshold: 0.5,
  cooldown_hours: 1,
}));
const SECRETS = ["ghp_0123456789abcdefghijABCDEFGHIJ0123", "abc123def456", "hunter22"];
const LEAKS = [
  `my key is ${SECRETS[0]} for it`,
  `export API_KEY=${SECRETS[1]} first`,
  `see postgres://bob:${SECRETS[2]}@db/shop`,
];

const ROUTES = [
  "*",
  "/search",
  "/check-triggers",
  "/list",
  "/context/prime",
  "/read",
  "/controls/check",
  "/session-end",
  "/session-end",
];
const FAULTS: Fault[] = [
  { hang: true },
  { hang: true, handled: true },
  { delayMs: 60 },
  { delayMs: 350 },
  { reset: true },
  { reset: true, handled: true },
  { cut: true },
  { dripMs: 20 },
  { status: 500 },
  { status: 503 },
  { html: true },
  { json: [] },
  { json: { results: [{ rel_path: 7 }, null] } },
  { json: null },
  { raw: "{" },
  { bigBytes: 3_000_000 },
  { redirect: "http://127.0.0.1:9/" },
];
// The stand-in does a call's work before it refuses, which no server does: captures are refused by its policy instead.
const REFUSALS: Fault[] = [401, 403, 404, 422, 429].map((status) => ({ status, headers: { "retry-after": "20" } }));

for (const round of [0, 1]) {
  const seed = seedOfRun() + round;
  test(`${STEPS} steps of chaos keep every promise (SEED=${seed})`, { timeout: 240_000 }, async (t) => {
    const run = await openRun(t, createRandom(seed));
    for (let step = 0; step < STEPS; step += 1) {
      const action = run.choose();
      try {
        await run.actions[action]();
        run.check();
      } catch (error) {
        throw new Error(`step ${step} (${action}): ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
    await run.settle();
  });
}

async function openRun(t: TestContext, random: Random) {
  const folder = mkdtempSync(join(tmpdir(), "palinode-chaos-"));
  const stateDir = join(folder, "state");
  const clock = createClock(folder);
  const server = await startPalinode({
    memories: MEMORIES,
    triggers: TRIGGERS,
    now: clock.now,
    rateLimits: { search: 60 },
  });
  const hosts: WorkerHost[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((each) => each.kill()));
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const tuning = {
    PALINODE_CLINE_SESSION_MAX_CHARS: random.pick(["24000", "2500"]),
    PALINODE_HOOK_RECALL_MAX_RESULTS: random.pick(["1", "3"]),
  };

  let count = 0;
  let talk = createTalk("1796000000000_chaos", "conv_0");
  let host = open(talk.sessionId);
  let isRunning = false;
  let hostBefore: Message[] = [];
  let sentBefore: Message[] = [];
  let checkedRequests = 0;
  /** Captures that were on their way, and what was asked in each session when its last run ended. */
  const queued = new Set<string>();
  const ended = new Map<string, readonly string[]>();

  function open(sessionId: string, env: Record<string, string> = {}): WorkerHost {
    const opened = createWorkerHost({
      file: clock.file,
      env: {
        HOME: folder,
        PALINODE_API_URL: server.url,
        PALINODE_CLINE_STATE_DIR: stateDir,
        PALINODE_CLINE_HOOK_DEADLINE_MS: "400",
        PALINODE_HOOK_RECALL_TIMEOUT: "1",
        PALINODE_HOOK_MIN_MESSAGES: "1",
        ...tuning,
        ...env,
      },
      context: {
        session: { sessionId },
        workspaceInfo: { rootPath: folder, associatedRemoteUrls: ["origin: https://example.com/acme/shop.git"] },
      },
    });
    hosts.push(opened);
    return opened;
  }

  function words(): string {
    count += 1;
    const block = injected(sentBefore).map(textOf).at(-1) ?? "";
    const question = `Question ${count} about the ${random.pick(TOPICS)}`;
    return random.pick([
      question,
      question,
      question,
      question,
      "continue",
      `${question}, ${random.pick(LEAKS)}`,
      `${question}: ${block}`,
    ]);
  }

  async function model(of: Talk = talk, by: WorkerHost = host): Promise<void> {
    if (of === talk && random.chance(0.08)) talk.compact(random.pick(["agentic", "basic"]));
    const payload = of.chat.beforeModel(of.request());
    const { result } = await by.beforeModel(payload);
    const requested = payload.request?.messages as Message[];
    const sentNow = sent(payload, result);
    checkRequest(requested, sentNow);
    if (of !== talk) return;
    if (sharedPrefix(hostBefore, requested) === hostBefore.length)
      assert.equal(sharedPrefix(sentBefore, sentNow), sentBefore.length, "the prefix moved");
    [hostBefore, sentBefore] = [requested, sentNow];
  }

  async function finish(of: Talk = talk, by: WorkerHost = host): Promise<void> {
    of.chat.answer(
      random.pick([
        `Done with ${of.prompts()}.`,
        `It was ${random.pick(LEAKS)}`,
        injected(sentBefore).map(textOf).join("\n"),
      ]),
    );
    await by.afterRun(of.chat.afterRun(random.pick(["completed", "completed", "failed", "aborted"])));
    ended.set(of.sessionId, questionsIn(of.chat.messages));
  }

  /** A hook that its process does not survive: the request goes out as the host made it. */
  async function killDuring(hook: "beforeModel" | "afterRun", payload: Payload): Promise<void> {
    const call = host.hook(hook, payload);
    await new Promise((resolve) => setTimeout(resolve, random.below(80)));
    await host.kill();
    await call;
    if (hook === "beforeModel") [hostBefore, sentBefore] = [[], []];
  }

  async function moveTo(next: Talk): Promise<void> {
    await host.kill();
    host = open(next.sessionId);
    if (next.sessionId !== talk.sessionId) [hostBefore, sentBefore] = [[], []];
    talk = next;
  }

  const actions = {
    prompt: async () => {
      isRunning = true;
      talk.chat.say(words());
      await model();
    },
    tool: async () => {
      const command = random.pick(["npm test", `curl -u bob:${SECRETS[2]} x`]);
      count += 1;
      const toolCallId = `call_${count}`;
      talk.chat.add({
        role: "assistant",
        content: [{ type: "tool-call", toolCallId, toolName: "run_commands", input: { commands: [command] } }],
      });
      talk.chat.add({
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId,
            toolName: "run_commands",
            output: commandOutput(command, `line ${count}`, random.below(2)),
          },
        ],
      });
      await model();
    },
    again: () => model(),
    end: async () => {
      isRunning = false;
      await finish();
    },
    kill: () => host.kill(),
    killInModel: () => killDuring("beforeModel", talk.chat.beforeModel(talk.request())),
    killInRun: () => killDuring("afterRun", talk.chat.afterRun()),
    restart: () => moveTo(talk),
    resume: () => {
      count += 1;
      return moveTo(talk.resumed(`conv_${count}`));
    },
    nextSession: async () => {
      count += 1;
      await moveTo(createTalk(`${1796000000000 + count}_chaos`, `conv_${count}`));
    },
    /** A short session beside this one, in a process of its own. */
    otherSession: async () => {
      count += 1;
      const other = createTalk(`${1796000000000 + count}_other`, `conv_${count}`);
      const by = open(other.sessionId);
      for (let prompts = random.pick([1, 1, 3, 4]); prompts > 0; prompts -= 1) {
        other.chat.say(words());
        await model(other, by);
        await finish(other, by);
      }
      await by.kill();
    },
    undo: async () => talk.undo(1 + random.below(3)),
    fault: async () => {
      const path = random.pick(ROUTES);
      const isSafe = path === "*" || path === "/session-end" || path === "/read";
      const lost: Fault[] = path === "/session-end" ? Array<Fault>(10).fill({ reset: true }) : [];
      server.fault(
        path,
        random.pick([...FAULTS, ...lost, ...(isSafe ? [] : REFUSALS)]),
        random.pick(path === "/session-end" ? [3, 6] : [1, 2, 5]),
      );
    },
    policy: async () => {
      server.policy.capture = random.pick([null, null, null, "capture_paused"]);
      server.policy.recall = random.pick([null, null, null, "recall_paused"]);
    },
    mend: async () => {
      mend();
      clock.move(6 * MINUTE); // Past every pause.
    },
    clock: async () =>
      clock.move(random.pick([-10 * MINUTE, 40_000, 2 * MINUTE, 6 * MINUTE, 6 * MINUTE, 40 * MINUTE, 5 * 60 * MINUTE])),
  };
  type Action = keyof typeof actions;
  const anytime: Action[] = ["kill", "fault", "mend", "mend", "clock", "policy", "otherSession"];
  const running: Action[] = [
    ...anytime,
    ...Array<Action>(6).fill("tool"),
    ...Array<Action>(5).fill("end"),
    "prompt",
    "again",
    "killInModel",
    "restart",
    "resume",
  ];
  const idle: Action[] = [
    ...anytime,
    ...Array<Action>(12).fill("prompt"),
    "restart",
    "resume",
    "undo",
    "killInRun",
    "end",
  ];

  function mend(): void {
    for (const path of ROUTES) server.fault(path, null);
    Object.assign(server.policy, { capture: null, recall: null });
  }

  function check(): void {
    for (const each of hosts) assert.deepEqual([...each.failures, ...each.violations], []);
    checkServer(server, [...SECRETS, MARK, "palinode-memory"], checkedRequests);
    checkedRequests = server.requests.length;
    for (const [name, text] of checkState(stateDir, SECRETS)) {
      if (!name.startsWith("sessions/")) assert.ok(!text.includes(MARK), `memory in ${name}`);
      if (name.startsWith("queue/"))
        queued.add(captureKey((JSON.parse(text) as { body: Record<string, unknown> }).body));
    }
  }

  return {
    actions,
    check,
    choose: (): Action =>
      talk.prompts() >= 24 && !isRunning
        ? "nextSession"
        : random.pick(talk.prompts() > 0 && isRunning ? running : idle),
    /** The server works again, every owner is gone: later sessions deliver what is left. */
    async settle(): Promise<void> {
      mend();
      await Promise.all(hosts.map((each) => each.kill()));
      clock.move(180 * MINUTE); // Past every lease and the half hour of a tail, whatever moves went back.
      await deliver(stateDir, async (id) => {
        const later = createTalk(id, id);
        later.chat.say("Question of a later session, about nothing");
        await open(id, { PALINODE_CLINE_HOOK_DEADLINE_MS: "2700" }).beforeModel(later.chat.beforeModel());
      });
      check();
      const captured = new Set(server.sessions.map(captureKey));
      assert.deepEqual(
        [...queued].filter((key) => !captured.has(key)),
        [],
        "captures lost",
      );
      for (const [id, questions] of ended) {
        const told = server.sessions.filter((body) => body.session_id === id).map(({ summary }) => String(summary));
        const lost = questions.filter((question) => !told.some((summary) => summary.includes(`${question} `)));
        assert.deepEqual(lost, [], `of ${id} was captured:\n${told.join("\n---\n")}`);
      }
    },
  };
}

/** Returns what each prompt asks first; `continue` asks nothing. */
function questionsIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "user" ? (/Question \d+/.exec(textOf(message)) ?? []) : []));
}

/** Starts later sessions until nothing waits: on a busy machine one may miss its deadline. */
async function deliver(stateDir: string, start: (sessionId: string) => Promise<unknown>): Promise<void> {
  const waiting = (): string[] => waitingCaptures(stateDir);
  for (let index = 0; index < 4 && (index === 0 || waiting().length > 0); index += 1) {
    await start(`179600090000${index}_later`);
    await until("all is delivered", () => waiting().length === 0).catch(() => undefined);
  }
  assert.deepEqual(waiting(), [], "not delivered");
}

/** A process with the plugin in it: it answers one prompt, and ends a run where a second payload is given. */
const CHILD = `
  const [file, given] = process.argv.slice(1);
  const { context, beforeModel, afterRun } = JSON.parse(given);
  const { plugin } = await import(file);
  await plugin.setup({ registerTool() {} }, context);
  await plugin.hooks.beforeModel(beforeModel);
  const end = afterRun && plugin.hooks.afterRun(afterRun);
  process.stdout.write("run");
  await end;
  setInterval(() => undefined, 1000);
`;

test(`a SIGKILL at any moment of a run's end loses nothing and doubles nothing (SEED=${seedOfRun()})`, {
  timeout: 240_000,
}, async (t) => {
  const random = createRandom(seedOfRun());
  const folder = mkdtempSync(join(tmpdir(), "palinode-kill-"));
  const stateDir = join(folder, "state");
  const server = await startPalinode({ memories: MEMORIES });
  const children: ChildProcess[] = [];
  t.after(async () => {
    for (const child of children) child.kill("SIGKILL");
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a session in a process; returns when the end of its run is under way. */
  async function start(sessionId: string, prompts: number): Promise<ChildProcess> {
    const chat = createChat({ conversationId: sessionId });
    for (let index = 1; index <= prompts; index += 1) {
      chat.say(`Question ${index} of ${sessionId}`);
      if (prompts > 1) chat.answer(`Answer ${index}`);
    }
    const given = JSON.stringify({
      context: { session: { sessionId }, workspaceInfo: { rootPath: folder } },
      beforeModel: chat.beforeModel(),
      ...(prompts > 1 ? { afterRun: chat.afterRun() } : {}),
    });
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      PALINODE_API_URL: server.url,
      PALINODE_CLINE_STATE_DIR: stateDir,
      PALINODE_CLINE_HOOK_DEADLINE_MS: "2700",
    };
    const child = spawn(
      process.execPath,
      ["--input-type=module", "-e", CHILD, "--", `file://${join(REPOSITORY, "dist/palinode.js")}`, given],
      { env, stdio: ["ignore", "pipe", "inherit"] },
    );
    children.push(child);
    await once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data");
    return child;
  }

  const ids = Array.from({ length: 25 }, (_, round) => `17960000000${10 + round}_kill`);
  for (let first = 0; first < ids.length; first += 5) {
    server.fault("/session-end", { delayMs: random.below(100) });
    await Promise.all(
      ids.slice(first, first + 5).map(async (id) => {
        const delay = random.below(150);
        const child = await start(id, 3);
        const exit = once(child, "exit");
        setTimeout(() => child.kill("SIGKILL"), delay);
        await exit;
        checkState(stateDir, []);
      }),
    );
  }
  server.fault("/session-end", null);
  await deliver(stateDir, (id) => start(id, 1));
  assert.deepEqual(server.sessions.map((body) => body.session_id).sort(), ids);
});

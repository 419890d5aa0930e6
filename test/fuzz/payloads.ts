// Fuzzes hook payloads: conversations of every shape that a host, another plugin or another version may hand over.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { PalinodeHooks } from "../../src/plugin.ts";
import type { Random } from "../helpers/random.ts";
import type { Fuzzer } from "./driver.ts";
import { checkRequests, checkResult, DEFAULT_CAPS } from "./promises.ts";
import { API_URL, answerFrom, openStage, REMOTE, responseOf, SESSION_ID, type Stage } from "./stage.ts";
import { mutated, someText, somethingSaid, someValue } from "./values.ts";

type Message = Record<string, unknown>;
type Payload = {
  snapshot: Record<string, unknown>;
  request: { messages: unknown[] };
  result?: { messages: unknown[] };
};

/** A conversation as a host keeps it, and what its last request was. */
interface Talk {
  messages: unknown[];
  /** How many of them compaction has folded into a summary. */
  folded: number;
  /** The request before this one, by the host and with memory in it; undefined where this one need not extend it. */
  before: { readonly host: readonly unknown[]; readonly sent: readonly unknown[] } | undefined;
  ids: number;
  /** Whether a payload of perhaps another conversation has come: the session's record on disk may be that one's. */
  isShared: boolean;
}

export async function openPayloadFuzzer(): Promise<Fuzzer> {
  const stage = await openStage();
  return { run: (random) => runCase(stage, random), close: stage.close };
}

async function runCase(stage: Stage, random: Random): Promise<void> {
  const { network } = stage;
  const store = stage.newStore();
  network.forget();
  network.answer = (request) => responseOf(answerFrom(store, request));
  const stateDir = stage.newFolder();
  const options = {
    apiUrl: API_URL,
    stateDir,
    persist: random.chance(0.3),
    minMessages: random.pick([1, 3]),
    recallThreshold: random.pick([0, 0.5]),
  };
  const context = random.chance(0.2) ? mutated(random, contextOf(stage)) : contextOf(stage);
  let plugin = stage.load(options, context);
  const talk: Talk = { messages: [], folded: 0, before: undefined, ids: 0, isShared: false };
  for (let step = random.below(4) + 1; step > 0; step -= 1) {
    grow(talk, random);
    // A host may end the plugin's process at any time; the next one goes on from what is on disk.
    if (options.persist && !talk.isShared && isSession(context) && random.chance(0.3))
      plugin = stage.load(options, context);
    await callBeforeModel(plugin.hooks.beforeModel, talk, random);
    if (random.chance(0.4)) await callAfterRun(plugin.hooks.afterRun, talk, random);
  }
  checkRequests(network.requests);
  network.check();
  rmSync(stateDir, { recursive: true, force: true });
}

function contextOf(stage: Stage): unknown {
  return {
    session: { sessionId: SESSION_ID },
    cwd: stage.folder,
    workspaceInfo: { rootPath: stage.folder, associatedRemoteUrls: [REMOTE] },
    logger: { log() {}, debug() {} },
    onDispose() {},
  };
}

async function callBeforeModel(beforeModel: PalinodeHooks["beforeModel"], talk: Talk, random: Random): Promise<void> {
  const whole = payloadOf(talk, false);
  const payload = maybeSpoilt(random, whole);
  const host = hostMessagesOf(payload);
  const before = structuredClone(host);
  const result: unknown = await beforeModel(payload as object);
  if (host === undefined) assert.equal(result, undefined);
  // Between two requests of one conversation there was another, perhaps of another one or with its history rewritten.
  if (payload !== whole) [talk.before, talk.isShared] = [undefined, true];
  if (host === undefined) return;
  checkResult(host, result, DEFAULT_CAPS);
  assert.deepEqual(host, before, "the host's messages are left as they are");
  const sent = (result as { messages: unknown[] } | undefined)?.messages ?? host;
  const { before: last } = talk;
  if (last && isPrefix(last.host, host))
    assert.ok(isPrefix(last.sent, sent), `the cached prefix moved: ${compared(last.sent, sent)}`);
  if (payload === whole) talk.before = { host: structuredClone(host), sent: structuredClone(sent) };
}

async function callAfterRun(
  afterRun: (payload: unknown) => Promise<unknown>,
  talk: Talk,
  random: Random,
): Promise<void> {
  const whole = payloadOf(talk, true);
  const payload = maybeSpoilt(random, whole);
  if (payload !== whole) talk.isShared = true;
  assert.equal(await afterRun(payload), undefined);
}

function payloadOf(talk: Talk, isOver: boolean): Payload {
  const { messages } = talk;
  const own = structuredClone(
    talk.folded === 0 || isOver ? messages : [summaryOf(talk), ...messages.slice(talk.folded)],
  );
  const snapshot = {
    agentId: "agent_1",
    conversationId: "conv_1",
    runId: "run_1",
    status: "running",
    messages: structuredClone(messages),
  };
  return { snapshot, request: { messages: own }, ...(isOver ? { result: { messages: own } } : {}) };
}

/** Another id on every request; the content stays (test/recordings/hooks/compaction-agentic.jsonl). */
function summaryOf(talk: Talk): Message {
  talk.ids += 1;
  return {
    id: `m${talk.ids}`,
    role: "user",
    content: [text(`Context summary of ${talk.folded} messages`)],
    createdAt: talk.ids,
    metadata: { kind: "compaction_summary", displayRole: "system", userRunSpan: talk.folded },
  };
}

function isSession(context: unknown): boolean {
  return (context as { session?: { sessionId?: unknown } } | undefined)?.session?.sessionId === SESSION_ID;
}

/** Most payloads are whole; the others have one odd place, or throw when they are looked at. */
function maybeSpoilt(random: Random, payload: Payload): unknown {
  if (random.chance(0.02))
    return new Proxy(payload, {
      get: () => {
        throw new Error("not for you");
      },
    });
  if (random.chance(0.02)) return someValue(random);
  return random.chance(0.25) ? mutated(random, payload) : payload;
}

function hostMessagesOf(payload: unknown): unknown[] | undefined {
  try {
    const messages = (payload as Payload | undefined)?.request?.messages;
    return Array.isArray(messages) ? messages : undefined;
  } catch {
    return undefined;
  }
}

/** Adds a turn's worth of messages, or takes some away as an undo does. */
function grow(talk: Talk, random: Random): void {
  if (random.chance(0.08)) talk.messages.length = random.below(talk.messages.length + 1);
  if (random.chance(0.08)) talk.folded = random.below(talk.messages.length + 1);
  talk.folded = Math.min(talk.folded, talk.messages.length);
  for (let count = random.below(3) + 1; count > 0; count -= 1) talk.messages.push(...someMessages(talk, random));
  const words = somethingSaid(random);
  if (random.chance(0.8))
    talk.messages.push(
      message(talk, random, "user", [
        text(random.chance(0.5) ? words : `<user_input mode="act">${words}</user_input>`),
      ]),
    );
}

function someMessages(talk: Talk, random: Random): unknown[] {
  const callId = `call_${talk.ids}`;
  const command = random.pick(["npm test", someText(random, 3)]);
  const toolName = random.pick(["run_commands", "editor", "apply_patch", "x__palinode_session_end"]);
  const input = random.pick([
    { path: someText(random, 2) },
    { commands: [command] },
    someText(random, 3),
    someValue(random),
  ]);
  const output = random.pick([
    [{ query: command, error: "Command exited with code 1", success: false }],
    somethingSaid(random),
    someValue(random),
  ]);
  // What a host that keeps our blocks, or a model that quotes one, hands back.
  const block = talk.before?.sent.find((sent) => JSON.stringify(sent)?.includes("palinode-recall")) as
    | Message
    | undefined;
  const makers: (() => unknown[])[] = [
    () => [message(talk, random, "assistant", [text(somethingSaid(random))])],
    () => [
      message(talk, random, "assistant", [{ type: "tool-call", toolCallId: callId, toolName, input }]),
      message(talk, random, "tool", [
        { type: "tool-result", toolCallId: callId, toolName, output, isError: random.chance(0.3) },
      ]),
    ],
    () => [
      message(talk, random, "user", [text("<hook_context>lint</hook_context>")], {
        userRunSpan: 0,
        displayRole: "system",
      }),
    ],
    () => [
      message(talk, random, "user", [text(somethingSaid(random)), text(someText(random))], {
        kind: "compaction",
        userRunSpan: 2,
      }),
    ],
    () => [message(talk, random, "user", somethingSaid(random))],
    () => [mutated(random, message(talk, random, "user", [text(somethingSaid(random))]))],
    () => (block === undefined ? [] : [message(talk, random, random.pick(["user", "assistant"]), block.content)]),
    () => [someValue(random)],
  ];
  return random.pick(makers)();
}

function message(talk: Talk, random: Random, role: string, content: unknown, metadata?: unknown): Message {
  talk.ids += 1;
  return {
    ...(random.chance(0.9) ? { id: `m${talk.ids}` } : {}),
    role,
    content,
    createdAt: 1_796_000_000_000 + talk.ids,
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function text(words: string): Message {
  return { type: "text", text: words };
}

/** Whether one request goes on where the other ended, as a provider's cache compares them. */
function isPrefix(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.every((each, index) => index < after.length && wire(each) === wire(after[index]));
}

function compared(before: readonly unknown[], after: readonly unknown[]): string {
  const [left, right] = [before, after].map((list) =>
    list.map((each) => `${JSON.stringify((each as Message | null)?.id)} ${wire(each).slice(0, 100)}`),
  );
  return `\n${left?.join("\n")}\n---\n${right?.join("\n")}`;
}

function wire(each: unknown): string {
  const { role, content } = (each ?? {}) as Message;
  return JSON.stringify([role, content]);
}

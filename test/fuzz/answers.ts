// Fuzzes the server: memories that hold anything, and answers that are late, cut, spoilt, or something else altogether.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { createChat } from "../helpers/chat.ts";
import type { Random } from "../helpers/random.ts";
import type { MemoryInput } from "../palinode/server.ts";
import type { Store } from "../palinode/store.ts";
import type { Fuzzer } from "./driver.ts";
import type { Request } from "./network.ts";
import { checkRequests, checkResult } from "./promises.ts";
import { API_URL, answerFrom, openStage, responseOf, type Stage } from "./stage.ts";
import { mutated, someText, someValue, spoilt } from "./values.ts";

const STATUSES = [200, 200, 201, 204, 301, 307, 400, 401, 403, 404, 405, 413, 418, 422, 429, 500, 502, 503];

export async function openAnswerFuzzer(): Promise<Fuzzer> {
  const stage = await openStage();
  return { run: (random) => runCase(stage, random), close: stage.close };
}

async function runCase(stage: Stage, random: Random): Promise<void> {
  const { network } = stage;
  const store = stage.newStore({
    memories: Array.from({ length: random.below(5) + 1 }, (_, index) => someMemory(random, index)),
    triggers: someTriggers(random),
  });
  const spoiltShare = random.pick([0, 0.1, 0.5]);
  network.forget();
  network.answer = (request) =>
    random.chance(spoiltShare) ? someResponse(random, store, request) : responseOf(answerFrom(store, request));
  const caps = {
    injectMaxChars: random.pick([4000, 400, 260]),
    recallMaxChars: random.pick([3000, 300, 200]),
    sessionMaxChars: random.pick([24_000, 900]),
  };
  const stateDir = stage.newFolder();
  const plugin = stage.load({
    apiUrl: API_URL,
    stateDir,
    ...caps,
    persist: random.chance(0.2),
    minMessages: 1,
    recallThreshold: random.pick([0, 0.5]),
    recallMaxResults: random.pick([1, 3, 20]),
    resolve: random.chance(0.2),
    resolveDeadlineMs: 50,
    hookDeadlineMs: 100,
    recallTimeoutMs: 200,
  });
  const chat = createChat();
  for (let prompts = random.below(3) + 1; prompts > 0; prompts -= 1) {
    chat.say(
      random.pick(["How do we roll back the deploy?", "Why does the checkout test retry the api?", someText(random)]),
    );
    const payload = chat.beforeModel();
    checkResult(payload.request?.messages as unknown[], await plugin.hooks.beforeModel(payload), caps);
    chat.answer("ok");
    if (random.chance(0.3)) assert.equal(await plugin.hooks.afterRun(chat.afterRun()), undefined);
  }
  checkRequests(network.requests);
  network.check();
  rmSync(stateDir, { recursive: true, force: true });
}

function someMemory(random: Random, index: number): MemoryInput {
  return {
    file: random.chance(0.9) ? `m/${index}.md` : `m/${someText(random, 2)}.md`,
    core: random.chance(0.5),
    body: `${random.pick(["roll back the deploy", "why the checkout test", ""])} ${someText(random, 30)}`,
    ...(random.chance(0.7) ? { summary: someText(random, 4), title: someText(random, 3) } : {}),
  };
}

function someTriggers(
  random: Random,
): { description: string; memory_file: string; threshold: number; cooldown_hours: number }[] {
  return Array.from({ length: random.below(4) }, (_, index) => ({
    description: `roll back the deploy ${someText(random, 2)}`,
    memory_file: `m/${index}.md`,
    threshold: 0,
    cooldown_hours: 0,
  }));
}

/** Returns, throws or never returns what a server, a proxy or a broken line may. */
function someResponse(random: Random, store: Store, request: Request): Response | Promise<Response> {
  const { status, body } = answerFrom(store, request);
  const text = JSON.stringify(body);
  const makers: (() => Response | Promise<Response>)[] = [
    () => responseOf({ status, body: mutated(random, body) }),
    () => responseOf({ status, body: mutated(random, mutated(random, body)) }),
    () => responseOf({ status, body: someValue(random) ?? null }),
    () => new Response(new Uint8Array(spoilt(random, text)), { status }),
    () =>
      withStatus(
        random.pick(STATUSES),
        random.pick([text, someText(random), "<!doctype html>", ""]),
        random.pick(["5", "0", "-1", "soon", "Fri, 31 Dec 1999 23:59:59 GMT", "99999999999"]),
      ),
    () => new Response(inPieces(random, spoilt(random, text)), { status }),
    () => Promise.reject(someError(random)),
  ];
  // A hook waits for its deadline then, so these are few.
  if (random.chance(0.02)) return new Promise(() => undefined);
  return random.pick(makers)();
}

function withStatus(status: number, text: string, retryAfter: string): Response {
  const hasNoBody = status === 204;
  return new Response(hasNoBody ? null : text, {
    status,
    headers: { "retry-after": retryAfter, location: "http://192.0.2.1/" },
  });
}

/** A body that comes in pieces cut anywhere, also inside a character, and may break off. */
function inPieces(random: Random, bytes: Buffer): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (random.chance(0.05)) return controller.error(someError(random));
      const end = Math.min(bytes.length, at + 1 + random.below(200));
      if (at >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(at, end)));
      at = end;
    },
  });
}

function someError(random: Random): unknown {
  const coded = (code: string): Error => Object.assign(new Error("no"), { code });
  const circular = new Error("round");
  circular.cause = circular;
  return random.pick([
    new TypeError("fetch failed", { cause: coded("ECONNREFUSED") }),
    new TypeError("fetch failed", { cause: new AggregateError([coded("ENOTFOUND")]) }),
    new TypeError("terminated"),
    new DOMException("late", "TimeoutError"),
    new DOMException("gone", "AbortError"),
    circular,
    new AggregateError([]),
    "a text",
    undefined,
    null,
    7,
    {},
  ]);
}

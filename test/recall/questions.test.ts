// What is worth asking for a prompt, and for a command that failed: decided without asking anybody.
import assert from "node:assert/strict";
import { test } from "node:test";
import { noState } from "../../src/base/store.ts";
import type { Asker } from "../../src/recall/finding.ts";
import { questionsFor, repairQuestions } from "../../src/recall/questions.ts";
import { unrepaired } from "../../src/recall/repair.ts";
import { createEntry } from "../../src/recall/replay.ts";
import type { Client } from "../../src/server/client.ts";
import { Embedder } from "../../src/server/embedder.ts";
import { PalinodeError } from "../../src/server/failure.ts";
import type { PalinodeOptions } from "../../src/settings/config.ts";
import { readConfig } from "../../src/settings/settings.ts";

const WORDS = "How do we roll back a deploy?";
const NOTHING = { ledger: [], isPrimed: false };

/** An asker that notes what is sent, and whose server answers nothing. */
function createAsker(options: PalinodeOptions = {}): { asker: Asker; sent: [string, unknown][] } {
  const sent: [string, unknown][] = [];
  const note = async (route: string, body: unknown) => {
    sent.push([route, body]);
    throw new PalinodeError(route, "refused");
  };
  const client: Client = { get: note, post: note };
  const { config } = readConfig(options, {});
  const signal = new AbortController().signal;
  const asker = {
    client,
    config,
    project: "",
    cwd: undefined,
    sessionId: "s",
    signal,
    missingRoutes: new Set<string>(),
    embedder: new Embedder(noState, config.apiUrl, Date.now),
  };
  return { asker, sent };
}

/** The channels that are asked, and those that are not with the reason. */
function channelsFor(words: string, shown: Parameters<typeof questionsFor>[1], options?: PalinodeOptions): string[] {
  const questions = questionsFor({ words, before: [] }, shown, createAsker(options).asker);
  return questions.map((each) => ("ask" in each ? each.channel : `${each.channel}: ${each.reason}`));
}

function block(text: string, hits: number) {
  const snippets = Array.from({ length: hits }, (_, index) => ({ path: `${index}.md`, words: "w" }));
  const prompt = { key: "p", message: { role: "user", content: "x" } };
  return createEntry(prompt, { kind: "recall", atEnd: false, text, seen: [], snippets });
}

test("a prompt asks each channel that is on, the digest until it was told", () => {
  assert.deepEqual(channelsFor(WORDS, NOTHING), ["prime", "triggers", "search"]);
  assert.deepEqual(channelsFor(WORDS, { ...NOTHING, isPrimed: true }), ["triggers", "search"]);
  assert.deepEqual(channelsFor(WORDS, NOTHING, { recallTriggers: false }), ["prime", "search"]);
  assert.deepEqual(channelsFor(WORDS, NOTHING, { recallMaxResults: 0 }), ["prime", "triggers"]);
  assert.deepEqual(channelsFor(WORDS, NOTHING, { injectMaxFiles: 0, recallMaxChars: 0 }), []);
});

test("a prompt that says too little, or has no room left, is primed alone, and the reason is said", () => {
  assert.deepEqual(channelsFor("go on", NOTHING), ["prime", "search: too-short"]);
  const full = { ledger: [block("x".repeat(900), 0)], isPrimed: true };
  assert.deepEqual(channelsFor(WORDS, full, { sessionMaxChars: 1000 }), ["search: budget"]);
  assert.deepEqual(channelsFor(WORDS, full, { sessionMaxChars: 1100 }), ["triggers", "search"]);
});

test("search asks for as many more as are in view, and a failed command for what it says", async () => {
  const { asker, sent } = createAsker({ recallTriggers: false });
  const shown = { ledger: [block("a", 2), block("b", 1)], isPrimed: true };
  const failure = { query: "npm test\nError: no", about: "npm test", signature: "1" };
  const questions = [
    ...questionsFor({ words: WORDS, before: [] }, shown, asker),
    ...repairQuestions([failure], shown.ledger, asker),
  ];
  const findings = await Promise.all(questions.map((each) => "ask" in each && each.ask()));
  assert.deepEqual(findings, [
    { channel: "search", memories: [], reason: "refused" },
    { channel: "repair", memories: [], reason: "refused" },
  ]);
  assert.deepEqual(
    sent.map(([route, body]) => [route, (body as { query: string }).query, (body as { limit: number }).limit]),
    [
      ["/search", WORDS, 43],
      ["/search", failure.query, 43],
    ],
  );
});

test("a failure is recalled for once a session, and two of them a prompt", () => {
  const failures = ["a", "b", "c"].map((signature) => ({ query: "", about: "", signature }));
  const left = (repaired: Parameters<typeof unrepaired>[1]) =>
    unrepaired(failures, repaired, "p2").map(({ signature }) => signature);
  assert.deepEqual(left([]), ["a", "b"]);
  assert.deepEqual(left([{ prompt: "p1", signature: "a" }]), ["b", "c"]);
  assert.deepEqual(left([{ prompt: "p2", signature: "a" }]), ["b"]);
  assert.deepEqual(left(["x", "y", "z"].map((signature) => ({ prompt: "p2", signature }))), []);
});

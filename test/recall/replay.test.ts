// That memory stays where it was, byte for byte: on recorded sessions, and on made-up ones of every kind.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { type Message, readHookCall } from "../../src/cline/messages.ts";
import { bareWords, INJECTED_KIND, newestPrompt } from "../../src/cline/prompt.ts";
import { createEntry, type Ledger, replay, visibleIn } from "../../src/recall/replay.ts";

declare const REPOSITORY: string;

/** How many requests extend the one before, by what a model provider gets. */
const EXTENDING = {
  "tool-loop": 5,
  steer: 4,
  "hook-context": 3,
  subagent: 2,
  "compaction-basic": 7,
  "compaction-agentic": 8,
};

interface Call {
  readonly transcript: readonly Message[];
  readonly request?: readonly Message[];
}

/** Plays calls as a conversation does: a digest with the first prompt, a recall with each new one. */
class Player {
  ledger: Ledger = [];
  readonly #asked = new Set<string>();
  readonly #hasDigest: boolean;

  constructor(hasDigest = true) {
    this.#hasDigest = hasDigest;
  }

  /** Returns what is sent; `late` is a block that arrives with this call. */
  send({ transcript, request = transcript }: Call, late?: string): readonly Message[] {
    const prompt = newestPrompt(transcript);
    if (prompt && !this.#asked.has(prompt.key)) {
      if (this.#asked.size === 0 && this.#hasDigest) this.#add(prompt, "digest", false, "DIGEST");
      this.#asked.add(prompt.key);
      this.#add(prompt, "recall", false, `RECALL ${this.#asked.size}`);
    }
    if (prompt && late !== undefined) this.#add(prompt, "recall", true, late);
    const { ledger, messages } = replay(this.ledger, { transcript, request, prompt });
    this.ledger = ledger;
    return messages ?? request;
  }

  #add(prompt: NonNullable<ReturnType<typeof newestPrompt>>, kind: "digest" | "recall", atEnd: boolean, text: string) {
    this.ledger = [...this.ledger, createEntry(prompt, { kind, atEnd, text, seen: [text] })];
  }
}

for (const [name, extending] of Object.entries(EXTENDING)) {
  test(`requests of ${name} extend each other wherever the host's do`, () => {
    const calls = modelCalls(name);
    const player = new Player();
    const sent = calls.map((call) => player.send(call));
    assert.equal(
      assertExtends(
        calls.map((call) => call.request!),
        sent,
        asContent,
      ),
      extending,
    );
    assert.ok(
      assertExtends(
        calls.map((call) => call.request!),
        sent,
      ) > 0,
    );
  });

  test(`each request of ${name} holds the digest once and the newest prompt's recall once`, () => {
    const player = new Player();
    for (const call of modelCalls(name)) {
      const sent = player.send(call);
      const texts = ours(sent).map(textOf);
      assert.equal(texts.filter((text) => text === "DIGEST").length, 1);
      assert.equal(new Set(texts).size, texts.length);
      assert.ok(texts.includes(`RECALL ${countOf(call.transcript)}`), texts.join());
      assertLegal(sent, call.request!);
    }
  });

  test(`each block of ${name} stands directly after its prompt while that is in the request`, () => {
    const player = new Player();
    for (const call of modelCalls(name)) {
      const sent = player.send(call);
      for (const [index, message] of sent.entries()) {
        const ordinal = /^RECALL (\d+)$/.exec(textOf(message))?.[1];
        if (!isOurs(message) || ordinal === undefined) continue;
        const prompt = promptAt(call.transcript, Number(ordinal));
        if (!call.request!.some((other) => other.id === prompt.id && !kindOf(other))) continue;
        assert.equal(sent.slice(0, index).findLast((other) => !isOurs(other))!.id, prompt.id, `RECALL ${ordinal}`);
      }
    }
  });

  test(`requests of ${name} are the same from a ledger that was written and read`, () => {
    const [kept, reread] = [new Player(), new Player()];
    for (const call of modelCalls(name)) {
      assert.deepEqual(reread.send(call), kept.send(call));
      reread.ledger = JSON.parse(JSON.stringify(reread.ledger));
    }
  });

  test(`requests of ${name} have blocks in the same places where the host gives no ids`, () => {
    const [named, nameless] = [new Player(), new Player()];
    for (const call of modelCalls(name)) {
      const bare = { transcript: withoutIds(call.transcript), request: withoutIds(call.request!) };
      assert.deepEqual(
        nameless.send(bare).map((message) => isOurs(message) && textOf(message)),
        named.send(call).map((message) => isOurs(message) && textOf(message)),
      );
    }
  });
}

test("all calls of one turn hold the same block after the same prompt", () => {
  const player = new Player();
  const turn = modelCalls("tool-loop")
    .slice(0, 4)
    .map((call) => player.send(call).slice(0, 3));
  assert.equal(turn.filter((start) => JSON.stringify(start) === JSON.stringify(turn[0])).length, 4);
  assert.deepEqual(turn[0]!.map(isOurs), [false, true, true]);
});

test("basic compaction folds the newest prompt away and its recall stands at the end", () => {
  const player = new Player();
  for (const [index, call] of modelCalls("compaction-basic").entries()) {
    const sent = player.send(call);
    assert.equal(textOf(sent.at(-1)!), `RECALL ${index + 1}`);
    if (call.request!.length === 1)
      assert.deepEqual(
        ours(sent).map(textOf),
        index === 0 ? ["DIGEST", "RECALL 1"] : ["DIGEST", `RECALL ${index + 1}`],
      );
  }
});

test("compaction drops the recall of turns that are gone, for good", () => {
  for (const name of ["compaction-basic", "compaction-agentic"]) {
    const calls = modelCalls(name);
    const player = new Player();
    const sent = calls.map((call) => ours(player.send(call)).map(textOf));
    const first = calls.findIndex((call) => call.request!.length < call.transcript.length);
    assert.ok(first > 0);
    for (const texts of sent.slice(first))
      assert.ok(!texts.includes("RECALL 1") && !texts.includes("RECALL 2"), texts.join());
    assert.ok(!visibleIn(player.ledger).keys.has("RECALL 1"));
    assert.ok(visibleIn(player.ledger).keys.has("DIGEST"));
  }
});

test("agentic compaction keeps the recall of turns that are still there", () => {
  const player = new Player();
  const sent = modelCalls("compaction-agentic").map((call) => ours(player.send(call)).map(textOf));
  assert.deepEqual(sent[6], ["RECALL 5", "RECALL 6", "DIGEST", "RECALL 7"]);
  assert.deepEqual(sent[9], ["RECALL 5", "RECALL 6", "DIGEST", "RECALL 7", "RECALL 8", "RECALL 9", "RECALL 10"]);
});

test("a block anchored on a compaction's summary stays, though its id is new every time", () => {
  const calls = modelCalls("compaction-agentic").slice(6);
  const player = new Player();
  const summary = calls[0]!.request!.slice(0, 1);
  player.send({ transcript: calls[0]!.transcript, request: summary });
  assert.notEqual(calls[1]!.request![0]!.id, summary[0]!.id);
  const next = player.send({
    transcript: calls[0]!.transcript,
    request: [calls[1]!.request![0]!, assistant("a1", "done")],
  });
  assert.deepEqual(next.map(textOf).slice(1, 3), ["DIGEST", "RECALL 1"]);
});

test("a request that is no longer folded has the recall after its own prompt", () => {
  const calls = modelCalls("compaction-basic");
  const player = new Player();
  player.send(calls[7]!);
  const prompt = newestPrompt(calls[7]!.transcript)!.message;
  const sent = player.send({ transcript: calls[7]!.transcript });
  const at = sent.findIndex((message) => textOf(message) === "RECALL 1");
  assert.equal(sent.slice(0, at).findLast((message) => !isOurs(message))!.id, prompt.id);
});

test("three prompts that all say continue keep a block each, with ids and without", () => {
  for (const ids of [true, false]) {
    const player = new Player(false);
    const transcript: Message[] = [];
    const sent: (readonly Message[])[] = [];
    for (let turn = 1; turn <= 3; turn += 1) {
      transcript.push(ids ? user(`u${turn}`, "continue") : { role: "user", content: "continue" });
      sent.push(player.send({ transcript: [...transcript] }));
      transcript.push(ids ? assistant(`a${turn}`, "done") : { role: "assistant", content: "done" });
      sent.push(player.send({ transcript: [...transcript] }));
    }
    assert.deepEqual(sent.at(-1)!.map(textOf), [
      "continue",
      "RECALL 1",
      "done",
      "continue",
      "RECALL 2",
      "done",
      "continue",
      "RECALL 3",
      "done",
    ]);
    for (let index = 1; index < sent.length; index += 1) assert.ok(startsWith(sent[index]!, sent[index - 1]!));
  }
});

test("a host without ids that compacts keeps each block with its own prompt", () => {
  const player = new Player(false);
  const transcript: Message[] = [];
  for (let turn = 1; turn <= 4; turn += 1) {
    transcript.push({ role: "user", content: "continue" });
    player.send({ transcript: [...transcript] });
    transcript.push({ role: "assistant", content: `answer ${turn}` });
  }
  const request = [
    { role: "user", content: "Summary", metadata: { kind: "compaction_summary" } },
    ...transcript.slice(4),
  ];
  assert.deepEqual(player.send({ transcript, request }).map(textOf), [
    "Summary",
    "continue",
    "RECALL 3",
    "answer 3",
    "continue",
    "RECALL 4",
    "answer 4",
  ]);
});

for (const keeps of ["its new ids", "no ids"]) {
  test(`a late block behind a host message that repeats stays behind its copy, where the host keeps ${keeps}`, () => {
    let minted = 0;
    const warning = (id: string): Message => ({
      id,
      role: "user",
      content: "<hook_context>2 warnings</hook_context>",
      metadata: { userRunSpan: 0, displayRole: "system" },
    });
    const mint = (messages: readonly Message[]): Message[] =>
      messages.map((message) => {
        minted += 1;
        return message.role === "user" && message.metadata === undefined ? message : { ...message, id: `new${minted}` };
      });
    const player = new Player();
    let transcript: Message[] = [
      user("u1", "one"),
      assistant("a1", "x"),
      warning("h1"),
      assistant("a2", "y"),
      warning("h2"),
    ];
    player.send({ transcript: transcript.slice(0, 1) });
    player.send({ transcript }, "LATE");
    // A compaction takes the front; from there on the host's own messages have other ids.
    transcript = mint(transcript);
    const summary = { id: "s", role: "user", content: "Summary", metadata: { kind: "compaction_summary" } };
    let before: readonly Message[] | undefined;
    for (let round = 0; round < 4; round += 1) {
      const sent = player.send({ transcript, request: [summary, ...transcript.slice(2)] });
      assert.ok(ours(sent).map(textOf).includes("LATE"));
      if (before !== undefined) assert.ok(startsWith(sent, before, asContent), `round ${round}`);
      before = sent;
      transcript = [...transcript, assistant(`b${round}`, "z"), warning(`h${round + 3}`)];
      if (keeps === "no ids") transcript = mint(transcript);
    }
  });
}

test("undo takes the recall of the undone turn along and keeps the rest in place", () => {
  const player = new Player();
  const start = [user("u1", "one"), assistant("a1", "x")];
  player.send({ transcript: start.slice(0, 1) });
  const before = player.send({ transcript: [...start, user("u2", "two")] });
  assert.deepEqual(ours(before).map(textOf), ["DIGEST", "RECALL 1", "RECALL 2"]);
  const after = player.send({ transcript: [...start, user("u3", "three")] });
  assert.deepEqual(after.map(textOf), ["one", "DIGEST", "RECALL 1", "x", "three", "RECALL 3"]);
  assert.deepEqual(
    player.ledger.map((entry) => entry.text),
    ["DIGEST", "RECALL 1", "RECALL 3"],
  );
});

test("undo of everything keeps the digest, byte for byte, at the new prompt", () => {
  const player = new Player();
  const [digest] = ours(player.send({ transcript: [user("u1", "one")] }));
  const sent = player.send({ transcript: [user("u2", "two")] });
  assert.deepEqual(sent.map(textOf), ["two", "DIGEST", "RECALL 2"]);
  assert.deepEqual(sent[1], digest);
});

test("a prompt that comes back after an undo is the same prompt, without ids too", () => {
  const player = new Player(false);
  const one = { role: "user", content: "continue" };
  player.send({ transcript: [one] });
  player.send({ transcript: [one, { role: "assistant", content: "x" }, one] });
  player.send({ transcript: [one] });
  assert.deepEqual(player.send({ transcript: [one] }).map(textOf), ["continue", "RECALL 1"]);
});

test("steering gets its own block and leaves the run's in place", () => {
  const player = new Player(false);
  const loop = [user("u1", "go"), call("a1", "c1"), result("t1", "c1")];
  const steer = {
    id: "s1",
    role: "user",
    content: [{ type: "text", text: '<user_input mode="act">also this</user_input>' }],
    metadata: { userRunSpan: 0 },
  };
  player.send({ transcript: loop.slice(0, 1) });
  const during = player.send({ transcript: [...loop, steer] });
  assert.deepEqual(
    during.map((message) => (isOurs(message) ? textOf(message) : message.id)),
    ["u1", "RECALL 1", "a1", "t1", "s1", "RECALL 2"],
  );
  const after = player.send({ transcript: [...loop, steer, assistant("a2", "done")] });
  assert.ok(startsWith(after, during));
});

test("what comes late stands at the end, never between a call and its results, and stays there", () => {
  const player = new Player(false);
  const loop = [user("u1", "go"), call("a1", "c1", "c2"), result("t1", "c1"), result("t2", "c2")];
  player.send({ transcript: loop.slice(0, 1) });
  const during = player.send({ transcript: loop }, "LATE");
  assert.deepEqual(
    during.map((message) => (isOurs(message) ? textOf(message) : message.id)),
    ["u1", "RECALL 1", "a1", "t1", "t2", "LATE"],
  );
  const after = player.send({ transcript: [...loop, call("a2", "c3"), result("t3", "c3")] });
  assert.ok(startsWith(after, during));
  assert.equal(ours(after).length, 2);
});

test("what comes late for a prompt without a block follows it when nothing else was sent", () => {
  const player = new Player();
  const first = player.send({ transcript: [user("u1", "go")] });
  const again = player.send({ transcript: [user("u1", "go")] }, "LATE");
  assert.deepEqual(again.map(textOf), ["go", "DIGEST", "RECALL 1", "LATE"]);
  assert.ok(startsWith(again, first));
});

test("a fresh process in the middle of a run puts its blocks at the end", () => {
  const player = new Player();
  const loop = [user("u1", "go"), call("a1", "c1"), result("t1", "c1")];
  assert.deepEqual(
    player.send({ transcript: loop }).map((message) => (isOurs(message) ? textOf(message) : message.id)),
    ["u1", "a1", "t1", "DIGEST", "RECALL 1"],
  );
});

test("a result that the host rewrites leaves the blocks where they are", () => {
  const player = new Player();
  const loop = [user("u1", "go"), call("a1", "c1"), result("t1", "c1", "a long result")];
  player.send({ transcript: loop.slice(0, 1) });
  player.send({ transcript: loop }, "LATE");
  const sent = player.send({ transcript: [...loop.slice(0, 2), result("t1", "c1", "[stale]"), assistant("a2", "x")] });
  assert.deepEqual(
    sent.map((message) => (isOurs(message) ? textOf(message) : message.id)),
    ["u1", "DIGEST", "RECALL 1", "a1", "t1", "LATE", "a2"],
  );
});

test("messages that get new ids keep the blocks that stand after them", () => {
  const hook = (id: string) => ({
    id,
    role: "user",
    content: [{ type: "text", text: '<hook_context source="x">lint: 2 warnings</hook_context>' }],
    metadata: { userRunSpan: 0, displayRole: "system" },
  });
  const endings = { tool: (id: string) => [result(id, "c1")], hook: (id: string) => [result("t1", "c1"), hook(id)] };
  for (const [name, ending] of Object.entries(endings)) {
    const player = new Player(false);
    player.send({ transcript: [user("u1", "go")] });
    const before = player.send({ transcript: [user("u1", "go"), call("a1", "c1"), ...ending("old")] }, "LATE");
    const after = player.send({
      transcript: [user("u1", "go"), call("a9", "c1"), ...ending("new"), assistant("a2", "x"), user("u2", "next")],
    });
    assert.deepEqual(after.map(textOf).slice(0, before.length), before.map(textOf), name);
  }
});

test("an injected message is a user's, marked, with the prompt's time and an id that does not change", () => {
  const prompt = { ...user("u1", "go"), createdAt: 1796044587477 };
  const [message] = ours(new Player(false).send({ transcript: [prompt] }));
  assert.deepEqual(
    { ...message, id: "" },
    {
      id: "",
      role: "user",
      content: [{ type: "text", text: "RECALL 1" }],
      createdAt: 1796044587477,
      metadata: { kind: INJECTED_KIND },
    },
  );
  assert.match(String(message!.id), /^palinode-/);
  assert.deepEqual(ours(new Player(false).send({ transcript: [structuredClone(prompt)] })), [message]);
  assert.deepEqual(structuredClone(message), message);
});

test("blocks of one request have ids of their own", () => {
  const player = new Player();
  player.send({ transcript: [user("u1", "go")] });
  const ids = ours(player.send({ transcript: [user("u1", "go"), assistant("a", "x"), user("u2", "go")] }, "LATE")).map(
    (message) => message.id,
  );
  assert.equal(new Set(ids).size, 4);
});

test("nothing to say leaves the request alone", () => {
  const transcript = [user("u1", "go")];
  assert.deepEqual(replay([], { transcript, request: transcript, prompt: newestPrompt(transcript) }), {
    ledger: [],
    messages: undefined,
  });
  const player = new Player();
  player.send({ transcript });
  assert.equal(
    replay(player.ledger, { transcript, request: [], prompt: newestPrompt(transcript) }).messages,
    undefined,
  );
  assert.equal(replay(player.ledger, { transcript, request: [], prompt: undefined }).ledger.length, 2);
});

test("the host's messages go through as the same objects, and nothing given is changed", () => {
  const transcript = deepFreeze([user("u1", "go"), call("a1", "c1"), result("t1", "c1")]);
  const player = new Player();
  const sent = player.send({ transcript });
  deepFreeze(player.ledger);
  assert.ok(sent.filter((message) => !isOurs(message)).every((message, index) => message === transcript[index]));
  assert.deepEqual(player.send({ transcript }), sent);
});

test("malformed messages in a request are carried along", () => {
  const junk = [
    null,
    undefined,
    7,
    "x",
    [],
    {},
    { role: "user" },
    { id: 5, role: "assistant", content: [null] },
  ] as Message[];
  for (const ids of [true, false]) {
    const player = new Player();
    const start = [...junk, ids ? user("u1", "go") : { role: "user", content: "go" }];
    const first = player.send({ transcript: start });
    assert.deepEqual(ours(first).map(textOf), ["DIGEST", "RECALL 1"]);
    assert.ok(startsWith(player.send({ transcript: [...start, assistant("a1", "x")] }), first));
    assert.ok(player.send({ transcript: start, request: junk }).length >= junk.length);
  }
});

for (const ids of ["all", "prompts", "none"] as const) {
  test(`the prefix promise holds for conversations of any shape where ${ids} messages have ids`, () => {
    const rounds = 150;
    let checked = 0;
    for (let seed = 1; seed <= rounds; seed += 1) {
      const random = randomFrom(seed);
      const player = new Player(random() < 0.8);
      const hosts: (readonly Message[])[] = [];
      const sent: (readonly Message[])[] = [];
      let late = 0;
      for (const { transcript, request } of conversation(random, ids)) {
        const before = player.ledger;
        const isLate = random() < 0.15;
        if (isLate) late += 1;
        const messages = player.send({ transcript, request }, isLate ? `LATE ${late}` : undefined);
        hosts.push(request);
        sent.push(messages);
        assertLegal(messages, request);
        const texts = ours(messages).map(textOf);
        assert.equal(new Set(texts).size, texts.length, `seed ${seed}: a block stands twice`);
        if (hosts.length > 1 && startsWith(request, hosts.at(-2)!)) {
          for (const entry of before) assert.ok(texts.includes(entry.text), `seed ${seed}: ${entry.text} is lost`);
        }
      }
      checked += assertExtends(hosts, sent, asContent, `seed ${seed}`);
    }
    assert.ok(checked > rounds * 5, `only ${checked} requests were compared`);
  });
}

test("a long conversation costs time in proportion to its length, with ids and without", () => {
  for (const ids of [true, false]) {
    for (const text of ["continue", undefined]) {
      let before = Infinity;
      for (let turns = 16; turns <= 1024; turns *= 4) {
        const transcript = Array.from(
          { length: turns * 2 },
          (_, index): Message => ({
            ...(ids ? { id: `m${index}` } : {}),
            role: index % 2 === 0 ? "user" : "assistant",
            content: text ?? `text ${index}`,
          }),
        );
        const player = new Player();
        for (const share of [0.25, 0.5, 0.75, 1])
          player.send({ transcript: transcript.slice(0, turns * 2 * share - 1) });
        const limit = before * 9 + 50;
        const measure = () => {
          const start = performance.now();
          player.send({ transcript });
          return performance.now() - start;
        };
        const spent = Math.min(measure(), measure(), measure());
        assert.ok(
          spent <= limit,
          `${turns} turns ${ids ? "with" : "without"} ids, ${text ?? "texts of their own"}: ` +
            `${spent.toFixed(0)} ms after ${before.toFixed(0)} ms for a quarter`,
        );
        before = spent;
      }
    }
  }
});

test("a request without anything new reads no message's content where the host gives ids", () => {
  let reads = 0;
  const transcript = Array.from(
    { length: 1000 },
    (_, index): Message => ({
      id: `m${index}`,
      role: index % 2 === 0 ? "user" : "assistant",
      get content() {
        reads += 1;
        return "text";
      },
    }),
  );
  const player = new Player();
  for (const length of [1, 401, 801, 999]) player.send({ transcript: transcript.slice(0, length) });
  reads = 0;
  assert.equal(ours(player.send({ transcript })).length, 5);
  assert.ok(reads < 50, `${reads} reads`);
});

/** A conversation as requests: turns with tool loops, steering, hook context, retries, undo and compaction. */
function* conversation(random: () => number, ids: "all" | "prompts" | "none"): Generator<Required<Call>> {
  const transcript: Message[] = [];
  let dropped = 0;
  let count = 0;
  const push = (message: Message, isPrompt = false) => {
    count += 1;
    transcript.push(ids === "all" || (ids === "prompts" && isPrompt) ? { id: `m${count}`, ...message } : message);
  };
  const pick = <T>(options: readonly T[]): T => options[Math.floor(random() * options.length)]!;
  const request = () =>
    dropped === 0
      ? [...transcript]
      : [
          {
            ...(ids === "all" ? { id: `s${random()}` } : {}),
            role: "user",
            content: `Summary of ${dropped}`,
            metadata: { kind: "compaction_summary" },
          },
          ...transcript.slice(dropped),
        ];
  const say = (text: string, metadata?: object) => ({
    role: "user",
    content: [{ type: "text", text: `<user_input mode="act">${text}</user_input>` }],
    ...(metadata ? { metadata } : {}),
  });
  for (let turn = 0; turn < 6; turn += 1) {
    push(say(pick(["continue", "ok", `prompt ${turn}`])), true);
    yield { transcript: [...transcript], request: request() };
    for (let loop = Math.floor(random() * 4); loop > 0; loop -= 1) {
      const calls = [`c${count}`, `d${count}`].slice(0, pick([1, 1, 2]));
      push({
        role: "assistant",
        content: calls.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "x", input: {} })),
      });
      for (const toolCallId of calls)
        push({
          role: "tool",
          content: [{ type: "tool-result", toolCallId, toolName: "x", output: pick(["ok", "{}"]) }],
        });
      if (random() < 0.2)
        push({
          role: "user",
          content: '<hook_context source="x">lint</hook_context>',
          metadata: { userRunSpan: 0, displayRole: "system" },
        });
      if (random() < 0.15) push(say(pick(["continue", "also this"]), { userRunSpan: 0 }), true);
      yield { transcript: [...transcript], request: request() };
      if (random() < 0.1) yield { transcript: [...transcript], request: request() };
    }
    push({ role: "assistant", content: pick(["Done.", `Done ${turn}.`]) });
    if (random() < 0.1 && transcript.length - dropped > 4)
      transcript.splice(transcript.findLastIndex((message) => JSON.stringify(message).includes("user_input")));
    if (random() < 0.1)
      dropped = Math.max(
        dropped,
        transcript.findLastIndex((message) => JSON.stringify(message).includes("user_input")),
      );
    dropped = Math.min(dropped, transcript.length);
  }
}

/** Asserts the promise between neighbours and returns how many of the host's requests extended the one before. */
function assertExtends(
  hosts: readonly (readonly Message[])[],
  sent: readonly (readonly Message[])[],
  view: (message: Message) => unknown = (message) => message,
  label = "",
): number {
  let extended = 0;
  for (let index = 1; index < hosts.length; index += 1) {
    if (!startsWith(hosts[index]!, hosts[index - 1]!, view)) continue;
    extended += 1;
    assert.ok(
      startsWith(sent[index]!, sent[index - 1]!, view),
      `${label} request ${index + 1} does not extend the one before:\n` +
        `${describe(sent[index - 1]!)}\n${describe(sent[index]!)}`,
    );
  }
  return extended;
}

/** Asserts that only blocks were added, and none before the first message or between a tool call and its results. */
function assertLegal(sent: readonly Message[], request: readonly Message[]) {
  assert.deepEqual(
    sent.filter((message) => !isOurs(message)),
    request,
  );
  if (sent.length > 0) assert.equal(isOurs(sent[0]!), false);
  for (const [index, message] of sent.entries()) {
    if (message?.role === "tool")
      assert.equal(isOurs(sent[index - 1]!), false, `a block stands before a result:\n${describe(sent)}`);
  }
}

function startsWith(
  list: readonly Message[],
  start: readonly Message[],
  view: (message: Message) => unknown = (message) => message,
): boolean {
  return (
    start.length <= list.length &&
    start.every((message, index) => JSON.stringify(view(message)) === JSON.stringify(view(list[index]!)))
  );
}

/**
 * What a model provider gets of a message; inputs and outputs that the host re-encodes after a turn are left to it. A
 * prompt's id counts too: one that was undone and said again is another prompt.
 */
function asContent({ id, role, content, metadata }: Message): unknown {
  return [
    role,
    role === "user" && metadata === undefined && id,
    Array.isArray(content) ? content.map(({ type, text, toolCallId }) => [type, text, toolCallId]) : content,
  ];
}

function describe(messages: readonly Message[]): string {
  return messages.map((message) => `${String(message?.role)} ${textOf(message).slice(0, 40)}`).join(" | ");
}

function ours(messages: readonly Message[]): Message[] {
  return messages.filter(isOurs);
}

function isOurs(message: Message): boolean {
  return kindOf(message) === INJECTED_KIND;
}

function kindOf(message: Message | null | undefined): unknown {
  return (message?.metadata as { kind?: unknown } | undefined)?.kind;
}

function textOf(message: Message): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => part?.text ?? "").join("") : "";
}

/** The number of different prompts that were the newest at some time, as `Player` counts them. */
function countOf(transcript: readonly Message[]): number {
  return new Set(transcript.flatMap((_, index) => newestPrompt(transcript.slice(0, index + 1))?.key ?? [])).size;
}

function promptAt(transcript: readonly Message[], ordinal: number): Message {
  const prompts = transcript.flatMap((message, index) =>
    newestPrompt(transcript.slice(0, index + 1))?.message === message ? [message] : [],
  );
  assert.notEqual(bareWords(prompts[ordinal - 1]!), "");
  return prompts[ordinal - 1]!;
}

function modelCalls(name: string) {
  const lines = readFileSync(join(REPOSITORY, "test/recordings/hooks", `${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line): { hook: string; payload: unknown } => JSON.parse(line));
  return lines
    .filter(({ hook }) => hook === "beforeModel")
    .map(({ payload }) => readHookCall(payload)!)
    .filter((entry) => entry.isRoot);
}

function withoutIds(messages: readonly Message[]): Message[] {
  return messages.map(({ id: _, ...message }) => message);
}

function user(id: string, text: string): Message {
  return { id, role: "user", content: [{ type: "text", text }] };
}

function assistant(id: string, text: string): Message {
  return { id, role: "assistant", content: [{ type: "text", text }] };
}

function call(id: string, ...calls: string[]): Message {
  return {
    id,
    role: "assistant",
    content: calls.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "x", input: {} })),
  };
}

function result(id: string, toolCallId: string, output = "ok"): Message {
  return { id, role: "tool", content: [{ type: "tool-result", toolCallId, toolName: "x", output }] };
}

function randomFrom(seed: number): () => number {
  let state = seed * 7919 + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

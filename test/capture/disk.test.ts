// Captures on a disk that fails at any step, beside a server that answers, loses its answer, or is away: each arrives
// once, and none is called sent that was not.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openState, type State } from "../../src/base/store.ts";
import type { Sender } from "../../src/capture/deliver.ts";
import type { Item } from "../../src/capture/item.ts";
import { drain, keepTail, sendCapture, tidy } from "../../src/capture/outbox.ts";
import type { Client } from "../../src/server/client.ts";
import { PalinodeError, type Reason } from "../../src/server/failure.ts";

const DAY_MS = 24 * 3600_000;
/** More than one capture takes. */
const STEPS = 14;

type Way = "answers" | "loses its answer" | "is away";
interface Store extends Client {
  readonly stored: string[];
  way: Way;
}

/** Palinode, as far as a capture needs it. */
function createStore(way: Way): Store {
  const store: Store = {
    stored: [],
    way,
    async post(route, { summary, session_id: id }) {
      if (store.way === "is away") throw new PalinodeError(route, "refused");
      store.stored.push(`## Session End — now\n\n**Summary:** ${summary}\n\n**Session ID:** ${id}\n`);
      if (store.way === "loses its answer") throw new PalinodeError(route, "timeout");
      return { daily_file: "daily/2026-12-01.md" };
    },
    async get(route, { file_path: file = "" }) {
      if (!file.startsWith("daily/") || store.stored.length === 0) throw new PalinodeError(route, "bad-response", 404);
      return { content: store.stored.join("\n") };
    },
  };
  return store;
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "palinode-disk-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A state whose change number `at` fails, or all from there on. */
function failing(state: State, at: number, isForGood: boolean): State {
  let changes = 0;
  const fails = (): boolean => {
    changes += 1;
    return isForGood ? changes >= at : changes === at;
  };
  return {
    ...state,
    write: (...given) => !fails() && state.write(...given),
    rename: (...given) => !fails() && state.rename(...given),
    remove: (...given) => (fails() ? undefined : state.remove(...given)),
    touch: (...given) => (fails() ? undefined : state.touch(...given)),
  };
}

function senderFor(state: State, client: Client, now = () => Date.now()): Sender {
  return { state, client, now, refusal: async () => undefined, onCovered: () => undefined };
}

function itemOf(sessionId: string, more: Partial<Item> = {}): Item {
  const summary = `Cline session, 3 prompts.\nTopic: why the ${sessionId} login page blinks on phones`;
  const body = { summary, decisions: [], blockers: [], session_id: sessionId };
  return { sessionId, tail: sessionId, prompts: 3, createdAt: Date.now(), pid: 999_999, body, refusals: 0, ...more };
}

for (const way of ["answers", "loses its answer", "is away"] as const) {
  test(`whatever the disk refuses while the server ${way}, a capture arrives once`, async (t) => {
    for (let at = 1; at <= STEPS; at += 1) {
      for (const isForGood of [false, true]) {
        const state = openState(folderFor(t));
        const store = createStore(way);
        const item = itemOf("job");
        const broken = senderFor(failing(state, at, isForGood), store);
        const isKept = keepTail(broken, item);
        const fate = await sendCapture(broken, item, isKept, () => undefined);
        const what = `change ${at}${isForGood ? " and on" : ""}: ${fate}`;
        if (fate === "sent") assert.equal(store.stored.length, 1, what);
        // Later, the disk and the server are well again.
        store.way = "answers";
        const later = senderFor(state, store, () => Date.now() + 60_000);
        if (!isKept && store.stored.length === 0)
          await sendCapture(later, item, keepTail(later, item), () => undefined);
        for (let tries = 0; tries < 3; tries += 1) await drain(later, "another");
        assert.equal(store.stored.length, 1, what);
        assert.deepEqual([...state.list("queue"), ...state.list("tails")], [], what);
      }
    }
  });
}

test("on a full disk the newest is sent as it is, and the older one that lies there is not sent on top", async (t) => {
  const state = openState(folderFor(t));
  const store = createStore("answers");
  keepTail(senderFor(state, store), itemOf("job"));
  const full = senderFor({ ...state, write: () => false }, store);
  const item = itemOf("job", { prompts: 6 });
  let heard = 0;
  assert.equal(await sendCapture(full, item, keepTail(full, item), () => (heard += 1)), "sent");
  assert.equal(await drain(senderFor(state, store), "another"), false);
  assert.deepEqual([store.stored.length, heard], [1, 1]);
});

test("a file that the disk does not let go of is not called taken", async (t) => {
  const state = openState(folderFor(t));
  const store = createStore("answers");
  const stuck = senderFor({ ...state, rename: () => false }, store);
  const item = itemOf("job");
  let heard = 0;
  assert.equal(await sendCapture(stuck, item, keepTail(stuck, item), () => (heard += 1)), "left");
  assert.deepEqual([store.stored.length, heard], [0, 0]);
  await drain(senderFor(state, store), "another");
  assert.equal(store.stored.length, 1);
  // Where it is gone, another process has it.
  assert.equal(await sendCapture(stuck, item, true, () => (heard += 1)), "left");
  assert.equal(heard, 1);
});

test("what was sent without an answer is not looked up while the server may be at work on it", async (t) => {
  const state = openState(folderFor(t));
  const store = createStore("answers");
  let now = Date.now();
  const unknownSince = now;
  const sender = senderFor(state, store, () => now);
  const looks: string[] = [];
  const { get } = store;
  store.get = (route, query) => {
    looks.push(String(query.file_path));
    return get(route, query);
  };
  state.write("queue/1796000000000-a.json", itemOf("job", { unknownSince }));
  now += 4900;
  assert.equal(await drain(sender, ""), true);
  assert.deepEqual([looks, store.stored], [[], []]);
  // Only now it is stored, as a slow server does.
  await store.post("/session-end", itemOf("job").body);
  now += 200;
  assert.equal(await drain(sender, ""), false);
  assert.ok(looks.length > 0);
  assert.equal(store.stored.length, 1);
  // One that was answered, with whatever trouble, is not under way any more.
  state.write("queue/1796000000000-b.json", itemOf("job", { unknownSince: now, isAnswered: true }));
  assert.equal(await drain(sender, ""), false);
  assert.deepEqual([store.stored.length, state.list("queue")], [1, []]);
});

test("senders that lie in one another's way send one after the other", async (t) => {
  const state = openState(folderFor(t));
  let [underWay, most] = [0, 0];
  const { post, ...rest } = createStore("answers");
  const stored: unknown[] = [];
  const client: Client = {
    ...rest,
    async post(route, body) {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      stored.push(body.session_id);
      return post(route, body);
    },
  };
  for (let index = 0; index < 8; index += 1)
    state.write(`queue/179600000000${index}-x.json`, itemOf(`queued-${index}`));
  const sender = senderFor(state, client);
  const own = ["own-1", "own-2"].map((id) => {
    const item = itemOf(id);
    return sendCapture(sender, item, keepTail(sender, item), () => undefined);
  });
  await Promise.all([drain(sender, ""), drain(sender, ""), ...own]);
  assert.equal(most, 1);
  assert.equal(new Set(stored).size, 10);
  assert.equal(stored.length, 10);
});

test("of what waits only what was tried grows old", async (t) => {
  const folder = folderFor(t);
  const state = openState(folder);
  const reasons: [Reason | undefined, boolean][] = [
    [undefined, true],
    ["denied", true],
    ["paused", true],
    ["refused", true],
    ["unauthorized", true],
    ["timeout", false],
    ["bad-response", false],
    ["unreachable", false],
  ];
  for (const [index, [reason]] of reasons.entries()) {
    for (const where of ["queue", "tails"]) {
      const name = `${where}/${index}-a.json`;
      state.write(name, itemOf(`job-${index}`, reason === undefined ? {} : { reason }));
      const at = (Date.now() - 8 * DAY_MS) / 1000;
      utimesSync(join(folder, name), at, at);
    }
  }
  await tidy(state, Date.now());
  const kept = reasons.flatMap(([, isKept], index) => (isKept ? [`${index}-a.json`] : []));
  assert.deepEqual([state.list("queue"), state.list("tails")], [kept, kept]);
});

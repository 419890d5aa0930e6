import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "node:test";
import { contractChecks } from "./contract.ts";
import type { Fault, Palinode, PalinodeOptions } from "./server.ts";
import { startPalinode } from "./server.ts";

const TOKEN = "a token";
const NOTE = { file: "decisions/a.md", body: "Use pnpm for installs", type: "Decision", entities: ["project/web"] };

async function start(t: TestContext, options: PalinodeOptions = {}): Promise<Palinode> {
  const palinode = await startPalinode(options);
  t.after(() => palinode.close());
  return palinode;
}

function post(palinode: Palinode, path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(palinode.url + path, { method: "POST", headers, body: JSON.stringify(body), ...init });
}

async function postJson(palinode: Palinode, path: string, body: unknown): Promise<unknown> {
  return (await post(palinode, path, body)).json();
}

for (const version of ["0.13.0", "0.16.0", "0.20.0", "0.21.0", "0.22.0", "0.23.0"]) {
  for (const { title, run } of contractChecks(version)) {
    test(`${version}: ${title}`, async (t) => {
      const palinode = await start(t, { version, token: TOKEN });
      await run(palinode.url, { version, token: TOKEN });
    });
  }
}

test("every request is kept, with its query, headers and body", async (t) => {
  const palinode = await start(t);
  await post(
    palinode,
    "/search",
    { query: "x" },
    { headers: { "content-type": "application/json", "x-palinode-source": "me" } },
  );
  await fetch(`${palinode.url}/read?file_path=a&meta=true`);
  const [first, second] = palinode.requests;
  assert.equal(palinode.requests.length, 2);
  assert.deepEqual(
    [first?.method, first?.path, first?.body, first?.text],
    ["POST", "/search", { query: "x" }, '{"query":"x"}'],
  );
  assert.equal(first?.headers["x-palinode-source"], "me");
  const query = { file_path: "a", meta: "true" };
  assert.deepEqual([second?.method, second?.path, second?.query, second?.body], ["GET", "/read", query, undefined]);
  assert.deepEqual(palinode.calls("/read"), [second]);
});

test("memories can be given, added, edited and deleted", async (t) => {
  const palinode = await start(t, { memories: [{ ...NOTE, title: "Installs", core: true, summary: "short" }] });
  const list = async (): Promise<string[]> => {
    const rows = (await (await fetch(`${palinode.url}/list`)).json()) as { file: string }[];
    return rows.map(({ file }) => file).sort();
  };
  palinode.remember({ file: "insights/b.md", content: "No frontmatter here" });
  assert.deepEqual(await list(), ["decisions/a.md", "insights/b.md"]);
  palinode.memories.delete("decisions/a.md");
  palinode.memories.set("people/c.md", "---\nname: Carol\n---\n\nKnows it");
  assert.deepEqual(await list(), ["insights/b.md", "people/c.md"]);
});

test("a memory is rendered and read back with every kind of field", async (t) => {
  const frontmatter = { priority: 3, visibility: "team", odd: "a: b # c", empty: [] };
  const palinode = await start(t, {
    memories: [{ ...NOTE, core: true, frontmatter, updated: "2026-01-02T03:04:05Z" }],
  });
  const response = await fetch(`${palinode.url}/read?file_path=decisions/a&meta=1`);
  const { content, frontmatter: read } = (await response.json()) as Record<string, unknown>;
  assert.deepEqual(read, {
    type: "Decision",
    core: true,
    entities: ["project/web"],
    last_updated: "2026-01-02T03:04:05Z",
    ...frontmatter,
  });
  assert.equal(content, palinode.memories.get("decisions/a.md"));
});

test("a long memory is found by its sections, the first of each file first", async (t) => {
  const section = (name: string): string => `## ${name}\n\n${"walrus tusks ".repeat(90)}\n\n`;
  const long = { file: "insights/long.md", body: section("One") + section("Two") };
  const palinode = await start(t, {
    memories: [{ file: "insights/short.md", body: "walrus tusks", updated: "2999-01-01" }, long],
  });
  const hits = (await postJson(palinode, "/search", { query: "walrus tusks" })) as {
    rel_path: string;
    section_id: string;
  }[];
  const found = hits.map(({ rel_path, section_id }) => `${rel_path}#${section_id}`);
  assert.deepEqual(found, ["insights/short.md#root", "insights/long.md#one", "insights/long.md#two"]);
});

test("a trigger fires again once its cooldown is over", async (t) => {
  const clock = { now: 1_800_000_000_000 };
  const trigger = { id: "t", description: "deploy the shop", memory_file: NOTE.file, cooldown_hours: 2 };
  const palinode = await start(t, { now: () => clock.now, memories: [NOTE], triggers: [trigger] });
  const fired = async (): Promise<number> => {
    const matches = await postJson(palinode, "/check-triggers", { query: "deploy the shop" });
    return (matches as unknown[]).length;
  };
  assert.deepEqual([await fired(), await fired()], [1, 0]);
  clock.now += 2 * 3_600_000;
  assert.equal(await fired(), 1);
  assert.equal(palinode.triggers.get("t")?.fire_count, 2);
});

test("a full rate bucket is 429 without Retry-After until its minute is over", async (t) => {
  const clock = { now: 1_800_000_000_000 };
  const palinode = await start(t, { now: () => clock.now, rateLimits: { search: 2 } });
  const search = async (): Promise<number> => (await post(palinode, "/search", { query: "x" })).status;
  assert.equal((await post(palinode, "/search", {})).status, 422);
  assert.deepEqual([await search(), await search(), await search()], [200, 200, 429]);
  const refused = await post(palinode, "/resolve", { query: "x" });
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, null]);
  assert.deepEqual(await refused.json(), { detail: "Rate limit exceeded" });
  clock.now += 60_001;
  assert.equal(await search(), 200);
});

test("a body over 5 MiB is 413, before the token is looked at", async (t) => {
  const palinode = await start(t, { token: TOKEN });
  const refused = await post(palinode, "/save", { content: "a".repeat(5 * 1024 * 1024) });
  assert.deepEqual([refused.status, refused.headers.get("connection")], [413, "close"]);
  assert.deepEqual(await refused.json(), { detail: "Request body too large" });
});

test("without the embedding service searching fails, and storing does not", async (t) => {
  for (const [version, triggers] of [
    ["0.13.0", 500],
    ["0.23.0", 503],
  ] as const) {
    const palinode = await start(t, { version, embedder: false, memories: [NOTE] });
    const status = async (path: string, body: unknown): Promise<number> => (await post(palinode, path, body)).status;
    assert.deepEqual([await status("/search", { query: "x" }), await status("/search", { query: " " })], [503, 200]);
    assert.equal(await status("/check-triggers", { query: "x" }), triggers);
    assert.equal(await status("/session-end", { summary: "x", decisions: [], blockers: [] }), 200);
    const saved = (await postJson(palinode, "/save", { content: "x", type: "Insight" })) as Record<string, unknown>;
    assert.deepEqual([saved.indexed, typeof saved.index_error], [false, "string"]);
    palinode.embedder = true;
    assert.equal(await status("/search", { query: "x" }), 200);
  }
});

test("what is stored can be looked at", async (t) => {
  const palinode = await start(t, { now: () => Date.parse("2026-08-22T10:00:00Z") });
  const session = { summary: "Did it", decisions: [], blockers: [], project: "web" };
  await post(palinode, "/session-end", { ...session, dry_run: true });
  await post(palinode, "/session-end", session);
  await post(palinode, "/save", { content: "Keep", type: "Insight" });
  assert.deepEqual([palinode.sessions, palinode.saved], [[session], [{ content: "Keep", type: "Insight" }]]);
  assert.equal(palinode.daily, palinode.memories.get("daily/2026-08-22.md"));
  assert.equal(palinode.daily.match(/Did it/g)?.length, 1);
});

test("a policy given at the start denies automatic calls, and a pause all", async (t) => {
  const palinode = await start(t, { policy: { capture: "capture_paused", excludedProjects: ["secret"] } });
  assert.equal((await post(palinode, "/save", { content: "x", type: "Insight" })).status, 403);
  const reasonFor = async (project?: string): Promise<unknown> =>
    ((await postJson(palinode, "/controls/check", { action: "recall", project })) as { reason: unknown }).reason;
  assert.deepEqual(
    [await reasonFor(), await reasonFor("secret"), await reasonFor("web")],
    ["unknown_scope", "excluded_project", null],
  );
  palinode.policy.capture = null;
  assert.equal((await post(palinode, "/save", { content: "x", type: "Insight" })).status, 200);
});

const faults: [string, Fault, (palinode: Palinode) => Promise<void>][] = [
  [
    "another status, with body and headers",
    { status: 429, body: { detail: "no" }, headers: { "retry-after": "7" } },
    async (palinode) => {
      const response = await post(palinode, "/search", { query: "x" });
      assert.deepEqual(
        [response.status, response.headers.get("retry-after"), await response.json()],
        [429, "7", { detail: "no" }],
      );
    },
  ],
  [
    "a text that is no JSON",
    { status: 500, body: "Internal Server Error" },
    async (palinode) => {
      assert.equal(await (await post(palinode, "/search", { query: "x" })).text(), "Internal Server Error");
    },
  ],
  [
    "no answer at all",
    { hang: true },
    async (palinode) => {
      const call = post(palinode, "/search", { query: "x" }, { signal: AbortSignal.timeout(500) });
      await assert.rejects(call, { name: "TimeoutError" });
    },
  ],
  [
    "a late answer",
    { delayMs: 20 },
    async (palinode) => {
      assert.deepEqual(await postJson(palinode, "/search", { query: "x" }), []);
    },
  ],
  [
    "a dropped connection",
    { reset: true },
    async (palinode) => {
      await assert.rejects(post(palinode, "/search", { query: "x" }), /fetch failed/);
    },
  ],
  [
    "half an answer",
    { cut: true },
    async (palinode) => {
      const response = await post(palinode, "/search", { query: "x" });
      assert.equal(response.status, 200);
      await assert.rejects(response.text(), /terminated/);
    },
  ],
  [
    "a page of HTML",
    { html: true },
    async (palinode) => {
      const response = await post(palinode, "/search", { query: "x" });
      assert.match(response.headers.get("content-type") ?? "", /html/);
      assert.match(await response.text(), /^<!doctype html>/);
    },
  ],
  [
    "another value",
    { json: { not: "a list" } },
    async (palinode) => {
      assert.deepEqual(await postJson(palinode, "/search", { query: "x" }), { not: "a list" });
    },
  ],
  [
    "a broken text",
    { raw: '[{"a":' },
    async (palinode) => {
      await assert.rejects(postJson(palinode, "/search", { query: "x" }), SyntaxError);
    },
  ],
  [
    "a huge answer",
    { bigBytes: 3_000_000 },
    async (palinode) => {
      const text = await (await post(palinode, "/search", { query: "x" })).text();
      assert.deepEqual([text.length, Array.isArray(JSON.parse(text))], [3_000_000, true]);
    },
  ],
  [
    "a redirection",
    { redirect: "http://127.0.0.1:1/" },
    async (palinode) => {
      const response = await post(palinode, "/search", { query: "x" }, { redirect: "manual" });
      assert.deepEqual([response.status, response.headers.get("location")], [307, "http://127.0.0.1:1/"]);
    },
  ],
  [
    "a body that never ends",
    { dripMs: 1 },
    async (palinode) => {
      const response = await post(palinode, "/search", { query: "x" }, { signal: AbortSignal.timeout(500) });
      assert.equal(response.status, 200);
      await assert.rejects(response.text(), { name: "TimeoutError" });
    },
  ],
];

for (const [title, fault, check] of faults) {
  test(`a fault gives ${title}, once if so told`, async (t) => {
    const palinode = await start(t);
    palinode.fault("/search", fault, 1);
    await check(palinode);
    assert.deepEqual(await postJson(palinode, "/search", { query: "x" }), []);
    assert.equal(palinode.calls("/search").length, 2);
  });
}

test("a fault lasts until it is mended, one for all paths gives way to one for a path", async (t) => {
  const palinode = await start(t);
  const status = async (path: string): Promise<number> => (await fetch(palinode.url + path)).status;
  palinode.fault("*", { status: 502 });
  palinode.fault("/list", { status: 418 });
  assert.deepEqual([await status("/health"), await status("/health"), await status("/list")], [502, 502, 418]);
  palinode.fault("*", null);
  palinode.fault("/list", null);
  assert.deepEqual([await status("/health"), await status("/list")], [200, 200]);
});

test("a call whose answer is lost has done its work, one that is not answered only when told", async (t) => {
  const palinode = await start(t, { dedup: false });
  const lost: [string, Fault][] = [
    ["cut", { cut: true }],
    ["late", { delayMs: 10_000 }],
    ["hung", { hang: true }],
    ["hung after it", { hang: true, handled: true }],
    ["reset", { reset: true }],
  ];
  for (const [summary, fault] of lost) {
    palinode.fault("/session-end", fault, 1);
    const call = post(
      palinode,
      "/session-end",
      { summary, decisions: [], blockers: [] },
      { signal: AbortSignal.timeout(500) },
    );
    await assert.rejects(call.then((response) => response.text()));
  }
  assert.deepEqual(
    palinode.sessions.map((session) => session.summary),
    ["cut", "late", "hung after it"],
  );
});

test("closing ends calls that hang, and frees the port", async () => {
  const palinode = await startPalinode();
  palinode.fault("*", { hang: true });
  const hanging = assert.rejects(fetch(`${palinode.url}/health`), /fetch failed/);
  while (palinode.requests.length === 0) await new Promise(setImmediate);
  await palinode.close();
  await hanging;
  await assert.rejects(fetch(`${palinode.url}/health`), /fetch failed/);
});

// Each route of the server: what goes over the wire to the byte, what comes back in rows, and what odd answers become.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import {
  type Client,
  checkControls,
  checkHealth,
  checkStatus,
  checkTriggers,
  createClient,
  createTrigger,
  filesOfSessionEnd,
  listCore,
  PalinodeError,
  primeSession,
  probeSearch,
  readBody,
  readMemory,
  recordSession,
  resolveQuery,
  saveMemory,
  searchMemory,
  sessionEndBody,
} from "../../src/server/index.ts";
import { type Palinode, type PalinodeOptions, startPalinode } from "../palinode/server.ts";

declare const REPOSITORY: string;

const PNPM = {
  file: "decisions/use-pnpm.md",
  frontmatter: { title: "Use pnpm", type: "Decision", core: true, entities: ["project/shop"], summary: "pnpm only" },
  body: "We use pnpm for every package of the shop.",
};
const QUERY = "which package manager does the shop use";
const SEARCH = { query: QUERY, limit: 3, maxChars: 300, sessionId: "s1" };
const RESOLVE = { query: QUERY, sessionId: "s1", maxItems: 3, maxChars: 2000 };
const ASK = { action: "recall", cwd: "/w/shop", project: "shop" } as const;
/** What else may answer at an address. */
const ODD = [null, true, 1, "text", {}, { results: "x" }];

test("health and status say in one word each how the server and its embedder are", async (t) => {
  const { server, client } = await open(t);
  assert.deepEqual(await checkHealth(client), { version: "0.23.0", status: "ok", trouble: undefined });
  assert.equal((await checkStatus(client)).embedder, "ready");
  server.fault("/health", { json: { version: "0.23.0", status: "degraded", db_error: "locked" } });
  assert.deepEqual(await checkHealth(client), { version: "0.23.0", status: "degraded", trouble: "locked" });
  for (const [embed_functional, embedder] of [
    [false, "failing"],
    [null, "none"],
    ["yes", undefined],
  ] as const) {
    server.fault("/status", { json: { embed_functional, ollama_reachable: false, embedding_url: "http://e" } });
    assert.deepEqual(await checkStatus(client), { embedder, isOllamaReachable: false, embeddingUrl: "http://e" });
  }
  for (const json of ODD) {
    for (const path of ["/health", "/status"]) server.fault(path, { json });
    assert.equal((await checkHealth(client)).version, undefined);
    assert.equal((await checkStatus(client)).embedder, undefined);
  }
});

test("a session is primed with its folder, itself and its project, as far as they are known", async (t) => {
  const { server, client } = await open(t);
  const prime = await primeSession(client, { cwd: "/w/shop", sessionId: "s1", project: "shop" });
  assert.deepEqual(
    prime.core.map(({ file, isCore }) => [file, isCore]),
    [[PNPM.file, true]],
  );
  assert.deepEqual(
    prime.decisions.map(({ file }) => file),
    [PNPM.file],
  );
  await primeSession(client, { cwd: undefined, project: "" });
  assert.deepEqual(texts(server, "/context/prime"), ['{"cwd":"/w/shop","session_id":"s1","project":"shop"}', "{}"]);
  for (const json of [...ODD, { core_memories: [null, 1, { file: "" }, { summary: "no file" }] }]) {
    server.fault("/context/prime", { json });
    const none = { core: [], snapshots: [], decisions: [], actionItems: [] };
    assert.deepEqual(await primeSession(client, { cwd: "/w", project: "" }), none);
  }
});

test("core memories are listed with what is known of them", async (t) => {
  const { server, client } = await open(t);
  const [listed, ...others] = await listCore(client);
  assert.deepEqual(server.calls("/list")[0]?.query, { core_only: "true" });
  assert.deepEqual(
    [listed?.file, listed?.summary, listed?.entities, others],
    [PNPM.file, "pnpm only", ["project/shop"], []],
  );
  server.fault("/list", {
    json: [{ file: "a.md", core: false, last_updated: {}, entities: ["x", 1], title: "A" }, [], 1],
  });
  assert.deepEqual(await listCore(client), [
    {
      file: "a.md",
      name: undefined,
      title: "A",
      summary: undefined,
      isCore: false,
      lastUpdated: "",
      entities: ["x"],
    },
  ]);
  await refusesOddAnswers(server, "/list", () => listCore(client));
});

test("a memory is read whole, and without its frontmatter where the text is wanted", async (t) => {
  const { server, client } = await open(t);
  assert.match(await readMemory(client, PNPM.file), /^---\n[\s\S]*We use pnpm/);
  assert.deepEqual(server.calls("/read")[0]?.query, { file_path: PNPM.file });
  const asker = { client, signal: new AbortController().signal };
  assert.equal(await readBody(asker, PNPM.file), PNPM.body);
  assert.equal(await readBody(asker, "no/such.md"), undefined);
  await assert.rejects(readMemory(client, "no/such.md"), { code: "bad-response", status: 404 });
  await refusesOddAnswers(server, "/read", () => readMemory(client, PNPM.file));
  assert.equal(await readBody(asker, PNPM.file), undefined);
});

test("a search asks for what it is told to and no more, and its hits have a path and a cosine or none", async (t) => {
  const { server, client } = await open(t);
  const [hit] = await searchMemory(client, { ...SEARCH, threshold: 0.1, mode: "passive" });
  assert.deepEqual([hit?.path, typeof hit?.score, hit?.content], [PNPM.file, "number", `${PNPM.body}\n`]);
  await searchMemory(client, SEARCH);
  const query = JSON.stringify(QUERY);
  assert.deepEqual(texts(server, "/search"), [
    `{"query":${query},"limit":3,"threshold":0.1,"max_chars":300,"mode":"passive","session_id":"s1"}`,
    `{"query":${query},"limit":3,"max_chars":300,"session_id":"s1"}`,
  ]);
  const rows = [
    {
      rel_path: "a.md",
      raw_score: 0.7,
      score: 1,
      keyword_score: 0.6,
      keyword_chance: 1.5,
      metadata: { resume: "x", entities: ["tool/npm", "project/Shop", 1], scope: "project/till" },
      content_hash: "h",
      snippet: "s",
    },
    { file_path: "/srv/memory/decisions/b.md", raw_score: null, score: 9, content: "text", metadata: "x" },
    { file_path: "", rel_path: 5 },
    { snippet: "of no file" },
    "text",
  ];
  for (const json of [rows, { results: rows }]) {
    server.fault("/search", { json });
    const [first, second, ...others] = await searchMemory(client, SEARCH);
    assert.deepEqual(first, {
      path: "a.md",
      score: 0.7,
      keywordScore: 0.6,
      keywordChance: 1.5,
      projects: ["shop", "till"],
      snippet: "s",
      content: undefined,
      contentHash: "h",
      isLexical: false,
      metadata: { resume: "x", entities: ["tool/npm", "project/Shop", 1], scope: "project/till" },
    });
    assert.deepEqual(
      [second?.path, second?.score, second?.keywordScore, second?.projects, second?.content, second?.metadata, others],
      ["decisions/b.md", null, null, [], "text", {}, []],
    );
  }
  await refusesOddAnswers(server, "/search", () => searchMemory(client, SEARCH));
});

test("the doctor's search leaves no mark, and only a bare list answers it", async (t) => {
  const { server, client } = await open(t);
  assert.equal(await probeSearch(client), true);
  assert.deepEqual(texts(server, "/search"), [
    '{"query":"What is known about this project?","mode":"passive","limit":1}',
  ]);
  for (const json of [...ODD, { results: [] }]) {
    server.fault("/search", { json });
    assert.equal(await probeSearch(client), false);
  }
});

test("triggers that fire name the file to show", async (t) => {
  const { server, client } = await open(t);
  await createTrigger(client, { description: QUERY, file: PNPM.file });
  const [fired, ...others] = await checkTriggers(client, QUERY);
  assert.deepEqual([fired?.file, fired?.description, others], [PNPM.file, QUERY, []]);
  assert.ok((fired?.score ?? 0) > 0.75);
  assert.deepEqual(
    [texts(server, "/triggers"), texts(server, "/check-triggers")],
    [
      [`{"description":${JSON.stringify(QUERY)},"memory_file":"${PNPM.file}","threshold":0.6}`],
      [JSON.stringify({ query: QUERY })],
    ],
  );
  server.fault("/check-triggers", {
    json: [{ memory_file: "a.md" }, { description: "no file" }, { memory_file: 1 }, 2],
  });
  assert.deepEqual(await checkTriggers(client, QUERY), [{ file: "a.md", description: "", score: null }]);
  await refusesOddAnswers(server, "/check-triggers", () => checkTriggers(client, QUERY));
});

test("a resolution is asked for no more than the server takes, and says what it is about", async (t) => {
  const { server, client } = await open(t);
  const asker = { client, missingRoutes: new Set<string>() };
  const resolution = await resolveQuery(asker, { ...RESOLVE, maxItems: 80 });
  assert.match(resolution?.text ?? "", /^### Resolved from memory/);
  assert.ok((resolution?.count ?? 0) > 0);
  assert.deepEqual(texts(server, "/resolve"), [
    `{"query":${JSON.stringify(QUERY)},"session_id":"s1","max_items":50,"max_chars":2000}`,
  ]);
  server.fault("/resolve", {
    json: {
      text: "t",
      selected: [1, 2],
      conflicts: [3],
      omitted_conflicts: 4,
      other_projects_withheld: 5,
      replaced: "x",
    },
  });
  assert.deepEqual(await resolveQuery(asker, RESOLVE), { text: "t", count: 12, told: [] });
  for (const json of ODD) {
    server.fault("/resolve", { json });
    assert.deepEqual(await resolveQuery(asker, RESOLVE), { text: undefined, count: 0, told: [] });
  }
});

test("the policy is asked about what nobody asked for by hand", async (t) => {
  const { server, client } = await open(t, { policy: { recall: "recall_paused" } });
  const asker = { client, missingRoutes: new Set<string>() };
  assert.deepEqual(await checkControls(asker, ASK), { isAllowed: false, reason: "recall_paused" });
  assert.equal((await checkControls(asker, { action: "capture", cwd: undefined, project: "" }))?.isAllowed, true);
  assert.deepEqual(texts(server, "/controls/check"), [
    '{"action":"recall","cwd":"/w/shop","project":"shop","automatic":true}',
    '{"action":"capture","automatic":true}',
  ]);
  for (const json of [...ODD, { allowed: "no" }]) {
    server.fault("/controls/check", { json });
    assert.equal((await checkControls(asker, ASK))?.isAllowed, undefined);
  }
});

test("a route that an old server has not is asked once, and other trouble is told", async (t) => {
  const { server, client } = await open(t, { version: "0.13.0" });
  const asker = { client, missingRoutes: new Set<string>() };
  for (const [path, ask] of [
    ["/resolve", () => resolveQuery(asker, RESOLVE)],
    ["/controls/check", () => checkControls(asker, ASK)],
  ] as const) {
    server.fault(path, { status: 503 }, 1);
    await assert.rejects(ask(), { code: "bad-response", status: 503 });
    assert.deepEqual([await ask(), await ask()], [undefined, undefined]);
    assert.equal(server.calls(path).length, 2);
  }
  asker.missingRoutes.clear();
  server.fault("/controls/check", { status: 405 });
  assert.equal(await checkControls(asker, ASK), undefined);
  assert.equal(asker.missingRoutes.size, 1);
});

test("a memory is saved under its own name, and only a receipt says so", async (t) => {
  const { server, client } = await open(t);
  const memory = { content: "text", type: "Insight", slug: "own-name", source: "test", entities: ["project/shop"] };
  assert.deepEqual(await saveMemory(client, { ...memory, metadata: { session_id: "s1" } }), {
    path: "insights/own-name.md",
    isIndexed: true,
    isOverwritten: false,
  });
  assert.deepEqual(texts(server, "/save"), [JSON.stringify({ ...memory, metadata: { session_id: "s1" } })]);
  server.fault("/save", { json: { file_path: "/srv/a.md", indexed: false } });
  assert.deepEqual(await saveMemory(client, memory), { path: "/srv/a.md", isIndexed: false, isOverwritten: false });
  server.fault("/save", { json: {} });
  await assert.rejects(saveMemory(client, memory), { message: "/save: bad-response, no receipt" });
  await refusesOddAnswers(server, "/save", () => saveMemory(client, memory));
});

test("a session's end always has both lists, and is found again where the server stores it", async (t) => {
  const now = Date.UTC(2026, 7, 22, 12);
  const { server, client } = await open(t, { now: () => now });
  const session = { summary: "Went well.", project: "shop", trigger: "run_end", sessionId: "s1", cwd: "/w/shop" };
  const body = sessionEndBody({ ...session, model: "m", durationSeconds: 5, isAutomatic: true });
  assert.equal(await recordSession(client, body), true);
  const plain = sessionEndBody({ ...session, summary: "Alone.", project: "", cwd: undefined, decisions: ["d"] });
  assert.equal(await recordSession(client, plain), true);
  assert.deepEqual(texts(server, "/session-end"), [
    '{"summary":"Went well.","decisions":[],"blockers":[],"project":"shop","source":"cline-plugin","harness":"cline",' +
      '"trigger":"run_end","session_id":"s1","cwd":"/w/shop","model":"m","duration_seconds":5,"automatic":true}',
    '{"summary":"Alone.","decisions":["d"],"blockers":[],"source":"cline-plugin","harness":"cline",' +
      '"trigger":"run_end","session_id":"s1"}',
  ]);
  for (const sent of [body, plain]) {
    for (const file of filesOfSessionEnd("2026-08-22", sent)) {
      assert.ok((await readMemory(client, file)).includes(String(sent.summary)), file);
    }
  }
  for (const json of [null, true, 1, "text"]) {
    server.fault("/session-end", { json });
    assert.equal(await recordSession(client, body), false);
  }
});

test("every route throws a reason code and nothing else", async (t) => {
  const { server, client } = await open(t);
  const asker = { client, missingRoutes: new Set<string>() };
  server.fault("*", { status: 401 });
  const calls: (() => Promise<unknown>)[] = [
    () => checkHealth(client),
    () => checkStatus(client),
    () => primeSession(client, { cwd: "/w", project: "" }),
    () => listCore(client),
    () => readMemory(client, "a.md"),
    () => searchMemory(client, SEARCH),
    () => probeSearch(client),
    () => checkTriggers(client, QUERY),
    () => resolveQuery(asker, RESOLVE),
    () => checkControls(asker, ASK),
    () => saveMemory(client, { content: "x", type: "Insight", slug: "x", source: "test" }),
    () => recordSession(client, {}),
    () => createTrigger(client, { description: "d", file: "a.md" }),
  ];
  for (const call of calls)
    await assert.rejects(call(), (error) => error instanceof PalinodeError && error.code === "unauthorized");
});

test("no other file of src/ names a route or asks one", () => {
  const sources = readdirSync(join(REPOSITORY, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ name, text: readFileSync(join(REPOSITORY, "src", name), "utf8") }));
  const isRoutes = ({ name }: { name: string }): boolean => /^server\/routes[\w-]*\.ts$/.test(name);
  const paths = sources
    .filter(isRoutes)
    .flatMap(({ text }) => [...text.matchAll(/"(\/[\w/-]+)"/g)].map(([, path]) => path!));
  assert.equal(paths.length, 15);
  const strays = sources.filter((file) => !isRoutes(file)).flatMap(({ name, text }) => straysIn(name, text, paths));
  assert.deepEqual(strays, []);
  assert.deepEqual(straysIn("desk/a.ts", '// the "/list"\nsay("/lists");\nawait client.post(\n  "/list",', ["/list"]), [
    "src/desk/a.ts:3 asks the server",
    "src/desk/a.ts:4 names /list",
  ]);
});

/** Comments may name routes. */
function straysIn(name: string, text: string, paths: readonly string[]): string[] {
  return text.split("\n").flatMap((line, index) => {
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) return [];
    const named = paths.filter((path) => new RegExp(`["'\`]${path}["'\`?]`).test(line)).map((path) => `names ${path}`);
    const asked = /\bclient\s*\.(?:get|post)\(/.test(line) ? ["asks the server"] : [];
    return [...named, ...asked].map((what) => `src/${name}:${index + 1} ${what}`);
  });
}

async function open(t: TestContext, options: PalinodeOptions = {}): Promise<{ server: Palinode; client: Client }> {
  const server = await startPalinode({ memories: [PNPM], ...options });
  t.after(server.close);
  const client = createClient({ apiUrl: server.url, token: "", allowHttp: false, recallTimeoutMs: 5000 });
  return { server, client };
}

function texts(server: Palinode, path: string): string[] {
  return server.calls(path).map(({ text }) => text);
}

async function refusesOddAnswers(server: Palinode, path: string, ask: () => Promise<unknown>): Promise<void> {
  for (const json of ODD) {
    server.fault(path, { json });
    await assert.rejects(
      ask(),
      (error) =>
        error instanceof PalinodeError && error.code === "bad-response" && error.message.startsWith(`${path}: `),
      JSON.stringify(json),
    );
  }
}

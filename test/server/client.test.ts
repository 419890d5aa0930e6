// Every way in which a server can fail, from a real one on loopback, and where the token may go.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import test, { type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { type Client, createClient, mayCarryToken, mayUseProxy } from "../../src/server/client.ts";
import { PalinodeError, reasonOf } from "../../src/server/failure.ts";
import { replaceRequests } from "../helpers/requests.ts";

const TOKEN = "s3cret-token-value";
/** In what the server sends back, and in no message of an error. */
const MEMORY = "memory text of the user";

test("an answer is handed on as it was parsed, whatever it is", async (t) => {
  for (const value of [[], {}, null, 0, "text", true, [{ file: "日本 😀" }]]) {
    assert.deepEqual(await (await clientOf(t, json(200, value))).get("/list", {}), value);
  }
  assert.deepEqual(await (await clientOf(t, json(201, { id: 1 }))).post("/save", {}), { id: 1 });
});

test("a request is sent as the server wants it", async (t) => {
  const seen: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const client = await clientOf(
    t,
    async (request, response) => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body: await textOf(request) });
      response.end("{}");
    },
    { token: TOKEN, base: "/base" },
  );
  await client.get("/read", { file_path: "a b/ü&x=1#.md", meta: "true" });
  await client.post("/search", { query: '日本 😀 "x"', limit: undefined });
  assert.deepEqual(
    seen.map(({ method, url }) => [method, url?.split("?")[0]]),
    [
      ["GET", "/base/read"],
      ["POST", "/base/search"],
    ],
  );
  assert.equal(new URL(seen[0]!.url!, "http://x").searchParams.get("file_path"), "a b/ü&x=1#.md");
  assert.deepEqual(JSON.parse(seen[1]!.body), { query: '日本 😀 "x"' });
  assert.equal(seen[1]!.headers["content-type"], "application/json");
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`],
  );
});

test("each status has its reason and says nothing of the body", async (t) => {
  const reasons: Record<number, string> = {
    301: "bad-response",
    304: "bad-response",
    400: "bad-response",
    401: "unauthorized",
    403: "denied",
    404: "bad-response",
    405: "bad-response",
    408: "bad-response",
    409: "bad-response",
    413: "bad-response",
    422: "bad-response",
    429: "rate-limited",
    500: "bad-response",
    502: "bad-response",
    503: "bad-response",
    599: "bad-response",
  };
  for (const [status, reason] of Object.entries(reasons)) {
    for (const body of [
      JSON.stringify({ detail: MEMORY }),
      JSON.stringify({ detail: [{ input: MEMORY }] }),
      `<html>${MEMORY}</html>`,
      "",
    ]) {
      const error = await failureOf(
        (await clientOf(t, answer(Number(status), Number(status) === 304 ? "" : body), { token: TOKEN })).post(
          "/search",
          { query: "x" },
        ),
      );
      assert.deepEqual([error.code, error.status], [reason, Number(status)]);
      assertDiscreet(error);
    }
  }
});

test("a port that nothing may be sent to counts as one that nothing listens at", async () => {
  const client = createClient({ apiUrl: "http://127.0.0.1:1", token: "", allowHttp: false, recallTimeoutMs: 1000 });
  assert.equal((await failureOf(client.get("/health", {}))).code, "refused");
});

test("the server's own words are there to be told, without a token, a secret or what hides one", async (t) => {
  const detail = `no ${TOKEN}, ghp_\u200b0123456789abcdefghijABCDEFGHIJ0123 \u001b[31m${"x".repeat(500)}`;
  const error = await failureOf((await clientOf(t, json(400, { detail }), { token: TOKEN })).post("/save", {}));
  assert.match(error.serverWords ?? "", /^no \[redacted\], \[redacted\] x+$/);
  assert.equal(error.serverWords?.length, 200);
  assertDiscreet(error);
});

test("a refusal by policy keeps the server's word for it", async (t) => {
  for (const word of ["capture_paused", "recall_paused", "invalid_scope", "excluded_project"]) {
    const error = await failureOf((await clientOf(t, json(403, { detail: word }))).post("/search", {}));
    assert.deepEqual([error.code, error.detail], ["denied", word]);
  }
});

test("a body that is no JSON is a bad response", async (t) => {
  for (const body of [
    "",
    "<html>login</html>",
    '{"results": [',
    "[1,2",
    "undefined",
    "NaN",
    "{'a': 1}",
    "data: {}\n\n",
    "\u0000",
    "[]x",
    "\ud800",
  ]) {
    const error = await failureOf((await clientOf(t, answer(200, body))).get("/list", {}));
    assert.deepEqual([error.code, error.status], ["bad-response", 200], JSON.stringify(body));
  }
  assert.equal((await failureOf((await clientOf(t, answer(204, ""))).get("/list", {}))).code, "bad-response");
});

test("JSON of any depth is an answer or a bad response", async (t) => {
  const client = await clientOf(t, answer(200, "[".repeat(500_000)));
  assert.equal((await failureOf(client.get("/list", {}))).code, "bad-response");
});

test("a body is read up to two megabytes, and no further", async (t) => {
  const limit = 2 * 1024 * 1024;
  const small = await clientOf(t, answer(200, JSON.stringify("x".repeat(limit - 2))));
  assert.equal(String(await small.get("/list", {})).length, limit - 2);
  const large = await clientOf(t, answer(200, JSON.stringify("x".repeat(limit - 1))));
  assert.equal((await failureOf(large.get("/list", {}))).code, "bad-response");
});

test("a body of sixteen megabytes is not taken to its end", async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  let closed = (_: number) => {};
  const sentInAll = new Promise<number>((resolve) => (closed = resolve));
  const client = await clientOf(t, (_, response) => {
    let sent = 0;
    const pump = () => {
      while (sent < 256 && !response.destroyed) {
        sent += 1;
        if (!response.write(chunk)) return void response.once("drain", pump);
      }
      response.end("[]");
    };
    response.on("close", () => closed(sent));
    pump();
  });
  assert.equal((await failureOf(client.get("/list", {}))).code, "bad-response");
  assert.ok((await sentInAll) < 256, "the connection was not closed early");
});

test("a small body that unpacks to a large one is not unpacked to its end", async (t) => {
  const packed = gzipSync(`${" ".repeat(16 * 1024 * 1024)}[]`);
  const client = await clientOf(t, (_, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(packed),
  );
  assert.equal((await failureOf(client.get("/list", {}))).code, "bad-response");
});

test("a large body of an error changes nothing of the reason", async (t) => {
  const client = await clientOf(t, answer(401, "x".repeat(4 * 1024 * 1024)), { token: TOKEN });
  assert.equal((await failureOf(client.get("/list", {}))).code, "unauthorized");
});

test("a redirect is not followed, and the token does not travel", async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const elsewhere: string[] = [];
    const other = await serve(t, (request, response) => {
      elsewhere.push(String(request.headers.authorization));
      response.end("[]");
    });
    const client = await clientOf(
      t,
      (_, response) => response.writeHead(status, { location: `${other}/list` }).end("[]"),
      { token: TOKEN },
    );
    const error = await failureOf(client.get("/list", {}));
    assert.deepEqual([error.code, error.status, elsewhere], ["bad-response", status, []]);
    await failureOf(client.post("/search", { query: "x" }));
    assert.deepEqual(elsewhere, []);
  }
});

test("a server that accepts and never answers is a timeout, and is let go", async (t) => {
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  const client = await clientOf(t, (request) => void request.socket.on("close", letGo));
  assert.equal((await failureOf(client.get("/list", {}, { timeoutMs: 50 }))).code, "timeout");
  await gone;
});

test("a server that stops in the middle of a body, or drips, is a timeout", async (t) => {
  const stalls = await clientOf(t, (_, response) => void response.write("[1,"));
  assert.equal((await failureOf(stalls.get("/list", {}, { timeoutMs: 50 }))).code, "timeout");
  const drips = await clientOf(t, (_, response) => {
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  });
  assert.equal((await failureOf(drips.get("/list", {}, { timeoutMs: 100 }))).code, "timeout");
});

test("a refusal whose body never ends is still a refusal, in time", async (t) => {
  for (const [status, reason] of [
    [401, "unauthorized"],
    [403, "denied"],
    [429, "rate-limited"],
  ] as const) {
    const client = await clientOf(t, (_, response) => void response.writeHead(status).write("{"));
    assert.equal((await failureOf(client.get("/list", {}, { timeoutMs: 800 }))).code, reason);
  }
});

test("the setting is the limit where the call names none", async (t) => {
  const client = await clientOf(t, () => undefined, { timeoutMs: 50 });
  assert.equal((await failureOf(client.get("/list", {}))).code, "timeout");
});

test("a request ends when its owner ends it, before and during", { timeout: 30_000 }, async (t) => {
  const client = await clientOf(t, () => undefined, { timeoutMs: 3_600_000 });
  assert.equal((await failureOf(client.get("/list", {}, { signal: AbortSignal.abort() }))).code, "timeout");
  const abort = new AbortController();
  const failure = failureOf(client.get("/list", {}, { signal: abort.signal }));
  abort.abort();
  assert.equal((await failure).code, "timeout");
  const odd = new AbortController();
  const oddFailure = failureOf(client.get("/list", {}, { signal: odd.signal }));
  odd.abort("for no reason");
  await oddFailure;
});

test("https to a port that speaks none is told as that, and so is a certificate that nobody vouches for", async (t) => {
  const plain = createServer((_, response) => response.end("[]"));
  const port = await listen(t, plain);
  assert.equal((await failureOf(clientFor(`https://127.0.0.1:${port}`).post("/search", {}))).code, "tls");
  const codes = [
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "CERT_HAS_EXPIRED",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "EPROTO",
  ];
  for (const code of codes)
    assert.equal(
      reasonOf(new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) })),
      "tls",
      code,
    );
});

test("a kept connection that was closed meanwhile is replaced, but for what must not be sent twice", async (t) => {
  const asked: string[] = [];
  const server = createTcpServer((socket) => {
    let requests = 0;
    socket
      .on("error", () => undefined)
      .on("data", (data) => {
        const [line = ""] = String(data).split("\r\n");
        if (!/^(?:GET|POST) /.test(line)) return;
        asked.push(line.split(" ")[1] ?? "");
        requests += 1;
        // Each connection takes one request, and says so only by ending at the next.
        if (requests > 1) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]");
      });
  });
  const client = clientFor(`http://127.0.0.1:${await listen(t, server)}`);
  assert.deepEqual(await client.get("/list", {}), []);
  assert.deepEqual(await client.get("/list", {}), []);
  assert.equal(asked.length, 3);
  const error = await failureOf(client.post("/session-end", { summary: "x" }, { isOnce: true }));
  assert.equal(error.code, "unreachable");
  assert.equal(asked.filter((path) => path === "/session-end").length, 1);
});

test("a connection that breaks ahead of a whole answer is told apart from an answer that is none", async (t) => {
  const ok = "HTTP/1.1 200 OK\r\n";
  const wires: [string, (socket: Socket) => void][] = [
    ["unreachable", (socket) => socket.resetAndDestroy()],
    ["unreachable", (socket) => socket.end()],
    ["unreachable", (socket) => socket.end(`${ok}content-length: 100\r\n\r\n[1,2`)],
    ["unreachable", (socket) => socket.end(`${ok}transfer-encoding: chunked\r\n\r\n5\r\n[1,2`)],
    ["bad-response", (socket) => socket.end("220 smtp ready\r\n")],
    ["bad-response", (socket) => socket.end(`${ok}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n[]`)],
    ["bad-response", (socket) => socket.end(`${ok}x: ${"y".repeat(100_000)}\r\n\r\n[]`)],
  ];
  for (const [index, [code, wire]] of wires.entries()) {
    const server = createTcpServer((socket) => socket.on("error", () => undefined).once("data", () => wire(socket)));
    const port = await listen(t, server);
    const error = await failureOf(clientFor(`http://127.0.0.1:${port}`, { token: TOKEN }).post("/search", {}));
    assert.equal(error.code, code, `${index}: ${error.message}`);
    assertDiscreet(error);
  }
});

test("a port where nobody listens is a refusal, by name and by address", async (t) => {
  const server = createTcpServer();
  const port = await listen(t, server);
  server.close();
  await once(server, "close");
  for (const host of ["127.0.0.1", "localhost"]) {
    const error = await failureOf(clientFor(`http://${host}:${port}`).get("/list", {}));
    assert.deepEqual([error.code, error.status], ["refused", undefined]);
  }
});

test("a name that nobody knows is a failure of DNS", async () => {
  // A label of 64 characters is no name, so no resolver is asked.
  assert.equal((await failureOf(clientFor(`http://${"a".repeat(64)}.invalid:6340`).get("/list", {}))).code, "dns");
});

test("reasons are read from names and codes, as Node and as Bun give them", () => {
  const nested = (code: string) => new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });
  const reasons: [unknown, string][] = [
    [nested("ECONNREFUSED"), "refused"],
    [nested("ENOTFOUND"), "dns"],
    [nested("EAI_AGAIN"), "dns"],
    [nested("UND_ERR_CONNECT_TIMEOUT"), "timeout"],
    [Object.assign(new Error("Unable to connect"), { code: "ConnectionRefused" }), "refused"],
    [Object.assign(new Error("x"), { code: "FailedToOpenSocket" }), "refused"],
    [new DOMException("x", "TimeoutError"), "timeout"],
    [new DOMException("x", "AbortError"), "timeout"],
    [
      new TypeError("fetch failed", {
        cause: new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })]),
      }),
      "refused",
    ],
    [new PalinodeError("/x", "denied", 403), "denied"],
    [new SyntaxError("x"), "bad-response"],
    [undefined, "bad-response"],
    [null, "bad-response"],
    ["ECONNREFUSED", "bad-response"],
    [{ code: "toString" }, "bad-response"],
    [{ name: "constructor", code: "__proto__" }, "bad-response"],
  ];
  assert.deepEqual(
    reasons.map(([error]) => reasonOf(error)),
    reasons.map(([, reason]) => reason),
  );
  const loop: { cause?: unknown } = {};
  loop.cause = loop;
  assert.equal(reasonOf(loop), "bad-response");
});

test("what is thrown is an Error with route, reason and status", async (t) => {
  const error = await failureOf((await clientOf(t, answer(503, "x"))).get("/list", { q: MEMORY }));
  assert.ok(error instanceof Error);
  assert.match(error.message, /\/list.*503/);
  assertDiscreet(error);
});

test("the token goes to https, loopback and private addresses", () => {
  const hosts = [
    "https://memory.example",
    "http://localhost:6340",
    "http://LOCALHOST",
    "http://127.0.0.1:6340",
    "http://127.9.9.9",
    "http://2130706433",
    "http://[::1]:6340",
    "http://10.0.0.7",
    "http://192.168.1.2",
    "http://172.16.0.1",
    "http://172.31.255.254",
    "http://[fd12:3456::1]",
    "http://[fc00::1]",
    "http://[fe80::1]",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:10.1.2.3]",
    "http://[::ffff:192.168.0.1]",
  ];
  assert.deepEqual(
    hosts.filter((apiUrl) => !mayCarryToken({ apiUrl, allowHttp: false })),
    [],
  );
});

test("the token goes nowhere else over plain http", () => {
  const hosts = [
    "http://memory.example",
    "http://8.8.8.8",
    "http://172.15.0.1",
    "http://172.32.0.1",
    "http://11.0.0.1",
    "http://192.169.0.1",
    "http://128.0.0.1",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example",
    "http://notlocalhost",
    "http://10.evil.example",
    "http://192.168.1.2.evil.example",
    "http://fd00.evil.example",
    "http://fe80.example",
    "http://[2001:db8::1]",
    "http://[fd::1]",
    "http://[::ffff:8.8.8.8]",
    "http://[::ffff:161.178.1.1]",
    "http://[::ffff:7.241.1.1]",
    "http://[::ffff:172.32.0.1]",
    "http://[::ffff:169.1.1.1]",
    "http://[::]",
    "http://134744072",
  ];
  assert.deepEqual(
    hosts.filter((apiUrl) => mayCarryToken({ apiUrl, allowHttp: false })),
    [],
  );
  assert.deepEqual(
    hosts.filter((apiUrl) => !mayCarryToken({ apiUrl, allowHttp: true })),
    [],
  );
});

test("a proxy is only for public servers by https", () => {
  const ownHosts = [
    "localhost",
    "127.9.9.9",
    "[::1]",
    "10.0.0.1",
    "[fd00::1]",
    "[::ffff:192.168.0.1]",
    "nas",
    "nas.lan",
  ];
  const names = ["nas.local", "db.internal", "nas.home.arpa", "a.localhost", "nas.local."];
  for (const host of [...ownHosts, ...names])
    for (const scheme of ["http", "https"]) assert.ok(!mayUseProxy(`${scheme}://${host}:1`), `${scheme}, ${host}`);
  for (const host of ["memory.example", "8.8.8.8", "[2001:db8::1]", "local.example"])
    assert.deepEqual([mayUseProxy(`http://${host}`), mayUseProxy(`https://${host}`)], [false, true], host);
});

test("behind a proxy only the server's own words count as its refusal", async (t) => {
  const { HTTPS_PROXY } = process.env;
  process.env.HTTPS_PROXY = "http://127.0.0.1:9";
  t.after(() => void (HTTPS_PROXY === undefined && delete process.env.HTTPS_PROXY));
  const quiet: number[] = [];
  const config = { apiUrl: "https://memory.example", token: TOKEN, allowHttp: false, recallTimeoutMs: 1000 };
  const client = createClient(config, { onRateLimited: (ms) => quiet.push(ms) });
  for (const [status, reason] of [
    [401, "unauthorized"],
    [403, "denied"],
    [429, "rate-limited"],
  ] as const) {
    for (const [body, expected] of [
      ["<html>blocked</html>", "bad-response"],
      ["{}", "bad-response"],
      ['{"detail":"x"}', reason],
    ]) {
      t.mock.method(globalThis, "fetch", async () => new Response(body, { status, headers: { "retry-after": "7" } }));
      assert.equal((await failureOf(client.get("/list", {}))).code, expected, `${status} ${body}`);
    }
  }
  assert.deepEqual(quiet, [7000]);
  const refused = new Error("Request was cancelled.", {
    cause: new DOMException("Proxy response (403) !== 200", "AbortError"),
  });
  assert.equal(reasonOf(new TypeError("fetch failed", { cause: refused })), "unreachable");
  // Who did not listen, or was not found, may have been the proxy; what nobody foresaw is no answer either.
  for (const code of ["ECONNREFUSED", "ENOTFOUND", "ESOMETHING"]) {
    const cause = Object.assign(new Error("x"), { code });
    t.mock.method(globalThis, "fetch", async () => Promise.reject(new TypeError("fetch failed", { cause })));
    assert.equal((await failureOf(client.get("/list", {}))).code, "unreachable", code);
  }
});

test("a request to a public address goes without the token", async (t) => {
  const sent: Headers[] = [];
  const answer = async (_: unknown, init: RequestInit = {}) => {
    sent.push(new Headers(init.headers));
    return new Response("[]");
  };
  t.mock.method(globalThis, "fetch", answer);
  t.after(replaceRequests(answer));
  await clientFor("http://memory.example", { token: TOKEN }).get("/list", {});
  await clientFor("https://memory.example", { token: TOKEN }).get("/list", {});
  await clientFor("https://memory.example").get("/list", {});
  assert.deepEqual(
    sent.map((headers) => headers.get("authorization")),
    [null, `Bearer ${TOKEN}`, null],
  );
});

interface Setup {
  readonly token?: string;
  readonly base?: string;
  readonly timeoutMs?: number;
}

async function clientOf(t: TestContext, listener: RequestListener, setup: Setup = {}): Promise<Client> {
  return clientFor(`${await serve(t, listener)}${setup.base ?? ""}`, setup);
}

function clientFor(apiUrl: string, { token = "", timeoutMs = 10_000 }: Setup = {}): Client {
  return createClient({ apiUrl, token, allowHttp: false, recallTimeoutMs: timeoutMs });
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  t.after(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listen(t, server)}`;
}

async function listen(t: TestContext, server: ReturnType<typeof createTcpServer>): Promise<number> {
  t.after(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function answer(status: number, body: string): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.writeHead(status).end(body);
  };
}

function json(status: number, value: unknown): RequestListener {
  return answer(status, JSON.stringify(value));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

async function failureOf(answered: Promise<unknown>): Promise<PalinodeError> {
  const outcome = await answered.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof PalinodeError, `not a PalinodeError: ${String(outcome)}`);
  return outcome;
}

function assertDiscreet(error: PalinodeError) {
  const told = `${error.message} ${error.detail} ${String(error.stack)} ${JSON.stringify(error)}`;
  for (const text of [TOKEN, MEMORY]) assert.ok(!told.includes(text), told);
  assert.equal(error.cause, undefined);
}

// The shipped file where the environment names a proxy: what never goes there, and what is made of its answers. Node
// before 24 gives it nothing anyway; the matrix runs this on those that do.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createHome, type Home } from "../helpers/command-line.ts";
import { startPalinode } from "../palinode/server.ts";

const TOKEN = "s3cret-token-value";
const ROLLBACK = { file: "insights/rollback.md", body: "To roll back a deploy of the api run deploy rollback" };
/** Runtimes whose `fetch` asks the proxy that the environment names. */
const usesProxies = process.versions.bun !== undefined || Number(process.versions.node.split(".")[0]) >= 24;

/** Returns what a proxy was asked for; it answers all of it with the words of a server that denies it. */
async function startProxy(t: TestContext): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const body = '{"detail":"recall_paused"}';
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    response.writeHead(403, { "content-type": "application/json" }).end(body);
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.on("error", () => undefined);
    socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

function homeBehind(t: TestContext, proxy: string, apiUrl: string): Home {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const proxies = Object.fromEntries(names.map((name) => [name, proxy]));
  const env = { ...proxies, NODE_USE_ENV_PROXY: "1", PALINODE_API_URL: apiUrl, PALINODE_API_TOKEN: TOKEN };
  return createHome(t, env);
}

test("no request to a loopback address goes to a proxy", async (t) => {
  const proxy = await startProxy(t);
  const server = await startPalinode({ token: TOKEN, memories: [ROLLBACK] });
  t.after(() => server.close());
  for (const url of [server.url, server.url.replace("127.0.0.1", "localhost")]) {
    const { stdout, stderr } = await homeBehind(t, proxy.url, url).run("search", "roll back a deploy of the api");
    assert.match(stdout, /insights\/rollback\.md/, stderr);
  }
  assert.equal(server.calls("/search").length, 2);
  assert.deepEqual(proxy.asked, []);
});

test("a private address and a local name get nothing by a proxy, whatever the scheme", async (t) => {
  const proxy = await startProxy(t);
  // Port 9 of this machine, in other words: nothing listens there.
  for (const url of ["http://[::ffff:127.0.0.1]:9", "https://127.0.0.2:9", "https://palinode.localhost:9"]) {
    const { code } = await homeBehind(t, proxy.url, url).run("search", "roll back a deploy of the api");
    assert.equal(code, 1, url);
  }
  assert.deepEqual(proxy.asked, []);
});

test("a public server by https is asked through the proxy, whose refusal is not told as the server's", async (t) => {
  const proxy = await startProxy(t);
  const home = homeBehind(t, proxy.url, "https://memory.invalid");
  const { code, stdout, stderr } = await home.run("search", "roll back a deploy of the api");
  assert.equal(code, 1);
  assert.doesNotMatch(stdout + stderr, /does not allow|recall_paused|palinode controls|in time|palinode-api \(/);
  if (usesProxies) assert.deepEqual([...new Set(proxy.asked)], ["CONNECT memory.invalid:443"]);
});

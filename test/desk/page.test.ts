// `open`: the server's own web page, shown where there is a screen, and named elsewhere too.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pageAddress } from "../../src/desk/page.ts";
import { createHome, type Home } from "../helpers/command-line.ts";
import { openScene, ROLLBACK_PROMPT, until } from "../helpers/scene.ts";
import { startPalinode } from "../palinode/server.ts";

async function arrange(t: TestContext, version = "0.23.0"): Promise<{ home: Home; url: string; shown: string }> {
  const server = await startPalinode({ version });
  t.after(() => server.close());
  const home = createHome(t, { PALINODE_API_URL: server.url });
  const shown = join(home.home, "shown");
  for (const name of ["xdg-open", "open"]) home.program(name, `echo "$@" > ${shown}`);
  return { home, url: server.url, shown };
}

test("open shows the page where there is a screen, and prints its address", async (t) => {
  const { home, url, shown } = await arrange(t);
  const blind = await home.run("open");
  assert.deepEqual([blind.code, blind.stdout, blind.stderr], [0, `${url}/ui\n`, ""]);
  if (process.platform === "linux") assert.equal(existsSync(shown), false, "there is no screen");
  home.env.DISPLAY = ":0";
  const { code, stdout } = await home.run("open", "--json");
  assert.deepEqual([code, JSON.parse(stdout)], [0, { address: `${url}/ui`, isOpened: true }]);
  await until("it is shown", () => existsSync(shown) && readFileSync(shown, "utf8") === `${url}/ui\n`);
});

test("without a page open says why, and what helps", async (t) => {
  const { home } = await arrange(t, "0.16.0");
  const old = await home.run("open");
  assert.deepEqual([old.code, old.stdout], [1, ""]);
  assert.match(old.stderr, /there is no page: servers from 0\.17 on have one/);
  home.env.PALINODE_API_URL = "http://127.0.0.1:9";
  const away = await home.run("open");
  assert.deepEqual([away.code, /nothing listens at|Nothing listens at/.test(away.stderr)], [1, true]);
  assert.equal((await home.run("open", "decisions/a.md")).code, 2);
  const address = (apiUrl: string, version?: string) => pageAddress({ apiUrl }, version);
  assert.equal(address("http://192.168.1.5:6340", "0.23.0"), undefined, "shown on its own machine alone");
  assert.equal(address("http://localhost:6340", undefined), undefined);
  assert.equal(address("http://[::1]:6340", "1.0.0"), "http://[::1]:6340/ui");
  assert.equal(address("http://127.0.0.2:6340", "0.17.0"), "http://127.0.0.2:6340/ui");
});

test("status and why name the page", async (t) => {
  const { server, host, chat, memory } = await openScene(t);
  chat.say(ROLLBACK_PROMPT);
  await memory();
  assert.match(String(await host.runCommand("palinode", "status")), new RegExp(`^page +${server.url}/ui$`, "m"));
  assert.match(String(await host.runCommand("palinode", "why")), new RegExp(`: ${server.url}/ui$`));
  server.fault("/health", { hang: true });
  assert.ok(!String(await host.runCommand("palinode", "why")).includes("/ui"));
});

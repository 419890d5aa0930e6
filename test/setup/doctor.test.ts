// `doctor` of the shipped file: for each trouble its line, its level, the one command that mends it, and the exit code.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import test from "node:test";
import { quoted } from "../../src/base/shell.ts";
import { openState } from "../../src/base/store.ts";
import { readConfig } from "../../src/settings/index.ts";
import { setPaused } from "../../src/settings/pause.ts";
import { floorLines } from "../../src/setup/check-floor.ts";
import { BYTES, called, createHome, FILE, runFile, VERSION } from "../helpers/command-line.ts";
import { arrange, type Check, examine, find, mend } from "../helpers/doctor.ts";

const INSTALL = `node ${quoted(FILE)} install`;
const TOKEN = "s3cret-token-value";

test("with everything in place each line is ok, and the exit code is 0", async (t) => {
  const { home } = await arrange(t);
  const { code, checks } = await examine(home);
  assert.deepEqual(
    checks.filter(({ level }) => level !== "ok"),
    [],
  );
  assert.equal(code, 0);
  assert.deepEqual(
    [...new Set(checks.map(({ name }) => name))],
    ["cline", "node", "plugin", "state", "settings", "server", "token", "embedder", "policy", "recall", "hub"],
  );
  for (const check of checks) assert.deepEqual(Object.keys(check), ["name", "level", "message"]);
  assert.ok(messageOf(checks, "cline").includes("3.0.65"));
  assert.ok(messageOf(checks, "plugin").includes(`${VERSION}: ${home.target}`));
  assert.match(messageOf(checks, "server"), /Palinode 0\.23\.0 at http/);
  assert.match(messageOf(checks, "recall"), /\d+ ms/);
});

test("the words for people have no colours in a pipe, and end with what to start with", async (t) => {
  const { home, server } = await arrange(t);
  const well = await home.run("doctor");
  assert.deepEqual([well.code, well.stderr], [0, ""]);
  assert.ok(well.stdout.endsWith("\nMemory works.\n") && !well.stdout.includes("\u001b"));
  await server.close();
  const { code, stdout } = await home.run("doctor");
  assert.equal(code, 1);
  assert.match(stdout, /^failure {2}server .*\n +→ unset PALINODE_API_URL$/m);
  assert.ok(stdout.endsWith("Memory cannot work yet: 1 failure. Start with: unset PALINODE_API_URL\n"), stdout);
});

test("nothing asked changes memory, counts as recall or starts a cooldown, and nothing is made on disk", async (t) => {
  const { home, server } = await arrange(t);
  await examine(home);
  assert.deepEqual(server.requests.map(({ method, path }) => `${method} ${path}`).sort(), [
    "GET /health",
    "GET /status",
    "POST /controls/check",
    "POST /controls/check",
    ...Array(6).fill("POST /search"),
  ]);
  const modes = server.calls("/search").map(({ body }) => (body as Record<string, unknown>).mode);
  assert.deepEqual([...new Set(modes)], ["passive"]);
  assert.deepEqual(readdirSync(home.clineDir), ["plugins"]);
});

test("a machine without anything is led from Cline to the plugin to the server", async (t) => {
  const home = createHome(t, { PALINODE_API_URL: await nowhere() });
  const { code, checks } = await examine(home);
  assert.equal(code, 1);
  assert.deepEqual(
    checks.filter(({ level }) => level === "failure").map(({ name, fix }) => [name, fix]),
    [
      ["cline", "npm install -g cline"],
      ["plugin", INSTALL],
      ["server", "unset PALINODE_API_URL"],
    ],
  );
  assert.ok(!existsSync(home.clineDir));
  assert.equal((await home.run("install")).code, 0);
  assert.equal(find((await examine(home)).checks, "plugin").level, "ok");
});

test("a server that is away is started where it is installed, on the port that is asked for", async (t) => {
  const url = await nowhere();
  const home = createHome(t, { PALINODE_API_URL: url });
  home.program("palinode-api", "exit 0");
  const { code, checks } = await examine(home);
  assert.equal(code, 1);
  assert.equal(find(checks, "server").fix, `PALINODE_API_PORT=${new URL(url).port} palinode-api`);
});

test("for a chosen address its setting is to be checked, for the usual one a server to be installed", async (t) => {
  const home = createHome(t);
  const file = home.write(".cline/palinode.json", JSON.stringify({ apiUrl: await nowhere() }));
  const chosen = find((await examine(home)).checks, "server");
  const edit = `sed -E -i.bak 's#"apiUrl" *: *("[^"]*"|[^,} ]*)#"apiUrl": "http://localhost:6340"#' ${file}`;
  assert.deepEqual([chosen.level, chosen.fix], ["failure", edit]);
  assert.match(
    chosen.message,
    /check PALINODE_API_URL \(user file\).* If it is right: PALINODE_API_PORT=\d+ palinode-api$/,
  );
  // Nothing answers at this address of the loopback net, whatever runs on this machine.
  home.env.PALINODE_API_URL = "http://127.77.66.55:6340";
  assert.equal(find((await examine(home)).checks, "server").fix, `node ${FILE} server install`);
});

test("an address or a token that is not usable is what to start with", async (t) => {
  const { home } = await arrange(t, { token: TOKEN });
  home.env.PALINODE_API_TOKEN = `Bearer ${TOKEN}`;
  const userFile = join(home.clineDir, "palinode.json");
  const bearer = await home.run("doctor");
  assert.equal(bearer.code, 1);
  assert.match(bearer.stdout, /PALINODE_API_TOKEN is not usable \(the token alone, without Bearer\)/);
  assert.ok(
    bearer.stdout.endsWith(`2 failures. Start with: unset PALINODE_API_TOKEN; \${EDITOR:-vi} ${userFile}\n`) &&
      !bearer.stdout.includes("s3cret"),
    bearer.stdout,
  );
  delete home.env.PALINODE_API_TOKEN;
  home.env.PALINODE_API_TOKEN_FILE = "~/token";
  const tilde = await home.run("doctor");
  assert.match(
    tilde.stdout,
    /PALINODE_API_TOKEN_FILE: the file cannot be read \(~ is not expanded: write the whole path\)/,
  );
  const mendOfFile = `unset PALINODE_API_TOKEN_FILE; \${EDITOR:-vi} ${userFile}`;
  assert.ok(tilde.stdout.endsWith(`Start with: ${mendOfFile}\n`), tilde.stdout);
  delete home.env.PALINODE_API_URL;
  // Without an address the default is asked, which may be there: only the words are the same everywhere.
  const file = home.write(".cline/palinode.json", JSON.stringify({ apiUrl: "palinode.invalid:6340" }));
  const problem = (await examine(home)).checks.find(
    ({ message }) => message === `${file}: apiUrl is not usable (http:// or https:// is missing)`,
  );
  assert.equal(problem?.fix, `\${EDITOR:-vi} ${file}`);
});

test("a token is changed where it was set, and its file is for nobody else to read", {
  skip: process.platform === "win32",
}, async (t) => {
  const { home } = await arrange(t, { token: TOKEN });
  const tokenFile = home.write("token", "wr0ng-token-value");
  const file = home.write(".cline/palinode.json", JSON.stringify({ tokenFile }));
  chmodSync(file, 0o644);
  chmodSync(tokenFile, 0o640);
  const tokenLines = async (): Promise<unknown[]> =>
    (await examine(home)).checks.filter(({ name }) => name === "token").map(({ level, fix }) => [level, fix]);
  assert.deepEqual(await tokenLines(), [
    ["failure", `\${EDITOR:-vi} ${tokenFile}`],
    ["warning", `chmod 600 ${tokenFile}`],
  ]);
  chmodSync(tokenFile, 0o600);
  assert.deepEqual(await tokenLines(), [["failure", `\${EDITOR:-vi} ${tokenFile}`]]);
  home.write(".cline/palinode.json", JSON.stringify({ token: "wr0ng-token-value", tokenFile }));
  assert.deepEqual(await tokenLines(), [
    ["failure", `\${EDITOR:-vi} ${file}`],
    ["warning", `chmod 600 ${file}`],
  ]);
  home.env.PALINODE_API_TOKEN_FILE = home.write("other", TOKEN);
  assert.deepEqual(await tokenLines(), [
    ["ok", undefined],
    ["warning", `chmod 600 ${home.env.PALINODE_API_TOKEN_FILE}`],
  ]);
  home.env.PALINODE_API_TOKEN = TOKEN;
  assert.deepEqual(await tokenLines(), [["ok", undefined]]);
});

test("a pause of this workspace is told, one of another is not", async (t) => {
  const { home } = await arrange(t);
  for (const [workspace, isTold] of [
    [home.workspace, true],
    ["/elsewhere", false],
  ] as const) {
    const state = openState(join(String(home.env.HOME), ".cline/data/palinode"));
    setPaused(state, home.workspace, undefined);
    setPaused(state, workspace, Date.UTC(2026, 0, 2));
    const { code, checks } = await examine(home);
    const found = checks.find(({ name }) => name === "paused");
    assert.deepEqual(
      [code, found?.level, found?.fix],
      isTold ? [0, "warning", `node ${quoted(FILE)} unpause`] : [0, undefined, undefined],
    );
    if (isTold) assert.match(found?.message ?? "", /since 2026-01-02T00:00:00\.000Z.*\/palinode unpause/);
  }
  setPaused(openState(join(String(home.env.HOME), ".cline/data/palinode")), home.workspace, 1e300);
  assert.equal((await examine(home)).code, 0);
});

test("below a repository's root doctor looks at the root: its settings, its plugins, its pause", async (t) => {
  const { home, server } = await arrange(t);
  home.write("workspace/.git/config", '[remote "origin"]\n\turl = https://example.com/acme/shop.git\n');
  const vendored = home.write("workspace/.cline/plugins/palinode.js", called("0.0.7"));
  home.write("workspace/.cline/palinode.json", JSON.stringify({ digest: "core" }));
  const below = dirname(home.write("workspace/packages/api/a.ts", ""));
  setPaused(openState(join(home.clineDir, "data/palinode")), home.workspace, Date.UTC(2026, 0, 2));
  const { stdout } = await runFile(FILE, ["doctor", "--json"], below, home.env);
  const checks = JSON.parse(stdout) as Check[];
  assert.match(messageOf(checks, "settings"), /digest "core" \(workspace file\)/);
  assert.ok(checks.some(({ fix }) => fix === `rm ${vendored}`));
  assert.deepEqual(
    server.calls("/controls/check").map(({ body }) => (body as { cwd: string }).cwd),
    [home.workspace, home.workspace],
  );
  // What it names as the mend works from there too.
  assert.equal(find(checks, "paused").fix, `node ${quoted(FILE)} unpause`);
  assert.equal((await runFile(FILE, ["unpause"], below, home.env)).code, 0);
  const after = (await runFile(FILE, ["doctor", "--json"], below, home.env)).json() as Check[];
  assert.ok(!after.some(({ name }) => name === "paused"));
});

test("something else at the address, and a server that hangs, are told apart, within seconds", async (t) => {
  for (const fault of [
    { html: true },
    { raw: "{" },
    { json: {} },
    { json: [] },
    { json: null },
    { status: 500 },
    { redirect: "http://127.0.0.1:1/" },
    { cut: true },
    { reset: true },
    { bigBytes: 3e6 },
  ] as const) {
    const { home, server } = await arrange(t);
    server.fault("*", fault);
    const { code, checks } = await examine(home);
    const { level, fix } = find(checks, "server");
    assert.deepEqual([code, level, fix], [1, "failure", "unset PALINODE_API_URL"], JSON.stringify(fault));
    assert.ok(!checks.some(({ name }) => name === "recall"));
  }
  const { home, server } = await arrange(t);
  for (const fault of [{ hang: true }, { dripMs: 50 }] as const) {
    server.fault("*", fault);
    const start = performance.now();
    const { code, checks } = await examine(home);
    assert.ok(performance.now() - start < 8000);
    assert.deepEqual([code, find(checks, "server").level], [1, "failure"]);
    assert.match(messageOf(checks, "server"), /does not answer/);
  }
});

test("a server that breaks after its health is looked at to the end", async (t) => {
  for (const fault of [
    { html: true },
    { json: { results: [] } },
    { json: null },
    { json: "text" },
    { status: 500 },
    { cut: true },
  ] as const) {
    const { home, server } = await arrange(t);
    for (const path of ["/status", "/search", "/controls/check"]) server.fault(path, fault);
    const { code, checks } = await examine(home);
    assert.deepEqual(
      [code, find(checks, "recall").level, find(checks, "server").level],
      [1, "failure", "ok"],
      JSON.stringify(fault),
    );
    assert.ok(find(checks, "recall").fix);
  }
  const { home, server } = await arrange(t);
  for (const path of ["/status", "/search", "/controls/check"]) server.fault(path, { hang: true });
  const { code, checks } = await examine(home);
  assert.deepEqual([code, find(checks, "recall").level], [1, "failure"]);
  assert.ok(!checks.some(({ name }) => name === "token"), "whether the token is accepted is not known");
});

test("a server that says it is degraded is a warning, with its reason, or that it gives none", async (t) => {
  const { home, server } = await arrange(t);
  const health = async (more: Record<string, unknown>) => {
    server.fault("/health", { json: { version: "0.23.0", status: "degraded", ...more } }, 1);
    const { code, checks } = await examine(home);
    const { level, message, fix } = find(checks, "server");
    return { code, level, message: message.replace(server.url, "URL"), fix };
  };
  const expected = { code: 0, level: "warning", fix: "palinode doctor" };
  assert.deepEqual(await health({ db_error: "disk I/O error" }), {
    ...expected,
    message: "Palinode 0.23.0 at URL is degraded: disk I/O error",
  });
  assert.deepEqual(await health({}), {
    ...expected,
    message: "Palinode 0.23.0 at URL is degraded: it does not say why",
  });
  // Whatever a server says, a line stays one that can be read.
  const { message } = await health({ version: "9".repeat(500), db_error: "disk ".repeat(500) });
  assert.equal(message, `Palinode ${"9".repeat(40)} at URL is degraded: ${"disk ".repeat(40)}`);
});

test("a token that is wanted, refused or accepted is told, and never shown", async (t) => {
  const { home, server } = await arrange(t, { token: TOKEN });
  const missing = await examine(home);
  assert.deepEqual(
    [missing.code, find(missing.checks, "token").level, find(missing.checks, "token").fix],
    [1, "failure", `\${EDITOR:-vi} ${home.clineDir}/palinode.json`],
  );
  home.env.PALINODE_API_TOKEN = "wr0ng-token-value";
  const refused = await examine(home);
  assert.deepEqual(
    [refused.code, find(refused.checks, "token").fix],
    [1, `unset PALINODE_API_TOKEN; \${EDITOR:-vi} ${home.clineDir}/palinode.json`],
  );
  assert.match(messageOf(refused.checks, "token"), /refused.*environment/);
  home.env.PALINODE_API_TOKEN = TOKEN;
  const accepted = await examine(home);
  assert.equal(accepted.code, 0);
  assert.match(messageOf(accepted.checks, "token"), /environment.*accepted/);
  delete home.env.PALINODE_API_TOKEN;
  home.write(".cline/palinode.json", JSON.stringify({ tokenFile: home.write("token", TOKEN) }));
  const fromFile = await examine(home);
  assert.equal(fromFile.code, 0);
  assert.match(messageOf(fromFile.checks, "token"), /user file/);
  for (const { text } of [missing, refused, accepted, fromFile]) assert.ok(!/s3cret|wr0ng/.test(text));
  assert.ok(server.calls("/status").some(({ headers }) => headers.authorization === `Bearer ${TOKEN}`));
});

test("a token is not sent over plain http to a public address, and the way out is named", async (t) => {
  const home = createHome(t, { PALINODE_API_URL: "http://palinode.invalid", PALINODE_API_TOKEN: TOKEN });
  const write = `echo '{ "apiUrl": "https://palinode.invalid" }' > ${home.clineDir}/palinode.json`;
  const { code, checks, text } = await examine(home);
  assert.deepEqual(
    [code, find(checks, "token").level, find(checks, "token").fix],
    [1, "failure", `unset PALINODE_API_URL; mkdir -p ${home.clineDir} && ${write}`],
  );
  assert.match(
    messageOf(checks, "token"),
    /use https.*"allowHttp": true into your settings file, or set PALINODE_ALLOW_HTTP=1/,
  );
  assert.ok(!text.includes("s3cret"));
  home.env.PALINODE_ALLOW_HTTP = "1";
  assert.ok(!(await examine(home)).checks.some(({ name }) => name === "token"));
});

test("without an embedder the way leads to Ollama", async (t) => {
  const { home, server } = await arrange(t, { embedder: false });
  const { code, checks } = await examine(home);
  assert.deepEqual([code, find(checks, "embedder").level, find(checks, "recall").level], [1, "failure", "failure"]);
  const get =
    process.platform === "linux"
      ? "curl -fsSL https://ollama.com/install.sh | sh"
      : "PALINODE_RETRIEVAL_MODE=lexical palinode-api";
  assert.deepEqual([find(checks, "embedder").fix, find(checks, "recall").fix], [get, get]);
  assert.match(
    messageOf(checks, "embedder"),
    /not in PATH.*https:\/\/ollama\.com\/download.*ollama pull bge-m3.*PALINODE_RETRIEVAL_MODE=lexical palinode-api/,
  );
  home.program("ollama", "exit 0");
  const there = find((await examine(home)).checks, "embedder");
  assert.deepEqual([there.fix, there.message.includes("download")], ["ollama serve", false]);
  const levels = [
    [{ embed_functional: false, ollama_reachable: true }, "failure", "ollama pull bge-m3"],
    [{ embed_functional: null, ollama_reachable: null }, "ok", undefined],
    [{}, "warning", "palinode doctor"],
    [{ embed_functional: "yes" }, "warning", "palinode doctor"],
  ] as const;
  for (const [json, level, fix] of levels) {
    server.fault("/status", { json });
    const { level: found, fix: offered } = find((await examine(home)).checks, "embedder");
    assert.deepEqual([found, offered], [level, fix], JSON.stringify(json));
  }
  server.fault("/status", { json: { embed_functional: null, ollama_reachable: null } });
  home.env.PALINODE_HOOK_RECALL_TRIGGERS = "0";
  assert.equal(find((await examine(home)).checks, "embedder").level, "ok");
});

test("an embedder that is away only warns where the server searches all the same", async (t) => {
  const { home, server } = await arrange(t);
  server.fault("/status", { json: { embed_functional: false, ollama_reachable: true } });
  const { code, checks } = await examine(home);
  assert.deepEqual([code, find(checks, "embedder").level], [0, "warning"]);
});

test("a floor below the embedder's noise is told with one above it, whoever set it", async (t) => {
  const { home, server } = await arrange(t);
  const hit = (raw: number | null) => ({ rel_path: "insights/a.md", snippet: "a", raw_score: raw, keyword_score: 0.2 });
  server.fault("/search", { json: [hit(0.781), hit(null), hit(0.7)] });
  const file = `${home.clineDir}/palinode.json`;
  const unset = find((await examine(home)).checks, "floor");
  assert.equal(unset.level, "warning");
  assert.match(unset.message, /floor of 0\.46 .* 5 of 5 sentences about nothing reach 0\.78/);
  assert.equal(unset.fix, `echo '{ "recallThreshold": 0.79 }' > ${file}`);
  const before = server.calls("/search").length;
  for (const [value, isTold] of [
    ["0.5", true],
    ["0.78", true],
    ["0.79", false],
  ] as const) {
    home.env.PALINODE_HOOK_RECALL_THRESHOLD = value;
    const { code, checks } = await examine(home);
    assert.deepEqual([code, checks.some(({ name }) => name === "floor")], [0, isTold], value);
  }
  const asked = server
    .calls("/search")
    .slice(before)
    .map(({ body }) => body as Record<string, unknown>);
  assert.ok(asked.length === 18 && asked.every(({ mode }) => mode === "passive"));
  // Without cosines there is no noise, and one sentence may touch a memory.
  delete home.env.PALINODE_HOOK_RECALL_THRESHOLD;
  server.fault("/search", { json: [hit(null)] });
  assert.ok(!(await examine(home)).checks.some(({ name }) => name === "floor"));
});

test("one of the neutral sentences may touch a memory by accident", () => {
  const read = readConfig(undefined, {});
  assert.deepEqual(floorLines([0.9, 0.45, 0.3, 0.2, 0.1], read, {}), []);
  assert.equal(floorLines([0.9, 0.46, 0.3, 0.2, 0.1], read, {}).length, 1);
});

test("a policy that says no is a warning with what changes it; an old server has none", async (t) => {
  const { home } = await arrange(t, { policy: { recall: "recall_paused", capture: "capture_paused" } });
  const { code, checks } = await examine(home);
  assert.equal(code, 0);
  assert.deepEqual(
    checks.filter(({ name }) => name === "policy").map(({ level, fix }) => [level, fix]),
    [
      ["warning", "palinode controls resume --recall"],
      ["warning", "palinode controls resume --capture"],
    ],
  );
  const old = await arrange(t, { version: "0.13.0" });
  const without = await examine(old.home);
  assert.equal(without.code, 0);
  assert.ok(!without.checks.some(({ name }) => name === "policy"));
});

test("a slow recall and a full rate limit are warnings", async (t) => {
  const { home, server } = await arrange(t);
  home.env.PALINODE_CLINE_HOOK_DEADLINE_MS = "100";
  server.fault("/search", { delayMs: 200 });
  const slow = await examine(home);
  assert.deepEqual([slow.code, find(slow.checks, "recall").level], [0, "warning"]);
  server.fault("/search", { status: 429 });
  const limited = await examine(home);
  assert.deepEqual([limited.code, find(limited.checks, "recall").level], [0, "warning"]);
});

test("what Cline passes over does not count as installed", async (t) => {
  const { home } = await arrange(t);
  const real = home.write("repository/palinode.js", BYTES);
  const linked = createHome(t, home.env.PALINODE_API_URL ? { PALINODE_API_URL: home.env.PALINODE_API_URL } : {});
  mkdirSync(join(linked.clineDir, "plugins"), { recursive: true });
  symlinkSync(real, linked.target);
  const link = await examine(linked);
  assert.deepEqual(
    [link.code, find(link.checks, "plugin").level, find(link.checks, "plugin").fix],
    [1, "failure", INSTALL],
  );
  assert.match(messageOf(link.checks, "plugin"), /is a link/);

  home.write(".cline/data/settings/global-settings.json", JSON.stringify({ disabledPlugins: [home.target] }));
  const off = await examine(home);
  assert.deepEqual([off.code, find(off.checks, "plugin").fix], [1, "cline config"]);
});

test("copies are found where Cline finds them: the one it loads is named, each other is in the way", async (t) => {
  const { home } = await arrange(t);
  const folder = home.write(".cline/plugins/palinode/dist/palinode.js", called("0.0.5"));
  home.write(
    ".cline/plugins/palinode/package.json",
    JSON.stringify({ cline: { plugins: [{ paths: ["./dist/palinode.js"] }, "./other.js"] } }),
  );
  home.write(".cline/plugins/palinode/other.js", called("0.0.4"));
  for (const hidden of [
    ".cline/plugins/node_modules/x/palinode.js",
    ".cline/plugins/.old/palinode.js",
    ".cline/plugins/agent/palinode.js",
  ])
    home.write(hidden, called("0.0.3"));
  home.write(".cline/plugins/agent/plugin.json", "{}");
  home.write(".cline/plugins/notes.js", "// palinode.js 9.9.9 |");
  const installed = home.write(
    ".cline/plugins/_installed/local/palinode.js-0123456789ab/package/palinode.js",
    called("0.0.6"),
  );
  const { code, checks } = await examine(home);
  assert.equal(code, 0);
  const lines = checks.filter(({ name }) => name === "plugin");
  assert.deepEqual(
    lines.map(({ level, fix }) => [level, fix]),
    [
      ["warning", `rm ${folder}`],
      ["warning", `cline plugin uninstall ${dirname(dirname(installed))}`],
    ],
  );
  assert.match(lines[0]?.message ?? "", /Cline loads 0\.0\.5: .*dist\/palinode\.js, and passes over 0\.1\.0: /);
  assert.ok(!lines.some(({ fix }) => fix?.includes(home.target)), "the newest is kept");
});

test("a bare copy under a package.json without type module is told, and the mend gives it a folder", async (t) => {
  const { home } = await arrange(t);
  rmSync(home.target);
  const manifest = home.write("workspace/package.json", '{ "name": "shop" }');
  home.write("workspace/.cline/plugins/palinode.js", BYTES);
  const { checks } = await examine(home);
  const { level, message, fix } = find(checks, "plugin");
  assert.deepEqual([level, fix], ["warning", `${INSTALL} --project ${home.workspace}`]);
  assert.ok(message.includes(`but ${manifest} does not say`), message);
  assert.equal((await mend(home, fix)).code, 0);
  const after = (await examine(home)).checks.filter(({ name }) => name === "plugin");
  assert.deepEqual(
    after.map((check) => [check.level, check.message]),
    [["ok", `Cline loads ${VERSION}: ${home.workspace}/.cline/plugins/palinode/palinode.js`]],
  );
});

test("a copy in each layout is one too many, and the mend leaves the better one", async (t) => {
  for (const [ofBare, ofFolder, kept] of [
    ["0.0.9", VERSION, "palinode/palinode.js"],
    [VERSION, "0.0.9", "palinode.js"],
    [VERSION, VERSION, "palinode/palinode.js"],
  ] as const) {
    const { home } = await arrange(t);
    rmSync(home.target);
    home.write("workspace/package.json", "{}");
    const plugins = "workspace/.cline/plugins";
    home.write(`${plugins}/palinode.js`, called(ofBare));
    home.write(`${plugins}/palinode/palinode.js`, called(ofFolder));
    const own = { type: "module", cline: { plugins: [{ paths: ["./palinode.js"] }] } };
    home.write(`${plugins}/palinode/package.json`, JSON.stringify(own));
    const before = (await examine(home)).checks.filter(({ name }) => name === "plugin");
    const { fix, level } = before.find(({ fix }) => fix?.startsWith("rm "))!;
    assert.equal(level, "warning");
    await mend(home, fix);
    const after = (await examine(home)).checks.filter(({ name }) => name === "plugin");
    assert.equal(after.length, 1);
    assert.ok(after[0]?.message.startsWith(`Cline loads ${VERSION}: ${join(home.home, plugins, kept)}`));
  }
});

test("a home that is reached by two ways has no copy too many", async (t) => {
  const { home } = await arrange(t);
  const link = `${home.home}-link`;
  symlinkSync(home.home, link);
  t.after(() => rmSync(link));
  const { stdout } = await runFile(home.target, ["doctor", "--json"], home.home, { ...home.env, HOME: link });
  const lines = (JSON.parse(stdout) as Check[]).filter(({ name }) => name === "plugin");
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["ok"],
    stdout,
  );
});

test("the commands that it names run from any folder, whatever this file's folder is called", async (t) => {
  const home = createHome(t);
  const file = home.write("it's mine/palinode.js", BYTES);
  const { stdout } = await runFile(file, ["doctor"], home.workspace, home.env);
  assert.ok(stdout.includes(`→ node '${home.home}/it'\\''s mine/palinode.js' install\n`), stdout);
  const installed = await runFile(file, ["install"], home.workspace, home.env);
  assert.ok(
    installed.stdout.endsWith(`To check: node '${home.home}/it'\\''s mine/palinode.js' doctor\n`),
    installed.stdout,
  );
});

test("a copy that is older than this file is renewed", async (t) => {
  const { home } = await arrange(t);
  home.write(".cline/plugins/palinode.js", called("0.0.1"));
  const { code, checks } = await examine(home);
  assert.deepEqual([code, find(checks, "plugin").level, find(checks, "plugin").fix], [0, "warning", INSTALL]);
  assert.match(messageOf(checks, "plugin"), /0\.0\.1/);
});

test("settings are told with their source, and each that makes no sense has its own line", async (t) => {
  const { home } = await arrange(t);
  home.env.PALINODE_HOOK_RECALL_MAX_RESULTS = "5";
  home.env.PALINODE_HOOK_RECALL_THRESHOLD = "much";
  const file = home.write(".cline/palinode.json", JSON.stringify({ recallMinChars: 7, colour: "red" }));
  const workspaceFile = home.write(
    "workspace/.cline/palinode.json",
    JSON.stringify({ apiUrl: "http://evil.example", digest: "core" }),
  );
  const { code, checks, text } = await examine(home);
  const [told, ...problems] = checks.filter(({ name }) => name === "settings");
  assert.equal(code, 0);
  for (const part of [
    "recallMaxResults 5 (environment)",
    "recallMinChars 7 (user file)",
    'digest "core" (workspace file)',
  ])
    assert.ok(told?.message.includes(part), told?.message);
  assert.deepEqual(
    problems.map(({ level, fix }) => [level, fix]).sort(),
    [
      ["warning", `\${EDITOR:-vi} ${file}`],
      ["warning", `\${EDITOR:-vi} ${workspaceFile}`],
      ["warning", "unset PALINODE_HOOK_RECALL_THRESHOLD"],
    ].sort(),
  );
  assert.ok(!text.includes("evil.example") && !text.includes('much"'));
});

test("a problem is a failure only where it may be why the server cannot be used, mended where it stands", async (t) => {
  const { home, server } = await arrange(t);
  await server.close();
  const file = home.write(
    ".cline/palinode.json",
    JSON.stringify({ tokenFile: "/gone", minMessages: "few", colour: 1 }),
  );
  const workspaceFile = home.write("workspace/.cline/palinode.json", JSON.stringify({ token: "x" }));
  home.env.PALINODE_API_TOKEN = "two words";
  home.env.PALINODE_CAPTURE_ENABLED = "perhaps";
  const problems = async (): Promise<unknown[]> =>
    (await examine(home)).checks
      .filter(({ name, level }) => name === "settings" && level !== "ok")
      .map(({ level, message, fix }) => [level, message.replace(/^.*?json: /, "").split(" is ")[0], fix]);
  assert.deepEqual(await problems(), [
    ["warning", "token", `\${EDITOR:-vi} ${workspaceFile}`],
    ["warning", "colour", `\${EDITOR:-vi} ${file}`],
    ["failure", "PALINODE_API_TOKEN", `unset PALINODE_API_TOKEN; \${EDITOR:-vi} ${file}`],
    ["failure", "tokenFile: the file cannot be read (ENOENT)", `\${EDITOR:-vi} ${file}`],
    ["warning", "minMessages", `\${EDITOR:-vi} ${file}`],
    ["warning", "PALINODE_CAPTURE_ENABLED", "unset PALINODE_CAPTURE_ENABLED"],
  ]);
  // A better value makes up for one that is not usable: it is not why the server is away.
  home.write(".cline/palinode.json", JSON.stringify({ apiUrl: "nonsense" }));
  home.write("workspace/.cline/palinode.json", "{}");
  delete home.env.PALINODE_API_TOKEN;
  delete home.env.PALINODE_CAPTURE_ENABLED;
  assert.deepEqual(await problems(), [["warning", "apiUrl", `\${EDITOR:-vi} ${file}`]]);
  home.write(".cline/palinode.json", "{");
  assert.deepEqual(await problems(), [["failure", file, `\${EDITOR:-vi} ${file}`]]);
});

test("files that are broken are named and stop nothing", async (t) => {
  const { home } = await arrange(t);
  const paths = [
    ".cline/palinode.json",
    ".cline/data/settings/global-settings.json",
    ".cline/data/locks/hub/production.json",
    ".cline/data/logs/cline.log",
    ".cline/plugins/folder/package.json",
  ];
  for (const text of [
    "{",
    "[]",
    "null",
    "\u0000\u0001",
    '{"pid": "1", "cline": {"plugins": {"a": 1}}, "disabledPlugins": 7}',
  ]) {
    for (const path of paths) home.write(path, text);
    const { code, checks } = await examine(home);
    assert.deepEqual(
      [code, find(checks, "plugin").level, find(checks, "hub").level],
      [0, "ok", "ok"],
      JSON.stringify(text),
    );
    assert.ok(
      checks.some(({ message }) => message.includes(`${home.clineDir}/palinode.json`)),
      JSON.stringify(text),
    );
  }
});

test("where everything is switched off memory cannot work, and the way leads to where that was set", async (t) => {
  const { home } = await arrange(t);
  const off = async (): Promise<unknown[]> => {
    const { code, checks } = await examine(home);
    return [code, ...checks.filter(({ level }) => level === "failure").map(({ name, fix }) => `${name}: ${fix}`)];
  };
  home.env.PALINODE_HOOK_RECALL_PROFILE = "off";
  assert.deepEqual(await off(), [1, "settings: unset PALINODE_HOOK_RECALL_PROFILE"]);
  home.env.PALINODE_HOOK_RECALL_PROFILE = "minimal";
  home.env.PALINODE_CAPTURE_ENABLED = "0";
  assert.deepEqual(await off(), [1, "settings: unset PALINODE_CAPTURE_ENABLED"]);
  delete home.env.PALINODE_HOOK_RECALL_PROFILE;
  const ofWorkspace = home.write("workspace/.cline/palinode.json", JSON.stringify({ recallProfile: "off" }));
  assert.deepEqual(await off(), [1, `settings: \${EDITOR:-vi} ${ofWorkspace}`]);
  home.write("workspace/.cline/palinode.json", "{}");
  const ofUser = home.write(".cline/palinode.json", JSON.stringify({ recallProfile: "off" }));
  assert.deepEqual(await off(), [1, `settings: \${EDITOR:-vi} ${ofUser}`]);
});

test("the state folder is tried, and told when it cannot be used or others can look into it", async (t) => {
  const { home } = await arrange(t);
  const folder = join(home.clineDir, "data/palinode");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  assert.equal(find((await examine(home)).checks, "state").level, "ok");
  assert.deepEqual(readdirSync(folder), []);
  chmodSync(folder, 0o755);
  const open = find((await examine(home)).checks, "state");
  assert.deepEqual([open.level, open.fix], ["warning", `chmod 700 ${folder}`]);
  assert.equal(statSync(folder).mode & 0o777, 0o755);
  home.env.PALINODE_CLINE_STATE_DIR = join(home.write("file", ""), "below");
  const { code, checks } = await examine(home);
  assert.deepEqual(
    [code, find(checks, "state").level, find(checks, "state").fix],
    [0, "warning", "unset PALINODE_CLINE_STATE_DIR"],
  );
  const locked = join(home.home, "locked");
  mkdirSync(locked, { mode: 0o500 });
  // Root may write anywhere but where there is no such thing.
  if (existsSync("/proc/self")) {
    home.env.PALINODE_CLINE_STATE_DIR = "/proc";
    assert.equal(find((await examine(home)).checks, "state").fix, "unset PALINODE_CLINE_STATE_DIR");
  }
  for (const [above, isRefused] of [
    [locked, process.getuid?.() !== 0],
    ["/proc", existsSync("/proc/self")],
  ] as const) {
    home.env.PALINODE_CLINE_STATE_DIR = join(above, "a/b");
    const { level, fix, message } = find((await examine(home)).checks, "state");
    assert.deepEqual(
      [level, fix],
      isRefused ? ["warning", "unset PALINODE_CLINE_STATE_DIR"] : ["ok", undefined],
      message,
    );
    assert.deepEqual(readdirSync(locked), []);
  }
  home.env.PALINODE_CLINE_PERSIST = "0";
  assert.equal(find((await examine(home)).checks, "state").level, "ok");
});

test("a hub with other values is stopped, and no value is shown", {
  skip: !existsSync("/proc/self/environ"),
}, async (t) => {
  const { home } = await arrange(t);
  // What the CLI gives its hub besides does not count.
  const extra = { CLINE_RUN_AS_HUB_DAEMON: "1", CLINE_BUILD_ENV: "production" };
  const hub = async (env: Record<string, string>): Promise<Check> => {
    const child = spawn(process.execPath, ["-e", "console.log(1); setInterval(() => 0, 1000)"], {
      env: { ...env, ...extra },
      stdio: ["ignore", "pipe", "ignore"],
    });
    t.after(() => child.kill("SIGKILL"));
    await once(child.stdout, "data");
    home.write(".cline/data/locks/hub/production.json", JSON.stringify({ pid: child.pid }));
    const { checks, text } = await examine(home);
    assert.ok(!text.includes("s3cret"));
    child.kill("SIGKILL");
    await once(child, "close");
    return find(checks, "hub");
  };
  assert.equal((await hub(home.env)).level, "ok");
  const differing = await hub({
    ...home.env,
    PALINODE_API_URL: "http://other",
    PALINODE_API_TOKEN: TOKEN,
    CLINE_DIR: "/x",
  });
  assert.deepEqual([differing.level, differing.fix], ["warning", "cline hub stop"]);
  for (const name of ["PALINODE_API_URL", "PALINODE_API_TOKEN", "CLINE_DIR"])
    assert.ok(differing.message.includes(name));
  home.env.CLINE_PLUGIN_IMPORT_TIMEOUT_MS = "20000";
  assert.match(
    (await hub({ ...home.env, CLINE_PLUGIN_IMPORT_TIMEOUT_MS: "" })).message,
    /CLINE_PLUGIN_IMPORT_TIMEOUT_MS/,
  );
  // The process of the last record is gone.
  assert.match(find((await examine(home)).checks, "hub").message, /none is running/);
});

test("a failed load in Cline's log is told until the file or a session is newer", async (t) => {
  const { home } = await arrange(t);
  const at = "2026-01-02T03:04:05.000Z";
  const older = new Date("2026-01-01T00:00:00.000Z");
  utimesSync(home.target, older, older);
  const line = (value: object): string => `${JSON.stringify({ level: 30, time: at, ...value })}\n`;
  const timedOut = line({
    msg: "plugin loading failed; continuing without plugins (plugin-sandbox call timed out after 4000ms: initialize)",
  });
  const threw = line({
    msg: `Plugin initialization failed (load) for ${home.target}`,
    pluginPath: home.target,
    stack: "Error: boom\n    at x",
  });
  const other = line({ msg: "Plugin initialization failed (load) for /x/other.js", pluginPath: "/x/other.js" });
  const log = async (text: string): Promise<Check | undefined> => {
    home.write(".cline/data/logs/cline.log", `${line({ msg: "CLI run started" })}not json\n${text}`);
    return (await examine(home)).checks.find(({ name }) => name === "log");
  };
  const late = await log(timedOut);
  const more = "echo 'export CLINE_PLUGIN_IMPORT_TIMEOUT_MS=20000' >> ~/.profile";
  assert.deepEqual([late?.level, late?.fix], ["failure", more]);
  const thrown = await log(threw);
  assert.deepEqual([thrown?.level, thrown?.fix], ["failure", `node ${quoted(FILE)} install --force`]);
  assert.match(thrown?.message ?? "", /boom/);
  assert.equal(await log(other), undefined);
  home.write(".cline/data/palinode/sessions/1.json", "{}");
  assert.equal(await log(timedOut), undefined);
});

test("escape sequences of the server reach no terminal", async (t) => {
  const { home, server } = await arrange(t);
  server.fault("/health", {
    json: { version: "1\u001b[31m\u001b]0;x\u0007\n2", status: "degraded", db_error: "\u001b[2J" },
  });
  const { stdout } = await home.run("doctor");
  assert.ok(!/[\u0000-\u0009\u000b-\u001f]/.test(stdout), JSON.stringify(stdout));
});

test("a wrong call is told", async (t) => {
  const home = createHome(t);
  for (const args of [
    ["doctor", "who"],
    ["doctor", "--fix"],
  ]) {
    const { code, stdout, stderr } = await home.run(...args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^palinode: /);
  }
  const help = await home.run("--help");
  for (const usage of [
    "doctor [--json]",
    "install [--project DIR] [--mcp] [--force] [--json]",
    "uninstall [--project DIR] [--mcp] [--json]",
  ])
    assert.ok(help.stdout.includes(usage));
});

test("a Cline that does not tell its version holds nothing up", async (t) => {
  const { home } = await arrange(t);
  home.env.PATH = `${home.env.PATH}:/usr/bin:/bin`;
  home.program("cline", "sleep 60");
  const start = performance.now();
  const { code, checks } = await examine(home);
  assert.ok(performance.now() - start < 9000);
  assert.deepEqual([code, find(checks, "cline").level], [0, "ok"]);
  assert.match(messageOf(checks, "cline"), /did not tell its version/);
});

function messageOf(checks: readonly Check[], name: string): string {
  return find(checks, name).message;
}

/** An address on loopback where nothing listens any more. */
async function nowhere(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return `http://127.0.0.1:${port}`;
}

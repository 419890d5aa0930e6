// Each mend of the doctor is typed into a shell as it is printed, and then the doctor sees the trouble gone; and the
// same commands in PowerShell's words.
import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import test from "node:test";
import { quoted } from "../../src/base/shell.ts";
import {
  changing,
  editing,
  exporting,
  findingIn,
  removing,
  renaming,
  setting,
  starting,
  unsetting,
} from "../../src/setup/mend.ts";
import { FILE, type Home, runFile } from "../helpers/command-line.ts";
import { arrange, type Check, examine, find, mend } from "../helpers/doctor.ts";

test("a limit that was meant in seconds is told, and the mend leaves the rest of the file", async (t) => {
  const { home } = await arrange(t);
  for (const text of [
    '{"recallTimeoutMs": 4}',
    '{ "recallTimeoutMs" : 4, "digest": "core" }',
    '{\n  "digest": "core",\n  "recallTimeoutMs": 4\n}\n',
  ]) {
    const file = home.write(".cline/palinode.json", text);
    const { code, checks } = await examine(home);
    const told = checks.find(({ message }) => message.startsWith("recallTimeoutMs (user file) is 4 milliseconds"));
    assert.deepEqual([code, told?.level], [0, "warning"]);
    await mend(home, told?.fix);
    const after = JSON.parse(readFileSync(file, "utf8")) as object;
    assert.deepEqual(after, { ...(JSON.parse(text) as object), recallTimeoutMs: 4000 });
  }
  assert.deepEqual(
    (await examine(home)).checks.filter(({ level }) => level !== "ok"),
    [],
  );
});

test("a setting is changed in the user's file, whatever stands there", async (t) => {
  for (const text of [undefined, "", "{}", '{ "digest": "core" }', '{\n  "recallTriggers": true\n}\n']) {
    const { home } = await arrange(t);
    if (text !== undefined) home.write(".cline/palinode.json", text);
    await mend(home, setting("recallTriggers", false, text?.includes("Triggers") ? "user file" : undefined, home.env));
    const written = JSON.parse(readFileSync(join(home.clineDir, "palinode.json"), "utf8")) as object;
    assert.deepEqual(written, { ...JSON.parse(text || "{}"), recallTriggers: false }, text);
  }
});

test("a wrong port is told while a server answers at the usual one, and the mend leads there", async (t) => {
  const { home, server } = await arrange(t);
  const proxy = createServer((socket) => {
    const onward = connect(Number(new URL(server.url).port), "127.0.0.1");
    for (const end of [socket, onward]) end.on("error", () => end.destroy());
    socket.pipe(onward).pipe(socket);
  }).listen(6340, "127.0.0.1");
  const isOurs = await Promise.race([
    once(proxy, "listening").then(() => true),
    once(proxy, "error").then(() => false),
  ]);
  if (!isOurs) return t.skip("something else uses the usual port");
  t.after(() => proxy.close());
  delete home.env.PALINODE_API_URL;
  const file = home.write(".cline/palinode.json", '{ "apiUrl": "http://127.0.0.1:1/", "digest": "core" }');
  const { code, checks } = await examine(home);
  const { level, message, fix } = find(checks, "server");
  assert.deepEqual([code, level], [1, "failure"]);
  assert.match(message, /\(user file\), but Palinode 0\.23\.0 answers at http:\/\/localhost:6340$/);
  await mend(home, fix);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { apiUrl: "http://localhost:6340", digest: "core" });
  assert.equal((await examine(home)).code, 0);
  home.env.PALINODE_API_URL = "http://127.0.0.1:1";
  assert.equal(find((await examine(home)).checks, "server").fix, "unset PALINODE_API_URL");
});

test("the folder of state that belongs to somebody else, and one in it, are moved out of the way", {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const nobody = 65534;
  for (const theirs of ["sessions", ""]) {
    const { home } = await arrange(t);
    const state = join(home.clineDir, "data/palinode");
    mkdirSync(join(state, "sessions"), { recursive: true });
    for (const name of ["", ...readdirSync(home.home, { recursive: true, encoding: "utf8" })])
      if (name !== "bin/node") chownSync(join(home.home, name), nobody, nobody);
    chmodSync(state, 0o700);
    chownSync(join(state, theirs), 0, 0);
    const look = async (): Promise<Check> => {
      const { stdout } = await runFile(FILE, ["doctor", "--json"], home.workspace, home.env, nobody);
      return find(JSON.parse(stdout) as Check[], "state");
    };
    const before = await look();
    assert.equal(before.level, "warning");
    assert.match(before.message, /EACCES, it belongs to user 0/);
    await mend(home, before.fix, nobody);
    assert.equal((await look()).level, "ok");
  }
});

test("without node Cline loads no plugin, an old one cannot run this, and the mend finds the right one", async (t) => {
  for (const version of [undefined, "v18.20.4"]) {
    const { home } = await arrange(t);
    rmSync(join(home.home, "bin/node"));
    if (version !== undefined) home.program("node", `echo ${version}`);
    const { code, checks } = await examine(home);
    const { level, message, fix } = find(checks, "node");
    assert.deepEqual([code, level], [1, "failure"]);
    assert.match(
      message,
      version === undefined ? /Cline loads no plugin/ : /is 18\.20\.4, and palinode\.js needs 20\.19/,
    );
    await mend(home, fix);
    await readProfile(home);
    assert.equal(find((await examine(home)).checks, "node").level, "ok");
  }
});

test("a Node that leaves the file to Cline's loader is warned of", async (t) => {
  const levels = { "v21.7.3": "warning", "v22.6.0": "warning", "v20.19.0": "ok", "v22.7.0": "ok", "v24.0.0": "ok" };
  for (const [version, level] of Object.entries(levels)) {
    const { home } = await arrange(t);
    rmSync(join(home.home, "bin/node"));
    home.program("node", `echo ${version}`);
    assert.equal(find((await examine(home)).checks, "node").level, level, version);
  }
});

test("of what Cline's log says of a load 300 characters are told", async (t) => {
  const { home } = await arrange(t);
  utimesSync(home.target, 1, 1);
  const entry = { time: "2026-01-02T03:04:05.000Z", msg: `plugin loading failed ${"x".repeat(2000)}` };
  home.write(".cline/data/logs/cline.log", `${JSON.stringify(entry)}\n`);
  const told = find((await examine(home)).checks, "log").message;
  assert.equal(/plugin loading failed x+/.exec(told)?.[0].length, 300);
});

test("the newest load that failed is a failure, and its mend ends it", async (t) => {
  const at = "2026-01-02T03:04:05.000Z";
  const older = new Date("2026-01-01T00:00:00.000Z");
  const late = "plugin loading failed; continuing (plugin-sandbox call timed out after 4000ms: initialize)";
  for (const entry of [{ msg: late }, { msg: "Plugin initialization failed", pluginPath: "/x/palinode.js" }]) {
    const { home } = await arrange(t);
    utimesSync(home.target, older, older);
    home.write(".cline/data/logs/cline.log", `${JSON.stringify({ time: at, ...entry })}\n`);
    const { code, checks } = await examine(home);
    assert.deepEqual([code, find(checks, "log").level], [1, "failure"]);
    await mend(home, find(checks, "log").fix);
    await readProfile(home);
    const after = await examine(home);
    assert.deepEqual([after.code, after.checks.some(({ name }) => name === "log")], [0, false]);
  }
});

test("an MCP entry whose program is missing is told, and the mend gets it without the system's pip", async (t) => {
  const { home } = await arrange(t);
  const servers = { mcpServers: { palinode: { command: "palinode-mcp", args: [] } } };
  home.write(".cline/data/settings/cline_mcp_settings.json", JSON.stringify(servers));
  // As `python3 -m venv FOLDER` does, with a pip that needs no network.
  const pip = `printf '#!/bin/sh\\n' > "$3/bin/palinode-mcp"; chmod +x "$3/bin/palinode-mcp"`;
  home.program("python3", `mkdir -p "$3/bin"; echo '#!/bin/sh' > "$3/bin/pip"; chmod +x "$3/bin/pip"; ${pip}`);
  const before = find((await examine(home)).checks, "mcp");
  assert.equal(before.level, "warning");
  await mend(home, before.fix);
  await readProfile(home);
  assert.equal(find((await examine(home)).checks, "mcp").level, "ok");
});

test("a server of words alone is started as one", async (t) => {
  const { home, server } = await arrange(t);
  home.env.PALINODE_HOOK_RECALL_TRIGGERS = "0";
  await server.close();
  home.program("palinode-api", 'echo "$PALINODE_RETRIEVAL_MODE $PALINODE_API_PORT"');
  const { output } = await mend(home, find((await examine(home)).checks, "server").fix);
  assert.equal(output, `lexical ${new URL(server.url).port}\n`);
});

test("on Windows the commands are PowerShell's", () => {
  const path = "C:\\Users\\It's $me\\palinode.js";
  assert.equal(quoted(path, "win32"), '"C:\\Users\\It\'s `$me\\palinode.js"');
  assert.equal(editing("C:\\a b", "win32"), 'notepad "C:\\a b"');
  assert.equal(unsetting("X", "win32"), "Remove-Item Env:X");
  assert.equal(removing("C:\\a b", false, "win32"), 'Remove-Item "C:\\a b"');
  assert.equal(removing("C:\\a b", true, "win32"), 'Remove-Item -Recurse "C:\\a b"');
  assert.equal(renaming("C:\\a", "C:\\b", "win32"), 'Move-Item "C:\\a" "C:\\b"');
  assert.equal(exporting("X", "1", {}, "win32"), "setx X 1");
  assert.match(findingIn("C:\\node", {}, "win32"), /^\[Environment\]::SetEnvironmentVariable\('Path', 'C:\\node;' \+ /);
  assert.equal(starting("palinode-api", { A: "1", B: "2" }, "win32"), "$env:A = '1'; $env:B = '2'; palinode-api");
  const file = "C:\\u\\palinode.json";
  assert.equal(
    changing(file, undefined, "tools", false, "win32"),
    `New-Item -Force "${file}" -Value '{ "tools": false }'`,
  );
  assert.equal(
    changing(file, '{ "digest": "core" }', "tools", false, "win32"),
    `(Get-Content -Raw "${file}") -replace '^\\{', '{ "tools": false,' | Set-Content "${file}"`,
  );
});

test("what no line can change for certain is opened, and nothing of the file is shown", () => {
  for (const text of [
    "{",
    "[]",
    '{"onlyIn": ["/a", "/b"]}',
    '\n{ "onlyIn": ["/a", "/b"] }',
    '{"x": {"onlyIn": 1}, "onlyIn": 2}',
  ])
    assert.equal(changing("/u/f", text, "onlyIn", "/s3cret", "linux"), `\${EDITOR:-vi} /u/f`, text);
});

/** What a new shell has after its profile was read. */
async function readProfile(home: Home): Promise<void> {
  const command = '[ ! -f ~/.profile ] || . ~/.profile; printf "%s\\n" "$PATH" "$CLINE_PLUGIN_IMPORT_TIMEOUT_MS"';
  const { output } = await mend(home, command, undefined, home.env.PATH);
  const [path = "", timeout = ""] = output.split("\n");
  home.env.PATH = path;
  if (timeout) home.env.CLINE_PLUGIN_IMPORT_TIMEOUT_MS = timeout;
}

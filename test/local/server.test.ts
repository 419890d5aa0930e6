// `server` as a person types it: installed into an environment of its own, started, stopped, removed; and whatever goes
// wrong on the way leaves nothing half done.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemOf, whatIsMissing } from "../../src/local/python.ts";
import { FILE } from "../helpers/command-line.ts";
import { createMachine, GOOD_PYTHON, type Machine, usePython } from "../helpers/machine.ts";
import { until } from "../helpers/scene.ts";
import { startPalinode } from "../palinode/server.ts";

async function health(url: string): Promise<unknown> {
  return fetch(`${url}/health`).then(
    (answer) => answer.json(),
    () => undefined,
  );
}

test("install brings a server of the tested version up, and a second time changes nothing", async (t) => {
  const machine = await createMachine(t);
  const { code, stdout } = await machine.run("server", "install");
  assert.equal(code, 0, stdout);
  assert.deepEqual(await health(machine.url), { version: "0.23.0", status: "ok" });
  assert.match(stdout, /Installing palinode 0\.23\.0, with .*python3 \(3\.12\)/);
  assert.ok(stdout.includes(`Palinode 0.23.0 is started at ${machine.url}`));
  assert.ok(stdout.includes(`Memories: ${machine.memoryDir} (git is not in PATH`));
  for (const next of ["install", "import --dry-run", "import --git --dry-run"])
    assert.ok(stdout.includes(`node ${FILE} ${next} `), next);
  const pid = await machine.pid();
  const again = await machine.run("server", "install");
  assert.equal(again.code, 0);
  assert.match(again.stdout, /palinode 0\.23\.0 is installed already[\s\S]*Palinode 0\.23\.0 runs at/);
  assert.deepEqual([machine.installs(), machine.starts().length, await machine.pid()], [1, 1, pid]);
  assert.deepEqual(machine.named("busy"), []);
});

test("the server is for this machine alone, gets nobody's keys, and searches by words without Ollama", async (t) => {
  const machine = await createMachine(t);
  Object.assign(machine.env, { OPENAI_API_KEY: "s3cret", PALINODE_PROJECT: "shop", LANG: "C.UTF-8" });
  Object.assign(machine.env, { PALINODE_API_TOKEN: "t0ken" });
  const { stdout } = await machine.run("server", "install");
  const [started = {}] = machine.starts();
  assert.deepEqual(
    [started.PALINODE_API_HOST, started.PALINODE_API_PORT, started.PALINODE_DIR, started.PALINODE_RETRIEVAL_MODE],
    ["127.0.0.1", new URL(machine.url).port, machine.memoryDir, "lexical"],
  );
  assert.deepEqual([started.OPENAI_API_KEY, started.PALINODE_PROJECT], [undefined, undefined]);
  assert.deepEqual([started.LANG, started.PALINODE_API_TOKEN], ["C.UTF-8", "t0ken"]);
  assert.match(
    stdout,
    /by words alone.*\nWith an embedder .*ollama pull bge-m3; then once more: node .*server install\n/,
  );
  assert.equal(statSync(machine.place).mode & 0o777, 0o700);
  assert.equal(statSync(join(machine.place, "server.log")).mode & 0o777, 0o600);
});

test("with Ollama and its model there are embeddings; with another model the one command brings it", async (t) => {
  const machine = await createMachine(t);
  const models = [{ name: "llama3:latest" }];
  const ollama = createServer((_, answer) => answer.end(JSON.stringify({ models }))).listen(0, "127.0.0.1");
  await once(ollama, "listening");
  t.after(() => ollama.close());
  machine.env.OLLAMA_URL = `http://127.0.0.1:${(ollama.address() as AddressInfo).port}`;
  const without = await machine.run("server", "install");
  assert.match(without.stdout, /triggers fire: ollama pull bge-m3; then once more/);
  assert.equal(machine.starts()[0]?.PALINODE_RETRIEVAL_MODE, "lexical");
  models.push({ name: "bge-m3:latest" });
  const { stdout } = await machine.run("server", "install");
  assert.match(stdout, /with the embedder bge-m3 of Ollama/);
  const started = machine.starts()[1];
  assert.deepEqual([started?.PALINODE_RETRIEVAL_MODE, started?.OLLAMA_URL], [undefined, machine.env.OLLAMA_URL]);
  assert.match(stdout, /It reads the memories that are there/, "what was saved without vectors");
});

test("stop ends it and keeps sessions from starting it; start has it back; remove leaves the memory", async (t) => {
  const machine = await createMachine(t);
  await machine.run("server", "install");
  const stopped = await machine.run("server", "stop");
  assert.match(
    stopped.stdout,
    /^The server is stopped, and no session starts it again; to have it back: node .* server start\n$/,
  );
  assert.deepEqual([stopped.code, await health(machine.url)], [0, undefined]);
  const status = await machine.run("server", "status");
  assert.deepEqual([status.code, /nobody answers[\s\S]*No session starts it/.test(status.stdout)], [1, true]);
  assert.equal((await machine.run("server", "stop")).code, 0);
  assert.match((await machine.run("doctor")).stdout, /nothing listens at .*\n +→ node .*palinode\.js server start\n/i);
  assert.match((await machine.run("server", "start")).stdout, /^Palinode 0\.23\.0 is started at/);
  const well = await machine.run("server", "status");
  assert.equal(well.code, 0);
  assert.match(well.stdout, /\(process \d+\)\nInstalled: palinode 0\.23\.0, with .*lexical\n[\s\S]*starts it again/);
  writeFileSync(join(machine.memoryDir, "note.md"), "kept");
  const { stdout } = await machine.run("server", "remove");
  assert.match(stdout, new RegExp(`^palinode 0.23.0 is removed. Memory stays: ${machine.memoryDir}\n$`));
  assert.deepEqual([existsSync(machine.place), await health(machine.url)], [false, undefined]);
  assert.equal(readFileSync(join(machine.memoryDir, "note.md"), "utf8"), "kept");
  const gone = await machine.run("server", "start");
  assert.deepEqual([gone.code, /no server is installed here; to get one: node/.test(gone.stderr)], [1, true]);
  assert.match((await machine.run("server", "remove")).stdout, /No server is installed here/);
  assert.match((await machine.run("server", "stop")).stdout, /No server is installed here/);
});

test("another version takes the place of the one before, which serves on where that fails", async (t) => {
  const machine = await createMachine(t);
  await machine.run("server", "install", "--version", "0.22.0");
  assert.deepEqual(await health(machine.url), { version: "0.22.0", status: "ok" });
  const [former] = machine.named("env-");
  usePython(machine, GOOD_PYTHON, "echo 'ERROR: No matching distribution found for palinode==9.9'; exit 1");
  const failed = await machine.run("server", "install", "--version", "9.9");
  assert.equal(failed.code, 1);
  assert.match(
    failed.stderr,
    /there is no palinode 9\.9 that this Python can have, or the package index cannot be reached/,
  );
  assert.deepEqual([machine.named("env-"), await health(machine.url)], [[former], { version: "0.22.0", status: "ok" }]);
  usePython(machine, GOOD_PYTHON);
  assert.equal((await machine.run("server", "install")).code, 0);
  assert.deepEqual(await health(machine.url), { version: "0.23.0", status: "ok" });
  assert.equal(machine.named("env-").length, 1);
});

/** Starts an installation, and resolves when it waits in the middle of pip. */
async function interrupted(machine: Machine, signal: NodeJS.Signals): Promise<number | null> {
  const child = spawn(process.execPath, [FILE, "server", "install"], { cwd: machine.workspace, env: machine.env });
  await until("pip is at work", () => machine.installs() > 0);
  child.kill(signal);
  const [code] = (await once(child, "close")) as [number | null];
  return code;
}

test("Ctrl-C in the middle leaves nothing half done, and the next call goes on", async (t) => {
  const machine = await createMachine(t, { pip: "exec /bin/sleep 60" });
  assert.equal(await interrupted(machine, "SIGINT"), 130);
  assert.equal(existsSync(machine.place), false);
  usePython(machine, GOOD_PYTHON);
  assert.equal((await machine.run("server", "install")).code, 0);
});

test("what a killed installation left is taken away by the next", async (t) => {
  const machine = await createMachine(t, { pip: "exec /bin/sleep 1" });
  await interrupted(machine, "SIGKILL");
  assert.equal(machine.named("env-").length, 1);
  assert.deepEqual(machine.named("busy"), ["busy.lock"]);
  usePython(machine, GOOD_PYTHON);
  assert.equal((await machine.run("server", "install")).code, 0);
  assert.deepEqual([machine.named("env-").length, machine.named("busy")], [1, []]);
});

test("of two installations at once one is told that the other is at work", async (t) => {
  const machine = await createMachine(t, { pip: 'until [ -e "$HOME/go" ]; do /bin/sleep 0.05; done' });
  const first = machine.run("server", "install");
  await until("pip is at work", () => machine.installs() === 1);
  const second = await machine.run("server", "install");
  assert.deepEqual([second.code, second.stdout], [1, ""]);
  assert.match(second.stderr, /another `server` command is at work \(process \d+\)/);
  machine.write("go", "");
  assert.equal((await first).code, 0);
  assert.deepEqual([machine.installs(), machine.starts().length], [1, 1]);
});

test("a server that answers at the address is used as it is", async (t) => {
  const machine = await createMachine(t);
  const server = await startPalinode({});
  t.after(() => server.close());
  machine.env.PALINODE_API_URL = server.url;
  for (const verb of ["install", "start"]) {
    const { code, stdout } = await machine.run("server", verb);
    assert.deepEqual([code, stdout.includes(`answers at ${server.url} already, and is used as it is`)], [0, true]);
  }
  assert.deepEqual([machine.installs(), machine.starts().length], [0, 0]);
  const stopped = await machine.run("server", "stop");
  assert.deepEqual([stopped.code, /was started by somebody else and is left alone/.test(stopped.stdout)], [1, true]);
  assert.ok(await health(server.url));
});

test("what cannot be is said in one line, with the way out", async (t) => {
  const machine = await createMachine(t);
  const other = createServer((_, answer) => answer.end('"hello"')).listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const silent = createTcp((socket) => socket.end("220 mail\r\n")).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const cases: [string, Record<string, string>, string[], RegExp, number][] = [
    [
      "another program there",
      { PALINODE_API_URL: `http://127.0.0.1:${(other.address() as AddressInfo).port}` },
      ["install"],
      /something else than Palinode is at/,
      1,
    ],
    [
      "no web server there",
      { PALINODE_API_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` },
      ["start"],
      /something else than Palinode is at/,
      1,
    ],
    ["a remote address", { PALINODE_API_URL: "http://192.168.1.5:6340" }, ["install"], /of this machine/, 1],
    ["https", { PALINODE_API_URL: "https://localhost:6340" }, ["start"], /of this machine/, 1],
    ["a file in the way of memories", { PALINODE_DIR: machine.write("file", "") }, ["install"], /PALINODE_DIR/, 1],
    [
      "a file in the way of state",
      { PALINODE_CLINE_STATE_DIR: machine.write("state", "") },
      ["install"],
      /cannot write below/,
      1,
    ],
    ["a version that is none", {}, ["install", "--version", "0.23; rm"], /--version is one such as/, 2],
    ["no step", {}, [], /server takes one of install, start, stop, status, remove/, 2],
    ["an unknown step", {}, ["restart"], /server takes one of/, 2],
    ["one word too many", {}, ["start", "now"], /server takes one of/, 2],
    ["a version to stop", {}, ["stop", "--version", "1"], /--version is for server install/, 2],
    ["json of an install", {}, ["install", "--json"], /--json is for server status/, 2],
  ];
  for (const [name, env, words, message, code] of cases) {
    const before = { ...machine.env };
    Object.assign(machine.env, env);
    const outcome = await machine.run("server", ...words);
    for (const key of Object.keys(env)) machine.env[key] = before[key] ?? "";
    assert.deepEqual([outcome.code, message.test(outcome.stderr)], [code, true], `${name}: ${outcome.stderr}`);
  }
  assert.deepEqual([machine.starts().length, machine.named("env-")], [0, []]);
});

test("a server that ends at once is told with the end of its log", async (t) => {
  const machine = await createMachine(t);
  await machine.run("server", "install");
  await machine.run("server", "stop");
  const program = join(machine.place, machine.named("env-")[0] ?? "", "bin/palinode-api");
  writeFileSync(program, "#!/bin/sh\necho 'database is locked' >&2\nexit 3\n");
  const { code, stderr } = await machine.run("server", "start");
  assert.equal(code, 1);
  assert.match(stderr, /^palinode: the server does not answer\. Its log, .*server\.log:\n[\s\S]*database is locked\n$/);
});

async function missing(t: TestContext, probe: unknown): Promise<string> {
  const machine = await createMachine(t, { probe });
  const { code, stderr } = await machine.run("server", "install");
  assert.equal(code, 1);
  assert.deepEqual(machine.named(""), []);
  return stderr;
}

test("each piece that Python lacks is named, with the command that brings it", async (t) => {
  assert.match(
    await missing(t, { ...GOOD_PYTHON, version: [3, 10] }),
    /needs Python 3\.11 or newer, and .*python3 is 3\.10\./,
  );
  assert.match(
    await missing(t, { ...GOOD_PYTHON, loads: false }),
    /a Python whose SQLite loads extensions, and that of/,
  );
  assert.match(
    await missing(t, { ...GOOD_PYTHON, venv: false }),
    /python3 \(3\.12\) lacks its venv module\. To get it: /,
  );
  assert.match(await missing(t, "nonsense"), /needs Python 3\.11 or newer, and there is none in PATH/);

  const lacking = (lacks: "version" | "extensions" | "venv") => ({ path: "/usr/bin/python3", version: "3.11", lacks });
  const apt = "sudo apt-get update && sudo apt-get install -y";
  assert.ok(whatIsMissing(lacking("venv"), "debian", false).endsWith(`To get it: ${apt} python3-venv`));
  assert.ok(
    whatIsMissing(lacking("venv"), "debian", true).endsWith("apt-get update && apt-get install -y python3-venv"),
  );
  assert.ok(whatIsMissing(undefined, "debian", false).endsWith(`${apt} python3 python3-venv`));
  assert.ok(whatIsMissing(undefined, "fedora", false).endsWith("sudo dnf install -y python3"));
  assert.ok(whatIsMissing(lacking("extensions"), "macos", false).endsWith("brew install python"));
  assert.ok(whatIsMissing(undefined, "windows", false).endsWith("winget install Python.Python.3.13"));
  assert.ok(whatIsMissing(lacking("version"), "debian", false).endsWith("https://astral.sh/uv/install.sh | sh"));
  assert.deepEqual(
    ["ID=debian\n", "ID=ubuntu\nID_LIKE=debian\n", 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', "ID=alpine\n", ""].map(
      systemOf,
    ),
    ["debian", "debian", "fedora", "other", "other"],
  );
});

test("a better Python further down in PATH is taken, and uv wants no venv module", async (t) => {
  const machine = await createMachine(t, { probe: { ...GOOD_PYTHON, loads: false } });
  const good = await createMachine(t);
  machine.env.PATH = `${machine.env.PATH}:${join(good.home, "bin")}`;
  const { stdout, code } = await machine.run("server", "install");
  assert.deepEqual([code, stdout.includes(`with ${good.home}/bin/python3 (3.12)`)], [0, true]);

  const withUv = await createMachine(t, { probe: { ...GOOD_PYTHON, venv: false } });
  const log = join(withUv.home, "uv-calls");
  withUv.program(
    "uv",
    `echo "$@" >> ${log}\nif [ "$1" = venv ]; then for last; do :; done; python3 -m venv "$last"; fi
if [ "$1" = pip ]; then "$4" -m pip install "$5"; fi`,
  );
  assert.equal((await withUv.run("server", "install")).code, 0);
  const calls = readFileSync(log, "utf8").trim().split("\n");
  assert.match(calls[0] ?? "", /^venv --quiet --python \/.*\/bin\/python3 \/.*local-server\/env-0\.23\.0-\w+$/);
  assert.match(calls[1] ?? "", /^pip install --python \/.*\/bin\/python palinode==0\.23\.0$/);
  assert.deepEqual(await health(withUv.url), { version: "0.23.0", status: "ok" });
});

test("memories that lie there without an index are read, and the folder may have any name", async (t) => {
  const machine = await createMachine(t);
  machine.env.PALINODE_DIR = "../my notes";
  mkdirSync(join(machine.home, "my notes/decisions"), { recursive: true });
  writeFileSync(join(machine.home, "my notes/decisions/a.md"), "a");
  const { code, stdout } = await machine.run("server", "install");
  assert.equal(code, 0);
  assert.match(stdout, /It reads the memories that are there[^\n]*\nIt has read 0 files/);
  const status = await machine.run("server", "status");
  assert.ok(status.stdout.includes(`Memories:  ${join(machine.home, "my notes")}`));
});

test("memories that are not there, as on a disk that is not mounted, are not begun anew", async (t) => {
  const machine = await createMachine(t);
  machine.env.PALINODE_DIR = join(machine.home, "disk/memory");
  await machine.run("server", "install");
  await machine.run("server", "stop");
  renameSync(join(machine.home, "disk"), join(machine.home, "unplugged"));
  const { code, stderr } = await machine.run("server", "start");
  assert.deepEqual([code, /could not be started in .*disk\/memory; is that folder there\?/.test(stderr)], [1, true]);
  assert.equal(existsSync(join(machine.home, "disk")), false);
  machine.env.PALINODE_DIR = join(machine.home, "unplugged/memory");
  assert.equal((await machine.run("server", "install")).code, 0, "another folder is another folder");
  assert.ok((await machine.run("server", "status")).stdout.includes("unplugged/memory"));
});

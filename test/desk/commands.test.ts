// The same verbs in a session (`/palinode`, run as the TUI does: in another process, without a session) and in a shell.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commandOutput, injected } from "../helpers/chat.ts";
import { linesLike } from "../helpers/pattern.ts";
import {
  filesBelow,
  openScene,
  ROLLBACK,
  ROLLBACK_PROMPT,
  type Scene,
  type SceneOptions,
  until,
} from "../helpers/scene.ts";
import { startPalinode } from "../palinode/server.ts";

declare const REPOSITORY: string;

type Ran = { code: number | null; out: string; err: string };
const TOKEN = "s3cr3t-token-0123";

/** A session with one answered prompt, and the TUI's command process beside it. */
async function desk(t: Parameters<typeof openScene>[0], options: SceneOptions = {}) {
  const scene = await openScene(t, options);
  const cwd = realpathSync(scene.folder);
  const tui = scene.restart({ context: { session: undefined, workspaceInfo: undefined, cwd } });
  const say = async (input?: string): Promise<string> => String(await tui.runCommand("palinode", input));
  const shell = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    run(args, cwd, {
      HOME: scene.folder,
      PALINODE_API_URL: scene.server.url,
      PALINODE_CLINE_STATE_DIR: scene.stateDir,
      ...options.env,
      ...env,
    });
  return { ...scene, cwd, say, shell };
}

function run(args: string[], cwd: string, env: Record<string, string>): Promise<Ran> {
  const child = spawn(process.execPath, [join(REPOSITORY, "dist/palinode.js"), ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

async function prompt({ chat, model, finish }: Scene, words = ROLLBACK_PROMPT): Promise<void> {
  chat.say(words);
  await model();
  chat.answer("ok");
  await finish();
}

test("help is the default, and names every verb", async (t) => {
  const { say, server } = await desk(t);
  const help = await say();
  for (const verb of ["status", "search WORDS", "read FILE", "save TEXT", "why", "pause", "resume", "help"])
    assert.ok(help.includes(`/palinode ${verb}`), verb);
  for (const input of ["help", "  ", "nonsense", "__proto__", "constructor x"])
    assert.equal(await say(input), help, input);
  assert.equal(server.requests.length, 0);
});

test("status tells of the server, the settings and where they come from, the queue and each channel", async (t) => {
  const scene = await desk(t, {
    server: { token: TOKEN },
    env: { PALINODE_API_TOKEN: TOKEN, PALINODE_HOOK_RECALL_MAX_RESULTS: "5" },
  });
  mkdirSync(join(scene.folder, ".cline"));
  writeFileSync(join(scene.folder, ".cline/palinode.json"), JSON.stringify({ recallThreshold: 0.45 }));
  await prompt(scene);
  const text = await scene.say("status");
  assert.ok(text.includes(`${scene.server.url}: 0.23.0, ok, embedder ready`), text);
  assert.match(text, /PALINODE_HOOK_RECALL_MAX_RESULTS = 5 \(environment\)/);
  assert.match(text, /PALINODE_HOOK_RECALL_THRESHOLD = 0\.45 \((?:user|workspace) file\)/);
  assert.match(text, /PALINODE_API_TOKEN = \(set\) \(environment\)/);
  assert.match(text, /paused +no\nqueue +0 waiting, 0 refused\nsession +1796000000000_test, just now/);
  assert.match(text, /prime +just now +– +1 +\d+ ms/);
  assert.match(text, /triggers +just now +no-hits, just now +1 +\d+ ms/);
  assert.match(text, /repair +never +– +0 +–/);
  const { code, out } = await scene.shell(["status", "--json"]);
  const data = JSON.parse(out);
  assert.equal(code, 0);
  assert.deepEqual(
    [data.server.version, data.server.status, data.project, data.session.id],
    ["0.23.0", "ok", data.project, "1796000000000_test"],
  );
  assert.deepEqual([data.channels.search.calls, data.channels.search.isOn, data.pausedSince], [1, true, null]);
  assert.ok(!`${text}${out}`.includes(TOKEN));
});

test("status says what is wrong with the server, and what mends it", async (t) => {
  const gone = await startPalinode();
  await gone.close();
  const { shell, server } = await desk(t, { server: { token: TOKEN } });
  assert.match((await shell(["status"], { PALINODE_API_URL: gone.url })).out, /: refused\n.*palinode-api/);
  assert.match((await shell(["status"])).out, /unauthorized\n.*PALINODE_API_TOKEN/);
  assert.match((await shell(["status"], { PALINODE_API_TOKEN: "other" })).out, /refused the token/);
  server.embedder = false;
  assert.match(
    (await shell(["status"], { PALINODE_API_TOKEN: TOKEN })).out,
    /embedder not ready\n.*ollama pull bge-m3/,
  );
  server.fault("*", { html: true });
  assert.match((await shell(["status"], { PALINODE_API_TOKEN: TOKEN })).out, /bad-response/);
});

test("status names settings that differ in the session's process, and those that make no sense", async (t) => {
  const scene = await desk(t, { env: { PALINODE_HOOK_RECALL_MAX_RESULTS: "7", PALINODE_HOOK_MIN_MESSAGES: "many" } });
  await prompt(scene);
  const { out } = await scene.shell(["status"], {
    PALINODE_HOOK_RECALL_MAX_RESULTS: "2",
    PALINODE_HOOK_MIN_MESSAGES: "",
  });
  assert.match(out, /PALINODE_HOOK_RECALL_MAX_RESULTS = 7 \(environment\)/);
  assert.match(out, /differs +.*PALINODE_HOOK_RECALL_MAX_RESULTS; to mend it: cline hub stop/);
  assert.match(out, /problem +PALINODE_HOOK_MIN_MESSAGES is not usable/);
});

test("what costs no question does not hide the trouble before it", async (t) => {
  const scene = await desk(t);
  scene.server.fault("/search", { status: 503, body: { detail: "x" } });
  await prompt(scene);
  await prompt(scene, "ok");
  assert.match(await scene.say("status"), /search +never +too-short \(bad-response\), just now +1 /);
});

test("status names what a pause came from for as long as it lasts, and forgets it with an answer", async (t) => {
  const scene = await desk(t, { env: { PALINODE_HOOK_RECALL_PROFILE: "investigation" } });
  const search = async (): Promise<string> => /^search .*$/m.exec(await scene.say("status"))?.[0] ?? "";
  scene.server.fault("/search", { status: 500 }, 1);
  for (const words of [ROLLBACK_PROMPT, `${ROLLBACK_PROMPT} again`, "ok"]) await prompt(scene, words);
  assert.match(await search(), / too-short, just now/);
  scene.server.fault("/search", { status: 500 });
  for (let failure = 1; failure <= 3; failure += 1) await prompt(scene, `${ROLLBACK_PROMPT} (${failure})`);
  assert.match(await search(), / bad-response, just now/);
  for (let silence = 1; silence <= 2; silence += 1) {
    await prompt(scene, `${ROLLBACK_PROMPT} (in the pause, ${silence})`);
    assert.match(await search(), / paused \(bad-response\), just now/);
  }
  await prompt(scene, "ok");
  assert.match(await search(), / too-short \(bad-response\), just now/);
});

test("status says that the server is degraded", async (t) => {
  const { say, server } = await desk(t);
  server.fault("/health", { json: { version: "0.23.0", status: "degraded", db_error: "disk I/O error" } });
  assert.match(await say("status"), /server +http.*: 0\.23\.0, degraded, embedder ready/);
});

test("why tells what each prompt was given, and the reason for silence", async (t) => {
  const scene = await desk(t);
  assert.match(await scene.say("why"), /No prompt of this workspace is on record yet/);
  await prompt(scene);
  await prompt(scene, "ok");
  await prompt(scene, "My password=hunter2secret, what about zebras?");
  const text = await scene.say("why");
  assert.match(
    text,
    linesLike(
      /just now, "How do we roll back a deploy of the api\?": 2 memories, \d+ characters/,
      / {2}digest decisions\/use-pnpm\.md, \d+ characters/,
      / {2}recall insights\/rollback\.md \d+%, \d+ characters/,
      / {2}triggers: no-hits/,
    ),
  );
  assert.match(text, /"ok": nothing\n {2}search: too-short/);
  assert.ok(!filesBelow(scene.stateDir).some((file) => file.text.includes("hunter2secret")));
  const [first] = JSON.parse((await scene.shell(["why", "--json"])).out);
  assert.deepEqual(
    first.shown.map((row: { path: string }) => row.path),
    ["decisions/use-pnpm.md", ROLLBACK.file],
  );
});

test("search, read and save work by slash and by shell", async (t) => {
  const { say, shell, server } = await desk(t);
  assert.match(await say("search roll back a deploy of the api"), /^- \[insights\/rollback\.md\] \(/);
  assert.equal(await say(`read ${ROLLBACK.file}`), ROLLBACK.body);
  assert.match(
    await say("save Deploys happen on Tuesdays\nonly"),
    /^Saved as insights\/deploys-happen-on-tuesdays-[0-9a-f]{8}\.md\.$/,
  );
  assert.equal((server.saved[0] as { content: string }).content, "Deploys happen on Tuesdays\nonly");
  const hits = JSON.parse((await shell(["search", "roll", "back", "a", "deploy", "--json", "--limit", "1"])).out);
  assert.deepEqual([hits.length, hits[0].path], [1, ROLLBACK.file]);
  assert.deepEqual(JSON.parse((await shell(["read", ROLLBACK.file, "--json"])).out), {
    path: ROLLBACK.file,
    text: ROLLBACK.body,
  });
  const saved = await shell(["save", "Never", "on", "Friday", "--type", "Decision", "--core", "--json"]);
  assert.match(JSON.parse(saved.out).path, /^decisions\/never-on-friday-/);
  assert.equal(saved.code, 0);
});

test("wrong use is 2, a failure is 1, and both say why on stderr alone", async (t) => {
  const { shell, server, say } = await desk(t);
  for (const args of [
    ["search"],
    ["read"],
    ["save", "  "],
    ["search", "x", "--limit", "0"],
    ["search", "x", "--limit"],
    ["status", "--bogus"],
    ["save", "x", "--type", "Diary"],
    ["bogus"],
  ]) {
    const { code, out, err } = await shell(args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, /^palinode: .+\nTry: node palinode\.js --help\n$/s, args.join(" "));
  }
  const missing = await shell(["read", "gone.md"]);
  assert.deepEqual([missing.code, missing.out], [1, ""]);
  assert.match(missing.err, /There is no memory file gone\.md/);
  assert.match(await say("read gone.md"), /There is no memory file gone\.md/);
  assert.match(await say("search"), /usage: search WORDS/);
  await server.close();
  assert.match((await shell(["search", "x"])).err, /does not answer\. Start it with: palinode-api/);
  assert.match(await say("search x"), /does not answer/);
});

test("memory text reaches a terminal without escape sequences", async (t) => {
  const { say, shell } = await desk(t, {
    server: { memories: [{ file: "insights/evil.md", body: "evil \u001b]0;owned\u0007 \u001b[2Jtext about deploys" }] },
  });
  for (const text of [await say("read insights/evil.md"), (await shell(["read", "insights/evil.md"])).out])
    assert.doesNotMatch(text, /[\u001b\u0007]/);
});

test("what turns the direction of reading is shown as an escape, to people and in JSON", async (t) => {
  const { say, shell } = await desk(t, {
    server: {
      memories: [{ file: "insights/evil.md", body: "deploys: run \u202e\u2066txt.exe\u2069 now \u200e\u200f\u061c" }],
    },
  });
  const texts = [
    await say("read insights/evil.md"),
    (await shell(["read", "insights/evil.md"])).out,
    (await shell(["read", "insights/evil.md", "--json"])).out,
    (await shell(["search", "\u202ewhere"])).out,
  ];
  for (const text of texts) assert.doesNotMatch(text, /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  for (const text of texts.slice(0, 3))
    assert.match(text, /run \\u202e\\u2066txt\.exe\\u2069 now \\u200e\\u200f\\u061c/);
});

test("pause mutes a running session at its next prompt, and resume ends that", async (t) => {
  const scene = await desk(t);
  await prompt(scene);
  assert.match(await scene.say("pause"), /paused in this workspace/);
  const before = scene.server.requests.length;
  await prompt(scene, "What is our package manager, and why is it pnpm?");
  await prompt(scene, "The code name of the secret project is Heliotrope");
  assert.equal(scene.server.requests.length, before);
  assert.equal(scene.server.sessions.length, 0);
  assert.match(await scene.say("status"), /paused +since \d{4}-/);
  assert.match(await scene.say("why"), /search: muted/);
  assert.match(await scene.say("resume"), /Memory is on/);
  for (const words of ["How do we deploy the api again?", "And how is it restarted afterwards?"])
    await prompt(scene, words);
  assert.ok(scene.server.requests.length > before);
  const [captured] = scene.server.sessions as { summary: string }[];
  assert.match(captured?.summary ?? "", /^Cline session, 3 prompts\.\nTopic: How do we roll back/);
  assert.ok(
    !filesBelow(scene.stateDir).some((file) => file.text.includes("Heliotrope")) &&
      !captured?.summary.includes("Heliotrope"),
  );
});

test("unpause ends a pause, and so does resume, as it was called", async (t) => {
  const { say, server } = await desk(t);
  for (const name of ["unpause", "resume"]) {
    assert.match(await say("pause"), /paused in this workspace.*until unpause/);
    assert.match(await say("status"), /paused +since .*; to end it: \/palinode unpause$/m);
    assert.equal(await say(name), "Memory is on in this workspace.");
    assert.match(await say("status"), /paused +no$/m);
  }
  assert.match(await say(), /^\/palinode unpause: ends the pause, as \/palinode resume does too$/m);
  assert.deepEqual(server.saved, []);
});

test("pause in a shell mutes the running session, and unpause ends that; resume there is another verb", async (t) => {
  const scene = await desk(t);
  const { code, out } = await scene.shell(["pause", "--json"]);
  assert.deepEqual([code, JSON.parse(out)], [0, { isPaused: true, workspace: scene.cwd }]);
  scene.chat.say(ROLLBACK_PROMPT);
  assert.deepEqual(await scene.memory(), []);
  assert.match(await scene.say("status"), /paused +since/);
  assert.match((await scene.shell(["resume"])).err, /resume takes the id of a session/);
  assert.match(await scene.say("status"), /paused +since/);
  assert.deepEqual(await scene.shell(["unpause"]), { code: 0, out: "Memory is on in this workspace.\n", err: "" });
  scene.chat.answer("ok");
  scene.chat.say(`${ROLLBACK_PROMPT} Again, please.`);
  assert.match((await scene.memory()).join(), /rollback\.md/);
  assert.equal((await scene.shell(["pause", "now"])).code, 2);
});

test("in a shell below the repository's root the verbs are about the session at the root", async (t) => {
  const scene = await desk(t);
  mkdirSync(join(scene.cwd, ".git"));
  mkdirSync(join(scene.cwd, ".cline"));
  writeFileSync(join(scene.cwd, ".cline/palinode.json"), JSON.stringify({ injectMaxFiles: 3, recallThreshold: 0.45 }));
  const below = join(scene.cwd, "packages/api");
  mkdirSync(below, { recursive: true });
  const env = {
    HOME: join(scene.folder, "home"),
    PALINODE_API_URL: scene.server.url,
    PALINODE_CLINE_STATE_DIR: scene.stateDir,
  };
  const shell = async (...args: string[]): Promise<Ran> => run(args, below, env);
  await prompt(scene);
  const { workspace, session, settings } = JSON.parse((await shell("status", "--json")).out);
  assert.deepEqual([workspace, session.id], [scene.cwd, "1796000000000_test"]);
  assert.ok(settings.some(({ name }: { name: string }) => name === "PALINODE_HOOK_RECALL_THRESHOLD"));
  assert.match((await shell("why")).out, /"How do we roll back a deploy of the api\?": 2 memories/);
  assert.deepEqual(JSON.parse((await shell("pause", "--json")).out), { isPaused: true, workspace: scene.cwd });
  assert.match(await scene.say("status"), /paused +since/);
  assert.match((await shell("status")).out, /paused +since/);
  assert.equal((await shell("unpause")).code, 0);
  assert.match(await scene.say("status"), /paused +no$/m);
  await shell("search", "roll back");
  const asked = scene.server.calls("/search").at(-1)?.body as { cwd?: string };
  assert.ok(!JSON.stringify(asked).includes("packages/api"));
});

test("what was said in a pause and never answered is not captured either", async (t) => {
  const scene = await desk(t);
  await scene.say("pause");
  scene.chat.say("The code name of the secret project is Heliotrope");
  await prompt(scene, "Never mind, something else");
  await scene.say("resume");
  for (const words of ["How do we deploy the api again?", "And how is it restarted?", "And who may do that?"])
    await prompt(scene, words);
  assert.equal(scene.server.sessions.length, 1);
  assert.ok(!JSON.stringify(scene.server.sessions).includes("Heliotrope"));
  assert.match((scene.server.sessions[0] as { summary: string }).summary, /Topic: How do we deploy/);
});

test("a failed command in a pause costs nothing and leaves no trace, nor does an answer that comes late", async (t) => {
  const scene = await desk(t, { env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "200" } });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  scene.server.fault("/search", { until: released }, 1);
  scene.chat.say(ROLLBACK_PROMPT);
  await scene.model();
  await scene.say("pause");
  scene.chat.tool(
    "run_commands",
    { commands: ["deploy heliotrope"] },
    commandOutput("deploy heliotrope", "Error: it broke", 1),
  );
  const before = scene.server.requests.length;
  release();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.doesNotMatch(JSON.stringify(await scene.model()), /rollback\.md/);
  assert.equal(scene.server.requests.length, before);
  assert.ok(!filesBelow(scene.stateDir).some((file) => file.text.includes("heliotrope")));
});

test("a trigger that comes late, in a pause, is told at the first prompt after it", async (t) => {
  const scene = await desk(t, {
    server: { triggers: [{ description: ROLLBACK_PROMPT, memory_file: ROLLBACK.file }], memories: [ROLLBACK] },
    env: { PALINODE_CLINE_HOOK_DEADLINE_MS: "200", PALINODE_HOOK_RECALL_MAX_RESULTS: "0" },
  });
  scene.server.fault("/check-triggers", { delayMs: 900 }, 1);
  scene.chat.say(ROLLBACK_PROMPT);
  assert.deepEqual(await scene.memory(), []);
  await scene.say("pause");
  await until("it is kept", () => filesBelow(scene.stateDir).some(({ text }) => text.includes("Trigger fired")));
  scene.chat.answer("ok");
  await prompt(scene, "What was said in the pause is not recalled for");
  await scene.say("resume");
  scene.chat.say("And what else is there to know about it?");
  assert.match((await scene.memory()).join("\n"), /### Trigger fired: insights\/rollback\.md/);
  assert.equal(scene.server.calls("/check-triggers").length, 2);
});

test("workspaces that are paused at the same moment are all paused", async (t) => {
  const { scene, cwd } = await desk(t).then((opened) => ({ scene: opened, cwd: opened.cwd }));
  const folders = ["a", "b", "c", "d"].map((name) => join(cwd, name));
  for (const folder of folders) mkdirSync(folder);
  const desks = folders.map((folder) =>
    scene.restart({ context: { session: undefined, workspaceInfo: undefined, cwd: folder } }),
  );
  await Promise.all(desks.map((each) => each.runCommand("palinode", "pause")));
  for (const each of desks) assert.match(String(await each.runCommand("palinode", "status")), /paused +since/);
});

test("a session that starts in a pause asks nothing, and what was injected before stays in place", async (t) => {
  const scene = await desk(t);
  scene.chat.say(ROLLBACK_PROMPT);
  const before = await scene.model();
  await scene.say("pause");
  const asked = scene.server.requests.length;
  const host = scene.restart();
  await host.start();
  assert.deepEqual(await scene.model(scene.chat, host), before);
  assert.equal(scene.server.requests.length, asked);
});

test("a pause holds where nothing else is kept on disk", async (t) => {
  const scene = await desk(t, { env: { PALINODE_CLINE_PERSIST: "0" } });
  await scene.say("pause");
  const asked = scene.server.requests.length;
  scene.chat.say(ROLLBACK_PROMPT);
  assert.deepEqual(injected(await scene.model()), []);
  assert.deepEqual(scene.server.requests.slice(asked), []);
  await scene.say("unpause");
  scene.chat.answer("Yes.");
  scene.chat.say(`${ROLLBACK_PROMPT} And then?`);
  assert.notDeepEqual(injected(await scene.model()), []);
});

test("pause says so where it cannot be noted", async (t) => {
  const locked = await desk(t, { env: { PALINODE_CLINE_STATE_DIR: "/proc/nowhere" } });
  assert.match(await locked.say("pause"), /the state folder is not writable/);
});

test("a command of another workspace's session is not mixed up with this one's", async (t) => {
  const scene = await desk(t);
  await prompt(scene);
  const elsewhere = scene.restart({ context: { session: undefined, workspaceInfo: undefined, cwd: REPOSITORY } });
  assert.match(String(await elsewhere.runCommand("palinode", "why")), /No prompt of this workspace/);
  assert.match(String(await elsewhere.runCommand("palinode", "status")), /session +none in this workspace yet/);
});

test("colours are for terminals alone, and every verb explains itself", async (t) => {
  const { shell } = await desk(t);
  for (const verb of ["status", "search", "read", "save", "why"]) {
    const { code, out } = await shell([verb, "--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: node palinode\\.js ${verb}`));
    assert.doesNotMatch(out, /\u001b/);
  }
  const help = (await shell(["--help"])).out;
  for (const verb of ["status", "search", "read", "save"]) assert.match(help, new RegExp(`^  ${verb}\\b`, "m"));
});

test("unreadable state stops no command", async (t) => {
  const scene = await desk(t);
  await prompt(scene);
  for (const { name } of filesBelow(scene.stateDir))
    writeFileSync(join(scene.stateDir, name), '{"accounts": [[null, 7');
  await scene.say("pause");
  for (const { name } of filesBelow(scene.stateDir).filter((file) => file.name.startsWith("paused/")))
    writeFileSync(join(scene.stateDir, name), "[1,2");
  for (const verb of ["status", "why", "search roll back a deploy", "pause", "resume"])
    assert.doesNotMatch(await scene.say(verb), /failed|undefined|NaN/, verb);
  assert.deepEqual(
    filesBelow(scene.stateDir).filter((file) => /^paused\/.+\.json$/.test(file.name)),
    [],
  );
});

test("why keeps the last ten prompts, and of each what it began with", async (t) => {
  const scene = await desk(t);
  for (let index = 0; index < 12; index += 1)
    await prompt(scene, `Question ${index} ${"about the deploy ".repeat(20)}`);
  const accounts = JSON.parse((await scene.shell(["why", "--json"])).out) as { about: string }[];
  assert.equal(accounts.length, 10);
  assert.ok(accounts.every(({ about }) => about.length <= 80));
  assert.ok(!accounts.some(({ about }) => /Question [01] /.test(about)), JSON.stringify(accounts));
});

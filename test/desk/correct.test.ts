// A memory that is wrong is corrected or put away where it hurts: by the agent's tools, by `/palinode` and in a shell.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createChat } from "../helpers/chat.ts";
import { FILE, runFile } from "../helpers/command-line.ts";
import { openScene, PNPM, ROLLBACK, ROLLBACK_PROMPT, type Scene } from "../helpers/scene.ts";
import { parseMemory } from "../palinode/memory.ts";

const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

async function call({ host }: Pick<Scene, "host">, name: string, input: object): Promise<string> {
  return String(await host.callTool(`palinode_${name}`, input));
}

/** The memory at a path, as the server has it. */
function stored({ server }: Scene, file: string) {
  return parseMemory(file, server.memories.get(file) ?? "");
}

/** What was sent to a route, without what is not said. */
function sentTo({ server }: Scene, route: string): unknown[] {
  return server.calls(route).map(({ body }) => body);
}

test("the same text saved twice makes one file, in whatever session, and another text makes another", async (t) => {
  const scene = await openScene(t);
  const memory = { content: "The books are closed at night.", type: "Decision", title: "Closing" };
  const first = await call(scene, "save", memory);
  assert.match(first, /^Saved as decisions\/closing-[0-9a-f]{8}\.md\.$/);
  assert.equal(await call(scene, "save", { ...memory, content: " The books\nare closed  at night.\n" }), first);
  assert.equal(await call({ host: scene.restart() }, "save", memory), first);
  assert.notEqual(await call(scene, "save", { ...memory, content: "The books are closed at noon." }), first);
  const other = scene.restart({ context: { workspaceInfo: { rootPath: scene.folder, associatedRemoteUrls: [] } } });
  assert.notEqual(await call({ host: other }, "save", memory), first, "another project's memory is its own");
  const saved = [...scene.server.memories.keys()].filter((file) => file.startsWith("decisions/closing-"));
  assert.equal(saved.length, 3);
  const slash = await scene.host.runCommand("palinode", "save We deploy on Mondays.");
  assert.equal(await scene.host.runCommand("palinode", "save We deploy on Mondays."), slash);
});

test("what was corrected is not overwritten when its first text is saved again", async (t) => {
  const scene = await openScene(t);
  const memory = { content: "The books are closed at noon.", title: "Closing" };
  const path = /(\S+\.md)/.exec(await call(scene, "save", memory))?.[1] ?? "";
  await call(scene, "update", { file_path: path, content: "The books are closed at night." });
  const second = path.replace(".md", "-2.md");
  for (const _ of [1, 2]) assert.equal(await call(scene, "save", memory), `Saved as ${second}.`);
  assert.match(stored(scene, path).body, /at night\./);
  assert.match(stored(scene, second).body, /at noon\./);
});

test("where recall is paused on the server a save is taken all the same, and overwrites nothing", async (t) => {
  const scene = await openScene(t);
  const path = /(\S+\.md)/.exec(await call(scene, "save", { content: "Closed at noon." }))?.[1] ?? "";
  await call(scene, "update", { file_path: path, content: "Closed at night." });
  scene.server.policy.recall = "recall_paused";
  assert.match(
    await call(scene, "save", { content: "Closed at noon." }),
    /^Saved as insights\/closed-at-noon-[-\w]+\.md\.$/,
  );
  assert.match(stored(scene, path).body, /at night\./);
});

test("a text that was put away before stands again when it is saved again", async (t) => {
  const scene = await openScene(t);
  const saved = await call(scene, "save", { content: "The books are closed at night.", title: "Closing" });
  const path = /(\S+\.md)/.exec(saved)?.[1] ?? "";
  await call(scene, "archive", { file_path: path, reason: "wrong" });
  assert.equal(stored(scene, path).frontmatter.status, "archived");
  await call(scene, "save", { content: "The books are closed at night.", title: "Closing" });
  assert.equal(stored(scene, path).frontmatter.status, "active");
  assert.match(await call(scene, "search", { query: "when are the books closed at night" }), new RegExp(path));
});

test("an update takes the place of the text, under the same name, and keeps what the memory is", async (t) => {
  const rule = {
    file: "decisions/closing.md",
    type: "Decision",
    title: "Closing",
    core: true,
    entities: ["project/shop", "person/ada"],
    body: "The books are closed at noon.",
    description: "noon",
    frontmatter: { expires_at: "2030-01-01", priority: 2, sources: ["a quote of the old text"] },
  };
  for (const version of ["0.13.0", "0.23.0"]) {
    const scene = await openScene(t, { server: { version, memories: [rule] } });
    const answer = await call(scene, "update", { file_path: rule.file, content: `Closed at night. Key: ${SECRET}` });
    assert.match(answer, /^Saved as decisions\/closing\.md\. Secrets, private spans/, version);
    const { frontmatter, body } = stored(scene, rule.file);
    assert.match(body, /^Closed at night\. Key: \[redacted\]\n/);
    const { type, title, core, entities, expires_at, priority, description } = frontmatter;
    assert.deepEqual(
      [type, title, core, entities, expires_at, priority, description],
      ["Decision", "Closing", true, ["project/shop", "person/ada"], "2030-01-01", 2, undefined],
    );
    assert.deepEqual((scene.server.saved[0] as Record<string, unknown>).metadata, {
      expires_at: "2030-01-01",
      priority: 2,
    });
    assert.equal(scene.server.memories.size, 1);
    const again = await call(scene, "update", {
      file_path: "decisions/closing",
      content: "Closed at night. Key: [redacted]",
    });
    assert.equal(again, "Saved as decisions/closing.md. It says that already; nothing was changed.");
    assert.equal(scene.server.saved.length, 1);
  }
});

test("what no save can reach is corrected by a new memory that takes its place", async (t) => {
  const notes = { file: "decisions/Closing_Time.md", type: "Decision", title: "Closing", core: true, body: "At noon." };
  const scene = await openScene(t, { server: { memories: [notes] } });
  const answer = await call(scene, "update", { file_path: notes.file, content: "At night." });
  const [, path = ""] =
    /^Saved as (decisions\/closing-[0-9a-f]{8}\.md)\. decisions\/Closing_Time\.md is archived in its favour\.$/.exec(
      answer,
    ) ?? [];
  assert.notEqual(path, "", answer);
  const { status, superseded_by } = stored(scene, notes.file).frontmatter;
  assert.deepEqual([status, superseded_by, stored(scene, path).frontmatter.core], ["archived", path, true]);

  const diary = { ...notes, file: "decisions/private.md", entities: ["project/other", "person/ada"] };
  const frontmatter = { update_policy: "append", visibility: "private", scope: "member/ada" };
  const own = await openScene(t, { server: { memories: [{ ...diary, frontmatter }] } });
  // What is appended to would still say what is wrong.
  assert.match(
    await call(own, "update", { file_path: diary.file, content: "At dawn." }),
    /is archived in its favour\.$/,
  );
  const { entities, metadata } = own.server.saved.at(-1) as Record<string, unknown>;
  assert.deepEqual([entities, metadata], [diary.entities, { visibility: "private", scope: "member/ada" }]);

  scene.server.fault("/archive", { status: 500, body: { detail: "Archive failed" } });
  const other = { ...notes, file: "daily/2026-08-22.md" };
  scene.server.memories.set(other.file, "At eleven.\n");
  await assert.rejects(
    call(scene, "update", { file_path: other.file, content: "At twelve." }),
    /^Error: The new text is saved as insights\/at-twelve-\w{8}\.md, but daily\/2026-08-22\.md still stands: .*500/,
  );
});

test("archiving is tried first where it can be, and is said with what stays and how it is taken back", async (t) => {
  const link = { file: "insights/link.md", type: "Insight", body: "As [[rollback]] says." };
  for (const [version, calls] of [
    ["0.13.0", 1],
    ["0.21.0", 1],
    ["0.23.0", 2],
  ] as const) {
    const scene = await openScene(t, { server: { version, memories: [ROLLBACK, link] } });
    const answer = await call(scene, "archive", { file_path: ROLLBACK.file, reason: `it is wrong, ${SECRET}` });
    assert.match(answer, /^insights\/rollback\.md is archived: no new prompt gets it\. What this session was shown/);
    assert.ok(answer.endsWith(" To take it back: /palinode restore insights/rollback.md"));
    assert.equal(answer.includes("quote or link it: insights/link.md."), version === "0.23.0");
    const body = { file_path: ROLLBACK.file, reason: "it is wrong, [redacted]" };
    assert.deepEqual(sentTo(scene, "/archive"), [{ ...body, dry_run: true }, body].slice(0, calls), version);
    assert.equal(stored(scene, ROLLBACK.file).frontmatter.status, "archived");
    assert.match(await call(scene, "archive", { file_path: ROLLBACK.file, reason: "x" }), /was archived already\./);
  }
});

test("what cannot be archived, updated or restored says why, and changes nothing", async (t) => {
  const scene = await openScene(t);
  const before = JSON.stringify([...scene.server.memories]);
  for (const file_path of ["nowhere.md", "../../etc/passwd", "/etc/passwd", "a\u0000b", "x".repeat(5000)]) {
    const missing = /There is no memory file |refused it: Invalid path/;
    await assert.rejects(call(scene, "archive", { file_path, reason: "x" }), missing);
    await assert.rejects(call(scene, "update", { file_path, content: "x" }), missing);
    assert.match(String(await scene.host.runCommand("palinode", `restore ${file_path}`)), missing);
    await scene.host.callTool("palinode_search", { query: "x" });
  }
  const wrong = [{ file_path: ROLLBACK.file }, { reason: "x" }, { file_path: 7, reason: {} }, null];
  for (const input of wrong)
    await assert.rejects(scene.restart().callTool("palinode_archive", input), /is missing: give/);
  await assert.rejects(
    call({ host: scene.restart() }, "update", { file_path: ROLLBACK.file, content: "<private>x</private>" }),
    /nothing to save/,
  );
  assert.equal(JSON.stringify([...scene.server.memories]), before);
  for (const json of [{}, [], { status: "gone" }, "archived"]) {
    scene.server.fault("/archive", { json });
    await assert.rejects(
      call({ host: scene.restart() }, "archive", { file_path: ROLLBACK.file, reason: "x" }),
      /no usable answer/,
    );
  }
  const old = await openScene(t, { server: { version: "0.16.0" } });
  await call(old, "archive", { file_path: ROLLBACK.file, reason: "x" });
  assert.match(
    String(await old.host.runCommand("palinode", `restore ${ROLLBACK.file}`)),
    /cannot restore \(from 0\.17/,
  );
  const again = { file_path: ROLLBACK.file, content: "y" };
  await assert.rejects(
    call(old, "update", again),
    /rollback\.md is archived\. To have it back first: \/palinode restore/,
  );
});

test("forget and restore work by slash and by shell", async (t) => {
  const scene = await openScene(t);
  const env = { ...shellEnv(scene) };
  const shell = (...words: string[]) => runFile(FILE, words, scene.folder, env);
  const { code, stdout } = await shell("forget", ROLLBACK.file, "out of date");
  assert.deepEqual([code, /is archived: no new prompt gets it/.test(stdout)], [0, true]);
  assert.deepEqual(sentTo(scene, "/archive").at(-1), { file_path: ROLLBACK.file, reason: "out of date" });
  assert.equal(
    await scene.host.runCommand("palinode", `restore ${ROLLBACK.file}`),
    `${ROLLBACK.file} is back: prompts get it again.`,
  );
  assert.equal(
    await scene.host.runCommand("palinode", `restore ${ROLLBACK.file}`),
    `${ROLLBACK.file} was not archived.`,
  );
  assert.match(String(await scene.host.runCommand("palinode", `forget ${ROLLBACK.file} it is wrong`)), /is archived/);
  assert.deepEqual(sentTo(scene, "/archive").at(-1), { file_path: ROLLBACK.file, reason: "it is wrong" });
  const back = await shell("restore", ROLLBACK.file, "--json");
  assert.deepEqual(JSON.parse(back.stdout), {
    path: ROLLBACK.file,
    isArchived: false,
    text: `${ROLLBACK.file} is back: prompts get it again.`,
  });
  assert.deepEqual([(await shell("forget")).code, (await shell("forget", "nope.md")).code], [2, 1]);
});

function shellEnv({ server, folder, stateDir }: Scene): Record<string, string> {
  return {
    HOME: folder,
    PATH: process.env.PATH ?? "",
    PALINODE_API_URL: server.url,
    PALINODE_CLINE_STATE_DIR: stateDir,
  };
}

test("what was archived leaves new prompts at once; what was sent before stays, byte for byte", async (t) => {
  const scene = await openScene(t);
  scene.chat.say(ROLLBACK_PROMPT);
  const before = await scene.model();
  assert.match(JSON.stringify(before), /insights\/rollback\.md/);
  scene.chat.answer("So.");
  await call(scene, "archive", { file_path: ROLLBACK.file, reason: "wrong" });
  scene.chat.say(`${ROLLBACK_PROMPT} Tell me again.`);
  const after = await scene.model();
  assert.deepEqual(after.slice(0, before.length), before);
  assert.doesNotMatch(JSON.stringify(after.slice(before.length)), /rollback\.md/);
  const other = createChat();
  other.say(ROLLBACK_PROMPT);
  assert.doesNotMatch(
    (await scene.memory(other, scene.restart({ context: { session: { sessionId: "o" } } }))).join(""),
    /rollback/,
  );
  await scene.host.runCommand("palinode", `restore ${ROLLBACK.file}`);
  const third = createChat();
  third.say(ROLLBACK_PROMPT);
  assert.match(
    (await scene.memory(third, scene.restart({ context: { session: { sessionId: "p" } } }))).join(""),
    /rollback\.md/,
  );
});

test("what was asked for before it was archived is not told after, from the shell or the session", async (t) => {
  const scene = await openScene(t, { server: { version: "0.16.0" } });
  let answer: () => void = () => undefined;
  scene.server.fault("/list", { until: new Promise((resolve) => (answer = resolve)) });
  await scene.host.start();
  const forgotten = await runFile(FILE, ["forget", PNPM.file], scene.folder, shellEnv(scene));
  assert.equal(forgotten.code, 0, forgotten.stderr);
  answer();
  scene.chat.say(ROLLBACK_PROMPT);
  const told = (await scene.memory()).join("\n");
  assert.doesNotMatch(told, /use-pnpm/);
  assert.match(told, /rollback/);
});

test("where nothing is kept on disk, the session that archived a memory knows it all the same", async (t) => {
  const scene = await openScene(t, { server: { version: "0.16.0" }, env: { PALINODE_CLINE_PERSIST: "0" } });
  let answer: () => void = () => undefined;
  scene.server.fault("/list", { until: new Promise((resolve) => (answer = resolve)) });
  await scene.host.start();
  await call(scene, "archive", { file_path: PNPM.file, reason: "wrong" });
  answer();
  scene.chat.say(ROLLBACK_PROMPT);
  const told = (await scene.memory()).join("\n");
  assert.doesNotMatch(told, /use-pnpm/);
  assert.match(told, /rollback/);
});

test("a trigger fires for no archived memory on an old server either, however it names the file", async (t) => {
  for (const memory_file of ["insights/rollback", "insights/rollback.md"]) {
    const scene = await openScene(t, { server: { version: "0.16.0" } });
    await call(scene, "trigger", { description: ROLLBACK_PROMPT, memory_file });
    await call(scene, "archive", { file_path: "insights/rollback", reason: "wrong" });
    scene.chat.say(ROLLBACK_PROMPT);
    assert.doesNotMatch((await scene.memory()).join("\n"), /Trigger fired/, memory_file);
  }
});

test("what another client restored is shown again as soon as the server finds it", async (t) => {
  const rule = { ...ROLLBACK, core: true };
  const scene = await openScene(t, { server: { memories: [rule] } });
  await call(scene, "archive", { file_path: rule.file, reason: "wrong" });
  await fetch(`${scene.server.url}/restore`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ file_path: rule.file }),
  });
  for (const sessionId of ["o", "p"]) {
    const chat = createChat();
    chat.say(ROLLBACK_PROMPT);
    const told = (await scene.memory(chat, scene.restart({ context: { session: { sessionId } } }))).join("\n");
    assert.match(told, /rollback\.md/, sessionId);
    // The digest has it from the next session on.
    if (sessionId === "p") assert.match(told, /\(session start\)[\s\S]*rollback\.md/);
  }
});

test("a save goes on where its name cannot be looked up, and harms nobody", async (t) => {
  const scene = await openScene(t);
  const memory = { content: "The books are closed at night.", title: "Closing" };
  const first = await call(scene, "save", memory);
  for (const fault of [{ status: 500 }, { html: true }, { json: { content: 7 } }] as const) {
    scene.server.fault("/read", fault);
    const other = await call({ host: scene.restart() }, "save", {
      ...memory,
      content: "The books are closed at noon.",
    });
    assert.match(other, /^Saved as insights\/closing-[0-9a-f]{8}-[0-9a-f]{8}\.md\.$/);
    scene.server.fault("/read", null);
  }
  assert.equal(await call(scene, "save", memory), first);
});

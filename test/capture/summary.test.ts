// What a session is captured as: what was done, and nothing that the server refuses, is secret or was injected.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { isDue, savedByAgent } from "../../src/capture/due.ts";
import { captureOf } from "../../src/capture/summary.ts";
import { type Message, readHookCall } from "../../src/cline/messages.ts";
import { INJECTED_KIND } from "../../src/cline/prompt.ts";
import { DIGEST_TITLE, RECALL_TITLE, renderBlock, renderNotes } from "../../src/recall/block.ts";
import { summaryComplaint } from "../palinode/envelope.ts";

declare const REPOSITORY: string;

const SECRET = "Zq7XvK2mWp9RtB4nYs6L";
const MEMORY = "QQQQQQ";
const ENTRIES = [{ lines: [`- [a.md] a — ${MEMORY}`] }];
const BLOCKS = [
  ...[DIGEST_TITLE, RECALL_TITLE].map((title) => renderBlock(title, ENTRIES, 3000)!.text),
  renderNotes(ENTRIES, 3000)!.text,
];

/** The table of palinode-api.md, 2.9: a text, and whether the server takes it without and with the two arrays. */
const ENVELOPE: [string, boolean, boolean][] = [
  ["did x <summary>y</summary> and z", false, true],
  ["did x <summary>y</summary>", false, false],
  ["did x <summary>y</summary>.", false, true],
  ["<details><summary>a</summary>b</details>", false, true],
  ["x </invoke> y", false, false],
  ["x </SUMMARY> y", false, false],
  ['x <parameter name="a"> y', false, true],
  ["x <tool_call>", false, false],
  ["x <tool_call>\n\n", false, false],
  ["x <tool_use/> y", false, true],
  ["x <system-reminder>a</system-reminder> y", false, true],
  ["a `</summary>` in backticks", true, true],
  ["```\n</summary>\n```", true, true],
  ["```\nunclosed </summary>", false, false],
  ["<div>", true, true],
  ["&lt;summary&gt;", true, true],
  ["< /summary>", true, true],
];

/** Each place whose words come into a summary. */
const PLACES: Record<string, (text: string) => Message[]> = {
  "the topic": (text) => [user(text), assistant("ok"), user("next"), assistant("ok")],
  "the latest prompt": (text) => [user("first"), assistant("ok"), user(text), assistant("ok")],
  "the last answer": (text) => [user("first"), assistant(text)],
  "an answer between": (text) => [user("first"), assistant(text), user("next"), assistant("ok")],
  "a prompt between": (text) => [
    user("first"),
    assistant("a"),
    user(text),
    assistant("b"),
    user("next"),
    assistant("ok"),
  ],
  "a rule": (text) => [user(`From now on use ${text}`), assistant("ok")],
  "an open question": (text) => [user("first"), assistant(`${text}\nShall I use ${text} then?`)],
  "a failed command": (text) => [user("first"), ...ran(text, 1), assistant("ok")],
  "an edited file": (text) => [user("first"), ...used("editor", { path: text }, { success: true }), assistant("ok")],
  "a patch": (text) => [
    user("first"),
    ...used("apply_patch", { input: `*** Begin Patch\n*** Update File: ${text}\n*** End Patch` }, { success: true }),
    assistant("ok"),
  ],
};

test("the table's own verdicts hold for the texts as they are", () => {
  for (const [text, without, withArrays] of ENVELOPE) {
    assert.equal(summaryComplaint({ summary: text }) === undefined, without, text);
    assert.equal(summaryComplaint({ summary: text, decisions: [], blockers: [] }) === undefined, withArrays, text);
  }
});

/** All that is sent of a session's words. */
function everythingIn(session: Message[]): string {
  const { summary, decisions, blockers } = captureOf(session);
  return [summary, ...decisions, ...blockers].join("\n");
}

for (const [place, session] of Object.entries(PLACES)) {
  test(`nothing that the server refuses gets into a summary by ${place}`, () => {
    const tags = [
      "invoke",
      "parameter",
      "function_calls",
      "tool_call",
      "tool_use",
      "summary",
      "decisions",
      "blockers",
      "system-reminder",
      "command-message",
      "command-args",
      "local-command-stdout",
      "user-prompt-submit-hook",
      "bash-input",
      "ide_selection",
      "ide_opened_file",
    ];
    const forms = (tag: string) => [
      `x <${tag}> y`,
      `x </${tag}> y`,
      `x <${tag}/>`,
      `</${tag.toUpperCase()}>`,
      `x </${tag}> y`,
      `<${tag} a="b">`,
      `</${tag}\n>`,
      `<\u200b/${tag}>`,
      `</\u00ad${tag}>`,
      `<\u200d${tag}>`,
      `\`</${tag}>`,
      `</ ${tag}>`,
      `\u0000</${tag}>`,
      `\`a\` </${tag}> \`b\``,
    ];
    for (const text of [...ENVELOPE.map(([example]) => example), ...tags.flatMap(forms)]) {
      const { summary, decisions, blockers } = captureOf(session(text));
      assert.equal(summaryComplaint({ summary }), undefined, `${JSON.stringify(text)} in ${summary}`);
      assert.equal(summaryComplaint({ summary, decisions: [...decisions], blockers: [...blockers] }), undefined);
    }
  });

  test(`a tag that stands at any cut of ${place} is not refused either`, () => {
    for (let length = 40; length <= 340; length += 1) {
      const { summary } = captureOf(session(`${"x".repeat(length)}</summary> tail ${"y".repeat(1500)}`));
      assert.equal(summaryComplaint({ summary }), undefined, summary);
    }
  });

  test(`no secret gets into a summary by ${place}`, () => {
    const texts = [
      `export API_KEY=${SECRET}`,
      `ghp_${SECRET}${SECRET}`,
      `curl -H "Authorization: Bearer ${SECRET}" x`,
      `postgres://u:${SECRET}@h/db`,
      `{"password":"${SECRET}"}`,
      `DB_PASSWORD="${SECRET}"`,
      `\u001b[32mghp_${SECRET}${SECRET}\u001b[0m`,
      `gh\u200bp_${SECRET}${SECRET}`,
      `ghp_${SECRET}\u00ad${SECRET}`,
      `pass\u200bword=${SECRET}`,
      `API_KEY=\u200b${SECRET}`,
      `\u202eghp_${SECRET}${SECRET}`,
      `a\u0000ghp_${SECRET}${SECRET}`,
    ];
    const parts = Array.from({ length: SECRET.length - 5 }, (_, at) => SECRET.slice(at, at + 6));
    const leaks = texts.filter((text) => parts.some((part) => everythingIn(session(text)).includes(part)));
    assert.deepEqual(
      leaks.map((text) => [text, captureOf(session(text)).summary]),
      [],
    );
  });

  test(`no secret is cut in two and let out by ${place}`, () => {
    for (let length = 20; length <= 320; length += 1) {
      const told = everythingIn(session(`${"x".repeat(length)} API_KEY=${SECRET} ${"y ".repeat(800)}`));
      assert.ok(!told.includes(SECRET.slice(0, 4)), told);
    }
  });

  test(`emoji at any cut of ${place} leave well-formed text`, () => {
    for (let length = 0; length <= 20; length += 1) {
      const { summary } = captureOf(session(`${"x".repeat(length)}${"😀".repeat(1000)}`));
      assert.ok(summary.isWellFormed() && summary.length <= 1200, `${summary.length}`);
    }
    assert.ok(captureOf(session("a\ud83d b\ude00 c")).summary.isWellFormed());
  });

  test(`nothing injected gets into a summary by ${place}`, () => {
    for (const block of [
      ...BLOCKS,
      BLOCKS.join("\n"),
      BLOCKS[1]!.slice(0, -12),
      BLOCKS[1]!.replace(">", ' profile="x">'),
    ]) {
      const told = everythingIn(session(`${block}\n\nfix the login bug`));
      assert.ok(!/QQQQQQ|Palinode recall|<\/?palinode-memory/.test(told), told);
    }
  });
}

test("a summary never has more than 1,200 characters and starts with the number of prompts", () => {
  const long = "word 😀 ".repeat(4000);
  const transcript = [
    user(long),
    ...Array.from({ length: 30 }, (_, index) => ran(`${index} ${long}`, index + 1)).flat(),
    ...Array.from({ length: 30 }, (_, index) =>
      used("editor", { path: `/w/${index}${"x".repeat(300)}` }, { success: true }),
    ).flat(),
    user(long),
    assistant(long),
  ];
  const { summary, prompts } = captureOf(transcript);
  assert.ok(summary.length <= 1200 && summary.length > 900, `${summary.length}`);
  assert.equal(prompts, 2);
  assert.match(summary, /^[^\n]*\b2 prompts/);
  for (const label of ["Topic", "Latest", "Done", "Last answer"]) assert.match(summary, new RegExp(`^${label}: `, "m"));
  assert.match(captureOf([user("only one")]).summary, /\b1 prompt\b/);
});

test("the words of a message with a block in it are kept", () => {
  const { summary } = captureOf([user(`${BLOCKS[1]}\nfix the login bug`), assistant("done")]);
  assert.match(summary, /Topic: fix the login bug$/m);
});

test("messages of this plugin are no prompts", () => {
  const injected = { ...user(`${BLOCKS[1]}`), metadata: { kind: INJECTED_KIND } };
  const capture = captureOf([user("one"), injected, user(BLOCKS[0]!), assistant("x"), user("two")]);
  assert.equal(capture.prompts, 2);
  assert.ok(!capture.summary.includes(MEMORY));
});

test("the host's boilerplate and attachments stay out", () => {
  const transcript = [
    {
      role: "user",
      content: [
        { type: "text", text: '<file_content path="a">FILE TEXT</file_content>' },
        { type: "text", text: '<mode_notice>NOTICE</mode_notice>\n<user_input mode="act">fix it</user_input>' },
      ],
    },
    assistant("ok"),
    { ...user('<hook_context source="x">HOOK</hook_context>'), metadata: { userRunSpan: 0, displayRole: "system" } },
    { ...user("[SYSTEM] REMINDER"), metadata: { userRunSpan: 0 } },
    { ...user("Context summary: COMPACTED"), metadata: { kind: "compaction_summary" } },
    user('<user_input mode="act">and test it</user_input>\n<environment_details>ENV</environment_details>'),
    assistant("done"),
  ];
  const { summary, prompts } = captureOf(transcript);
  assert.equal(prompts, 2);
  assert.doesNotMatch(summary, /FILE TEXT|NOTICE|HOOK|REMINDER|COMPACTED|ENV|user_input|mode=/);
  assert.match(summary, /^Topic: fix it$/m);
  assert.match(summary, /^Latest: and test it$/m);
});

test("what a tool printed stays out", () => {
  const { summary } = captureOf([
    user("show the settings"),
    ...used("run_commands", { commands: ["cat .env"] }, [
      { query: "cat .env", result: `OUTPUT TEXT\nSTRANGE=${SECRET}`, success: true },
    ]),
    ...used("read_files", { paths: ["a"] }, `OUTPUT TEXT ${SECRET}`),
    ...ran("make", 2, `OUTPUT TEXT ${SECRET}`),
    assistant("done"),
  ]);
  assert.doesNotMatch(summary, /OUTPUT TEXT/);
  assert.ok(!summary.includes(SECRET));
});

test("private words stay out", () => {
  const { summary } = captureOf([
    user("<private>HIDDEN</private>"),
    user("one <private>HIDDEN</private> two"),
    user("three <private>HIDDEN"),
    assistant("ok"),
  ]);
  assert.doesNotMatch(summary, /HIDDEN|private/);
  assert.match(summary, /^Topic: one two$/m);
});

test("commands that failed are named with their exit code, good ones are not", () => {
  for (const code of [1, 2, 127, 137, -1])
    assert.match(
      captureOf([user("x"), ...ran("npm test", code), ...ran("ls -la", 0)]).summary,
      new RegExp(`npm test.{0,3}\\(exit ${code}\\)`),
    );
  assert.doesNotMatch(captureOf([user("x"), ...ran("npm test", 1), ...ran("ls -la", 0)]).summary, /ls -la/);
  const stored = used(
    "run_commands",
    { commands: ["npm test"] },
    JSON.stringify([
      {
        query: "npm test",
        result: "[Command exited with code 3]",
        error: "Command exited with code 3",
        success: false,
      },
    ]),
  );
  assert.match(captureOf([user("x"), ...stored]).summary, /npm test.{0,3}\(exit 3\)/);
});

test("files are named when their edit succeeded, once, and not when it failed", () => {
  const edits = [
    ...used("editor", { path: "/w/good.ts" }, { success: true }),
    ...used("editor", { path: "/w/good.ts" }, "ok"),
    ...used("editor", { path: "/w/bad.ts" }, JSON.stringify({ success: false, error: "no" })),
    ...used("write_to_file", { path: "/w/thrown.ts" }, "boom", true),
    ...used(
      "apply_patch",
      { input: "*** Begin Patch\n*** Add File: new.ts\n+x\n*** Delete File: old.ts\n*** End Patch" },
      { success: true },
    ),
    ...used("read_files", { path: "/w/read.ts" }, "text"),
  ];
  const { summary } = captureOf([user("x"), ...edits, assistant("ok")]);
  for (const file of ["/w/good.ts", "new.ts", "old.ts"])
    assert.equal(summary.split(file).length, 2, `${file} in ${summary}`);
  assert.doesNotMatch(summary, /bad\.ts|thrown\.ts|read\.ts/);
});

test("paths, hashes and ids of a session are kept", () => {
  const { summary } = captureOf([
    user("see /home/x/src/auth/token.ts:12 at 8c04925a11ad7279efe8d1b59d7c675d39814ed8"),
    assistant("the id is 10297766-04a3-445f-bc52-fe146412e745, max_tokens: 4096"),
  ]);
  for (const text of [
    "/home/x/src/auth/token.ts:12",
    "8c04925a11ad7279efe8d1b59d7c675d39814ed8",
    "10297766-04a3-445f-bc52-fe146412e745",
    "max_tokens: 4096",
  ])
    assert.ok(summary.includes(text), `${text} in ${summary}`);
});

test("the recorded tool loop is captured as what happened", () => {
  const { summary, prompts, model, durationSeconds } = captureOf(recorded("tool-loop"));
  assert.equal(prompts, 3);
  assert.match(summary, /\b3 prompts/);
  assert.match(summary, /^Topic: The checkout test fails on CI, find out why/m);
  assert.match(summary, /^Latest: ok$/m);
  assert.match(summary, /^Done: .*echo running tests.*\(exit 1\)/m);
  assert.doesNotMatch(summary, /edited/);
  assert.match(summary, /^Last answer: Done: ok$/m);
  assert.equal(model, modelsIn("tool-loop").at(-1));
  assert.equal(durationSeconds, 0);
});

test("the other recordings are captured as what happened", () => {
  const counts = Object.fromEntries(
    ["steer", "hook-context", "subagent", "compaction-basic", "compaction-agentic"].map((name) => [
      name,
      captureOf(recorded(name)),
    ]),
  );
  assert.deepEqual(
    Object.values(counts).map(({ prompts }) => prompts),
    [3, 2, 2, 10, 10],
  );
  assert.match(counts.steer!.summary, /^Latest: Actually also check the retry policy while you are there$/m);
  assert.match(counts["hook-context"]!.summary, /`?false`? \(exit 1\)/);
  assert.doesNotMatch(counts["hook-context"]!.summary, /hook_context|2 warnings/);
  assert.match(counts["compaction-basic"]!.summary, /^Topic: How do we roll back/m);
  assert.match(counts["compaction-agentic"]!.summary, /^Latest: Follow-up number 10/m);
  for (const { summary } of Object.values(counts)) assert.equal(summaryComplaint({ summary }), undefined);
});

test("a session is due at the floor and at each doubling", () => {
  const captures: number[] = [];
  for (let prompts = 1, captured = 0; prompts <= 50; prompts += 1) {
    if (!isDue(prompts, captured, 3)) continue;
    captures.push(prompts);
    captured = prompts;
  }
  assert.deepEqual(captures, [3, 6, 12, 24, 48]);
  assert.deepEqual(
    [isDue(0, 0, 1), isDue(1, 0, 1), isDue(2, 0, 3), isDue(2, 1, 3), isDue(7, 4, 3), isDue(2, 8, 1)],
    [false, true, false, false, false, false],
  );
});

test("a session that the agent saved itself is known, by any server's name for the tool", () => {
  for (const name of [
    "palinode_session_end",
    "mcp__palinode__palinode_session_end",
    "palinode.palinode_session_end",
    "palinode-palinode_session_end",
  ]) {
    assert.equal(savedByAgent([user("x"), ...used(name, {}, { ok: true }), assistant("saved")], 0), true, name);
  }
});

test("other tools, words about the tool and calls that failed are no saved session", () => {
  const others = [
    used("palinode_save", {}, {}),
    used("palinode_session_end_helper", {}, {}),
    used("xpalinode_session_end", {}, {}),
    [assistant("I could call palinode_session_end")],
    used("palinode_session_end", {}, "boom", true),
    used("palinode_session_end", {}, { success: false, error: "x" }),
    used("palinode_session_end", {}, JSON.stringify({ success: false })),
  ];
  for (const messages of others)
    assert.equal(savedByAgent([user("x"), ...messages], 0), false, JSON.stringify(messages));
});

test("a call that was never answered saved nothing", () => {
  assert.equal(savedByAgent([user("x"), used("palinode_session_end", {}, {})[0]!], 0), false);
});

test("a session that was saved before the last capture is not saved again", () => {
  const transcript = [user("one"), ...used("palinode_session_end", {}, {}), user("two"), assistant("x"), user("three")];
  assert.deepEqual(
    [0, 1, 2, 3, 9].map((captured) => savedByAgent(transcript, captured)),
    [true, false, false, false, false],
  );
});

test("no transcript makes a capture throw", () => {
  const junk = [
    null,
    7,
    "x",
    [],
    {},
    { role: "user", content: null },
    { role: "assistant", content: [{ type: "tool-call" }, null] },
    {
      role: "tool",
      content: [
        { type: "tool-result", output: null },
        { type: "tool-result", toolCallId: {}, output: [null, { success: false, query: 5 }] },
        { type: "tool-result", output: "[not json" },
        { type: "tool-result", output: '{"success":' },
      ],
    },
    {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "c", toolName: 5, input: { path: 7, commands: "x" } }],
      createdAt: "yesterday",
      modelInfo: { id: 5 },
    },
    { role: "user", content: "x", createdAt: Infinity },
  ] as Message[];
  for (const transcript of [[], junk, junk.map((message) => structuredClone(message)).reverse()]) {
    const capture = captureOf(transcript);
    assert.equal(typeof capture.summary, "string");
    assert.equal(savedByAgent(transcript, 0), false);
    assert.ok(capture.durationSeconds === undefined || Number.isInteger(capture.durationSeconds));
  }
});

test("envelopes of any depth in a prompt do not stop a capture", () => {
  assert.match(captureOf([user("one"), assistant("x"), user("<task>".repeat(20_000))]).summary, /2 prompts/);
});

test("the length of a session is whole seconds, or unknown", () => {
  const at = (createdAt: unknown): Message => ({ ...user("x"), createdAt });
  assert.deepEqual(
    [
      [at(1000), at(4600)],
      [at(1000)],
      [at(5000), at(1000)],
      [user("x")],
      [user("x"), at(1000), user("x"), at(3000)],
    ].map((transcript) => captureOf(transcript).durationSeconds),
    [4, 0, undefined, undefined, 2],
  );
});

function recorded(name: string): readonly Message[] {
  return payloads(name)
    .map((payload) => readHookCall(payload))
    .filter((call) => call?.isRoot)
    .at(-1)!.transcript;
}

function modelsIn(name: string): unknown[] {
  return recorded(name).flatMap((message) => (message.modelInfo as { id?: unknown } | undefined)?.id ?? []);
}

function payloads(name: string): unknown[] {
  const lines = readFileSync(join(REPOSITORY, "test/recordings/hooks", `${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line): { hook: string; payload: unknown } => JSON.parse(line));
  return lines.filter(({ hook }) => hook === "afterRun" || hook === "beforeModel").map(({ payload }) => payload);
}

function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function assistant(text: string): Message {
  return { role: "assistant", content: [{ type: "text", text }] };
}

let calls = 0;

function used(toolName: string, input: unknown, output: unknown, isError = false): Message[] {
  calls += 1;
  const toolCallId = `call_${calls}`;
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output, ...(isError ? { isError } : {}) }] },
  ];
}

/** A command as the recordings show it. */
function ran(command: string, code: number, printed = ""): Message[] {
  const outcome =
    code === 0
      ? { result: printed, success: true }
      : {
          result: `[Command exited with code ${code}]\n${printed}`,
          error: `Command exited with code ${code}`,
          success: false,
        };
  return used("run_commands", { commands: [command] }, [{ query: command, ...outcome }]);
}

test("an answer that repeats recalled lines is not captured again, what it says besides is", () => {
  const recalled = "<palinode-memory>\n- [a.md] (80% match) Roll back with the wombat script, then restart the api.\n";
  const said = (answer: string) => captureOf([user("How?"), assistant(answer)], { recalled: [recalled] }).summary;
  const repeat = "Roll back with the wombat script, then restart the api.";
  assert.equal(said(repeat), "Cline session, 1 prompt.\nTopic: How?");
  assert.equal(
    said(`- **Roll back** with the wombat script, then restart the api\n\nI did that, and it works.`),
    "Cline session, 1 prompt.\nTopic: How?\nLast answer: I did that, and it works.",
  );
  // Too short to be no accident.
  assert.match(said("restart the api"), /Last answer: restart the api/);
});

/** A session of so many turns, each with words of its own. */
function longTalk(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => [
    user(`Question ${index} is about subject${index} and what to do with it, in some more words than fit`.repeat(2)),
    assistant(`Answer${index} is this. ${"More of it follows here and goes on. ".repeat(20)}`),
  ]).flat();
}

test("of a session of eleven prompts each prompt and each answer stands in a capture", () => {
  const talk = longTalk(11);
  // As they are captured: at three and six prompts, and at the end.
  const captures = [
    [3, 0],
    [6, 3],
    [11, 6],
  ].map(([prompts = 0, captured = 0]) => captureOf(talk.slice(0, 2 * prompts), { captured }));
  for (const { summary } of captures) assert.ok(summary.length <= 1200, `${summary.length} characters`);
  const all = captures.map(({ summary }) => summary).join("\n");
  for (let index = 0; index < 11; index += 1)
    for (const word of [`subject${index} `, `Answer${index} `]) assert.ok(all.includes(word), `${word}: ${all}`);
});

test("prompts are shortened to one length, and none is left out before the answers are", () => {
  const { summary } = captureOf(longTalk(24), { captured: 4 });
  const lines = summary.split("\n").filter((line) => /^(?:- |Latest: )/.test(line));
  assert.equal(lines.length, 20, summary);
  assert.ok(new Set(lines.slice(0, -1).map((line) => line.length)).size === 1, summary);
  assert.ok(!summary.includes("→"), summary);
  assert.match(summary, /^Topic: Question 0 /m);
});

test("what the person laid down is a decision, what is left open a blocker", () => {
  const talk = [
    user("Fix the exporter. From now on use UTC for all dates."),
    ...ran("npm test", 1),
    ...ran("npm run lint", 1),
    ...ran("npm run lint", 0),
    assistant("I fixed it. Shall I also change the importer?"),
  ];
  const { decisions, blockers } = captureOf(talk);
  assert.deepEqual(decisions, ["From now on use UTC for all dates."]);
  assert.deepEqual(blockers, ["Shall I also change the importer?", "Failed: `npm test` (exit 1)"]);
  assert.deepEqual(captureOf(talk, { captured: 1 }).decisions, []);
});

test("the topic of a paste is its question", () => {
  const log = Array.from({ length: 40 }, (_, line) => `2026-11-30T10:00:${line} INFO worker ${line} did its work`);
  const { summary } = captureOf([user(`${log.join("\n")}\nWhy does the worker stop after that?`), assistant("ok")]);
  assert.match(summary, /^Topic: .*Why does the worker stop after that\?/m);
  assert.ok(!summary.includes("did its work"), summary);
});

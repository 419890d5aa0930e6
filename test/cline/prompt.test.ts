// Which messages are prompts and what was said in them, on recorded sessions and on text made to confuse.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { stripOurBlocks } from "../../src/base/markup.ts";
import { type Message, readHookCall } from "../../src/cline/messages.ts";
import { bareWords, fingerprint, INJECTED_KIND, isPrompt, newestPrompt, promptsOf } from "../../src/cline/prompt.ts";
import { DIGEST_TITLE, RECALL_TITLE, renderBlock } from "../../src/recall/block.ts";

declare const REPOSITORY: string;

const HOOKS = join(REPOSITORY, "test/recordings/hooks");
/** In the memory of every block below, and nowhere else. */
const MEMORY = "QQQQQQ";
const RECALL = renderBlock(
  RECALL_TITLE,
  [
    { heading: "### Related memories", lines: [`- [a.md] (73% match) ${MEMORY}`] },
    { lines: ["### Trigger fired: b.md", MEMORY] },
  ],
  3000,
)!.text;
const DIGEST = renderBlock(DIGEST_TITLE, [{ lines: [`- [c.md] c — ${MEMORY}`] }], 3000)!.text;

/** The start of the newest prompt at each model call of the root agent, in order. */
const ASKED: Record<string, string[]> = {
  "tool-loop": [
    "The checkout test",
    "The checkout test",
    "The checkout test",
    "The checkout test",
    "Now explain the retry",
    "ok",
  ],
  steer: ["Start the long", "Start the long", "Start the long", "Second task", "Actually also check"],
  "hook-context": ["Fix the lint", "Fix the lint", "And commit it", "And commit it"],
  subagent: ["Delegate the audit", "Delegate the audit", "Thanks, what did"],
  "compaction-basic": [
    "How do we roll",
    ...Array.from({ length: 9 }, (_, index) => `Follow-up number ${index + 2} about`),
  ],
  "compaction-agentic": [
    "How do we roll",
    ...Array.from({ length: 9 }, (_, index) => `Follow-up number ${index + 2} about`),
  ],
};

test("every recording has its expectations", () => {
  assert.deepEqual(
    readdirSync(HOOKS)
      .map((name) => name.replace(".jsonl", ""))
      .sort(),
    Object.keys(ASKED).sort(),
  );
});

for (const [name, asked] of Object.entries(ASKED)) {
  test(`newestPrompt finds what was asked at each model call of ${name}`, () => {
    const found = modelCalls(name).map((call) => bareWords(newestPrompt(call.transcript)!.message));
    assert.equal(found.length, asked.length);
    for (const [index, words] of found.entries()) {
      assert.ok(words.startsWith(asked[index]!), `call ${index + 1}: ${words.slice(0, 60)}`);
    }
    assert.doesNotMatch(found.join("\n"), /<\/?(?:user_input|hook_context|SYSTEM_NOTICE)/);
  });

  test(`prompts of ${name} keep their keys, and each has its own`, () => {
    const keys = modelCalls(name).map((call) => newestPrompt(call.transcript)!.key);
    assert.deepEqual(
      keys.map((key) => keys.indexOf(key)),
      asked.map((words) => asked.indexOf(words)),
    );
    const again = modelCalls(name).map((call) => newestPrompt(structuredClone(call.transcript))!.key);
    assert.deepEqual(again, keys);
  });

  test(`prompts of ${name} keep their keys where the host gives no ids`, () => {
    const keys = modelCalls(name).map((call) => newestPrompt(withoutIds(call.transcript))!.key);
    assert.deepEqual(
      keys.map((key) => keys.indexOf(key)),
      asked.map((words) => asked.indexOf(words)),
    );
  });
}

test("promptsOf counts what people wrote in the recordings, steering too", () => {
  const counts = Object.keys(ASKED).map((name) => promptsOf(modelCalls(name).at(-1)!.transcript).length);
  assert.deepEqual(counts, [3, 3, 2, 2, 10, 10]);
});

test("a message that basic compaction folded says what its newest prompt said", () => {
  const folded = modelCalls("compaction-basic").filter(
    (call) => call.request!.length === 1 && call.transcript.length > 1,
  );
  assert.equal(folded.length, 2);
  for (const call of folded)
    assert.equal(bareWords(call.request![0]!), bareWords(newestPrompt(call.transcript)!.message));
});

test("an agentic compaction's summary is nobody's prompt", () => {
  const compacted = modelCalls("compaction-agentic").filter((call) => call.request!.length < call.transcript.length);
  assert.equal(compacted.length, 4);
  for (const call of compacted) assert.equal(isPrompt(call.request![0]!), false);
});

test("isPrompt refuses what the host and this plugin add", () => {
  const added: Message[] = [
    user('<hook_context source="x">a</hook_context>', { userRunSpan: 0, displayRole: "system" }),
    user('<hook_context source="x">a</hook_context>'),
    user("[SYSTEM] Try again", { userRunSpan: 0 }),
    user("[SYSTEM] Try again"),
    user("Context summary: x", { kind: "compaction_summary", userRunSpan: 4 }),
    user("<user_input>quoted</user_input>", { kind: "compaction_summary" }),
    user("x", { kind: "anything" }),
    user("x", { displayRole: "system" }),
    user("x", { userRunSpan: 0 }),
    user("x", { userRunSpan: 0 }),
    user(RECALL),
    user(RECALL, { kind: INJECTED_KIND }),
    user("fix it", { kind: INJECTED_KIND }),
    user(`${DIGEST}\n`),
    { role: "assistant", content: "x" },
    { role: "tool", content: [] },
    { role: "system", content: "x" },
    { role: "USER", content: "x" },
    { role: "user", content: [{ type: "tool-result", toolCallId: "1", output: "x" }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "1", content: "x" },
        { type: "text", text: "x" },
      ],
    },
  ];
  assert.deepEqual(added.filter(isPrompt), []);
});

const NOTICE = "<mode_notice>The user switched from plan mode to act mode before sending this message.</mode_notice>";

test("isPrompt refuses the host's own sentences, in the envelope of a prompt and bare", () => {
  const sentences = [
    "The user approved switching to act mode. Continue with the approved plan now.",
    "[TASK RESUMPTION] Please continue where you left off.",
    "System-delivered teammate async run updates:\n- run_00001 (scout) -> completed",
    "Stopped after 6/6 consecutive mistakes (tool_execution_failed) at iteration 7.",
    "Detected 3 consecutive identical calls to `read_files`; consider trying a different approach.",
    "mistake_limit_reached: retry with a different approach, validate tool parameters before calls",
    "Your previous response was cut off because it reached the model's output-token limit before finishing.",
    "[MAILBOX] You have 2 unread message(s):\n--- Message from a",
    "This is an automatic recovery of interrupted team run run_1. The previous process stopped",
  ];
  for (const sentence of sentences)
    for (const text of [
      sentence,
      `<user_input mode="act">${sentence}</user_input>`,
      `<user_input mode="act">${NOTICE}\n${sentence}</user_input>`,
      `${NOTICE}\n<user_input mode="act">${sentence}</user_input>`,
    ])
      assert.equal(isPrompt(user(text)), false, text);
});

test("bareWords leaves out what the host puts ahead of a person's words and behind them", () => {
  const said = (text: string) => bareWords(user(`<user_input mode="act">${text}</user_input>`));
  assert.equal(said("spawn a team of agents for the following task: tidy the docs"), "tidy the docs");
  assert.equal(said("mistake_limit_reached: look into the log first"), "look into the log first");
  assert.equal(said(`Check the build\n\nTrigger event:\n{\n  "eventId": "e1"\n}`), "Check the build");
  assert.equal(said(`${NOTICE}\nship it`), "ship it");
  assert.equal(said("What does [TASK RESUMPTION] mean?"), "What does [TASK RESUMPTION] mean?");
});

test("of a folded message the newest part that a person wrote counts", () => {
  const parts = ["fix the login", "The user approved switching to act mode. Continue with the approved plan now."];
  const message: Message = {
    role: "user",
    content: parts.map((text) => ({ type: "text", text: `<user_input mode="act">${text}</user_input>` })),
    metadata: { kind: "compaction" },
  };
  assert.equal(isPrompt(message), true);
  assert.equal(bareWords(message), "fix the login");
});

test("isPrompt takes what a person wrote, steering and bare strings too", () => {
  const written: Message[] = [
    user('<user_input mode="act">go</user_input>'),
    user('<user_input mode="act">steer</user_input>', { userRunSpan: 0 }),
    user("go on"),
    { role: "user", content: "go on" },
    user('<user_command slash="x">y</user_command>', { userRunSpan: 0 }),
    user('<mode_notice>You are in plan mode</mode_notice>\n<user_input mode="plan">x</user_input>', { userRunSpan: 0 }),
    user("<task>\nfix\n</task>"),
    user("x", {}),
    user("x", { userRunSpan: 1 }),
    user("What does [SYSTEM] mean?"),
    user(`${RECALL}\nfix the login bug`),
    {
      role: "user",
      content: [
        { type: "text", text: '<file_content path="a">b</file_content>' },
        { type: "text", text: '<user_input mode="act">x</user_input>' },
      ],
      metadata: { userRunSpan: 0 },
    },
  ];
  assert.deepEqual(
    written.filter((message) => !isPrompt(message)),
    [],
  );
});

test("no payload makes the readers of prompts throw", () => {
  const junk = [
    null,
    undefined,
    0,
    "text",
    [],
    {},
    { role: "user" },
    { role: "user", content: null },
    { role: "user", content: 7 },
    {
      role: "user",
      content: [
        null,
        1,
        "x",
        [],
        { type: "text" },
        { type: "text", text: 5 },
        { type: "tool-call" },
        { type: "tool-result" },
      ],
    },
    { role: "user", content: {}, metadata: "x" },
    { role: null, content: "x", metadata: null },
    { role: "user", content: "x", id: {} },
    { role: "user", content: "\ud800<user_input" },
  ] as Message[];
  for (const message of junk) {
    isPrompt(message);
    bareWords(message);
    fingerprint(message);
  }
  assert.equal(typeof newestPrompt(junk)?.key, "string");
  assert.equal(newestPrompt([]), undefined);
  assert.equal(newestPrompt([null, 1, { role: "assistant" }] as Message[]), undefined);
  assert.equal(promptsOf([null, undefined] as unknown as Message[]).length, 0);
});

test("bareWords takes the envelopes off", () => {
  const said: Record<string, string> = {
    '<user_input mode="act">fix it</user_input>': "fix it",
    "\n <user_input>\nfix it\n</user_input>\n": "fix it",
    '<user_command slash="deploy">/deploy prod</user_command>': "/deploy prod",
    '<mode_notice>You are in act mode.</mode_notice>\n<user_input mode="act">fix it</user_input>': "fix it",
    "<task>\nfix it\n</task>\n\n<environment_details>\n# Files\na.ts\n</environment_details>": "fix it",
    '<user_input mode="act">fix it</user_input>\n<file_content path="a.ts">secret()</file_content>': "fix it",
    "fix it": "fix it",
    '<user_input mode="act">fix it': "fix it",
    '<user_input mode="act"></user_input>': "",
    '<user_input mode="act">a</user_input>\n<user_input mode="act">b</user_input>': "a\nb",
    '<user_input mode="act">if (a < b) <div>x</div></user_input>': "if (a < b) <div>x</div>",
  };
  assert.deepEqual(
    Object.keys(said).map((text) => bareWords(user(text))),
    Object.values(said),
  );
});

test("bareWords keeps the person's own tags, at the start too", () => {
  const words = [
    "<answer>42</answer> is what the page shows. Why?",
    "<feedback>a</feedback> and <task>b</task> are rendered twice",
    "<task> elements have no style",
    "Why is <user_message>x</user_message> empty?",
    "what is <file_content> for?",
  ];
  assert.deepEqual(
    words.map((text) => bareWords(user(`<user_input mode="act">${text}</user_input>`))),
    words,
  );
});

test("bareWords joins the parts and leaves attachments out", () => {
  const message = {
    role: "user",
    content: [
      { type: "text", text: '<file_content path="a">b</file_content>' },
      { type: "image", data: "x" },
      { type: "text", text: '<user_input mode="act">look at this</user_input>' },
    ],
  };
  assert.equal(bareWords(message), "look at this");
});

test("bareWords honours private spans", () => {
  const said: Record<string, string> = {
    "a <private>b</private> c": "a  c",
    'a <PRIVATE reason="x">b</Private > c': "a  c",
    "a <private>\nb\nb": "a",
    "<private>b</private>": "",
    "<private>b</private> c <private>b</private> d": "c  d",
    '<user_input mode="act">a <private>b</user_input>': "a",
  };
  assert.deepEqual(
    Object.keys(said).map((text) => bareWords(user(text))),
    Object.values(said),
  );
});

test("bareWords lets nothing out of a private span that holds another", () => {
  assert.doesNotMatch(bareWords(user("a <private>b <private>c</private> HIDDEN</private> d")), /HIDDEN/);
});

test("bareWords of a block and words are the words", () => {
  for (const block of [
    RECALL,
    DIGEST,
    `${DIGEST}\n${RECALL}`,
    RECALL.replace("<palinode-memory>", "<palinode-memory profile=\"coding\" mode='x'>"),
    RECALL.toUpperCase(),
    RECALL.replaceAll("\n", "\r\n"),
  ]) {
    for (const text of [
      `${block}\nfix the login bug`,
      `fix the login bug\n\n${block}`,
      `<user_input mode="act">${block}\n\nfix the login bug</user_input>`,
    ])
      assert.equal(bareWords(user(text)), "fix the login bug");
  }
});

test("stripOurBlocks takes a block that was cut anywhere and keeps the words behind it", () => {
  for (let length = 1; length <= RECALL.length; length += 1) {
    const left = stripOurBlocks(`one\n${RECALL.slice(0, length)}\n\nfix the login bug`);
    assert.ok(
      left.startsWith("one") && left.endsWith("fix the login bug") && !left.includes("QQ"),
      `cut at ${length}: ${left}`,
    );
  }
});

test("stripOurBlocks keeps the words behind a cut block with other line ends", () => {
  const cut = `${RECALL.slice(0, -20)}\n\nfix the login bug`.replaceAll("\n", "\r\n");
  assert.match(stripOurBlocks(cut), /fix the login bug$/);
  assert.doesNotMatch(stripOurBlocks(cut), /QQ/);
});

test("stripOurBlocks keeps words between a cut block and a whole one", () => {
  const left = stripOurBlocks(`${RECALL.slice(0, -20)}\n\nfix the login bug\n${DIGEST}\nand the logout too`);
  assert.match(left, /fix the login bug/);
  assert.match(left, /and the logout too$/);
  assert.doesNotMatch(left, /QQ/);
});

test("stripOurBlocks takes nested copies whole", () => {
  let nested = MEMORY;
  for (let depth = 0; depth < 123; depth += 1)
    nested = `<palinode-memory>\n${RECALL_TITLE}\n${nested}\n</palinode-memory>`;
  assert.equal(stripOurBlocks(`a${nested}b`), "ab");
});

test("stripOurBlocks keeps the words of a message that only names the tag", () => {
  for (const text of [
    "Why does <palinode-memory> show up?",
    "Why do <palinode-memory> and </palinode-memory> appear twice?",
    "Use <palinode-memory> tags, as in <palinode-memory>x</palinode-memory>, please",
  ]) {
    const left = stripOurBlocks(text);
    const lost = text
      .replace(/<palinode-memory>x<\/palinode-memory>/, "")
      .match(/[A-Za-z]{2,}/g)!
      .filter((word) => !/palinode|memory/.test(word) && !left.includes(word));
    assert.deepEqual(lost, [], text);
  }
});

test("three prompts that say the same are three prompts", () => {
  const ask = { role: "user", content: "continue" };
  const transcript: Message[] = [ask, assistant("a"), ask, assistant("b"), ask];
  const keys = [1, 3, 5].map((length) => newestPrompt(transcript.slice(0, length))!.key);
  assert.equal(new Set(keys).size, 3);
  assert.equal(newestPrompt([...transcript, assistant("c"), { role: "tool", content: [] }])!.key, keys[2]);
  const named = [1, 2, 3].map((id) => newestPrompt([{ id: `u${id}`, ...ask }])!.key);
  assert.equal(new Set([...keys, ...named]).size, 6);
});

test("a prompt's key is its id, whatever else the host changes of it", () => {
  const keys = [
    user("continue"),
    user('<user_input mode="act">continue</user_input>'),
    { ...user("continue"), createdAt: 9, metadata: {} },
  ].map((message) => newestPrompt([{ ...message, id: "u1" }])!.key);
  assert.equal(new Set(keys).size, 1);
});

test("an id that is no text is no id", () => {
  for (const id of ["", null, 0, {}, undefined]) {
    const transcript = [
      { id, role: "user", content: "continue" },
      assistant("a"),
      { id, role: "user", content: "continue" },
    ];
    assert.notEqual(newestPrompt(transcript)!.key, newestPrompt(transcript.slice(0, 1))!.key);
  }
});

test("fingerprint survives what the host re-encodes after a turn and tells messages apart", () => {
  const [during, after] = [modelCalls("tool-loop")[3]!.transcript, modelCalls("tool-loop")[4]!.transcript];
  assert.notDeepEqual(after.slice(0, during.length), during);
  assert.deepEqual(after.slice(0, during.length).map(fingerprint), during.map(fingerprint));
  assert.equal(new Set(after.map(fingerprint)).size, after.length);
  assert.notEqual(fingerprint({ role: "user", content: "x" }), fingerprint({ role: "assistant", content: "x" }));
  assert.equal(fingerprint({ role: "user", content: "x" }), fingerprint(user("x")));
});

test("newestPrompt reads the end of a long history and not the rest", () => {
  let reads = 0;
  const history = Array.from(
    { length: 1000 },
    (_, index): Message => ({
      id: `m${index}`,
      role: index % 2 === 0 ? "user" : "assistant",
      get content() {
        reads += 1;
        return "text";
      },
    }),
  );
  assert.equal(newestPrompt(history)!.message, history[998]);
  assert.ok(reads < 20, `${reads} reads`);
});

test("bareWords takes envelopes of any depth", () => {
  for (const tag of ["task", "user_input", "answer"]) bareWords(user(`<${tag}>`.repeat(50_000)));
});

const HOSTILE = [
  "<user_input>",
  "</user_input>",
  "<user_input ",
  "<user_input><",
  "<answer>",
  "<private>",
  "</private>",
  "<private",
  "<private><private>x</private>",
  "<hook_context>",
  "<hook_context ",
  "<mode_notice>",
  "<file_content>x</file_content>",
  "<environment_details>",
  "<palinode-memory>",
  "</palinode-memory>",
  "<palinode-memory ",
  "palinode-memory",
  "<palinode-memory>\n## Palinode recall\n",
  "<palinode-memory>\n## Palinode recall\n\n</palinode-memory>",
  "<",
  " ",
  "\n",
  "\u200d",
  "[SYSTEM]",
  "<user_",
  "a",
];

for (const [name, run] of Object.entries({
  stripOurBlocks,
  bareWords: (text: string) => bareWords(user(text)),
  isPrompt: (text: string) => isPrompt(user(text)),
})) {
  test(`${name} takes time in proportion to a hostile text`, () => {
    assert.deepEqual(
      HOSTILE.filter((unit) => isSlow(run, unit)),
      [],
    );
  });
}

/** Grows the text from 4 KB to 1 MB: four times the text may take nine times as long, and a pause of the machine. */
function isSlow(run: (text: string) => unknown, unit: string): boolean {
  for (let size = 4096, before = Infinity; size <= 1 << 20; size *= 4) {
    const text = `${unit.repeat(Math.ceil(size / unit.length))}!`;
    const limit = before * 9 + 150;
    let spent = elapsed(run, text);
    if (spent > limit) spent = Math.min(spent, elapsed(run, text));
    if (spent > limit) return true;
    before = spent;
  }
  return false;
}

function elapsed(run: (text: string) => unknown, text: string): number {
  const start = performance.now();
  try {
    run(text);
  } catch {
    return Infinity;
  }
  return performance.now() - start;
}

function modelCalls(name: string) {
  const lines = readFileSync(join(HOOKS, `${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line): { hook: string; payload: unknown } => JSON.parse(line));
  return lines
    .filter(({ hook }) => hook === "beforeModel")
    .map(({ payload }) => readHookCall(payload)!)
    .filter((call) => call.isRoot);
}

function withoutIds(messages: readonly Message[]): Message[] {
  return messages.map(({ id: _, ...message }) => message);
}

function user(text: string, metadata?: object): Message {
  return { role: "user", content: [{ type: "text", text }], ...(metadata ? { metadata } : {}) };
}

function assistant(text: string): Message {
  return { role: "assistant", content: [{ type: "text", text }] };
}

test("a private span that opens in one part and closes in the next lets nothing out", () => {
  const parts = ["hello <private>abc", "ZEBRA42</private> bye"].map((text) => ({
    type: "text",
    text: `<user_input mode="act">${text}</user_input>`,
  }));
  assert.equal(bareWords({ role: "user", content: parts }), "hello  bye");
});

test("parts beside a wrapped one are the host's, whatever they hold", () => {
  const parts = [
    '<file_content path="a">x </file_content> SECRET-FILE</file_content>',
    '<user_input mode="act">fix it</user_input>',
    "[SYSTEM] be quick",
    "<environment_details> cwd",
  ].map((text) => ({ type: "text", text }));
  assert.equal(bareWords({ role: "user", content: parts }), "fix it");
});

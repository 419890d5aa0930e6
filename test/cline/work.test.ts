// What a session did, by every tool and in every form that a result comes in, of both generations.
import assert from "node:assert/strict";
import test from "node:test";
import { type Message, toolCallsOf } from "../../src/cline/messages.ts";
import { workOf } from "../../src/cline/work.ts";
import { findSessions } from "../../src/history/find.ts";
import { readSession } from "../../src/history/read.ts";
import { legacyMessages, storedMessage } from "../../src/history/stored.ts";
import { LEGACY_TASK, openHome } from "../helpers/past.ts";

const PATCH =
  "*** Begin Patch\r\n*** Add File: new.ts\r\n+x\r\n*** Update File: a b.ts\r\n*** Move to: c.ts\r\n@@\n" +
  "*** Delete File: old.ts\n*** End Patch";

test("a call that was refused is neither work nor a failure", () => {
  const error = "This tool call was rejected by the user and not executed. -- NOT a tool or system failure.";
  const call = (id: string, toolName: string, input: unknown) => ({
    role: "assistant",
    content: [{ type: "tool-call", toolCallId: id, toolName, input }],
  });
  const result = (id: string, toolName: string) => ({
    role: "tool",
    content: [{ type: "tool-result", toolCallId: id, toolName, output: { error }, isError: true }],
  });
  const transcript: Message[] = [
    call("1", "run_commands", { commands: ["rm -rf build"] }),
    result("1", "run_commands"),
    call("2", "editor", { path: "a.ts" }),
    result("2", "editor"),
  ];
  assert.deepEqual(workOf(transcript), { outcomes: [], read: [], edited: [], errors: [] });
});

test("commands have the exit code that their entry, or a text, says", () => {
  const entries = [
    { query: "ok", result: "", success: true },
    { query: "bad", error: "Command exited with code 2", success: false },
    { query: "told", result: "[Command exited with code 3]\nx", success: false },
    { query: "killed", error: "timed out", success: false },
    { query: "liar", result: "[Command exited with code 9]", success: true },
  ];
  assert.deepEqual(commandsOf("run_commands", { commands: entries.map(({ query }) => query) }, entries), [
    ["ok", 0, false],
    ["bad", 2, true],
    ["told", 3, true],
    ["killed", undefined, true],
    ["liar", 0, false],
  ]);
  assert.deepEqual(commandsOf("run_commands", {}, JSON.stringify(entries.slice(0, 2))), [
    ["ok", 0, false],
    ["bad", 2, true],
  ]);
  assert.deepEqual(
    commandsOf("execute_command", { command: "npm test" }, "Command failed with exit code 137.\nOutput:"),
    [["npm test", 137, true]],
  );
  assert.deepEqual(commandsOf("execute_command", { command: "npm test" }, "Command executed.\nOutput:"), [
    ["npm test", undefined, false],
  ]);
  assert.deepEqual(commandsOf("run_commands", { commands: ["a", { command: "b" }] }, "gone"), [
    ["a", undefined, false],
    ["b", undefined, false],
  ]);
});

test("files read are named in every spelling, those that could not be read are not", () => {
  const inputs: [unknown, string[]][] = [
    [{ files: [{ path: "a", start_line: 1 }, "b"] }, ["a", "b"]],
    [{ path: "a" }, ["a"]],
    [{ file_path: "a" }, ["a"]],
    [{ filePath: "a" }, ["a"]],
    [{ paths: ["a", { path: "b" }] }, ["a", "b"]],
    [{ file_paths: "a" }, ["a"]],
    [
      ["a", { path: "b" }],
      ["a", "b"],
    ],
    ["a", ["a"]],
    [{ files: "a" }, ["a"]],
    [{}, []],
    [null, []],
    [7, []],
    [{ files: { files: { files: { files: { files: "deep" } } } } }, []],
  ];
  for (const [input, files] of inputs)
    assert.deepEqual(workOf(used("read_files", input, "text")).read, files, JSON.stringify(input));
  const some = workOf(
    used("read_files", { files: ["a", "gone"] }, [
      { query: "a", result: "x", success: true },
      { query: "gone", error: "no such file", success: false },
    ]),
  );
  assert.deepEqual([some.read, some.outcomes.filter((outcome) => outcome.isCommand)], [["a"], []]);
  assert.deepEqual(workOf(used("read_file", { path: "a" }, "boom", true)).read, []);
});

test("files edited are named by every tool, once, and only where the edit succeeded", () => {
  for (const tool of ["editor", "write_to_file", "replace_in_file"]) {
    assert.deepEqual(workOf(used(tool, { path: "a", new_text: "b", files: ["c"] }, "saved")).edited, ["a"], tool);
    for (const output of [
      { success: false, error: "no" },
      { error: "no" },
      [{ query: "a", result: "", error: "no", success: false }],
      '[{"query":"a","error":"no","success":false}]',
      { content: [{ type: "text", text: "no" }], isError: true },
      { success: false, error: "no", content: [] },
      [
        { type: "text", text: "" },
        { query: "a", error: "no", success: false },
        { query: "b", error: "no", success: false },
      ].slice(1),
    ]) {
      const { edited, errors } = workOf(used(tool, { path: "a" }, output));
      assert.deepEqual([edited, errors], [[], ["no"]], `${tool} ${JSON.stringify(output)}`);
    }
  }
  assert.deepEqual(workOf(used("write_to_file", { absolutePath: "/w/a" }, "saved")).edited, ["/w/a"]);
  for (const input of [PATCH, { input: PATCH }, { patch: PATCH }])
    assert.deepEqual(workOf(used("apply_patch", input, { success: true })).edited, [
      "new.ts",
      "a b.ts",
      "c.ts",
      "old.ts",
    ]);
  assert.deepEqual(workOf([...used("editor", { path: "a" }, "ok"), ...used("editor", { path: "a" }, "ok")]).edited, [
    "a",
  ]);
  assert.deepEqual(workOf(used("editor", { path: "a" }, "ok").slice(0, 1)).edited, []);
});

test("errors are those that a result carries; a command's only where no exit code says it", () => {
  const list = [
    { query: "a", error: "ENOENT a", success: false },
    { query: "b", result: "x", success: true },
  ];
  assert.deepEqual(workOf(used("search_codebase", {}, list)).errors, ["ENOENT a"]);
  assert.deepEqual(
    workOf(used("run_commands", {}, [{ query: "a", error: "Command exited with code 1", success: false }])).errors,
    [],
  );
  assert.deepEqual(
    workOf(used("run_commands", {}, [{ query: "a", error: "timed out after 30s", success: false }])).errors,
    ["timed out after 30s"],
  );
  assert.deepEqual(workOf(used("read_files", { path: "en.json" }, '{"error":"Something went wrong","ok":"OK"}')).read, [
    "en.json",
  ]);
  const listed = storedMessage({
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: "c",
        name: "run_commands",
        content: [
          { query: "a", error: "line 1\nline 2", success: false },
          { query: "b", success: true },
        ],
        error: "line 1\nline 2",
      },
    ],
  });
  assert.deepEqual(
    workOf([listed]).outcomes.map(({ query, isFailed, exitCode }) => [query, isFailed, exitCode]),
    [
      ["a", true, undefined],
      ["b", false, 0],
    ],
  );
  const beside = storedMessage({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c", name: "editor", content: "half", error: "disk full" }],
  });
  assert.deepEqual(workOf([beside]).errors, ["disk full"]);
  assert.deepEqual(
    workOf(used("editor", { path: "a" }, { query: "edit:a", error: "old_text not found", success: false })).errors,
    ["old_text not found"],
  );
  assert.deepEqual(workOf(used("fetch", {}, "boom", true)).errors, ["boom"]);
  assert.deepEqual(workOf(used("editor", { path: "a" }, { error: "", success: true })).errors, []);
});

test("the recorded session did what the recording shows", (t) => {
  const home = openHome(t);
  home.recordings();
  const session = readSession(
    findSessions(home.env, assert.fail).find(({ id }) => id === "1796044586994_tt0np")!,
    assert.fail,
  )!;
  const { outcomes, edited, read, errors } = workOf(session.messages);
  assert.deepEqual(
    outcomes.map(({ query, exitCode, isFailed }) => [query.slice(0, 10), exitCode, isFailed]),
    [
      ["echo runni", 1, true],
      ["ls", 0, false],
    ],
  );
  assert.deepEqual([edited, read], [[], []]);
  assert.match(errors.join(), /^Editor operation failed: \/home\/example\/shop\/a\.txt already exists/);
});

test("a legacy task's XML calls did what their results say", () => {
  const { outcomes, read, edited, errors } = workOf(legacyMessages(LEGACY_TASK));
  assert.deepEqual(
    outcomes.map(({ query, exitCode }) => [query, exitCode]),
    [["npm test", 7]],
  );
  assert.deepEqual([read, edited], [["src/login.ts"], ["src/login.ts"]]);
  assert.match(errors.join(), /^The user denied/);
});

test("several XML calls of one message are told apart, and calls without a result are left out", () => {
  const run = (command: string) => `<execute_command><command>${command}</command></execute_command>`;
  const { outcomes } = workOf(
    legacyMessages([
      { role: "assistant", content: run("never answered") },
      { role: "assistant", content: `first ${run("a")} then ${run("b")}` },
      {
        role: "user",
        content: [
          { type: "text", text: "[execute_command for 'a'] Result:\nCommand failed with exit code 1." },
          { type: "text", text: "[execute_command for 'b'] Result:" },
          { type: "text", text: "Command failed with exit code 2." },
        ],
      },
    ]),
  );
  assert.deepEqual(
    outcomes.map(({ query, exitCode }) => [query, exitCode]),
    [
      ["a", 1],
      ["b", 2],
    ],
  );
});

test("the extension's native tool calls are read as well", () => {
  const { outcomes, edited } = workOf(
    legacyMessages([
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "t1", name: "execute_command", input: { command: "make" } },
          { type: "tool_use", id: "t2", name: "replace_in_file", input: { path: "m.c", diff: "x" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [{ type: "text", text: "Command failed with exit code 4." }],
          },
          { type: "tool_result", tool_use_id: "t2", content: "saved" },
        ],
      },
    ]),
  );
  assert.deepEqual([outcomes.map(({ query, exitCode }) => [query, exitCode]), edited], [[["make", 4]], ["m.c"]]);
});

test("no message makes the reading throw, and hostile text takes no time", () => {
  const junk = [
    null,
    7,
    "x",
    [],
    {},
    { role: "assistant" },
    { role: "user", content: [null, { type: "text" }, { type: "tool_result", content: [null] }] },
    { role: "assistant", content: [{ type: "tool_use" }] },
  ];
  workOf(legacyMessages(junk));
  workOf(junk.map(storedMessage));
  const start = performance.now();
  for (const text of [
    "<execute_command><command>",
    "<a_b>",
    "[x for '",
    "user feedback ",
    "<feedback>",
    "*** Add File: ",
  ]) {
    for (const role of ["user", "assistant"]) workOf(legacyMessages([{ role, content: text.repeat(40_000) }]));
  }
  assert.ok(performance.now() - start < 5000, `${performance.now() - start} ms`);
});

function commandsOf(tool: string, input: unknown, output: unknown): unknown[] {
  return workOf(used(tool, input, output))
    .outcomes.filter((outcome) => outcome.isCommand)
    .map(({ query, exitCode, isFailed }) => [query, exitCode, isFailed]);
}

function used(toolName: string, input: unknown, output: unknown, isError = false): Message[] {
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName, input }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName, output, isError }] },
  ];
}

test("ids and names that cannot become text do no harm", () => {
  const no = { toString: null };
  const parts = [
    { type: "tool-call", toolCallId: no, toolName: no, input: no },
    { type: "tool-result", toolCallId: no, toolName: no, output: no },
    { type: "tool-call", toolCallId: 7, toolName: "editor", input: { path: "a.ts" } },
    { type: "tool-result", toolCallId: 7, output: "ok" },
  ];
  assert.deepEqual(
    toolCallsOf({ content: parts }).map(({ id, name }) => [id, name]),
    [
      ["", ""],
      ["7", "editor"],
    ],
  );
  assert.deepEqual(workOf([{ role: "assistant", content: parts }]).edited, ["a.ts"]);
});

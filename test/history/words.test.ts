// Which words of a user message are a person's, in every form that the extension has given them since 2024.
import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { bareWords } from "../../src/cline/prompt.ts";
import * as hostSentences from "../../src/cline/sentences.ts";
import { findSessions } from "../../src/history/find.ts";
import { readSession } from "../../src/history/read.ts";
import * as sentences from "../../src/history/sentences.ts";
import { titleOf, wordsOf } from "../../src/history/titles.ts";
import { EXTENSION, openHome } from "../helpers/past.ts";

const DETAILS = "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>";
const PLAN =
  "New message to respond to with plan_mode_respond tool (be sure to provide your response in the <response> " +
  "parameter):";
const RESUMED = "[TASK RESUMPTION] This task was interrupted 2 hours ago. It may or may not be complete.";
const READ = "<read_file><path>a</path></read_file>";
const RUN = "<execute_command><command>make</command></execute_command>";
const BROWSE = "<browser_action><action>launch</action></browser_action>";
const ASK = "<ask_followup_question><question>Which?</question></ask_followup_question>";
const DONE = "<attempt_completion><result>Done.</result></attempt_completion>";
const RESPOND = "<plan_mode_respond><response>So.</response></plan_mode_respond>";

/** What the assistant did last, the parts of the user's next message, and what the person says in it. */
const CASES: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  [
    "focus chain",
    READ,
    ["<feedback>\nsaid\n</feedback>", "\n# task_progress RECOMMENDED\nUse it.\n", DETAILS],
    ["said"],
  ],
  ["focus chain alone", "I think.", ["\n# TODO LIST UPDATE REQUIRED - You MUST include", DETAILS], []],
  [
    "resumed without words",
    READ,
    [RESUMED, "(The user did not provide a new message. Consider asking them)", DETAILS],
    [],
  ],
  [
    "resumed, in the same part",
    READ,
    [`${RESUMED}\n\nNew instructions for task continuation:\n<user_message>\ngo on\n</user_message>`, DETAILS],
    ["go on"],
  ],
  [
    "resumed, in its own",
    READ,
    [RESUMED, "New instructions for task continuation:\n<user_message>\ngo\n</user_message>"],
    ["go"],
  ],
  [
    "resumed in 1.x",
    "I think.",
    [
      "Task resumption: This autonomous coding task was interrupted 1 hour ago.\n\nLast recorded user input before " +
        "interruption:\n<previous_message>\n<task>\nold\n</task>\n</previous_message>\n\nNew instructions for task " +
        "continuation:\n<user_message>\nnew\n</user_message>\n\n<potentially_relevant_details>x" +
        "</potentially_relevant_details>",
    ],
    ["new"],
  ],
  ["plan mode", READ, [`${PLAN}\n<user_message>\nwhy so?\n</user_message>`, DETAILS], ["why so?"]],
  [
    "two sayings",
    RESPOND,
    [
      "[plan_mode_respond] Result:\n<user_message>\none\n</user_message>",
      `${PLAN}\n<user_message>\ntwo\n</user_message>`,
    ],
    ["one", "two"],
  ],
  [
    "feedback",
    READ,
    ["The user provided the following feedback:\n<feedback>\nno, b\n</feedback>", "[read_file for 'a'] Result:\nx"],
    ["no, b"],
  ],
  [
    "stuck",
    READ,
    [
      "You seem to be having trouble proceeding. The user has provided the following feedback to help guide you:\n" +
        "<feedback>\ntry c\n</feedback>",
    ],
    ["try c"],
  ],
  [
    "on the results, in two parts",
    DONE,
    [
      "[attempt_completion] Result: Done",
      "The user has provided feedback on the results. Consider their input to continue the task, and then attempt " +
        "completion again.",
      "<feedback>\nalmost\n</feedback>",
    ],
    ["almost"],
  ],
  [
    "on the results, in one",
    DONE,
    [
      "[attempt_completion] Result:",
      "The user has provided feedback on the results. Consider their input.\n<feedback>\nalmost\n</feedback>",
    ],
    ["almost"],
  ],
  ["an answer", ASK, ["[ask_followup_question for 'Which?'] Result:", "<answer>\nthe left\n</answer>"], ["the left"]],
  [
    "an answer in one part",
    ASK,
    ["[ask_followup_question for 'Which?'] Result:\n<answer>\nthe left\n</answer>"],
    ["the left"],
  ],
  [
    "an answer with an image",
    ASK,
    [JSON.stringify([{ type: "text", text: "<answer>\nas drawn\n</answer>" }, { type: "image" }], null, 2)],
    ["as drawn"],
  ],
  [
    "switched",
    RESPOND,
    [
      "[plan_mode_respond] Result:\n[The user has switched to ACT MODE, so you may now proceed with the task.]\n\n" +
        "The user also provided the following message when switching to ACT MODE:\n<user_message>\ndo it\n" +
        "</user_message>",
    ],
    ["do it"],
  ],
  [
    "switched without words",
    RESPOND,
    ["[plan_mode_respond] Result:\n<user_message>\nPLAN_MODE_TOGGLE_RESPONSE\n</user_message>"],
    [],
  ],
  [
    "a command that goes on",
    RUN,
    [
      "[execute_command for 'make'] Result:\nCommand is still running in the user's terminal.\n" +
        "Here's the output so far:" +
        "\n" +
        "<feedback>none</feedback>\n\nThe user provided the following feedback:\n<feedback>\nstop it\n</feedback>",
    ],
    ["stop it"],
  ],
  ["a transcript that was read", READ, ["[read_file for 'a'] Result:", "<feedback>\nNOBODY\n</feedback>", DETAILS], []],
  ["a transcript in one part", READ, ["[read_file for 'a'] Result:\n<task>\nNOBODY\n</task>"], []],
  [
    "a transcript with a sentence",
    READ,
    ["[read_file for 'a'] Result:\nThe user provided the following feedback:\n<feedback>\nNOBODY\n</feedback>"],
    [],
  ],
  [
    "a header in a transcript",
    READ,
    ["[read_file for 'a'] Result:", "[ask_followup_question for 'x'] Result:\n<answer>\nNOBODY\n</answer>"],
    [],
  ],
  [
    "a result of the browser",
    BROWSE,
    ["The browser action has been executed. The console logs\n\n<feedback>NOBODY</feedback>", DETAILS],
    [],
  ],
  ["a result with an image", READ, ["a picture of a cat", DETAILS], []],
  [
    "a header with quotes and brackets",
    RUN,
    ["[execute_command for 'echo '[a] Result' b'] Result:\nCommand executed."],
    [],
  ],
  [
    "no tool used",
    "I think.",
    ["[ERROR] You did not use a tool in your previous response! Please retry with a tool use."],
    [],
  ],
  [
    "a mention of a transcript",
    "I think.",
    [
      "<feedback>\nlike 'a.md' (see below for file content) and </feedback> tags\n</feedback>\n\n" +
        '<file_content path="a.md">\n<feedback>\nNOBODY\n</feedback>\n</file_content>',
    ],
    ["like 'a.md' and </feedback> tags"],
  ],
  [
    "a slash command",
    "I think.",
    [
      '<explicit_instructions type="deep-planning">\n<feedback>NOBODY</feedback>\n</explicit_instructions>\n' +
        "<feedback>\nplan it\n</feedback>",
    ],
    ["plan it"],
  ],
  [
    "attachments",
    "I think.",
    ["<feedback>\nsee\n</feedback>", 'Files attached by the user:\n\n<file_content path="x">NOBODY</file_content>'],
    ["see"],
  ],
  ["nothing of the host's", "I think.", ["just words"], ["just words"]],
];

test("a person's words are told by their form, and nothing else is", (t) => {
  for (const [name, assistant, parts, expected] of CASES)
    assert.deepEqual(spoken(t, assistant, parts), ["start", ...expected], name);
});

test("results keep what a tool said, in every form of 2.x and 3.x", (t) => {
  const home = openHome(t);
  home.task(`.config/Code/${EXTENSION}`, "1767225600000", [
    { role: "user", content: "<task>start</task>" },
    { role: "assistant", content: RUN },
    {
      role: "user",
      content: [part("[execute_command for 'make'] Result:"), part("<feedback>x</feedback>"), part(DETAILS)],
    },
    { role: "assistant", content: BROWSE },
    { role: "user", content: [part("The browser has been closed."), part("and more")] },
  ]);
  const session = readSession(findSessions(home.env, assert.fail)[0]!, assert.fail)!;
  const outputs = session.messages
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => content as { output: string; toolCallId: string }[])
    .map(({ output, toolCallId }) => [output, toolCallId]);
  assert.deepEqual(outputs, [
    ["<feedback>x</feedback>", "1-0"],
    ["The browser has been closed.\nand more", "3-0"],
  ]);
});

test("the quotation marks of 2024 hold words too", (t) => {
  const home = openHome(t);
  home.task(`.config/Code/${EXTENSION}`, "1722000000000", [
    { role: "user", content: [part('Task: "Make a "small" page"')] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "1", name: "attempt_completion", input: { result: "Done" } }],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "1",
          content: `The user is not pleased with the results. Use it.\nUser's feedback:\n"not blue"`,
        },
      ],
    },
  ]);
  const session = readSession(findSessions(home.env, assert.fail)[0]!, assert.fail)!;
  assert.deepEqual(session.prompts.map(bareWords), ['Make a "small" page', "not blue"]);
});

test("a task that the SDK goes on with is read as it was written", (t) => {
  const home = openHome(t);
  home.write(".cline/data/sessions/1767225600000/1767225600000.json", { metadata: { migratedFromLegacyTask: true } });
  home.write(".cline/data/sessions/1767225600000/1767225600000.messages.json", {
    messages: [
      { id: "a", role: "user", content: [part("<task>\nold words\n</task>"), part("\n# task_progress RECOMMENDED")] },
      { id: "b", role: "assistant", content: READ },
      { id: "c", role: "user", content: "[read_file for 'a'] Result:\n<feedback>NOBODY</feedback>" },
      {
        id: "d",
        role: "user",
        content: "Warning: this is a legacy conversation, which means tool names may have changed.",
      },
      { id: "e", role: "user", content: [part('<user_input mode="act">new words</user_input>')] },
    ],
  });
  const session = readSession(findSessions(home.env, assert.fail)[0]!, assert.fail)!;
  assert.deepEqual(session.prompts.map(bareWords), ["old words", "new words"]);
});

test("a title says nothing of what stands below", () => {
  const message = { content: "fix 'src/a.ts' (see below for file content) and 'b' (see below for folder content)" };
  assert.equal(titleOf(message), "fix 'src/a.ts' and 'b'");
  assert.equal(wordsOf(message), "fix 'src/a.ts' and 'b'");
});

test("each sentence has the versions that it was in, and each table knows its own", () => {
  for (const table of [...Object.values(sentences), ...Object.values(hostSentences)].filter(Array.isArray))
    for (const [opening, since, until] of table) {
      assert.match(since, /^\d+\.\d+\.\d+$/, opening);
      assert.match(until, /^(?:\d+\.\d+(?:\.\d+)?)?$/, opening);
      assert.equal(hostSentences.opensWith(`\n ${opening.replaceAll("…", "anything")} and more`, table), true, opening);
    }
  assert.equal(hostSentences.opensWith("Tool use is fun", sentences.REFUSALS), false);
});

function part(text: string) {
  return { type: "text", text };
}

function spoken(t: TestContext, assistant: string, parts: readonly string[]): string[] {
  const home = openHome(t);
  home.task(`.config/Code/${EXTENSION}`, "1767225600000", [
    { role: "user", content: [part("<task>\nstart\n</task>"), part(DETAILS)] },
    { role: "assistant", content: assistant },
    { role: "user", content: parts.map(part) },
  ]);
  return readSession(findSessions(home.env, assert.fail)[0]!, assert.fail)!.prompts.map(bareWords);
}

// Stored messages in the shape of `cline.ts`. Those of the old editor extension hold tool calls as XML in the assistant's
// text, and results as texts of the user's messages, with what the person said beside or inside them.
// Source: recordings/sessions; the extension's core/prompts/responses.ts and core/assistant-message.
import { asRecord, asText, textOf } from "../base/json.ts";
import { type Message, partsOf, textsOf, withoutThinking } from "../cline/index.ts";

/** Tools whose one argument is what the assistant says. */
const SAYS: Readonly<Record<string, string>> = {
  attempt_completion: "result",
  plan_mode_respond: "response",
  ask_followup_question: "question",
};
/** Tools are named `like_this`; one that was cut off runs to the end. */
const TOOL_CALL = /<(thinking|[a-z]+_[a-z_]+)>([\s\S]*?)(?:<\/\1>|$)/g;
const RESULT = /^\s*\[(\w+)(?: for '[\s\S]*?')?\] Result:\s*/;
/** What the extension itself says to the model: `[ERROR] …`, `[TASK RESUMPTION] …`. */
const NOTICE = /^\s*(?:\[[A-Z][A-Z _]+\]|<environment_details>)/;
const FAILED = /^\s*(?:The user denied|The tool execution failed|Error\b)/;
const SPOKEN = /^\s*<(?:task|feedback|answer|user_message)>/;
/** A person's words inside a result or a notice; an `<answer>` in a file that was read is none. */
const REPLY =
  /(?:^\s*|\b(?:user|feedback|instructions)\b[^<>]{0,200})(<(feedback|answer|user_message)>[\s\S]*?(?:<\/\2>|$))/gi;
const WORKSPACE = /^# Current (?:Working|Workspace) Directory \(([^()\n]+)\) Files/m;

type Part = Record<string, unknown>;

/** Returns a stored message with what is read later: text, tool calls and results; no thinking, no images. */
export function storedMessage(raw: unknown): Message {
  const { content, ts, ...rest } = asRecord(raw);
  const parts = partsOf({ content }).flatMap(storedPart);
  const spoken = parts.map((part) =>
    part.type === "text" ? { ...part, text: withoutThinking(textOf(part.text)) } : part,
  );
  return { ...rest, createdAt: ts, content: rest.role === "assistant" ? spoken : parts };
}

/** Returns the messages of a task of the extension. */
export function legacyMessages(raw: readonly unknown[]): Message[] {
  // Calls of the newest assistant message that have no result yet.
  let open: Part[] = [];
  return raw.map(storedMessage).flatMap(({ role, createdAt, modelInfo, content }, index) => {
    const base = { role, createdAt, modelInfo: { id: asRecord(modelInfo).modelId } };
    if (role !== "assistant") return userMessages(base, partsOf({ content }), open);
    const parts = partsOf({ content }).flatMap((part) =>
      part.type === "text" ? spokenAndCalled(textOf(part.text), index) : [part],
    );
    open = parts.filter((part) => part.type === "tool-call");
    return [{ ...base, content: parts }];
  });
}

/** Returns the folder that the extension told the model it works in; the first messages have it. */
export function legacyCwd(raw: readonly unknown[]): string | undefined {
  return WORKSPACE.exec(raw.slice(0, 2).map(storedMessage).flatMap(textsOf).join("\n"))?.[1];
}

function storedPart(part: Part): Part[] {
  const { type, id, name, input, content } = part;
  if (type === "tool_use") {
    const said = asText(asRecord(input)[SAYS[textOf(name)] ?? ""]);
    return [
      said === undefined ? { type: "tool-call", toolCallId: id, toolName: name, input } : { type: "text", text: said },
    ];
  }
  if (type !== "tool_result") return type === "text" ? [part] : [];
  return [resultPart(part.tool_use_id, name, withError(outputOf(content), asText(part.error)), part.is_error === true)];
}

/** An error beside the content is kept with it, unless it stands there too. */
function withError(output: unknown, error: string | undefined): unknown {
  if (error === undefined) return output;
  if (!Array.isArray(output)) return textOf(output).includes(error) ? output : { error, result: output };
  return output.some((entry) => asRecord(entry).error === error) ? output : [...output, { error, success: false }];
}

function resultPart(toolCallId: unknown, toolName: unknown, output: unknown, isError = false): Part {
  return { type: "tool-result", toolCallId, toolName, output, isError: isError || FAILED.test(textOf(output)) };
}

/** A result is a text, a list of text and image parts, or the host's list of entries. */
function outputOf(content: unknown): unknown {
  if (!Array.isArray(content) || !content.some((part) => asRecord(part).type !== undefined)) return content;
  return content
    .map((part) => asText(asRecord(part).text) ?? "")
    .join("\n")
    .trim();
}

function spokenAndCalled(text: string, index: number): Part[] {
  const calls: Part[] = [];
  const spoken = text.replace(TOOL_CALL, (_, toolName: string, body: string) => {
    const said = SAYS[toolName];
    if (said !== undefined) return argumentOf(body, said) ?? "";
    const input = Object.fromEntries(
      ["path", "command", "input", "patch"].map((name) => [name, argumentOf(body, name)]),
    );
    calls.push({ type: "tool-call", toolCallId: `${index}-${calls.length}`, toolName, input });
    return "";
  });
  return [{ type: "text", text: spoken.trim() }, ...calls];
}

function argumentOf(body: string, name: string): string | undefined {
  return new RegExp(`<${name}>([\\s\\S]*?)(?:</${name}>|$)`).exec(body)?.[1]?.trim();
}

/** Returns up to two messages: what tools answered, and what the person said. */
function userMessages(base: Message, parts: readonly Part[], open: readonly Part[]): Message[] {
  const results: Part[] = parts.filter((part) => part.type === "tool-result");
  const texts: string[] = [];
  let last: { toolName: unknown; output: string } | undefined;
  const written: { toolName: unknown; output: string }[] = [];
  for (const text of textsOf({ content: parts })) {
    const header = RESULT.exec(text);
    if (header) written.push((last = { toolName: header[1], output: text.slice(header[0].length) }));
    else if (NOTICE.test(text)) texts.push(...repliesIn(text));
    else if (last === undefined || SPOKEN.test(text)) texts.push(text);
    else last.output += text;
  }
  // The nth result of a tool answers its nth call.
  const callIds = new Map<unknown, unknown[]>();
  for (const { toolName, toolCallId } of open.toReversed()) {
    const ids = callIds.get(toolName) ?? [];
    ids.push(toolCallId);
    callIds.set(toolName, ids);
  }
  for (const { toolName, output } of written) results.push(resultPart(callIds.get(toolName)?.pop(), toolName, output));
  texts.push(...results.flatMap(({ output }) => (typeof output === "string" ? repliesIn(output) : [])));
  return [
    ...(results.length > 0 ? [{ ...base, role: "tool", content: results }] : []),
    ...(texts.length > 0 ? [{ ...base, content: texts.map((text) => ({ type: "text", text })) }] : []),
  ];
}

function repliesIn(text: string): string[] {
  return [...text.matchAll(REPLY)].map((match) => String(match[1]));
}

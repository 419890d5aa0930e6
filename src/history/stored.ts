// Stored messages in the shape that a host hands over. Those of the old editor extension hold tool calls as XML in the
// assistant's text, and results as texts of the user's messages, with what the person said beside or inside them.
// Source: recordings/sessions; the extension's core/prompts/responses.ts and core/assistant-message.
import { asRecord, asText, textOf } from "../base/json.ts";
import { type Message, partsOf, textsOf, withoutThinking } from "../cline/index.ts";

/** Tools that carry what the assistant says to the person, and the argument it is in. */
const SPEECH_ARGUMENTS: Readonly<Record<string, string>> = {
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
  return { ...rest, createdAt: ts, content: rest.role === "assistant" ? parts.map(partWithoutThinking) : parts };
}

/** Returns the messages of a task of the extension. */
export function legacyMessages(raw: readonly unknown[]): Message[] {
  /** Calls of the newest assistant message; what follows answers them. */
  let calls: Part[] = [];
  return raw.map(storedMessage).flatMap(({ role, createdAt, modelInfo, content }, index) => {
    const base = { role, createdAt, modelInfo: { id: asRecord(modelInfo).modelId } };
    if (role !== "assistant") return userMessages(base, partsOf({ content }), calls);
    const parts = partsOf({ content }).flatMap((part) =>
      part.type === "text" ? speechAndCalls(textOf(part.text), index) : [part],
    );
    calls = parts.filter((part) => part.type === "tool-call");
    return [{ ...base, content: parts }];
  });
}

/** Returns the folder that the extension told the model it works in; the first messages have it. */
export function legacyCwd(raw: readonly unknown[]): string | undefined {
  return WORKSPACE.exec(raw.slice(0, 2).map(storedMessage).flatMap(textsOf).join("\n"))?.[1];
}

function partWithoutThinking(part: Part): Part {
  return part.type === "text" ? { ...part, text: withoutThinking(textOf(part.text)) } : part;
}

function storedPart(part: Part): Part[] {
  switch (part.type) {
    case "text":
      return [part];
    case "tool_use":
      return [storedCall(part)];
    case "tool_result":
      return [storedResult(part)];
    default:
      return [];
  }
}

function storedCall({ id, name, input }: Part): Part {
  const speech = asText(asRecord(input)[SPEECH_ARGUMENTS[textOf(name)] ?? ""]);
  if (speech !== undefined) return { type: "text", text: speech };
  return { type: "tool-call", toolCallId: id, toolName: name, input };
}

function storedResult({ tool_use_id, name, content, error, is_error }: Part): Part {
  return resultPart(tool_use_id, name, withError(outputOf(content), asText(error)), is_error === true);
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

/** Returns the parts of an assistant's text: what it says, and the calls that stand in it as XML. */
function speechAndCalls(text: string, index: number): Part[] {
  const calls: Part[] = [];
  const speech = text.replace(TOOL_CALL, (_, toolName: string, body: string) => {
    const speechArgument = SPEECH_ARGUMENTS[toolName];
    if (speechArgument !== undefined) return argumentOf(body, speechArgument) ?? "";
    const input = Object.fromEntries(
      ["path", "command", "input", "patch"].map((name) => [name, argumentOf(body, name)]),
    );
    calls.push({ type: "tool-call", toolCallId: `${index}-${calls.length}`, toolName, input });
    return "";
  });
  return [{ type: "text", text: speech.trim() }, ...calls];
}

function argumentOf(body: string, name: string): string | undefined {
  return new RegExp(`<${name}>([\\s\\S]*?)(?:</${name}>|$)`).exec(body)?.[1]?.trim();
}

/** Returns up to two messages: what tools answered, and what the person said. */
function userMessages(base: Message, parts: readonly Part[], calls: readonly Part[]): Message[] {
  const { results: written, words } = resultsAndWords(textsOf({ content: parts }));
  const results = [...parts.filter((part) => part.type === "tool-result"), ...answersTo(calls, written)];
  const texts = [...words, ...results.flatMap(({ output }) => (typeof output === "string" ? repliesIn(output) : []))];
  const messages: Message[] = [];
  if (results.length > 0) messages.push({ ...base, role: "tool", content: results });
  if (texts.length > 0) messages.push({ ...base, content: texts.map((text) => ({ type: "text", text })) });
  return messages;
}

/** A result as the extension writes it into a text: it names its tool, and not which call it answers. */
interface WrittenResult {
  readonly toolName: unknown;
  output: string;
}

function resultsAndWords(texts: readonly string[]): { results: readonly WrittenResult[]; words: readonly string[] } {
  const results: WrittenResult[] = [];
  const words: string[] = [];
  for (const text of texts) {
    const header = RESULT.exec(text);
    const open = results.at(-1);
    if (header) results.push({ toolName: header[1], output: text.slice(header[0].length) });
    else if (NOTICE.test(text)) words.push(...repliesIn(text));
    else if (open === undefined || SPOKEN.test(text)) words.push(text);
    else open.output += text;
  }
  return { results, words };
}

/** The nth result of a tool answers its nth call. */
function answersTo(calls: readonly Part[], results: readonly WrittenResult[]): Part[] {
  // Newest first, since only the end of a list is taken off in no time.
  const idsByTool = new Map<unknown, unknown[]>();
  for (const { toolName, toolCallId } of calls.toReversed()) {
    const ids = idsByTool.get(toolName) ?? [];
    ids.push(toolCallId);
    idsByTool.set(toolName, ids);
  }
  return results.map(({ toolName, output }) => resultPart(idsByTool.get(toolName)?.pop(), toolName, output));
}

/** Returns a person's words inside a result or a notice, in their tags. */
function repliesIn(text: string): string[] {
  return [...text.matchAll(REPLY)].map((match) => String(match[1]));
}

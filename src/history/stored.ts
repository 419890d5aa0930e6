// Stored messages in the shape that a host hands over. Those of the old editor extension hold tool calls as XML in the
// assistant's text, and results as texts of the user's messages, with what the person said beside or inside them: what
// of it is a person's words is decided by `words`.
// Source: recordings/sessions; the extension's core/prompts/responses.ts and core/assistant-message.
import { asRecord, asText, textOf } from "../base/json.ts";
import { type Message, opensWith, partsOf, textsOf, withoutThinking } from "../cline/index.ts";
import { storedRefusalOf } from "./refusals.ts";
import { FAILURES, RESULT_PARTS } from "./sentences.ts";
import { feedbackIn, isHostPart, replyIn, wordsIn } from "./words.ts";

/** Tools that carry what the assistant says to the person, and the argument it is in. */
const SPEECH_ARGUMENTS: Readonly<Record<string, string>> = {
  attempt_completion: "result",
  plan_mode_response: "response",
  plan_mode_respond: "response",
  ask_followup_question: "question",
};
/** Tools are named `like_this`; one that was cut off runs to the end. */
const TOOL_CALL = /<(thinking|[a-z]+_[a-z_]+)>([\s\S]*?)(?:<\/\1>|$)/g;
/** The argument is raw: quotes, brackets and line breaks too. Tasks of 1.x that 2.x went on with have the second. */
const RESULT = /^\s*\[(\w+)(?: for [\s\S]*?)?\] Result:\s*|^\s*\[(\w+) Result\]\s*/;
/** The path stood in quotes at first. */
const WORKSPACE = /^# Current (?:Working|Workspace) Directory \('?([^\n]+?)'?\) Files/m;

type Part = Record<string, unknown>;

/** Returns the messages of the CLI and SDK, with what the person said on refusing a call as a message of its own. */
export function sdkMessages(raw: readonly unknown[]): Message[] {
  return raw.map(storedMessage).flatMap((message) => {
    const parts = partsOf(message);
    const said = parts.flatMap(({ refusal }) => feedbackIn(textOf(refusal)) ?? []);
    return [message, ...spoken({ ...message, metadata: undefined }, said)];
  });
}

function spoken(base: Message, texts: readonly string[]): Message[] {
  return texts.map((text) => ({ ...base, content: [{ type: "text", text }] }));
}

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
  return raw.map(storedMessage).flatMap(({ id, role, createdAt, metadata, modelInfo, content }, index) => {
    const { modelId, id: model } = asRecord(modelInfo);
    const base = { id, role, createdAt, metadata, modelInfo: { id: modelId ?? model } };
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
      return storedCall(part);
    case "tool_result":
      return [storedResult(part)];
    default:
      return [];
  }
}

function storedCall({ id, name, input }: Part): Part[] {
  const call = { type: "tool-call", toolCallId: id, toolName: name, input };
  const speech = asText(asRecord(input)[SPEECH_ARGUMENTS[textOf(name)] ?? ""]);
  return speech === undefined ? [call] : [{ type: "text", text: speech }, call];
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

function resultPart(toolCallId: unknown, toolName: unknown, output: unknown, isMarked = false): Part {
  const text = textOf(output).replace(RESULT, "");
  const refusal = storedRefusalOf(text || output, isMarked);
  const isError = isMarked || refusal !== undefined || opensWith(text, FAILURES);
  return { type: "tool-result", toolCallId, toolName, output, isError, refusal };
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
    if (/^think/.test(toolName)) return "";
    const input = Object.fromEntries(
      ["path", "command", "input", "patch", "diff", "content"].map((name) => [name, argumentOf(body, name)]),
    );
    calls.push({ type: "tool-call", toolCallId: `${index}-${calls.length}`, toolName, input });
    const speechArgument = SPEECH_ARGUMENTS[toolName];
    return speechArgument === undefined ? "" : (argumentOf(body, speechArgument) ?? "");
  });
  return [{ type: "text", text: speech.trim() }, ...calls];
}

function argumentOf(body: string, name: string): string | undefined {
  if (!body.includes(`<${name}>`)) return undefined;
  // What is written into a file may hold the closing tag.
  const end = /^(?:diff|content)$/.test(name) ? `(?:</${name}>(?![\\s\\S]*</${name}>)|$)` : `(?:</${name}>|$)`;
  return new RegExp(`<${name}>([\\s\\S]*?)${end}`).exec(body)?.[1]?.trim();
}

/** A result as the extension writes it into a text: it names its tool, and not which call it answers. */
interface WrittenResult {
  readonly toolName: unknown;
  output: string;
}

/** What a message of the extension's holds, in its order: words of the person's in their tag, and results. */
type Told = string | WrittenResult;

/** Returns what tools answered, as one message, and each thing that the person said as one of its own. */
function userMessages(base: Message, parts: readonly Part[], calls: readonly Part[]): Message[] {
  const told = toldIn(textsOf({ content: parts }), calls);
  const written = told.filter((entry) => typeof entry !== "string");
  const native = parts.filter((part) => part.type === "tool-result");
  const results = [...native, ...answersTo(calls, written)];
  const said = [...nativeResults(native, calls), ...told].flatMap(
    (entry) => (typeof entry === "string" ? entry : replyIn(textOf(entry.toolName), entry.output)) ?? [],
  );
  return results.length > 0 ? [{ ...base, role: "tool", content: results }, ...spoken(base, said)] : spoken(base, said);
}

function nativeResults(results: readonly Part[], calls: readonly Part[]): WrittenResult[] {
  const names = new Map(calls.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
  return results.map(({ toolCallId, output }) => ({
    toolName: names.get(toolCallId),
    output: textOf(output).replace(RESULT, ""),
  }));
}

function toldIn(texts: readonly string[], calls: readonly Part[]): Told[] {
  const told: Told[] = [];
  const bare: string[] = [];
  let awaited: WrittenResult | undefined;
  for (const text of texts) {
    const header = awaited === undefined ? RESULT.exec(text) : null;
    const result = header && { toolName: header[1] ?? header[2], output: text.slice(header[0].length) };
    const words = awaited === undefined && result === null ? wordsIn(text) : undefined;
    if (awaited !== undefined && !text.startsWith("<environment_details>")) awaited.output = text;
    else if (result) told.push(result);
    else if (words !== undefined) told.push(words);
    else if (!isHostPart(text)) bare.push(text);
    awaited = result?.output === "" ? result : undefined;
  }
  // Results with images have no header. Where no tool was called, what is left is the person's.
  if (calls.length > 0) addToResults(told, bare, calls);
  else if (told.length === 0) told.push(...bare.filter((text) => !opensWith(text, RESULT_PARTS)));
  return told;
}

function addToResults(told: Told[], texts: readonly string[], calls: readonly Part[]): void {
  const last = told.findLast((entry) => typeof entry !== "string");
  if (last !== undefined) last.output = [last.output, ...texts].join("\n");
  else if (texts.length > 0) told.push({ toolName: calls[0]?.toolName, output: texts.join("\n") });
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

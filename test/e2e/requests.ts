// What the tests ask about the requests that reached the model server.
import assert from "node:assert/strict";
import { type ChatMessage, type Recorded, texts } from "./model-server.ts";

const OPENING = "<palinode-memory>";
export const DIGEST = "## Palinode memory (session start)";

/** Asserts that `next` begins with every message of `previous`, byte for byte as they crossed the wire. */
export function assertExtends(previous: Recorded, next: Recorded, where = ""): void {
  const before = rawMessages(previous.body);
  const after = rawMessages(next.body);
  for (const [index, message] of before.entries()) {
    if (message !== after[index])
      assert.fail(`${where} message ${index} changed\n${difference(message, after[index])}`);
  }
}

/** Asserts that each request extends the one before it. */
export function assertChain(requests: Recorded[]): void {
  for (let index = 1; index < requests.length; index++) {
    assertExtends(requests[index - 1]!, requests[index]!, `request ${index - 1} to ${index}:`);
  }
}

/** The user messages that carry memory. */
export function memoryMessages(request: Recorded): string[] {
  return request.json.messages.filter(isMemory).map((message) => texts(message).join("\n"));
}

/** The messages that are not ours, byte for byte. */
export function hostMessages(request: Recorded): string[] {
  return rawMessages(request.body).filter((_, index) => !isMemory(request.json.messages[index]!));
}

/** How often a request's messages hold a text, wherever in them it is. */
export function count(request: Recorded, text: string): number {
  return request.json.messages.flatMap(texts).join("\n").split(text).length - 1;
}

/**
 * System prompt and tool definitions. Only the date in the system prompt is made equal: the host writes today's into
 * every session, and a run may cross midnight.
 */
export function systemAndTools(request: Recorded): { system: string; tools: unknown } {
  const system = request.json.messages
    .filter(({ role }) => role === "system")
    .flatMap(texts)
    .join("\n");
  return { system: system.replace(/^(\d+\. )?Date: .*$/m, "Date: today"), tools: request.json.tools ?? [] };
}

/** Asserts that a memory's token reached the model in memory messages, and nowhere that it could have leaked to. */
export function assertRemembered(request: Recorded, token: string): void {
  const memory = memoryMessages(request);
  assert.ok(
    memory.some((text) => text.includes(token)),
    `no memory message holds ${token}:\n${memory.join("\n---\n")}`,
  );
  const { system, tools } = systemAndTools(request);
  assert.ok(!system.includes(token), `the system prompt holds ${token}`);
  assert.ok(!JSON.stringify(tools).includes(token), `the tool definitions hold ${token}`);
  const others = request.json.messages.filter(
    (message) => message.role !== "user" && texts(message).join().includes(token),
  );
  assert.deepEqual(others, [], `${token} is outside user messages`);
}

function isMemory(message: ChatMessage): boolean {
  return message.role === "user" && texts(message).some((text) => text.startsWith(OPENING));
}

/** Cuts the `messages` array of a body into its elements without parsing them, so that not even an escape is lost. */
function rawMessages(body: string): string[] {
  const opening = '"messages":[';
  const elements: string[] = [];
  let depth = 0;
  let start = body.indexOf(opening) + opening.length;
  for (let at = start; at < body.length; at++) {
    const char = body[at]!;
    if (char === '"') at = endOfString(body, at);
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || (char === "]" && depth > 0)) depth--;
    else if ((char === "," || char === "]") && depth === 0) {
      elements.push(body.slice(start, at));
      start = at + 1;
      if (char === "]") break;
    }
  }
  return elements;
}

function endOfString(body: string, start: number): number {
  let at = start + 1;
  while (body[at] !== '"' && at < body.length) at += body[at] === "\\" ? 2 : 1;
  return at;
}

function difference(before: string, after = "(no message)"): string {
  let at = 0;
  while (before[at] === after[at]) at++;
  const around = (text: string): string => text.slice(Math.max(0, at - 60), at + 120);
  return `from byte ${at} on\n  before: …${around(before)}…\n  after:  …${around(after)}…`;
}

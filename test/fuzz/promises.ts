// What holds whatever a host, a server or a file says: the promises of DESIGN.md as checks on one hook call.
import assert from "node:assert/strict";
import type { Request } from "./network.ts";
import { PRIVATE, RECALLED, SECRETS } from "./values.ts";

/** Caps that the settings of a case put on what is injected. */
export interface Caps {
  readonly injectMaxChars: number;
  readonly recallMaxChars: number;
  readonly sessionMaxChars: number;
}

export const DEFAULT_CAPS: Caps = { injectMaxChars: 4000, recallMaxChars: 3000, sessionMaxChars: 24_000 };

interface Block {
  readonly id: string;
  readonly role: string;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly createdAt: number;
  readonly metadata: unknown;
}

/** Tags and markers that must not be readable in what memory says, hidden characters and odd letters aside. */
const FORGED_TAGS =
  "palinode|user_input|user_command|system|hook_context|environment_details|mode_notice|task\\b|invoke|parameter";
const FORGED = new RegExp(`<[\\s/]*(?:${FORGED_TAGS})|<\\||\\[\\s*SYSTEM\\b`, "i");
/** Tokens of chat templates, by their exact letters. */
const FORGED_TOKENS = /(?<!\w)<s>|<\/s>|<<\/?SYS>>|<start_of_turn>|\[\/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS)\]|\[gMASK\]/;

/**
 * Checks what `beforeModel` returned for a request: nothing, or the host's own messages as they are with blocks among
 * them. Returns the texts of the blocks.
 */
export function checkResult(host: readonly unknown[], result: unknown, caps: Caps): string[] {
  if (result === undefined) return [];
  assert.deepEqual(Object.keys(result as object), ["messages"], "only messages are returned");
  const { messages } = result as { messages: unknown[] };
  const texts: string[] = [];
  const ids = new Set<unknown>();
  let next = 0;
  for (const message of messages) {
    if (next < host.length && Object.is(message, host[next])) {
      next += 1;
      continue;
    }
    texts.push(checkBlock(message as Block, caps));
    ids.add((message as Block).id);
    const isLast = next === host.length;
    assert.ok(
      isLast || !callsTools(host[next - 1]),
      `a block between a tool call and its result: ${JSON.stringify(host.slice(next - 1, next + 1))}`,
    );
  }
  assert.equal(next, host.length, "all messages of the host, in order");
  assert.equal(ids.size, texts.length, "a block twice");
  assert.ok(texts.length > 0, "a result without a block says nothing");
  assert.ok(texts.join("").length <= caps.sessionMaxChars, "more alive than the session may have");
  return texts;
}

function checkBlock(block: Block, caps: Caps): string {
  const { id, role, content, createdAt, metadata, ...rest } = block;
  assert.deepEqual(
    [role, metadata, rest],
    ["user", { kind: "palinode-recall" }, {}],
    "a message that is neither the host's nor a block",
  );
  assert.match(id, /^palinode-(?:digest|recall|repair|notes)-[\w-]+$/);
  assert.ok(Number.isFinite(createdAt));
  assert.deepEqual(
    content.map((part) => Object.keys(part)),
    [["type", "text"]],
  );
  const text = content[0]?.text ?? "";
  const inside = /^<palinode-memory>\n(## Palinode [^\n]+)\n([\s\S]*)\n<\/palinode-memory>$/.exec(text);
  assert.ok(inside, `no whole block: ${JSON.stringify(text)}`);
  assert.ok(text.isWellFormed(), "half a character");
  const read = readable(inside[2] ?? "");
  assert.ok(!FORGED.test(read), `memory forges what is the host's: ${JSON.stringify(text)}`);
  assert.ok(!FORGED_TOKENS.test(read), `memory forges a token of a template: ${JSON.stringify(text)}`);
  assert.ok(
    !/[\u0000-\u0008\u000b-\u001f\u007f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/.test(text),
    "control characters",
  );
  const cap = inside[1]?.includes("session start") ? caps.injectMaxChars : caps.recallMaxChars;
  assert.ok(text.length <= cap, `${text.length} characters where ${cap} are allowed`);
  return text;
}

/** As a model may read it. */
function readable(text: string): string {
  return text.replace(/\p{Default_Ignorable_Code_Point}/gu, "").normalize("NFKC");
}

function callsTools(message: unknown): boolean {
  const content = (message as { content?: unknown } | null | undefined)?.content;
  return Array.isArray(content) && content.some((part) => (part as { type?: unknown } | null)?.type === "tool-call");
}

/** Checks what was sent: no secret, nothing private, nothing that memory said, and a token only where it may go. */
export function checkRequests(requests: readonly Request[], token = ""): void {
  for (const { url, text, path, headers } of requests) {
    const said = `${decodeURIComponent(url.href.replaceAll("+", " "))}\n${text}`;
    for (const word of [...SECRETS, PRIVATE]) assert.ok(!said.includes(word), `${word} was sent to ${path}: ${text}`);
    assert.ok(path !== "/session-end" || !text.includes(RECALLED), `memory was captured back: ${text}`);
    assert.ok(token === "" || !said.includes(token), `the token is in a request to ${path}`);
    const { summary } = JSON.parse(text || "{}") as { summary?: string };
    assert.ok(
      summary === undefined || (summary.length <= 1200 && summary.isWellFormed()),
      "a summary over its cap, or half a character",
    );
    assert.ok(headers.authorization === undefined || mayCarry(url), `the token was sent to ${url.origin}`);
  }
}

/** Written again, from RFC 1918, 3927, 4193 and 4291, and not from the client's own test. */
export function mayCarry({ protocol, hostname }: URL): boolean {
  const [a = 0, b = 0] = hostname.split(".").map(Number);
  const isPrivate4 =
    /^\d+(?:\.\d+){3}$/.test(hostname) &&
    (a === 127 ||
      a === 10 ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254) ||
      (a === 172 && b >= 16 && b <= 31));
  return (
    protocol === "https:" ||
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    isPrivate4 ||
    /^\[(?:::1|f[cd]..:.*|fe[89ab].:.*|::ffff:(?:7f|0?a)[0-9a-f]{2}:.*|::ffff:c0a8:.*)\]$/.test(hostname)
  );
}

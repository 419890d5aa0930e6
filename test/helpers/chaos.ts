// What the chaos run needs beside a scene: a clock that can be moved, a host that compacts and undoes, and the rules
// that hold after every step, whatever happened.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Palinode } from "../palinode/server.ts";
import { type Chat, createChat, injected, type Message, textOf, wire } from "./chat.ts";
import { present } from "./scene.ts";

declare const REPOSITORY: string;

export type Clock = {
  /** The plugin's file for a worker host, in which this clock rules: `Date`, and the times of files it writes. */
  readonly file: string;
  now(): number;
  move(ms: number): void;
};

/** Returns a clock that starts at the real time. Works across threads, through a file in `folder`. */
export function createClock(folder: string): Clock {
  const [file, offsetFile] = [join(folder, "plugin.mjs"), join(folder, "clock")];
  let offset = 0;
  const move = (ms: number): void => {
    offset += ms;
    writeFileSync(`${offsetFile}.new`, String(offset));
    renameSync(`${offsetFile}.new`, offsetFile);
  };
  writeFileSync(
    file,
    `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const RealDate = Date;
    const now = () => RealDate.now() + Number(fs.readFileSync(${JSON.stringify(offsetFile)}, "utf8"));
    globalThis.Date = class extends RealDate {
      constructor(...given) { super(...(given.length > 0 ? given : [now()])); }
      static now() { return now(); }
    };
    const write = fs.writeFileSync;
    fs.writeFileSync = (path, ...rest) => { write(path, ...rest); fs.utimesSync(path, new Date(), new Date()); };
    syncBuiltinESMExports();
    export default (await import(${JSON.stringify(`file://${join(REPOSITORY, "dist/palinode.js")}`)})).default;
  `,
  );
  move(0);
  return { file, now: () => Date.now() + offset, move };
}

/** A session as the host keeps it: its transcript, and how much of that a compaction has folded away. */
export type Talk = {
  readonly sessionId: string;
  readonly chat: Chat;
  /** What the host would send: the transcript, or its projection (test/recordings/hooks/compaction-*.jsonl). */
  request(): Message[];
  /** The number of prompts. */
  prompts(): number;
  /** Folds what there is, except what belongs to the newest prompts. */
  compact(kind: "agentic" | "basic"): void;
  /** Takes back everything from the prompt that is `back` prompts from the end. */
  undo(back: number): void;
  /** The same session as another conversation, as after a resume. */
  resumed(conversationId: string): Talk;
};

type Fold = { from: number; summary: (count: number) => Message };

export function createTalk(
  sessionId: string,
  conversationId: string,
  earlier?: { messages: readonly Message[]; fold: Fold | undefined },
): Talk {
  const chat = createChat({ conversationId, agentId: `agent of ${conversationId}` });
  for (const message of earlier?.messages ?? []) chat.add(message);
  let fold = earlier?.fold;
  let requests = 0;
  const promptIndexes = (): number[] =>
    chat.messages.flatMap((message, index) => (message.role === "user" ? [index] : []));
  return {
    sessionId,
    chat,
    request() {
      if (fold === undefined) return [...chat.messages];
      requests += 1;
      return [fold.summary(requests), ...chat.messages.slice(fold.from)];
    },
    prompts: () => promptIndexes().length,
    compact(kind) {
      const prompts = promptIndexes();
      const last = prompts.at(-1) ?? 0;
      const from = kind === "agentic" ? (prompts.at(-2) ?? 0) : last + 1;
      if (prompts.length >= 3)
        fold = { from, summary: (kind === "agentic" ? agenticSummary : basicSummary)(chat.messages.slice(0, from)) };
    },
    undo(back) {
      chat.messages.splice(promptIndexes().at(-back) ?? 0);
      if (fold !== undefined && fold.from > chat.messages.length) fold = undefined;
    },
    resumed: (id) => createTalk(sessionId, id, { messages: chat.messages, fold }),
  };
}

/** Another id and time on every request; content and `generatedAt` stay. */
function agenticSummary(folded: readonly Message[]): Fold["summary"] {
  const text = `Context summary:\n\nDone: ${folded.length} messages.`;
  const generatedAt = (folded.at(-1)?.createdAt ?? 0) + 1;
  return (count) => ({
    id: `msg_${folded.length}_${count}`,
    role: "user",
    content: [{ type: "text", text }],
    createdAt: generatedAt + count,
    metadata: {
      kind: "compaction_summary",
      displayRole: "system",
      userRunSpan: folded.length,
      summary: text,
      details: { readFiles: [], modifiedFiles: [] },
      generatedAt,
    },
  });
}

/** All prompts in one message with the first one's id. */
function basicSummary(folded: readonly Message[]): Fold["summary"] {
  const prompts = folded.filter((message) => message.role === "user");
  const notice = {
    type: "text",
    text: `<SYSTEM_NOTICE>\nEarlier context was compacted: ${folded.length} messages.</SYSTEM_NOTICE>`,
  };
  const content = prompts.flatMap((message, index) => [
    ...(index === prompts.length - 1 ? [notice] : []),
    ...(message.content as object[]),
  ]);
  return () => ({
    ...prompts[0],
    role: "user",
    content,
    metadata: {
      userRunSpan: prompts.length,
      kind: "compaction",
      reason: "auto_compaction",
      displayRole: "system",
      messagesRemoved: folded.length - 1,
    },
  });
}

/** What the host sent stays as it is, no block parts a call from its result, and no memory is twice in view. */
export function checkRequest(host: readonly Message[], sent: readonly Message[]): void {
  assert.deepEqual(
    wire(sent.filter((message) => injected([message]).length === 0)),
    wire(host),
    "the host's messages stay",
  );
  for (const [index, message] of sent.entries()) {
    const before = sent[index - 1]?.content as { type: string }[] | undefined;
    if (injected([message]).length > 0)
      assert.ok(!before?.some((part) => part.type === "tool-call"), "a block between a call and its result");
  }
  const blocks = injected(sent).map(textOf);
  const digests = blocks.filter((text) => text.includes("(session start)"));
  assert.ok(digests.length <= 1, "the digest twice");
  const shown = blocks
    .filter((text) => !digests.includes(text))
    .flatMap((text) => [
      // A day's notes and a status grow: those are the same memory only with the same words.
      ...[...text.matchAll(/^- \[([^\]]+)\].*$/gm)].map((match) => (match[1]?.startsWith("m/") ? match[1] : match[0])),
      // One whose file could not be read shows its description alone.
      ...[
        ...text.matchAll(
          /^### Trigger fired: (.+)\n(?!\(its text stands further up\)|.*\n\(the file could not be read\))/gm,
        ),
      ].map((match) => match[1]),
    ]);
  assert.deepEqual(shown.toSorted(), [...new Set(shown)].sort(), "a memory twice in view");
}

/** Neither a secret nor anything injected was sent; nothing was captured twice. */
export function checkServer(server: Palinode, forbidden: readonly string[], from = 0): void {
  for (const { path, text, query } of server.requests.slice(from)) {
    for (const word of forbidden)
      assert.ok(!`${text} ${JSON.stringify(query)}`.includes(word), `${word} in a body of ${path}`);
  }
  const captured = server.sessions.map(captureKey);
  assert.deepEqual(captured.toSorted(), [...new Set(captured)].sort(), "a capture twice");
}

/** Names one capture: its session and what it says. After an undo there may be two of so many prompts. */
export function captureKey(body: Record<string, unknown>): string {
  return `${String(body.session_id)} ${String(body.summary)}`;
}

/** Returns the files of the state folder as text by name; every one is whole and private. */
export function checkState(stateDir: string, secrets: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of present(() => readdirSync(stateDir, { recursive: true, withFileTypes: true })) ?? []) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const name = path.slice(stateDir.length + 1);
    // What goes on behind a hook may have moved a file meanwhile.
    const mode = present(() => statSync(path).mode & 0o777);
    const text = entry.isFile() ? present(() => readFileSync(path, "utf8")) : undefined;
    if (mode !== undefined) assert.equal(mode, entry.isFile() ? 0o600 : 0o700, `${name} is private`);
    if (text === undefined || name.endsWith(".tmp")) continue;
    assert.doesNotThrow(() => JSON.parse(text), `${name} is whole`);
    assert.ok(!name.endsWith(".bad"), `${name} was set aside`);
    for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} in ${name}`);
    files.set(name, text);
  }
  return files;
}

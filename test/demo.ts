// What `npm start` shows: a short session, played in the worker host of the tests, request by request. It talks to the
// server at PALINODE_API_URL when one answers there, else to the stand-in.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { commandOutput, createChat, injected, type Message, sent, sharedPrefix, textOf } from "./helpers/chat.ts";
import { createWorkerHost } from "./helpers/worker-host.ts";
import { type Palinode, startPalinode } from "./palinode/server.ts";

type Style = Parameters<typeof styleText>[0];

const isColourful = process.stdout.isTTY === true && !process.env.NO_COLOR;
const WIDTH = 108;

const server = await findServer();
const folder = mkdtempSync(join(tmpdir(), "palinode-demo-"));
const host = createWorkerHost({
  // A memory that somebody lives with is read, never written to.
  env: {
    PALINODE_CAPTURE_ENABLED: server.isOwn ? "0" : "1",
    PALINODE_API_URL: server.url,
    PALINODE_CLINE_STATE_DIR: folder,
    PALINODE_API_TOKEN: process.env.PALINODE_API_TOKEN ?? "",
    HOME: folder,
  },
  context: {
    session: { sessionId: `demo-${Date.now()}` },
    workspaceInfo: { rootPath: folder, associatedRemoteUrls: ["origin: https://example.com/acme/shop.git"] },
  },
  logger: true,
});
const chat = createChat();
let previous: Message[] = [];
let requests = 0;

try {
  const { name, importMs, setupMs } = await host.start();
  print(["bold"], `\n${name}: memory for a Cline session, as the model's provider sees it`);
  print(
    ["dim"],
    `server ${server.url} (${server.name}); import ${importMs.toFixed(0)} ms, setup ${setupMs.toFixed(0)} ms\n`,
  );
  await prompt(
    "How do we roll back a deploy of the api?",
    async () => void chat.answer("Run `deploy rollback api`, then check the health page."),
  );
  await prompt("The checkout test fails on CI, find out why", async () => {
    chat.tool(
      "run_commands",
      { commands: ["npm test checkout"] },
      commandOutput("npm test checkout", "AssertionError: expected 200 got 502", 1),
    );
    await request();
    chat.tool(
      "editor",
      { path: "src/checkout.ts", new_text: "…" },
      { query: "edit:src/checkout.ts", result: "ok", success: true },
    );
    await request();
    chat.answer("The payment client gave up after one try; it now retries three times.");
  });
  await prompt("ok", async () => void chat.answer("Anything else?"));
  await prompt(
    "How do we roll back a deploy of the api if the migration already ran?",
    async () => void chat.answer("Migrations stay; only the code goes back."),
  );
  await showCapture();
} finally {
  await host.dispose();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function prompt(words: string, answer: () => Promise<void>): Promise<void> {
  print(["cyan", "bold"], `▸ ${words}`);
  chat.say(words);
  await request();
  await answer();
  await host.afterRun(chat.afterRun());
}

async function request(): Promise<void> {
  const payload = chat.beforeModel();
  const { result, ms } = await host.beforeModel(payload);
  const messages = sent(payload, result);
  const kept = sharedPrefix(previous, messages);
  requests += 1;
  const prefix = previous.length === 0 ? "first request" : `${kept} of ${previous.length} earlier messages unchanged`;
  print(
    kept === previous.length ? ["green"] : ["red"],
    `  request ${requests}: ${messages.length - kept} new, ${prefix}, hook ${ms.toFixed(0)} ms`,
  );
  messages.slice(kept).forEach(show);
  for (const { entry } of host.logs.splice(0))
    print(["dim"], `    why: ${String(entry[0]).replace(/^palinode: /, "")}`);
  previous = messages;
}

function show(message: Message): void {
  if (injected([message]).length === 0) {
    const text = textOf(message) || String(message.role === "tool" ? "(tool result)" : "(tool call)");
    print([], clip(`    + ${message.role}: ${text.replace(/<[^>]+>/g, "")}`));
    return;
  }
  const lines = textOf(message).split("\n");
  print(["yellow"], `    + memory, ${textOf(message).length} characters`);
  for (const line of lines) print(["yellow"], clip(`      │ ${line}`));
}

async function showCapture(): Promise<void> {
  print(["cyan", "bold"], "▸ captured for the next session");
  const captures = server.captures();
  if (server.isOwn) print([], "    nothing: this server is yours, and a demo has no business in your memory");
  for (const capture of captures) {
    for (const line of String(capture.summary).split("\n")) print(["magenta"], clip(`      │ ${line}`));
    print(["dim"], `    POST /session-end, project ${String(capture.project)}, trigger ${String(capture.trigger)}`);
  }
  print(["dim"], "");
}

async function findServer(): Promise<{
  url: string;
  name: string;
  captures: () => Record<string, unknown>[];
  isOwn: boolean;
  stop: () => Promise<void>;
}> {
  const url = process.env.PALINODE_API_URL?.replace(/\/+$/, "");
  const health =
    url === undefined
      ? undefined
      : await fetch(`${url}/health`, { signal: AbortSignal.timeout(3000) })
          .then((answer) => answer.json())
          .catch(() => undefined);
  if (url !== undefined && health !== undefined)
    return {
      url,
      name: `palinode-api ${(health as { version?: string }).version}`,
      captures: () => [],
      isOwn: true,
      stop: async () => undefined,
    };
  const standIn: Palinode = await startPalinode({
    memories: [
      {
        file: "decisions/use-pnpm.md",
        core: true,
        summary: "pnpm for every package; npm lock files are refused by CI",
        body: "We use pnpm for every package.",
      },
      {
        file: "people/maria.md",
        core: true,
        summary: "owns the payment client and its retry policy",
        body: "Maria owns the payment client.",
      },
      {
        file: "insights/rollback.md",
        body: "To roll back a deploy of the api run `deploy rollback api`, never revert by hand.",
      },
      {
        file: "projects/session-end-2026-11-29-shop.md",
        type: "ProjectSnapshot",
        title: "Retries added to the payment client, CI still to be looked at",
        entities: ["project/shop"],
        body: "Session of yesterday.",
      },
      {
        file: "insights/payment-mock.md",
        body:
          "AssertionError expected 200 got 502 in npm test: the payment mock is not running, " +
          "start it with `make mock`.",
      },
      {
        file: "insights/checkout-502.md",
        body: "The checkout test fails on CI with 502 when the payment client does not retry.",
      },
    ],
    triggers: [{ description: "checkout test fails on CI", memory_file: "insights/checkout-502.md", threshold: 0.6 }],
  });
  return {
    url: standIn.url,
    name: "embedded stand-in",
    captures: () => standIn.sessions,
    isOwn: false,
    stop: () => standIn.close(),
  };
}

function clip(line: string): string {
  return line.length <= WIDTH ? line : `${line.slice(0, WIDTH - 1)}…`;
}

function print(style: Style[], line: string): void {
  const text = isColourful ? style.reduce((styled, each) => styleText(each, styled), line) : line;
  process.stdout.write(`${text}\n`);
}

// `status` in words: made from the very value that `--json` prints, and from nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChannelStatus, Status } from "../../src/desk/status.ts";
import { accountText, statusText } from "../../src/desk/status-text.ts";

const NOW = Date.UTC(2026, 0, 31, 12);
const MINUTE_MS = 60_000;

const SILENT: ChannelStatus = {
  isOn: true,
  lastSuccess: null,
  lastSilence: null,
  lastAt: null,
  calls: 0,
  medianMs: null,
};

const STATUS: Status = {
  version: "1.2.3",
  server: { url: "http://h:1", version: "0.23.0", status: "ok", embedder: "not ready", fix: "ollama pull bge-m3" },
  workspace: "/work",
  project: "",
  pausedSince: null,
  queue: { waiting: 2, refused: 1 },
  settings: [
    { name: "PALINODE_API_URL", value: "http://h:1", source: "environment" },
    { name: "PALINODE_HOOK_RECALL_TRIGGERS", value: "0", source: "user file" },
  ],
  differing: ["PALINODE_API_URL"],
  problems: ["x is no setting"],
  session: { id: "s1", at: timeBefore(119), leftOut: 3 },
  channels: {
    prime: { ...SILENT, lastSuccess: timeBefore(0), lastAt: timeBefore(0), calls: 1, medianMs: 12.4 },
    triggers: { ...SILENT, isOn: false },
    search: { ...SILENT, lastSilence: "too-short", lastAt: timeBefore(121), cause: "timeout", calls: 7, medianMs: 0 },
    capture: { ...SILENT, lastSuccess: timeBefore(3 * 1440), lastSilence: "denied", lastAt: timeBefore(47 * 60) },
  },
};

function timeBefore(minutes: number): string {
  return new Date(NOW - minutes * MINUTE_MS).toISOString();
}

test("status in words tells all that its data hold", () => {
  const expected = `palinode.js 1.2.3
server    http://h:1: 0.23.0, ok, embedder not ready
          ollama pull bge-m3
project   none
paused    no
queue     2 waiting, 1 refused
session   s1, 119 min ago, 3 memories left out for space
settings  PALINODE_API_URL = http://h:1 (environment)
          PALINODE_HOOK_RECALL_TRIGGERS = 0 (user file)
problem   x is no setting
differs   Cline's hub has other values than this shell for PALINODE_API_URL; to mend it: cline hub stop

channel   last success  last silence                  calls  median
prime     just now      –                             1      12 ms
triggers  off
search    never         too-short (timeout), 2 h ago  7      0 ms
capture   3 days ago    denied, 47 h ago              0      –`;
  assert.equal(statusText(STATUS, NOW), expected);
  assert.equal(statusText(JSON.parse(JSON.stringify(STATUS)) as Status, NOW), expected);
});

test("what is missing is told as missing", () => {
  const { server, ...rest } = STATUS;
  const bare = { ...rest, server: { url: server.url, status: "refused" }, session: null, differing: [], problems: [] };
  const text = statusText({ ...bare, project: "shop", pausedSince: timeBefore(5), settings: [], channels: {} }, NOW);
  assert.match(text, /^server +http:\/\/h:1: refused$/m);
  assert.match(text, /^project +shop$/m);
  assert.match(text, /^paused +since 2026-01-31T11:55:00\.000Z; to end it: /m);
  assert.match(text, /^session +none in this workspace yet$/m);
  assert.doesNotMatch(text, /settings|problem|differs|undefined/);
});

test("an account tells each memory with its match and size, and each silent channel with its reason", () => {
  const account = {
    at: NOW - 3 * MINUTE_MS,
    about: "roll back",
    shown: [
      { kind: "recall", path: "a.md", score: 0.554, chars: 120 },
      { kind: "recall", path: "", score: null, chars: 80 },
    ],
    chars: 300,
    silent: { triggers: "no-hits" },
  } as const;
  assert.equal(
    accountText(account, NOW),
    '3 min ago, "roll back": 2 memories, 300 characters\n' +
      "  recall a.md 55%, 120 characters\n  recall (resolved), 80 characters\n  triggers: no-hits",
  );
  assert.equal(accountText({ ...account, shown: [], chars: 0, silent: {} }, NOW), '3 min ago, "roll back": nothing');
});

// `import`: sends past sessions to Palinode, each once and again only when it changed. What a memory says of one is the
// work of `snapshot`.
import { setTimeout as sleep, setImmediate as yieldToEvents } from "node:timers/promises";
import { type Command, printJson, type Shell, UsageError, type Values } from "../base/shell.ts";
import { openState } from "../base/store.ts";
import { createClient } from "../server/index.ts";
import { readConfig } from "../settings/index.ts";
import {
  CHOICE,
  type Choice,
  candidates,
  listed,
  OUTLINES,
  projectNamer,
  readChoice,
  readCount,
  stateOf,
} from "./choose.ts";
import { type Kinship, kinshipsOf } from "./families.ts";
import { ITEMS_PER_YIELD } from "./import-each.ts";
import { openImportLedger } from "./import-ledger.ts";
import { countsText, dryRunJson, memoryText, progressOn } from "./import-report.ts";
import { createSend, type Send } from "./import-send.ts";
import { countLost, type ImportCounts, type Importer, importSessions } from "./import-sessions.ts";
import { type Kept, openKept } from "./kept.ts";
import type { Outline } from "./outline.ts";
import type { ListedSession, PastSession } from "./sessions.ts";
import { type Warn, warnOn } from "./warn.ts";

/** Without `--all`, the newest so many. */
const DEFAULT_LIMIT = 500;
const DEFAULT_MIN_PROMPTS = 2;
/** The exit code of a program that was interrupted. */
const INTERRUPTED = 130;

export const importCommand: Command = {
  usage: "[--dry-run] [--min-prompts N] [--project SLUG] [--since 7d] [--limit N] [--all] [--json]",
  help: "send past sessions to Palinode, each once: the newest 500, or --all; of 2 prompts at least",
  options: { ...CHOICE, "dry-run": { type: "boolean" }, "min-prompts": { type: "string" }, all: { type: "boolean" } },
  async run(shell, words, values) {
    if (words.length > 0) throw new UsageError("import takes no words; --project and --since choose sessions");
    const stop = new AbortController();
    const interrupt = (): void => stop.abort();
    process.once("SIGINT", interrupt);
    try {
      return await runImport(shell, values, stop.signal);
    } finally {
      process.off("SIGINT", interrupt);
    }
  },
};

/** Returns the exit code. Throws `UsageError`. */
async function runImport(shell: Shell, values: Values, signal: AbortSignal): Promise<number> {
  const isDry = values["dry-run"] === true;
  const isJson = values.json === true;
  const choice = readChoice([], values, values.all === true ? Infinity : DEFAULT_LIMIT);
  const live = liveImporter(shell, values, choice.project, signal);
  const bodies: unknown[] = [];
  const show: Show = (body) => (isJson ? bodies.push(body) : shell.out(memoryText(body)));
  const lost = { broken: 0 };
  const sessions = sessionsOf(shell, values, choice, countLost(live.warn, lost));
  const outlines = openKept(
    stateOf(shell, () => undefined),
    OUTLINES,
  );
  const kinships = await kinshipsAmong(sessions, outlines, live);
  outlines.save();
  const counts = await importSessions(sessions, { ...(isDry ? dryImporter(live, show) : live), kinships });
  counts.broken += lost.broken;
  if (!isDry) await live.ledger.prune(Date.now());
  if (isJson) printJson(shell, isDry ? dryRunJson(counts, bodies) : counts);
  else shell.out(countsText(counts, isDry));
  if (signal.aborted) live.warn("stopped; a rerun goes on from here");
  return exitCodeOf(counts, signal);
}

/** Returns the sessions of a choice, oldest first: what the server has newest is the newest session. */
function sessionsOf(shell: Shell, values: Values, choice: Choice, warn: Warn): PastSession[] {
  const sessions = candidates(shell, choice, warn);
  if (values.limit === undefined && sessions.length > choice.limit)
    warn(`only the newest ${choice.limit} of ${sessions.length} sessions; --all takes the rest`);
  return sessions.slice(0, choice.limit).reverse();
}

/** Returns what of the sessions is told with others of them. What cannot be read is told of when its turn comes. */
async function kinshipsAmong(
  sessions: readonly PastSession[],
  outlines: Kept<Outline>,
  importer: Importer,
): Promise<Map<string, Kinship>> {
  const { project, projectFor, signal } = importer;
  const members: ListedSession[] = [];
  for (const [index, past] of sessions.entries()) {
    // Reading is synchronous: an interrupt is heard here.
    if (index % ITEMS_PER_YIELD === 0) await yieldToEvents();
    if (signal.aborted) break;
    const session = listed(past, outlines, () => undefined);
    if (session === undefined || (project !== "" && projectFor(session) !== project)) continue;
    members.push(session);
  }
  return kinshipsOf(members);
}

function liveImporter(shell: Shell, values: Values, project: string, signal: AbortSignal): Importer {
  const { config, problems } = readConfig(null, shell.env, shell.cwd);
  const warn = warnOn(shell);
  for (const { text } of problems) warn(text);
  let quietMs = 0;
  const client = createClient(config, {
    onRateLimited: (ms) => {
      quietMs = ms;
    },
  });
  const clock = { now: Date.now, wait: (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined) };
  return {
    send: createSend({ client, clock, signal, quietMs: () => quietMs, warn }),
    ledger: openImportLedger(stateOf(shell, warn), config.apiUrl),
    minPrompts: readCount("min-prompts", values["min-prompts"], DEFAULT_MIN_PROMPTS),
    projectFor: projectNamer(shell.env),
    pauses: openState(config.stateDir),
    onDone: progressOn(shell),
    signal,
    project,
    warn,
  };
}

type Show = (body: Parameters<Send>[0]) => unknown;

/** Returns an importer that shows what it would send, and leaves no mark. */
function dryImporter(live: Importer, show: Show): Importer {
  return {
    ...live,
    send: async (body) => {
      show(body);
      return { kind: "sent" };
    },
    ledger: { ...live.ledger, add: () => undefined },
    onDone: () => undefined,
  };
}

function exitCodeOf({ refused }: ImportCounts, { aborted }: AbortSignal): number {
  if (aborted) return INTERRUPTED;
  return refused > 0 ? 1 : 0;
}

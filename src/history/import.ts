// `import`: sends past sessions to Palinode, each once and again only when it changed. What a memory says of one is the
// work of `snapshot`; of repositories, that of `import-git`.
import { setImmediate as yieldToEvents } from "node:timers/promises";
import { type Command, type Shell, UsageError, type Values } from "../base/shell.ts";
import { openState } from "../base/store.ts";
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
import { type Delivery, ITEMS_PER_YIELD } from "./import-each.ts";
import { importRepository } from "./import-git.ts";
import { openRun } from "./import-run.ts";
import { countLost, type Importer, importSessions } from "./import-sessions.ts";
import { type Kept, openKept } from "./kept.ts";
import type { Outline } from "./outline.ts";
import type { ListedSession, PastSession } from "./sessions.ts";
import type { Warn } from "./warn.ts";

/** Without `--all`, the newest so many. */
const DEFAULT_LIMIT = 500;
const DEFAULT_MIN_PROMPTS = 2;

export const importCommand: Command = {
  usage: "[--git [FOLDER]] [--dry-run] [--min-prompts N] [--project SLUG] [--since 7d] [--limit N] [--all] [--json]",
  help:
    "send past sessions to Palinode, each once: the newest 500, or --all; of 2 prompts at least; with --git what a " +
    "repository's README, CONTRIBUTING, decision records and last 300 commits say; look first with --dry-run",
  options: {
    ...CHOICE,
    git: { type: "boolean" },
    "dry-run": { type: "boolean" },
    "min-prompts": { type: "string" },
    all: { type: "boolean" },
  },
  async run(shell, words, values) {
    if (words.length > 0 && values.git !== true)
      throw new UsageError("import takes no words but a folder behind --git; --project and --since choose sessions");
    const stop = new AbortController();
    const interrupt = (): void => stop.abort();
    process.once("SIGINT", interrupt);
    try {
      if (values.git === true) return await importRepository(shell, words, values, stop.signal);
      return await runImport(shell, values, stop.signal);
    } finally {
      process.off("SIGINT", interrupt);
    }
  },
};

/** Returns the exit code. Throws `UsageError`. */
async function runImport(shell: Shell, values: Values, signal: AbortSignal): Promise<number> {
  const choice = readChoice([], values, values.all === true ? Infinity : DEFAULT_LIMIT);
  const run = openRun(shell, values, signal);
  const importer = importerOf(shell, values, choice.project, run);
  const lost = { broken: 0 };
  const sessions = sessionsOf(shell, values, choice, countLost(run.warn, lost));
  const outlines = openKept(
    stateOf(shell, () => undefined),
    OUTLINES,
  );
  const kinships = await kinshipsAmong(sessions, outlines, importer);
  outlines.save();
  const counts = await importSessions(sessions, { ...importer, kinships });
  counts.broken += lost.broken;
  await run.ledger.prune(Date.now());
  return run.finish(counts);
}

function importerOf(shell: Shell, values: Values, project: string, delivery: Delivery): Importer {
  const { config } = readConfig(null, shell.env, shell.cwd);
  return {
    ...delivery,
    minPrompts: readCount("min-prompts", values["min-prompts"], DEFAULT_MIN_PROMPTS),
    projectFor: projectNamer(shell.env),
    pauses: openState(config.stateDir),
    project,
  };
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

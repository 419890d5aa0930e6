// `import`: sends past sessions to Palinode, each once and again only when it changed. Which ones is the work of
// `history`, what a memory says that of `snapshot`.
import { setTimeout as sleep } from "node:timers/promises";
import { asRecord, asText } from "../base/json.ts";
import { type Command, plainText, printJson, type Shell, UsageError, type Values } from "../base/shell.ts";
import { fileStem, noState, openState, type State } from "../base/store.ts";
import { digestOf } from "../base/text.ts";
import { type Client, createClient, PalinodeError, type Reason, reasonOf } from "../server/index.ts";
import { readConfig } from "../settings/index.ts";
import { CHOICE, candidates, projectNamer, readChoice, readCount, warner } from "./list.ts";
import { attempt, type PastSession, readSession, type Warn } from "./sessions.ts";
import { memoryOf } from "./snapshot.ts";

/** Without `--all`, the newest so many. */
const DEFAULT_LIMIT = 500;
const DEFAULT_MIN_PROMPTS = 2;
/** The server's budget for `/save` (palinode-api.md, 3.1), and its window with a second for the way. */
const MAX_WRITES = 30;
const WINDOW_MS = 61_000;
/** A server may embed before it answers. */
const SAVE_TIMEOUT_MS = 60_000;
const MAX_TRIES = 5;
/** A server that wants more quiet than this is not waited for. */
const MAX_QUIET_MS = 5 * 60_000;
/** So many in a row without a usable answer: it is the server, not the session. */
const MAX_FAILURES = 3;
const REPORT_EVERY = 20;
const BAR_CHARS = 24;
/** What no other session would fare better with, and what to do about it. */
const HOPELESS: Partial<Record<Reason, string>> = {
  refused: "start palinode-api, or set PALINODE_API_URL",
  dns: "look at PALINODE_API_URL",
  unauthorized: "look at PALINODE_API_TOKEN",
  denied: "the server's policy forbids it",
  "rate-limited": "the server wants quiet; try again later",
};

/** Time, passed in so that a test need not wait. */
export interface Clock {
  now(): number;
  /** Resolves after so many milliseconds, or when the import is stopped. */
  wait(ms: number): Promise<unknown>;
}

/** How many sessions became what. */
interface ImportCounts {
  sent: number;
  unchanged: number;
  too_short: number;
  broken: number;
  refused: number;
  /** Only where it ended early: the reason code or "interrupted", and how many sessions were not come to. */
  stopped?: string;
  left?: number;
}

export interface Importer {
  readonly client: Client;
  /** Where marks of what was sent are kept; `folder` is the server's own. */
  readonly state: State;
  readonly folder: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly minPrompts: number;
  readonly projectFor: ReturnType<typeof projectNamer>;
  /** A project that others are left out for, or "". */
  readonly project: string;
  readonly warn: Warn;
  /** Milliseconds that the server last asked to be left alone for. */
  readonly quietMs: () => number;
  /** Hears after each session how many are done. */
  readonly onDone: (done: number, total: number) => void;
}

/** Sends sessions in the order given until they are done, the signal says stop or the server is no use. Never rejects. */
export async function importSessions(sessions: readonly PastSession[], importer: Importer): Promise<ImportCounts> {
  const { state, clock, signal, onDone } = importer;
  const counts: ImportCounts = { sent: 0, unchanged: 0, too_short: 0, broken: 0, refused: 0 };
  const warn: Warn = (text, isLost) => ((counts.broken += isLost ? 1 : 0), importer.warn(text));
  const pace = createPace(clock);
  let failures = 0;

  for (const [index, session] of sessions.entries()) {
    // Reading is synchronous: an interrupt is heard here.
    if (index % REPORT_EVERY === 0) await clock.wait(0);
    if (signal.aborted) return { ...counts, stopped: "interrupted", left: sessions.length - index };
    const prepared = attempt(session.file, warn, () => prepare(session, importer, warn));
    if (typeof prepared === "string") counts[prepared] += 1;
    const error = typeof prepared === "object" ? await save(importer, pace, prepared.body) : undefined;
    if (signal.aborted && error !== undefined)
      return { ...counts, stopped: "interrupted", left: sessions.length - index };
    if (error !== undefined) {
      counts.refused += 1;
      failures += isTrouble(error) ? 1 : 0;
      const { said, status, message } =
        error instanceof PalinodeError ? error : new PalinodeError("/save", reasonOf(error));
      importer.warn(`${session.id} was refused: ${said === undefined ? message : `HTTP ${status}, ${said}`}`);
      const advice =
        HOPELESS[reasonOf(error)] ??
        (failures === MAX_FAILURES ? "the server does not answer as it should" : undefined);
      if (advice !== undefined) {
        const left = sessions.length - index - 1;
        importer.warn(`stopped with ${left} left: ${advice}. A rerun goes on from here.`);
        return { ...counts, stopped: reasonOf(error), left };
      }
    } else if (typeof prepared === "object") {
      counts.sent += 1;
      failures = 0;
      state.write(markName(importer, session), prepared.print);
    }
    onDone(index + 1, sessions.length);
  }
  return counts;
}

/** Returns undefined when the server has it, else why not. Waits where the server wants that. */
async function save(
  { client, clock, signal, quietMs, warn }: Importer,
  pace: () => Promise<void>,
  body: Record<string, unknown>,
): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    await pace();
    if (signal.aborted) return signal;
    try {
      const { rel_path, file_path } = asRecord(
        await client.post("/save", body, { timeoutMs: SAVE_TIMEOUT_MS, signal }),
      );
      // Something else that answers at this address has stored nothing.
      return (asText(rel_path) ?? asText(file_path)) === undefined
        ? new PalinodeError("/save", "bad-response", undefined, "no receipt")
        : undefined;
    } catch (error) {
      const ms = quietMs();
      if (signal.aborted || reasonOf(error) !== "rate-limited" || tries === MAX_TRIES || ms > MAX_QUIET_MS)
        return error;
      warn(`the server has had enough for now; going on in ${Math.ceil(ms / 1000)} s`);
      await clock.wait(ms);
    }
  }
}

export const importCommand: Command = {
  usage: "[--dry-run] [--min-prompts N] [--project SLUG] [--since 7d] [--limit N] [--all] [--json]",
  help: "send past sessions to Palinode, each once: the newest 500, or --all; of 2 prompts at least",
  options: { ...CHOICE, "dry-run": { type: "boolean" }, "min-prompts": { type: "string" }, all: { type: "boolean" } },
  async run(shell, words, values) {
    if (words.length > 0) throw new UsageError("import takes no words; --project and --since choose sessions");
    const choice = readChoice([], values, values.all === true ? Infinity : DEFAULT_LIMIT);
    const bodies: unknown[] = [];
    const stop = new AbortController();
    const interrupt = (): void => stop.abort();
    const live = liveImporter(shell, values, choice.project, stop.signal);
    const isDry = values["dry-run"] === true;
    const importer = isDry
      ? dry(live, (body) => void (values.json === true ? bodies.push(body) : shell.out(shown(body))))
      : live;
    let lost = 0;
    const all = candidates(shell, choice, (text, isLost) => ((lost += isLost ? 1 : 0), live.warn(text)));
    if (values.limit === undefined && all.length > choice.limit)
      live.warn(`only the newest ${choice.limit} of ${all.length} sessions; --all takes the rest`);
    process.once("SIGINT", interrupt);
    // Oldest first: what the server has newest is the newest session.
    const counts = await importSessions(all.slice(0, choice.limit).reverse(), importer);
    process.off("SIGINT", interrupt);
    counts.broken += lost;
    const { sent, stopped, ...others } = counts;
    if (values.json === true) printJson(shell, isDry ? { would_send: bodies, ...others, stopped } : counts);
    else
      shell.out(
        `${isDry ? "would send" : "sent"} ${sent}, ${Object.entries(others)
          .map(([name, count]) => `${name.replace("_", " ")} ${count}`)
          .join(", ")}\n`,
      );
    if (stop.signal.aborted) live.warn("stopped; a rerun goes on from here");
    return stop.signal.aborted ? 130 : counts.refused > 0 ? 1 : 0;
  },
};

function liveImporter(shell: Shell, values: Values, project: string, signal: AbortSignal): Importer {
  const { config, problems } = readConfig(null, shell.env, shell.cwd);
  const warn = warner(shell);
  for (const { text } of problems) warn(text);
  let quietMs = 0;
  return {
    client: createClient(config, (ms) => (quietMs = ms)),
    state: config.persist ? openState(config.stateDir, warn) : noState,
    folder: `imports/${digestOf(config.apiUrl)}`,
    clock: { now: Date.now, wait: (ms) => sleep(ms, undefined, { signal }).catch(() => undefined) },
    minPrompts:
      values["min-prompts"] === undefined ? DEFAULT_MIN_PROMPTS : readCount("min-prompts", values["min-prompts"]),
    projectFor: projectNamer(shell.env),
    quietMs: () => quietMs,
    onDone: progress(shell),
    signal,
    project,
    warn,
  };
}

/** Returns an importer that shows what it would send, and neither waits nor leaves a mark. */
function dry(live: Importer, show: (body: Record<string, unknown>) => void): Importer {
  const clock = { now: live.clock.now, wait: () => live.clock.wait(0) };
  return {
    ...live,
    clock,
    client: { ...live.client, post: async (_, body) => (show(body), { rel_path: body.slug }) },
    state: { ...live.state, write: () => true },
    onDone: () => undefined,
  };
}

interface Prepared {
  readonly body: Record<string, unknown>;
  /** Changes when the session does, and not when this code makes something else of it. */
  readonly print: string;
}

/** Returns what to send, what a session counts as instead, or undefined for one that is none of those asked for. */
function prepare(
  session: PastSession,
  importer: Importer,
  warn: Warn,
): Prepared | "unchanged" | "too_short" | undefined {
  const { state, minPrompts, project, projectFor } = importer;
  const read = readSession(session, warn);
  if (read === undefined || (project !== "" && projectFor(read) !== project)) return undefined;
  if (read.prompts.length < minPrompts) return "too_short";
  const { title, cwd, startedAt, endedAt, model, messages, summary } = read;
  const print = digestOf(JSON.stringify([title, cwd, startedAt, endedAt, model, messages, summary]));
  return state.read(markName(importer, session)) === print
    ? "unchanged"
    : { body: memoryOf(read, projectFor(read)), print };
}

function markName({ folder }: Importer, { id }: PastSession): string {
  return `${folder}/${fileStem(id)}.json`;
}

/** No usable answer, as opposed to a refusal of this one text. */
function isTrouble(error: unknown): boolean {
  return !(error instanceof PalinodeError && [400, 413, 422].includes(error.status ?? 0));
}

/** Returns a function that resolves when the next write may go out. */
function createPace({ now, wait }: Clock): () => Promise<void> {
  const writes: number[] = [];
  return async () => {
    const earliest = writes.length < MAX_WRITES ? 0 : (writes.shift() ?? 0) + WINDOW_MS;
    if (earliest > now()) await wait(earliest - now());
    writes.push(now());
  };
}

/** Returns a listener that draws a bar with rate and time left on a terminal, and elsewhere writes a line per 20. */
function progress(shell: Shell): (done: number, total: number) => void {
  const start = Date.now();
  return (done, total) => {
    const minutes = (Date.now() - start) / 60_000;
    const left = Math.ceil(Math.max((minutes / done) * (total - done), (total - 1) / MAX_WRITES - 1 - minutes));
    const text = `${done} of ${total}, ${Math.round(done / Math.max(minutes, 1 / 60))} a minute, ${left} min left`;
    const filled = Math.round((done / total) * BAR_CHARS);
    if (shell.isTerminal)
      shell.err(
        `\r\u001b[K${"█".repeat(filled)}${"░".repeat(BAR_CHARS - filled)} ${text}${done === total ? "\n" : ""}`,
      );
    else if (done % REPORT_EVERY === 0) shell.err(`${text}\n`);
  };
}

function shown({ slug, title, content, entities, metadata }: Record<string, unknown>): string {
  return `${plainText(`# ${slug}: ${title}\n${JSON.stringify({ entities, metadata })}\n${content}`)}\n\n`;
}

// `history`: which past sessions a command is about, and the list of them. Finding and reading them is the work of `past`.
import { type Command, plainText, printJson, type Shell, styled, UsageError, type Values } from "../base/shell.ts";
import { oneLine } from "../base/text.ts";
import { isoTime, localTime } from "../base/time.ts";
import { bareWords, textsOf } from "../cline/index.ts";
import { projectOf, projectSlug, readConfig } from "../settings/index.ts";
import {
  findSessions,
  lastAt,
  type PastSession,
  type ReadSession,
  readSession,
  resumeLine,
  type Warn,
} from "./sessions.ts";

/** A screenful; what reads a pipe wants them all. */
const SCREEN_LIMIT = 20;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3600_000, d: 24 * 3600_000, w: 7 * 24 * 3600_000 };

/** Options that say which sessions. */
export const CHOICE = {
  project: { type: "string" },
  since: { type: "string" },
  limit: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Which sessions a command is about. */
interface Choice {
  /** A slug, or "" for every project. */
  readonly project: string;
  /** Epoch milliseconds. */
  readonly since: number;
  readonly limit: number;
  /** In lower case; a session has to have them all. */
  readonly words: readonly string[];
}

export const history: Command = {
  usage: "[QUERY] [--project SLUG] [--since 7d] [--limit N] [--json]",
  help: "list Cline's past sessions, newest first",
  options: CHOICE,
  async run(shell, words, values) {
    const choice = readChoice(words, values, shell.isTerminal && values.json !== true ? SCREEN_LIMIT : Infinity);
    const projectFor = projectNamer(shell.env);
    const rows: unknown[] = [];
    let count = 0;
    for (const session of chosen(shell, choice)) {
      count += 1;
      if (values.json === true) rows.push(rowOf(session, projectFor(session)));
      else shell.out(listed(shell, session, projectFor(session)));
    }
    if (values.json === true) printJson(shell, rows);
    else if (count === 0) shell.err("palinode: no session found\n");
    else if (count === choice.limit) shell.err(`The newest ${count}; --limit N shows more.\n`);
    return 0;
  },
};

/** Returns which sessions the words and options of a command mean. Throws `UsageError`. */
export function readChoice(words: readonly string[], { project, since, limit }: Values, defaultLimit: number): Choice {
  const slug = projectSlug(String(project ?? ""));
  // "" would mean every project, which nobody asked for.
  if (project !== undefined && slug === "")
    throw new UsageError("--project takes a name with letters from a to z, or digits");
  return {
    project: slug,
    since: since === undefined ? 0 : readSince(String(since)),
    limit: limit === undefined ? defaultLimit : readCount("limit", limit),
    words: words
      .join(" ")
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== ""),
  };
}

/** Returns a whole number of one or more. Throws `UsageError`. */
export function readCount(option: string, value: string | boolean): number {
  if (!/^[1-9]\d{0,8}$/.test(String(value))) throw new UsageError(`--${option} takes a whole number from 1`);
  return Number(value);
}

/** Returns the sessions of a choice by what their manifests say, newest first; `limit` and `words` are left to the caller. */
export function candidates(shell: Shell, { project, since }: Choice, warn: Warn): PastSession[] {
  const projectFor = projectNamer(shell.env);
  // Old tasks may tell their folder only in their messages.
  const fits = (session: PastSession): boolean =>
    project === "" || session.cwd === undefined || projectFor(session) === project;
  return findSessions(shell.env, warn).filter((session) => lastAt(session) >= since && fits(session));
}

/** Yields the sessions of a choice with what was said, newest first, one in memory at a time. */
export function* chosen(shell: Shell, choice: Choice): Generator<ReadSession> {
  const { project, limit, words } = choice;
  const projectFor = projectNamer(shell.env);
  const warn = warner(shell);
  let left = limit;
  for (const session of candidates(shell, choice, warn)) {
    const read = left > 0 ? readSession(session, warn) : undefined;
    if (read === undefined || read.messages.length === 0) continue;
    if ((project !== "" && projectFor(read) !== project) || !hasAll(read, words)) continue;
    left -= 1;
    yield read;
  }
}

/** Returns the project of a session as its captures would name it. */
export function projectNamer(env: NodeJS.ProcessEnv): (session: Pick<PastSession, "cwd" | "remoteUrls">) => string {
  const known = new Map<string, string>();
  return ({ cwd, remoteUrls }) => {
    const key = [cwd, ...remoteUrls].join("\n");
    const slug = known.get(key) ?? projectOf(readConfig(null, env, cwd).config.project, cwd, remoteUrls);
    known.set(key, slug);
    return slug;
  };
}

/** Returns a listener that tells the command line's error output, over a progress bar where one may be drawn. */
export function warner(shell: Shell): Warn {
  return (text) => shell.err(`${shell.isTerminal ? "\r\u001b[K" : ""}palinode: ${plainText(text)}\n`);
}

function hasAll(session: ReadSession, words: readonly string[]): boolean {
  const answers = session.messages.filter((message) => message.role === "assistant").flatMap(textsOf);
  const text = [session.title, ...session.prompts.map(bareWords), ...answers, session.summary].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

function rowOf(session: ReadSession, project: string) {
  const { id, title, prompts, cwd, model, startedAt, endedAt, editor, file } = session;
  return {
    id,
    title,
    project,
    prompts: prompts.length,
    when: isoTime(lastAt(session)),
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
    cwd,
    model,
    source: editor ?? "cline",
    resume: resumeLine(session),
    file,
  };
}

function listed(shell: Shell, session: ReadSession, project: string): string {
  const count = session.prompts.length;
  const parts = [
    localTime(lastAt(session)),
    project || "-",
    styled(shell, "bold", plainText(session.title)),
    `${count} ${count === 1 ? "prompt" : "prompts"}`,
  ];
  return `${parts.join("  ")}\n  ${plainText(oneLine(session.id))}  ${styled(shell, "dim", plainText(oneLine(resumeLine(session))))}\n`;
}

function readSince(text: string): number {
  const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const at = unit === undefined ? Date.parse(text) : Date.now() - Number(count) * (UNIT_MS[unit] ?? 0);
  // `Date.parse` takes nearly anything for a date: 5 for May 2001.
  if (Number.isNaN(at) || (unit === undefined && !/^\d{4}-\d\d-\d\d(?:[T ][\d:.Z+-]+)?$/.test(text)))
    throw new UsageError("--since takes a date as 2026-01-31, or 24h, 7d, 2w");
  return at;
}

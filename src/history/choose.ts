// Which past sessions a command is about, by its words and options.
import { type Shell, UsageError, type Values } from "../base/shell.ts";
import { noState, openState, type State } from "../base/store.ts";
import { bareWords, textsOf } from "../cline/index.ts";
import { projectOf, projectSlug, readConfig } from "../settings/index.ts";
import { findSessions } from "./find.ts";
import { type Kept, type Kind, openKept } from "./kept.ts";
import { filledIn, isOutline, type Outline, outlineOf } from "./outline.ts";
import { readSession } from "./read.ts";
import { type ListedSession, lastAt, type PastSession, type ReadSession } from "./sessions.ts";
import { type Warn, warnOn } from "./warn.ts";

const HOUR_MS = 3_600_000;
const UNIT_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };

/** Options that say which sessions. */
export const CHOICE = {
  project: { type: "string" },
  since: { type: "string" },
  limit: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Which sessions a command is about. */
export interface Choice {
  /** A slug, or "" for every project. */
  readonly project: string;
  /** Epoch milliseconds. */
  readonly since: number;
  readonly limit: number;
  /** In lower case; a session has to have them all. */
  readonly words: readonly string[];
}

/** Returns the project of a session as its captures would name it. */
export type ProjectFor = (session: Pick<PastSession, "cwd" | "remoteUrls">) => string;

/** Returns whether a session is wanted, beside what the choice says. */
export type Fits = (session: ListedSession, warn: Warn) => boolean;

/** The outlines that are kept of sessions. */
export const OUTLINES: Kind<Outline> = { file: "history.json", make: outlineOf, is: isOutline };

/** Returns which sessions the words and options of a command mean. Throws `UsageError`. */
export function readChoice(words: readonly string[], { project, since, limit }: Values, defaultLimit: number): Choice {
  return {
    project: readProject(project),
    since: readSince(since),
    limit: readCount("limit", limit, defaultLimit),
    words: words.flatMap((word) => word.toLowerCase().split(/\s+/)).filter((word) => word !== ""),
  };
}

/** Returns the whole number of one or more that an option says, or the default. Throws `UsageError`. */
export function readCount(option: string, value: Values[string], defaultCount: number): number {
  if (value === undefined) return defaultCount;
  if (!/^[1-9]\d{0,8}$/.test(String(value))) throw new UsageError(`--${option} takes a whole number from 1`);
  return Number(value);
}

/** Returns the sessions of a choice by their manifests, newest first; `limit` and `words` are left to the caller. */
export function candidates(shell: Shell, { project, since }: Choice, warn: Warn): PastSession[] {
  const projectFor = projectNamer(shell.env);
  // Old tasks may tell their folder only in their messages.
  const fits = (session: PastSession): boolean =>
    project === "" || session.cwd === undefined || projectFor(session) === project;
  return findSessions(shell.env, warn).filter((session) => lastAt(session) >= since && fits(session));
}

/** Yields the sessions of a choice that fit, newest first. Reads those that changed, or all where words are given. */
export function* chosen(shell: Shell, choice: Choice, fits: Fits = () => true): Generator<ListedSession> {
  const { project, limit, words } = choice;
  const projectFor = projectNamer(shell.env);
  const warn = warnOn(shell);
  const outlines = openKept(
    stateOf(shell, () => undefined),
    OUTLINES,
  );
  let left = limit;
  for (const candidate of candidates(shell, choice, warn)) {
    if (left === 0) break;
    const session = words.length === 0 ? listed(candidate, outlines, warn) : readWithWords(candidate, words, warn);
    if (session === undefined || (project !== "" && projectFor(session) !== project)) continue;
    if (!fits(session, warn)) continue;
    left -= 1;
    yield session;
  }
  outlines.save();
}

/** Returns a session with what its file says, or undefined where that holds none. */
export function listed(past: PastSession, outlines: Kept<Outline>, warn: Warn): ListedSession | undefined {
  const outline = outlines.of(past, warn);
  return outline && { ...filledIn(past, outline), outline };
}

/** Returns what the plugin keeps on disk; nothing where nothing is to be kept. */
export function stateOf(shell: Shell, onTrouble: (what: string) => void): State {
  const { config } = readConfig(null, shell.env, shell.cwd);
  return config.persist ? openState(config.stateDir, onTrouble) : noState;
}

/** Returns a session whose title or conversation holds all the words, without what was said in it. */
function readWithWords(past: PastSession, words: readonly string[], warn: Warn): ListedSession | undefined {
  const session = readSession(past, warn);
  if (session === undefined || session.messages.length === 0 || !hasAll(session, words)) return undefined;
  return { ...filledIn(past, session.gist), outline: outlineOf(session) };
}

/** Returns a function that names a session's project, and looks at each folder once. */
export function projectNamer(env: NodeJS.ProcessEnv): ProjectFor {
  const slugs = new Map<string, string>();
  return ({ cwd, remoteUrls }) => {
    const key = [cwd, ...remoteUrls].join("\n");
    const slug = slugs.get(key) ?? projectOf(readConfig(null, env, cwd).config.project, cwd, remoteUrls);
    slugs.set(key, slug);
    return slug;
  };
}

function hasAll(session: ReadSession, words: readonly string[]): boolean {
  const answers = session.messages.filter((message) => message.role === "assistant").flatMap(textsOf);
  const text = [session.title, ...session.prompts.map(bareWords), ...answers, session.summary].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

function readProject(value: Values[string]): string {
  if (value === undefined) return "";
  const slug = projectSlug(String(value));
  // "" would mean every project, which nobody asked for.
  if (slug === "") throw new UsageError("--project takes a name with letters from a to z, or digits");
  return slug;
}

function readSince(value: Values[string]): number {
  if (value === undefined) return 0;
  const text = String(value);
  const [, count, unit = ""] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return Date.now() - Number(count) * unitMs;
  // A day alone would be one of Greenwich's; the list shows the local one.
  const at = Date.parse(/^[\d-]+$/.test(text) ? `${text}T00:00` : text);
  // `Date.parse` takes nearly anything for a date: 5 for May 2001.
  if (Number.isNaN(at) || !/^\d{4}-\d\d-\d\d(?:[T ][\d:.Z+-]+)?$/.test(text))
    throw new UsageError("--since takes a date as 2026-01-31, or 24h, 7d, 2w");
  return at;
}

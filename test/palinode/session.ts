// POST /session-end of the stand-in Palinode: always an entry in the daily note, and mostly a file of its own.
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { embed } from "./embedding.ts";
import type { Summary } from "./envelope.ts";
import { complaint, summaryComplaint } from "./envelope.ts";
import { chunksOf, memoriesIn, similarity, updatedAt } from "./memory.ts";
import { slugify, sourceOf, unsafe, writeMemory } from "./save.ts";
import type { Call, Fields, Store } from "./store.ts";
import { enforce, HttpError, projectOf, since, slugOf, timestamp } from "./store.ts";

type Session = Fields & Summary;
type Note = { project: string | null; day: string; entry: string; source: string };

const AUTOMATIC_TRIGGERS = ["session-end-hook", "clear-fallback-hook", "sigterm", "exit"];
const AUTOMATIC_SOURCES = ["claude-code-hook", "pi-extension", "cline-plugin", "openclaw-plugin"];
const DEDUP_SIMILARITY = 0.85;
const DEDUP_WINDOW_MS = 60 * 60_000;
const DAY_WORD = /(\b(?:on|since|until|by|from|after|before|of|in|at) )?\b(yesterday|today|tomorrow)\b/gi;
const DAY_MS = 24 * 60 * 60_000;
const LABELS = {
  harness: "Harness",
  cwd: "CWD",
  model: "Model",
  trigger: "Trigger",
  session_id: "Session ID",
  duration_seconds: "Duration",
};

export function sessionEnd(store: Store, fields: Fields, call: Call): unknown {
  const given = fields as Session;
  const source = sourceOf(given, call);
  enforce(store, "capture", { ...given, automatic: isAutomatic(given, source) });
  const refused = summaryComplaint(given);
  if (refused !== undefined) throw new HttpError(400, refused);
  const project = projectSlug(store, given);
  const session = withDates(store, given);
  const entry = entryOf(store, session, source);
  const day = timestamp(store).slice(0, 10);
  const statusFile = `projects/${project}-status.md`;
  const answer = {
    daily_file: `daily/${day}.md`,
    status_file: store.memories.has(statusFile) ? statusFile : null,
    individual_file: null,
    entry,
    committed: false,
    pushed: false,
  };
  if (given.dry_run === true) return { dry_run: true, ...answer };
  store.sessions.push(given);
  append(store, answer.daily_file, `\n${entry}\n`);
  if (answer.status_file !== null)
    append(store, statusFile, `\n- [${day}] ${session.summary.split(/\s+/).join(" ")}\n`);
  const twin = nearDuplicate(store, entry);
  if (twin !== undefined) return { ...answer, deduplicated_against: twin };
  return { ...answer, individual_file: writeSession(store, session, { project, day, entry, source }) };
}

function isAutomatic({ automatic, trigger }: Session, source: string): boolean {
  return (
    automatic === true ||
    AUTOMATIC_TRIGGERS.includes(String(trigger)) ||
    AUTOMATIC_SOURCES.includes(source.trim().toLowerCase())
  );
}

/** Before 0.21 whatever came as `project` was taken as it is, and the folder slugged. */
function projectSlug(store: Store, { project: given, cwd }: Session): string | null {
  if (!since(store, "0.21")) {
    if (typeof given === "string" && given !== "") return given;
    return typeof cwd === "string" ? slugOf(basename(cwd)) : null;
  }
  const project = projectOf(store, { project: given, cwd })?.replace(/^project\//, "") ?? null;
  if (project === null || /^(?!.*\.\.)[A-Za-z0-9._-]+$/.test(project)) return project;
  throw new HttpError(400, "Project must be a slug or project/<slug> ref");
}

function entryOf(store: Store, session: Session, source: string): string {
  const list = (heading: string, items: string[]): string[] =>
    items.length > 0 ? [`**${heading}:**`, ...items.map((item) => `- ${item}`), ""] : [];
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
  const footer = Object.entries(LABELS)
    .filter(([key]) => isGiven(session[key]))
    .map(([key, label]) => `**${label}:** ${String(session[key])}${key === "duration_seconds" ? "s" : ""}`);
  return [
    `## Session End — ${timestamp(store)}\n`,
    `**Source:** ${source}\n`,
    `**Summary:** ${session.summary}\n`,
    ...list("Decisions", session.decisions ?? []),
    ...list("Blockers/Next", session.blockers ?? []),
    ...(footer.length > 0 ? [...footer, ""] : []),
  ].join("\n");
}

/** Returns the path of the session's own file, named after the summary, or null: a refused save is swallowed. */
function writeSession(store: Store, session: Session, { project, day, entry, source }: Note): string | null {
  if ((complaint(entry, "content") ?? unsafe(entry)) !== undefined) return null;
  const hash = createHash("sha256").update(session.summary).digest("hex").slice(0, 8);
  const meta = Object.fromEntries(Object.keys(LABELS).map((key) => [key, session[key] ?? undefined]));
  const { file_path } = writeMemory(store, {
    type: project === null ? "Insight" : "ProjectSnapshot",
    slug: slugify(`session-end-${day}-${project === null ? "" : `${project}-`}${hash}`),
    content: entry,
    frontmatter: { ...meta, entities: project === null ? [] : [`project/${project}`], source },
  });
  return file_path;
}

/** Returns the file written within the hour that says nearly the same; a session's own earlier note counts. */
function nearDuplicate(store: Store, entry: string): string | undefined {
  if (!store.dedup || !store.embedder) return undefined;
  const vector = embed(entry);
  return memoriesIn(store.memories, ["daily"])
    .filter((memory) => store.now() - Date.parse(updatedAt(memory)) < DEDUP_WINDOW_MS)
    .find((memory) =>
      chunksOf(memory, !since(store, "0.22")).some((chunk) => similarity(vector, chunk.content) >= DEDUP_SIMILARITY),
    )?.file;
}

/** Since 0.19 days that are named relatively become dates. The server knows more phrases than these three. */
function withDates(store: Store, session: Session): Session {
  if (!since(store, "0.19")) return session;
  const offsets: Record<string, number> = { yesterday: -1, today: 0, tomorrow: 1 };
  const dateOf = (word: string): string => {
    const at = store.now() + (offsets[word.toLowerCase()] ?? 0) * DAY_MS;
    return new Date(at).toISOString().slice(0, 10);
  };
  const dated = (text: string): string =>
    text.replace(
      DAY_WORD,
      (_, preposition: string | undefined, word: string) => `${preposition ?? "on "}${dateOf(word)}`,
    );
  return {
    ...session,
    summary: dated(session.summary),
    decisions: session.decisions?.map(dated),
    blockers: session.blockers?.map(dated),
  };
}

function append(store: Store, file: string, text: string): void {
  store.memories.set(file, `${store.memories.get(file) ?? ""}${text}`);
}

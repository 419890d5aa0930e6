// Finds the sessions that Cline left on disk, of both generations, by their manifests. Reading what was said in them is
// the work of `read`. Nothing is written. Source: recordings/sessions, and the extension's store.
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { asRecord, asText, textOf } from "../base/json.ts";
import { isTime } from "../base/time.ts";
import { clineSessionsDir, type ExtensionRoot, extensionRoots } from "../cline/index.ts";
import { foldersIn, readIfThere } from "./files.ts";
import { lastAt, type PastSession } from "./sessions.ts";
import { taskTimes } from "./task-times.ts";
import { titleOf, withoutCutWord } from "./titles.ts";
import { attempt, type Warn } from "./warn.ts";

/** What the places depend on, beside the home folder. */
const PLACE_VARIABLES = [
  ...["PALINODE_CLINE_ROOT", "PALINODE_CLINE_ROOTS", "CLINE_SESSION_DATA_DIR", "CLINE_DATA_DIR", "CLINE_DIR"],
  "XDG_CONFIG_HOME",
];

/** Returns all sessions, newest first, without reading what was said in them. Never throws. */
export function findSessions(env: NodeJS.ProcessEnv, warn: Warn): PastSession[] {
  const sessionsDir = clineSessionsDir(env);
  const roots = extensionRoots(env);
  const named: string[] = [];
  if (env.PALINODE_CLINE_ROOT?.trim()) named.push(sessionsDir);
  if (env.PALINODE_CLINE_ROOTS?.trim()) named.push(...roots.map(({ path }) => join(path, "tasks")));
  for (const path of named.filter((folder) => !existsSync(folder)))
    warn(`there is no folder ${path} (PALINODE_CLINE_ROOT, PALINODE_CLINE_ROOTS)`);
  const tasks = newestFirst(roots.flatMap((root) => extensionTasks(root, warn)));
  const byId = new Map<string, PastSession>();
  // Editors that share a store, or a copy of one, show a task twice; one that the SDK goes on with is in both stores.
  for (const session of [...tasks.toReversed(), ...cliSessions(sessionsDir, warn)]) byId.set(session.id, session);
  return newestFirst([...byId.values()]);
}

/** Returns one line on where sessions were looked for: the folders that are there, and the variables that name them. */
export function placesLine(env: NodeJS.ProcessEnv): string {
  const folders = [clineSessionsDir(env), ...extensionRoots(env).map(({ path }) => join(path, "tasks"))];
  const found = [...new Set(folders)].filter((folder) => existsSync(folder));
  const names = PLACE_VARIABLES.filter((name) => env[name]?.trim());
  const told = names.length === 0 ? "" : ` (as ${names.join(", ")} ${names.length === 1 ? "says" : "say"})`;
  if (found.length > 0) return `Looked in ${found.join(", ")}${told}.`;
  return `Looked for ${folders[0]} and ${folders.length - 1} folders of editors${told}: none is there.`;
}

function newestFirst(sessions: readonly PastSession[]): PastSession[] {
  return sessions.toSorted((a, b) => lastAt(b) - lastAt(a));
}

function cliSessions(sessionsDir: string, warn: Warn): PastSession[] {
  return foldersIn(sessionsDir, warn).flatMap(
    (id) => attempt(join(sessionsDir, id), warn, () => cliSession(sessionsDir, id, warn)) ?? [],
  );
}

/** Returns undefined for a folder that is no session of a person's. */
function cliSession(sessionsDir: string, id: string, warn: Warn): PastSession | undefined {
  const base = join(sessionsDir, id, id);
  const file = `${base}.messages.json`;
  // A session in which nothing was said yet has no messages; `ROOT__AGENT` is a sub-agent's.
  if (!existsSync(file) || id.includes("__")) return undefined;
  const manifest = asRecord(readIfThere(`${base}.json`, warn));
  const metadata = asRecord(manifest.metadata);
  const url = asText(asRecord(metadata.git).url);
  return {
    id,
    source: { kind: "cli" },
    title: titleOf({ content: withoutCutWord(asText(metadata.title)) ?? asText(manifest.prompt) ?? "" }),
    cwd: asText(manifest.cwd) ?? asText(manifest.workspace_root),
    remoteUrls: url === undefined ? [] : [`origin: ${url}`],
    startedAt: timeOf(manifest.started_at) ?? timeOf(manifest.created_at) ?? startOf(id),
    endedAt: timeOf(manifest.ended_at) ?? timeOf(manifest.updated_at),
    model: asText(manifest.model),
    isTakenOver: metadata.legacyTask === true || metadata.migratedFromLegacyTask === true || isTaskId(id),
    file,
  };
}

function extensionTasks({ editor, path }: ExtensionRoot, warn: Warn): PastSession[] {
  const ids = foldersIn(join(path, "tasks"), warn);
  if (ids.length === 0) return [];
  const entries = taskEntries(path, warn);
  const editorName = editor.replace(/^Code/, "VS Code");
  return ids.flatMap((id) => {
    const file = join(path, "tasks", id, "api_conversation_history.json");
    return attempt(file, warn, () => extensionTask(id, editorName, file, entries.get(id) ?? {})) ?? [];
  });
}

/**
 * Returns what the extension's own list says of its tasks, by their ids: since 3.28 in a file of its own; before that
 * the standalone core had it among its settings, and editors in a database of theirs. An id may stand there twice.
 */
function taskEntries(root: string, warn: Warn): Map<string, Record<string, unknown>> {
  const lists = [
    asRecord(readIfThere(join(root, "globalState.json"), warn)).taskHistory,
    readIfThere(join(root, "state", "taskHistory.json"), warn),
  ];
  const entries = lists.flatMap((list) => (Array.isArray(list) ? list.map(asRecord) : []));
  entries.sort((a, b) => (timeOf(a.ts) ?? 0) - (timeOf(b.ts) ?? 0));
  return new Map(entries.map((entry) => [textOf(entry.id), entry]));
}

/** Returns undefined where a folder holds no messages. Throws when they cannot be looked at, as in a loop of links. */
function extensionTask(
  id: string,
  editor: string,
  file: string,
  entry: Record<string, unknown>,
): PastSession | undefined {
  const messages = statSync(file, { throwIfNoEntry: false });
  if (messages === undefined) return undefined;
  const listedAt = timeOf(entry.ts);
  const times = listedAt === undefined ? taskTimes(dirname(file)) : undefined;
  return {
    id,
    source: { kind: "extension", editor },
    title: titleOf({ content: asText(entry.task) ?? "" }),
    cwd: asText(entry.cwdOnTaskInitialization) ?? asText(entry.shadowGitConfigWorkTree),
    remoteUrls: [],
    startedAt: times?.startedAt ?? startOf(id),
    endedAt: listedAt ?? times?.endedAt,
    touchedAt: messages.mtimeMs,
    model: asText(entry.modelId),
    file,
  };
}

function isTaskId(id: string): boolean {
  return /^\d{13}$/.test(id);
}

/** Returns when a session was begun by its id, of which that is the first part, or undefined. */
function startOf(id: string): number | undefined {
  const [at] = /^\d{13}(?=$|_)/.exec(id) ?? [];
  return at === undefined ? undefined : Number(at);
}

/** ISO text or epoch milliseconds that a date can be made of. */
function timeOf(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : value;
  return isTime(at) ? at : undefined;
}

// Finds the sessions that Cline left on disk, of both generations, by their manifests. Reading what was said in them is
// the work of `read`. Nothing is written. Source: recordings/sessions, and the extension's store.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { asRecord, asText, textOf } from "../base/json.ts";
import { isTime } from "../base/time.ts";
import { clineSessionsDir, type ExtensionRoot, extensionRoots } from "../cline/index.ts";
import { foldersIn, readIfThere } from "./files.ts";
import { lastAt, type PastSession } from "./sessions.ts";
import { titleOf, withoutCutWord } from "./titles.ts";
import { attempt, type Warn } from "./warn.ts";

/** Returns all sessions, newest first, without reading what was said in them. Never throws. */
export function findSessions(env: NodeJS.ProcessEnv, warn: Warn): PastSession[] {
  const sessionsDir = clineSessionsDir(env);
  const roots = extensionRoots(env);
  const named: string[] = [];
  if (env.PALINODE_CLINE_ROOT?.trim()) named.push(sessionsDir);
  if (env.PALINODE_CLINE_ROOTS?.trim()) named.push(...roots.map(({ path }) => join(path, "tasks")));
  for (const path of named.filter((folder) => !existsSync(folder)))
    warn(`there is no folder ${path} (PALINODE_CLINE_ROOT, PALINODE_CLINE_ROOTS)`);
  const sessions = [...cliSessions(sessionsDir, warn), ...roots.flatMap((root) => extensionTasks(root, warn))];
  sessions.sort((a, b) => lastAt(b) - lastAt(a));
  const byId = new Map<string, PastSession>();
  // Two editors that share a store, or a copy of one, show each task twice: the younger counts.
  for (const session of sessions) if (!byId.has(session.id)) byId.set(session.id, session);
  return [...byId.values()];
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
    startedAt: timeOf(manifest.started_at) ?? timeOf(manifest.created_at),
    endedAt: timeOf(manifest.ended_at) ?? timeOf(manifest.updated_at),
    model: asText(manifest.model),
    isTakenOver: metadata.legacyTask === true || metadata.migratedFromLegacyTask === true || isTaskId(id),
    file,
  };
}

function extensionTasks({ editor, path }: ExtensionRoot, warn: Warn): PastSession[] {
  const ids = foldersIn(join(path, "tasks"), warn);
  if (ids.length === 0) return [];
  const entries = taskEntries(join(path, "state", "taskHistory.json"), warn);
  const editorName = editor.replace(/^Code/, "VS Code");
  return ids.flatMap((id) => {
    const file = join(path, "tasks", id, "api_conversation_history.json");
    return attempt(file, warn, () => extensionTask(id, editorName, file, entries.get(id) ?? {})) ?? [];
  });
}

/** Returns what the extension's own list says of its tasks, by their ids. */
function taskEntries(file: string, warn: Warn): Map<string, Record<string, unknown>> {
  const list = readIfThere(file, warn);
  const entries = Array.isArray(list) ? list.map(asRecord) : [];
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
  return {
    id,
    source: { kind: "extension", editor },
    title: titleOf({ content: asText(entry.task) ?? "" }),
    cwd: asText(entry.cwdOnTaskInitialization) ?? asText(entry.shadowGitConfigWorkTree),
    remoteUrls: [],
    startedAt: isTaskId(id) ? Number(id) : undefined,
    endedAt: timeOf(entry.ts),
    touchedAt: messages.mtimeMs,
    model: asText(entry.modelId),
    file,
  };
}

/** A task's id is when it was made. */
function isTaskId(id: string): boolean {
  return /^\d{13}$/.test(id);
}

/** ISO text or epoch milliseconds that a date can be made of. */
function timeOf(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : value;
  return isTime(at) ? at : undefined;
}

// Finds the sessions that Cline left on disk, of both generations, and reads them into one shape. Nothing is written, and
// a file that cannot be used is named and costs nothing but itself. Source: recordings/sessions, and the extension's store.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { asRecord, asText, textOf } from "../base/json.ts";
import { redact } from "../base/redact.ts";
import { quoted } from "../base/shell.ts";
import { clean, clipMarked, oneLine } from "../base/text.ts";
import { isTime } from "../base/time.ts";
import {
  bareWords,
  clineSessionsDir,
  createdAtOf,
  type ExtensionRoot,
  extensionRoots,
  type Message,
  modelOf,
  promptsOf,
  textsOf,
} from "../cline/index.ts";
import { legacyCwd, legacyMessages, storedMessage } from "./stored.ts";

/** Returns how a session is reopened: a line for a shell, or where the extension lists it. */
export function resumeLine({ id, cwd, editor }: PastSession): string {
  if (editor !== undefined) return `open task ${id} from Cline's history in ${editor}`;
  const folder = folderOf({ cwd });
  return `${folder === undefined ? "" : `cd ${quoted(folder)} && `}cline --id ${quoted(id)}`;
}

/** Returns the folder of a session, or undefined: a path that is not whole would lead elsewhere, or be an option of `cd`. */
export function folderOf({ cwd }: Pick<PastSession, "cwd">): string | undefined {
  return cwd !== undefined && isAbsolute(cwd) ? cwd : undefined;
}

/** Whole files are parsed at once, so this bounds memory. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_TITLE_CHARS = 120;
/** The host cuts the titles it stores here. Source: recordings/sessions, 0.0.86. */
const HOST_TITLE_CHARS = 120;

/** A session as its manifest has it; what the manifest lacks is filled in when it is read. */
export interface PastSession {
  readonly id: string;
  /** The editor whose extension held it; undefined for the CLI and SDK. */
  readonly editor: string | undefined;
  /** One line, maybe empty. */
  readonly title: string;
  readonly cwd: string | undefined;
  /** As `projectOf` takes them. */
  readonly remoteUrls: readonly string[];
  /** Epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** When the file was written, where nothing else says when the session ended; a copy is no younger session. */
  readonly touchedAt?: number;
  readonly model: string | undefined;
  /** The file with the messages. */
  readonly file: string;
}

/** A session with what was said in it. */
export interface ReadSession extends PastSession {
  readonly messages: readonly Message[];
  /** Those that a person wrote. */
  readonly prompts: readonly Message[];
  /** What the newest compaction made of the conversation, or "". */
  readonly summary: string;
}

/** Hears of each file that could not be used; `isLost` where that costs a session. */
export type Warn = (text: string, isLost?: boolean) => void;

/** Returns all sessions, newest first, without reading what was said in them. Never throws. */
export function findSessions(env: NodeJS.ProcessEnv, warn: Warn): PastSession[] {
  const sessionsDir = clineSessionsDir(env);
  const roots = extensionRoots(env);
  const named = [
    ...(env.PALINODE_CLINE_ROOT?.trim() ? [sessionsDir] : []),
    ...(env.PALINODE_CLINE_ROOTS?.trim() ? roots.map(({ path }) => join(path, "tasks")) : []),
  ];
  for (const path of named)
    if (!existsSync(path)) warn(`there is no folder ${path} (PALINODE_CLINE_ROOT, PALINODE_CLINE_ROOTS)`);
  const found = [
    ...foldersIn(sessionsDir, warn).flatMap(
      (id) => attempt(join(sessionsDir, id), warn, () => cliSession(sessionsDir, id, warn)) ?? [],
    ),
    ...roots.flatMap((root) => extensionSessions(root, warn)),
  ];
  found.sort((a, b) => lastAt(b) - lastAt(a));
  // Two editors that share a store, or a copy of one, show each task twice.
  return [...new Map(found.toReversed().map((session) => [session.id, session])).values()].toReversed();
}

/** Returns when anything last happened in a session, in epoch milliseconds. */
export function lastAt({ startedAt, endedAt, touchedAt }: PastSession): number {
  return endedAt ?? touchedAt ?? startedAt ?? 0;
}

/** Returns a session with its messages, or undefined when they cannot be read or are another agent's. Never throws. */
export function readSession(session: PastSession, warn: Warn): ReadSession | undefined {
  return attempt(session.file, warn, () => readMessages(session, warn));
}

/** Returns what `work` does, or undefined when it throws: then `path` is named as what a session is lost with. */
export function attempt<T>(path: string, warn: Warn, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    warn(`skipped ${path}: ${reason(error)}`, true);
    return undefined;
  }
}

function readMessages(session: PastSession, warn: Warn): ReadSession | undefined {
  const raw = readJson(session.file, (text) => warn(text, true));
  const list = Array.isArray(raw) ? raw : asRecord(raw).messages;
  const isForeign =
    !Array.isArray(list) || (list.length > 0 && !list.some((message) => asText(asRecord(message).role)));
  if (raw !== undefined && isForeign) warn(`skipped ${session.file}: it holds no messages`, true);
  // Sub-agents and teammates have files of the same form.
  if (isForeign || (asText(asRecord(raw).agent) ?? "lead") !== "lead") return undefined;
  const messages = session.editor === undefined ? list.map(storedMessage) : legacyMessages(list);
  const prompts = promptsOf(messages);
  const times = messages.map(createdAtOf).filter((at) => at !== undefined);
  return {
    ...session,
    title: session.title || prompts.map(titleOf).find((title) => title !== "") || "(no title)",
    cwd: session.cwd ?? (session.editor === undefined ? undefined : legacyCwd(list)),
    startedAt: session.startedAt ?? times[0],
    endedAt: session.endedAt ?? times.at(-1),
    model: session.model ?? modelOf(messages),
    messages,
    prompts,
    summary: session.editor === undefined ? summaryBeside(session, warn) : "",
  };
}

function cliSession(root: string, id: string, warn: Warn): PastSession[] {
  const base = join(root, id, id);
  const file = `${base}.messages.json`;
  // A session in which nothing was said yet has no messages; `ROOT__AGENT` is a sub-agent's.
  if (!existsSync(file) || id.includes("__")) return [];
  const manifest = asRecord(readIfThere(`${base}.json`, warn));
  const metadata = asRecord(manifest.metadata);
  const url = asText(asRecord(metadata.git).url);
  return [
    {
      id,
      editor: undefined,
      title: titleOf({ content: withoutCutWord(asText(metadata.title)) ?? asText(manifest.prompt) ?? "" }),
      cwd: asText(manifest.cwd) ?? asText(manifest.workspace_root),
      remoteUrls: url === undefined ? [] : [`origin: ${url}`],
      startedAt: timeOf(manifest.started_at) ?? timeOf(manifest.created_at),
      endedAt: timeOf(manifest.ended_at) ?? timeOf(manifest.updated_at),
      model: asText(manifest.model),
      file,
    },
  ];
}

function extensionSessions({ editor, path }: ExtensionRoot, warn: Warn): PastSession[] {
  const ids = foldersIn(join(path, "tasks"), warn);
  const listed = ids.length > 0 ? readIfThere(join(path, "state", "taskHistory.json"), warn) : [];
  const entries = new Map(
    Array.isArray(listed) ? listed.map((entry) => [textOf(asRecord(entry).id), asRecord(entry)]) : [],
  );
  return ids.flatMap((id) => {
    const file = join(path, "tasks", id, "api_conversation_history.json");
    return attempt(file, warn, () => task(id, editor, file, entries.get(id) ?? {})) ?? [];
  });
}

/** Returns nothing where a folder holds no messages. Throws when they cannot be looked at, as in a loop of links. */
function task(id: string, editor: string, file: string, entry: Record<string, unknown>): PastSession[] {
  const messages = statSync(file, { throwIfNoEntry: false });
  if (messages === undefined) return [];
  return [
    {
      id,
      editor: editor.replace(/^Code/, "VS Code"),
      title: titleOf({ content: asText(entry.task) ?? "" }),
      cwd: asText(entry.cwdOnTaskInitialization) ?? asText(entry.shadowGitConfigWorkTree),
      remoteUrls: [],
      // A task's id is when it was made.
      startedAt: /^\d{13}$/.test(id) ? Number(id) : undefined,
      endedAt: timeOf(entry.ts),
      touchedAt: messages.mtimeMs,
      model: asText(entry.modelId),
      file,
    },
  ];
}

function summaryBeside({ file }: PastSession, warn: Warn): string {
  const { messages } = asRecord(readIfThere(file.replace(/messages\.json$/, "compaction.json"), warn));
  const summaries = Array.isArray(messages)
    ? messages
        .map((message) => asRecord(asRecord(message).metadata))
        .filter(({ kind }) => kind === "compaction_summary")
    : [];
  return asText(summaries.at(-1)?.summary) ?? "";
}

/** Returns what the person said. Escape sequences go first: what they leave behind could split a secret. */
export function wordsOf(message: Message): string {
  return bareWords({
    ...message,
    content: textsOf(message).map((text) => ({ type: "text", text: stripVTControlCharacters(text) })),
  });
}

/** Secrets go before the cut: half of one is not known for one. */
function titleOf(message: Message): string {
  return clipMarked(oneLine(redact(clean(wordsOf(message)))), MAX_TITLE_CHARS);
}

/** Returns a title without the word that the host may have cut short, for the same reason. */
function withoutCutWord(title: string | undefined): string | undefined {
  return title !== undefined && title.length >= HOST_TITLE_CHARS
    ? asText(title.slice(0, Math.max(0, title.search(/\s\S*$/))))
    : title;
}

/** ISO text or epoch milliseconds that a date can be made of. */
function timeOf(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : typeof value === "number" ? value : NaN;
  return isTime(at) ? at : undefined;
}

function foldersIn(path: string, warn: Warn): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => entry.name);
  } catch (error) {
    if (asRecord(error).code !== "ENOENT") warn(`skipped ${path}: ${reason(error)}`);
    return [];
  }
}

function readIfThere(path: string, warn: Warn): unknown {
  return existsSync(path) ? readJson(path, warn) : undefined;
}

function readJson(path: string, warn: Warn): unknown {
  try {
    const file = statSync(path);
    // Reading a pipe or a device would block.
    if (!file.isFile() || file.size > MAX_FILE_BYTES)
      throw new Error(
        file.isFile() ? `it has ${Math.round(file.size / 1024 / 1024)} MB, more than 64` : "it is no file",
      );
    return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    warn(`skipped ${path}: ${reason(error)}`);
    return undefined;
  }
}

function reason(error: unknown): string {
  // The parser quotes what it stumbled over.
  return error instanceof SyntaxError
    ? "it is not whole JSON"
    : (asText(asRecord(error).code) ?? (error instanceof Error ? error.message : "unreadable"));
}

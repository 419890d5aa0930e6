// A session that Cline left on disk, in one shape for both generations: the CLI and SDK, and the editor extension.
import { isAbsolute } from "node:path";
import { quoted } from "../base/shell.ts";
import type { Message } from "../cline/index.ts";
import type { Gist, Outline } from "./outline.ts";

/** Who held a session: the CLI or SDK, or the extension of an editor. */
export type Source = { readonly kind: "cli" } | { readonly kind: "extension"; readonly editor: string };

/** A session as its manifest has it; what the manifest lacks is filled in when it is read. */
export interface PastSession {
  readonly id: string;
  readonly source: Source;
  /** One line, maybe empty. */
  readonly title: string;
  readonly cwd: string | undefined;
  /** As `projectOf` takes them. */
  readonly remoteUrls: readonly string[];
  /** Epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** When the file was written, where nothing says when the session was held. */
  readonly touchedAt?: number;
  readonly model: string | undefined;
  /** True where the SDK goes on with a task of the extension, whose messages keep their form. */
  readonly isTakenOver?: boolean;
  /** The file with the messages. */
  readonly file: string;
}

/** A session with the outline of what was said in it. */
export interface ListedSession extends PastSession {
  readonly outline: Outline;
}

/** A session with what was said in it. */
export interface ReadSession extends PastSession {
  readonly gist: Gist;
  readonly messages: readonly Message[];
  /** Those that a person wrote. */
  readonly prompts: readonly Message[];
  /** What the newest compaction made of the conversation, or "". */
  readonly summary: string;
  /** The session that has what was said before, where only the rest is here. */
  readonly continues?: string;
}

/** Returns when anything last happened in a session, in epoch milliseconds. */
export function lastAt({ startedAt, endedAt, touchedAt }: PastSession): number {
  return endedAt ?? startedAt ?? touchedAt ?? 0;
}

/** Returns a number of prompts in words. */
export function promptCount(count: number): string {
  return count === 1 ? "1 prompt" : `${count} prompts`;
}

/** Returns how a session is reopened: a line for a shell, or where the extension lists it. */
export function resumeLine(session: PastSession): string {
  const { id, source } = session;
  if (source.kind === "extension") return `open task ${id} from Cline's history in ${source.editor}`;
  const line = `cline --id ${quoted(id)}`;
  const folder = folderOf(session);
  return folder === undefined ? line : `cd ${quoted(folder)} && ${line}`;
}

/** Returns a session's folder, or undefined: a path that is not whole would lead elsewhere, or be an option of `cd`. */
export function folderOf({ cwd }: PastSession): string | undefined {
  return cwd !== undefined && isAbsolute(cwd) ? cwd : undefined;
}

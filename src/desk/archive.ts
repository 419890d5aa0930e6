// A memory that is wrong or no longer wanted is put away, and taken back. Nothing is deleted: the server keeps the
// file, and leaves it out of what it recalls.
import { safeLine } from "../base/markup.ts";
import { archiveMemory, MemoryError, redacted, restoreMemory } from "../server/index.ts";
import { noteArchived, noteWanted, type Session } from "../session/index.ts";
import { inWords, notFound, shownPath } from "./memory.ts";

const TIMEOUT_MS = 30_000;
const MAX_COPIES = 5;

/** What became of it, for people and for programs. */
export interface Moved {
  readonly path: string;
  readonly isArchived: boolean;
  readonly text: string;
}

/** Puts a memory away; one that was put away already stays so. Throws `MemoryError`. */
export async function archive(
  session: Session,
  path: string,
  { reason, supersededBy }: { readonly reason?: string | undefined; readonly supersededBy?: string },
): Promise<Moved> {
  const wanted = { path, supersededBy, reason: reason && redacted(reason) };
  const limits = { timeoutMs: TIMEOUT_MS };
  const done = await inWords(session, () => archiveMemory(session.client, wanted, limits), notFound(path));
  noteArchived(session, done.path, done.isListed);
  const file = shownPath(done.path);
  const what = done.isNews ? `${file} is archived: no new prompt gets it.` : `${file} was archived already.`;
  const stays = "What this session was shown of it before stays there, or the prompt cache would be lost.";
  const copies = done.copies.slice(0, MAX_COPIES).map(safeLine);
  const quoted = copies.length === 0 ? "" : ` Still recalled, since they quote or link it: ${copies.join(", ")}.`;
  const text = `${what} ${stays}${quoted} To take it back: /palinode restore ${file}`;
  return { path: done.path, isArchived: true, text };
}

/** Takes a memory back. Throws `MemoryError`, also where the server cannot do that, before 0.17. */
export async function restore(session: Session, path: string): Promise<Moved> {
  const limits = { timeoutMs: TIMEOUT_MS };
  const done = await inWords(session, () => restoreMemory(session, path, limits), notFound(path));
  if (done === undefined)
    throw new MemoryError("This server cannot restore (from 0.17 on it can); take `status: archived` out of the file.");
  noteWanted(session, done.path);
  const file = shownPath(done.path);
  const text = done.isNews ? `${file} is back: prompts get it again.` : `${file} was not archived.`;
  return { path: done.path, isArchived: false, text };
}

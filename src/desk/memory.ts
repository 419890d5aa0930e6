// What people and agents do with memory by hand: search, read, end a session, set a trigger. Nothing here is silent:
// what goes wrong is said in words that lead to what mends it. How memories are written is save.ts.
import { safeLine } from "../base/markup.ts";
import { clip } from "../base/text.ts";
import { inTurn } from "../capture/index.ts";
import { BY_HAND_TIMEOUT_MS, type Memory, type Search, searchByHand } from "../recall/index.ts";
import {
  createTrigger,
  explain,
  MemoryError,
  PalinodeError,
  PULL_MODEL,
  readMemory,
  recordSession,
  redacted,
  safe,
  sessionEndBody,
  withoutFrontmatter,
} from "../server/index.ts";
import { askerOf, type Session } from "../session/index.ts";

const MAX_PATH_CHARS = 200;
const SAVE_TIMEOUT_MS = 30_000;

/** Returns hits for a query, best first, one a file. Throws `MemoryError`. */
export function search(session: Session, wanted: Search): Promise<Memory[]> {
  return inWords(session, () =>
    searchByHand(askerOf(session, session.id ?? "", AbortSignal.timeout(BY_HAND_TIMEOUT_MS)), wanted),
  );
}

/** Returns a memory file's text without its frontmatter. Throws `MemoryError`. */
export function read(session: Session, path: string): Promise<string> {
  return inWords(
    session,
    async () => withoutFrontmatter(await readMemory(session.client, path, { timeoutMs: BY_HAND_TIMEOUT_MS })),
    notFound(path),
  );
}

/** Returns what is said of a file that is not there. */
export function notFound(path: string): string {
  return `There is no memory file ${shownPath(path)}. Search names the files there are.`;
}

/** Returns a path as it can be told, whoever gave it. */
export function shownPath(path: string): string {
  return safeLine(clip(path, MAX_PATH_CHARS));
}

/** Records what a session came to. Throws `MemoryError`. */
export async function endSession(
  session: Session,
  { summary, decisions, blockers }: { summary: string; decisions: readonly string[]; blockers: readonly string[] },
): Promise<void> {
  const body = sessionEndBody({
    summary: safe(summary),
    decisions: decisions.map(safe),
    blockers: blockers.map(safe),
    project: session.project,
    trigger: "agent",
    sessionId: session.id,
    cwd: session.cwd,
  });
  if (body.summary === "") throw new MemoryError("There is nothing to record.");
  await inWords(session, async () => {
    // Posts that overlap lose entries of the day's notes.
    const isReceived = await inTurn(() => recordSession(session.client, body, { timeoutMs: SAVE_TIMEOUT_MS }));
    // What answers there is not Palinode, which no error tells of.
    if (!isReceived) throw new MemoryError(explain(undefined, session));
  });
}

/** Has the server show a memory file whenever a prompt is about what is described. Throws `MemoryError`. */
export async function setTrigger(session: Session, description: string, path: string): Promise<void> {
  // The server takes any name; a trigger for a file that is not there would fire in vain.
  await read(session, path);
  const trigger = { description: redacted(description), file: path };
  await inWords(session, () =>
    createTrigger(session.client, trigger, { timeoutMs: SAVE_TIMEOUT_MS }).catch((error: unknown) => {
      // They need one even where search does without (palinode-api.md, 2.7).
      if (error instanceof PalinodeError && error.status === 503)
        throw new MemoryError(`Triggers need the server's embedder: ${PULL_MODEL}`);
      throw error;
    }),
  );
}

/** Does what was asked for. What goes wrong is thrown as a `MemoryError`, in words for whoever asked. */
export async function inWords<T>(session: Session, work: () => Promise<T>, notFound?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    // A path that leads out of the memory folder is no file of it either: 403, without a word of policy.
    const isMissing =
      error instanceof PalinodeError && (error.status === 404 || (error.status === 403 && error.detail === undefined));
    throw new MemoryError(isMissing && notFound !== undefined ? notFound : explain(error, session));
  }
}

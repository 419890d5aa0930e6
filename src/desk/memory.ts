// What people and agents do with memory by hand: search, read, save, end a session, set a trigger. Nothing here is
// silent: what goes wrong is said in words that lead to what mends it.
import { randomUUID } from "node:crypto";
import { stripVTControlCharacters } from "node:util";
import { safeLine, stripOurBlocks } from "../base/markup.ts";
import { clean, clip } from "../base/text.ts";
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
  saveMemory,
  sessionEndBody,
  withoutCallTags,
  withoutFrontmatter,
} from "../server/index.ts";
import { askerOf, type Session } from "../session/index.ts";
import { slugOf } from "../settings/index.ts";

/** The kinds of memory that the server knows (palinode-api.md, 2.10). */
export const MEMORY_TYPES = [
  "Insight",
  "Decision",
  "ActionItem",
  "PersonMemory",
  "ProjectSnapshot",
  "ResearchRef",
] as const;
const MAX_SLUG_CHARS = 48;
const MAX_PATH_CHARS = 200;
const SAVE_TIMEOUT_MS = 30_000;

export interface Saved {
  readonly path: string;
  /** What is to be known about it, such as that secrets were taken out. */
  readonly notes: readonly string[];
}

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
    `There is no memory file ${shownPath(path)}. Search names the files there are.`,
  );
}

/** A path as it can be told, whoever gave it. */
function shownPath(path: string): string {
  return safeLine(clip(path, MAX_PATH_CHARS));
}

/**
 * Saves a memory under a name of its own, so that nothing is overwritten. Secrets are taken out. Throws `MemoryError`.
 */
export function save(
  session: Session,
  memory: { content: string; type?: string; title?: string; core?: boolean },
): Promise<Saved> {
  const given = [memory.content, memory.title ?? ""].map((text) => clean(stripVTControlCharacters(text)).trim());
  const [content, title] = given.map((text) => redacted(stripOurBlocks(text)).trim()) as [string, string];
  if (content === "") throw new MemoryError("There is nothing to save.");
  return inWords(session, async () => {
    const request = {
      content: withoutCallTags(content),
      type: memory.type ?? MEMORY_TYPES[0],
      slug: newSlug(title || (content.split("\n")[0] ?? "")),
      source: "cline-plugin",
      ...(title === "" ? {} : { title }),
      ...(memory.core === undefined ? {} : { core: memory.core }),
      ...(session.project === "" ? {} : { entities: [`project/${session.project}`] }),
    };
    const { path, isIndexed } = await saveMemory(session.client, request, { timeoutMs: SAVE_TIMEOUT_MS });
    const isShortened = content !== given[0] || title !== given[1];
    return {
      path: shownPath(path),
      notes: [
        ...(isShortened ? ["Secrets, private spans or recalled blocks in it were left out."] : []),
        ...(isIndexed ? [] : ["It cannot be found by search until the server's embedder works."]),
      ],
    };
  });
}

/** Returns a name that no other memory has, and that says what it is about. */
function newSlug(subject: string): string {
  const words = slugOf(subject).replaceAll("_", "-").slice(0, MAX_SLUG_CHARS).replace(/-+$/, "");
  return `${words === "" ? "memory" : words}-${randomUUID().slice(0, 8)}`;
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
async function inWords<T>(session: Session, work: () => Promise<T>, notFound?: string): Promise<T> {
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

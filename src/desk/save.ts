// What people and agents write into memory by hand: a new memory, and another text for one that is wrong.
import { randomUUID } from "node:crypto";
import { stripVTControlCharacters } from "node:util";
import { stripOurBlocks } from "../base/markup.ts";
import { clean, hexDigestOf } from "../base/text.ts";
import {
  type KeptMemory,
  MemoryError,
  PalinodeError,
  readKept,
  redacted,
  restoreMemory,
  type SaveRequest,
  saveMemory,
  withoutCallTags,
} from "../server/index.ts";
import { noteWanted, type Session } from "../session/index.ts";
import { slugOf } from "../settings/index.ts";
import { archive } from "./archive.ts";
import { inWords, notFound, shownPath } from "./memory.ts";

/** The kinds of memory that the server knows, and the folder that each goes to (palinode-api.md, 2.10). */
const FOLDERS = {
  Insight: "insights",
  Decision: "decisions",
  ActionItem: "inbox",
  PersonMemory: "people",
  ProjectSnapshot: "projects",
  ResearchRef: "research",
} as const;
type Kind = keyof typeof FOLDERS;
export const MEMORY_TYPES = Object.keys(FOLDERS) as Kind[];
const USUAL: Kind = "Insight";

const MAX_SLUG_CHARS = 48;
/** So many files may have had the same text and another since. */
const MAX_NAMES = 5;
const TIMEOUT_MS = 30_000;
const LOOK_TIMEOUT_MS = 5000;

export interface Saved {
  readonly path: string;
  /** What is to be known about it, such as that secrets were taken out. */
  readonly notes: readonly string[];
}

interface Draft {
  readonly content: string;
  readonly type?: string;
  readonly title?: string;
  readonly core?: boolean;
  /** The session's project where absent. */
  readonly entities?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Saves a memory under a name that its text gives it: the same text makes the same file, another text overwrites
 * nothing. Secrets are taken out. Throws `MemoryError`.
 */
export function save(session: Session, memory: Draft): Promise<Saved> {
  const { content, title, notes } = writable(memory);
  const { project } = session;
  const { type = USUAL, core, metadata } = memory;
  const entities = memory.entities ?? (project === "" ? [] : [`project/${project}`]);
  return inWords(session, async () => {
    const name = slugFor(title || (content.split("\n")[0] ?? ""), `${project}\n${content}`);
    const request = {
      content,
      type,
      slug: await freeSlug(session, type, name, content),
      ...(title === "" ? {} : { title }),
      ...(core === undefined ? {} : { core }),
      ...(entities.length === 0 ? {} : { entities }),
      ...(metadata === undefined ? {} : { metadata }),
    };
    return put(session, request, notes);
  });
}

/**
 * Returns a slug whose file says this or is not there: one that was corrected since has another text to keep. Where
 * that cannot be seen, as in a pause of recall, a name that nobody has does no harm.
 */
async function freeSlug(session: Session, type: string, name: string, content: string): Promise<string> {
  for (let count = 1; count <= MAX_NAMES; count += 1) {
    const slug = count === 1 ? name : `${name}-${count}`;
    const text = await textAt(session, `${FOLDERS[type as Kind]}/${slug}.md`);
    if (text === "unseen") break;
    if (text === undefined || sameText(text.said) === sameText(content)) return slug;
  }
  return `${name}-${randomUUID().slice(0, 8)}`;
}

/** Returns what a file says, undefined where there is none. */
async function textAt({ client }: Session, path: string): Promise<{ said: string } | "unseen" | undefined> {
  try {
    return { said: (await readKept(client, path, { timeoutMs: LOOK_TIMEOUT_MS })).body };
  } catch (error) {
    return error instanceof PalinodeError && error.status === 404 ? undefined : "unseen";
  }
}

/**
 * Gives a memory another text: under its own name, with all that its frontmatter says, else as a new memory that takes
 * its place. Secrets are taken out. Throws `MemoryError`.
 */
export async function update(session: Session, path: string, text: string): Promise<Saved> {
  const { content, notes } = writable({ content: text });
  const limits = { timeoutMs: TIMEOUT_MS };
  const old = await inWords(session, () => readKept(session.client, path, limits), notFound(path));
  if (old.status === "archived")
    throw new MemoryError(`${shownPath(old.path)} is archived. To have it back first: /palinode restore FILE`);
  if (old.body === content) return { path: shownPath(old.path), notes: ["It says that already; nothing was changed."] };
  const slug = slugIn(old);
  if (slug === undefined) return replace(session, old, { content: text });
  const { type = USUAL, title, core, entities, metadata } = old;
  const rest = { ...(title === undefined ? {} : { title }), ...(core && { core }), entities, metadata };
  return inWords(session, () => put(session, { content, type, slug, ...rest }, notes));
}

/** Its slug, where `/save` would write to just this file, and not below what is wrong in it (`append`, from 0.20.1). */
function slugIn({ path, type, metadata }: KeptMemory): string | undefined {
  if (metadata.update_policy === "append") return undefined;
  const folder = FOLDERS[(type ?? "") as Kind];
  return new RegExp(`^${folder}/([a-z0-9]+(?:-[a-z0-9]+)*)\\.md$`).exec(path)?.[1];
}

/** Saves a new memory in the place of one that no save can reach. */
async function replace(session: Session, old: KeptMemory, draft: Draft): Promise<Saved> {
  const { type, title, core, entities } = old;
  const { update_policy, ...metadata } = old.metadata;
  const isKnown = MEMORY_TYPES.includes(type as Kind);
  const given = { ...draft, ...(isKnown && type ? { type } : {}), ...(title ? { title } : {}), ...(core && { core }) };
  // What it belongs to, and who may see it, go with it.
  const saved = await save(session, { ...given, ...(entities.length > 0 && { entities }), metadata });
  try {
    await archive(session, old.path, { reason: "replaced by a corrected memory", supersededBy: saved.path });
    return { ...saved, notes: [...saved.notes, `${shownPath(old.path)} is archived in its favour.`] };
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw new MemoryError(`The new text is saved as ${saved.path}, but ${shownPath(old.path)} still stands: ${why}`);
  }
}

/** Sends it, and makes sure that it is not left archived where the same text was put away before. */
async function put(session: Session, request: Omit<SaveRequest, "source">, notes: readonly string[]): Promise<Saved> {
  const limits = { timeoutMs: TIMEOUT_MS };
  const receipt = await saveMemory(session.client, { ...request, source: "cline-plugin" }, limits);
  // From 0.23 on what is overwritten keeps its frontmatter, and so its status.
  if (receipt.isOverwritten) await restoreMemory(session, receipt.path, limits);
  noteWanted(session, receipt.path);
  const unfound = receipt.isIndexed ? [] : ["It cannot be found by search until the server's embedder works."];
  return { path: shownPath(receipt.path), notes: [...notes, ...unfound] };
}

/** Text as it is saved, and what is to be said of what was left out. Throws `MemoryError` where nothing is left. */
function writable({ content, title = "" }: Draft): { content: string; title: string; notes: string[] } {
  const given = [content, title].map((text) => clean(stripVTControlCharacters(text)).trim());
  const [kept = "", name = ""] = given.map((text) => redacted(stripOurBlocks(text)).trim());
  if (kept === "") throw new MemoryError("There is nothing to save.");
  const isShortened = kept !== given[0] || name !== given[1];
  const notes = isShortened ? ["Secrets, private spans or recalled blocks in it were left out."] : [];
  return { content: withoutCallTags(kept), title: name, notes };
}

/** Returns a name that says what it is about, and that no other text has; white space does not count. */
function slugFor(subject: string, text: string): string {
  const words = slugOf(subject).replaceAll("_", "-").slice(0, MAX_SLUG_CHARS).replace(/-+$/, "");
  return `${words === "" ? "memory" : words}-${hexDigestOf(sameText(text))}`;
}

/** The same for texts that differ in white space alone. */
function sameText(text: string): string {
  return text.split(/\s+/).join(" ");
}

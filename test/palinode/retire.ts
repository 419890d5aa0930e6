// POST /archive and /restore of the stand-in Palinode. Nothing is deleted: the frontmatter says what holds.
import { composed, type Memory, parseMemory } from "./memory.ts";
import type { Fields, Store } from "./store.ts";
import { HttpError, since } from "./store.ts";

/** Archives a memory; from 0.22 on a dry run only says what it would do. */
export function archive(store: Store, fields: Fields): Fields {
  const memory = memoryAt(store, fields);
  const { status, ...frontmatter } = memory.frontmatter;
  const successor = typeof fields.superseded_by === "string" ? fields.superseded_by : null;
  const answer = { file: memory.file, superseded_by: successor, reason: fields.reason ?? null, committed: false };
  const copies = since(store, "0.22") ? { retained_copies: copiesOf(store, memory.file) } : {};
  if (status === "archived") return { ...answer, status: "already_archived", ...copies };
  if (since(store, "0.22") && fields.dry_run === true)
    return { ...answer, status: "would_archive", dry_run: true, ...copies };
  const changed = { ...frontmatter, status: "archived", ...(successor === null ? {} : { superseded_by: successor }) };
  store.memories.set(memory.file, composed(changed, memory.body.trimEnd()));
  return { ...answer, status: "archived", ...copies };
}

/** Takes a memory back. */
export function restore(store: Store, fields: Fields): Fields {
  const memory = memoryAt(store, fields);
  const { status, superseded_by: successor, ...frontmatter } = memory.frontmatter;
  if (status !== "archived") return { file: memory.file, status: "not_archived", restored_from: null };
  store.memories.set(memory.file, composed({ ...frontmatter, status: "active" }, memory.body.trimEnd()));
  return { file: memory.file, status: "active", restored_from: successor ?? "archived" };
}

/** No suffix is added to a path here, as it is to one that is read. */
function memoryAt(store: Store, { file_path }: Fields): Memory {
  const path = String(file_path);
  if (path.includes("\0")) throw new HttpError(400, "Invalid path");
  const isOutside = path.startsWith("/") || path.split("/").includes("..");
  if (isOutside) throw new HttpError(since(store, "0.22") ? 403 : 400, "Invalid path");
  const text = store.memories.get(path);
  if (text === undefined) throw new HttpError(404, "File not found");
  return parseMemory(path, text);
}

/** The records that link it by name. */
function copiesOf(store: Store, file: string): Fields {
  const name = file.replace(/^.*\/|\.md$/g, "");
  const others = [...store.memories].filter(([other, text]) => other !== file && text.includes(`[[${name}]]`));
  return {
    records: others.map(([other]) => ({ file: other, of: file, relations: ["wikilink"] })),
    total: others.length,
  };
}

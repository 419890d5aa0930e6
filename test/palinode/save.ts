// POST /save of the stand-in Palinode, and the writing of one memory file that /session-end uses too.
import { complaint } from "./envelope.ts";
import type { Frontmatter, Memory } from "./memory.ts";
import { chunksOf, composed, parseMemory, withFooter } from "./memory.ts";
import type { Call, Fields, Store } from "./store.ts";
import { admit, HttpError, since, timestamp } from "./store.ts";

export const FOLDERS: Record<string, string> = {
  PersonMemory: "people",
  Decision: "decisions",
  ProjectSnapshot: "projects",
  Insight: "insights",
  ResearchRef: "research",
  ActionItem: "inbox",
};

type Writing = { type: string; slug: string; content: string; append?: boolean; frontmatter: Frontmatter };

const DERIVED_SLUG_CHARS = 30;
const INJECTIONS = [
  /ignore\s+(all\s+)?(previous|prior|all)\s+instructions/i,
  /you are now the system|disregard all prior|<script|javascript:/i,
];
/** Fields that become frontmatter as they are. */
const KEPT = ["title", "core", "priority", "confidence", "epistemic", "contradicts", "backed_by"];
const SPECIAL = /[^\p{L}\p{N} .,!?\-_\n#:()[\]{}'"]/gu;
const MAX_SPECIAL_SHARE = 0.4;

export function save(store: Store, fields: Fields, call: Call): unknown {
  admit(store, "write");
  const { content, type, slug, project, metadata, update_policy } = fields;
  const refused = complaint(String(content), "content") ?? badValue(store, fields) ?? unsafe(String(content));
  if (refused !== undefined) throw new HttpError(400, refused);
  store.saved.push(fields);
  const entity = typeof project === "string" ? [`${project.includes("/") ? "" : "project/"}${project}`] : [];
  const kept = Object.fromEntries(KEPT.filter((key) => fields[key] != null).map((key) => [key, fields[key]]));
  return writeMemory(store, {
    type: String(type),
    slug: slugify(typeof slug === "string" ? slug : ""),
    content: String(content),
    append: update_policy === "append" && since(store, "0.21"),
    frontmatter: {
      ...(typeof metadata === "object" ? metadata : {}),
      ...kept,
      entities: [...strings(fields.entities), ...entity],
      source: sourceOf(fields, call),
    },
  });
}

/** Writes a memory file. A given slug that exists is overwritten; one made from the text steps aside (not on 0.13). */
export function writeMemory(
  store: Store,
  { type, slug, content, append = false, frontmatter }: Writing,
): Fields & { file_path: string } {
  const folder = FOLDERS[type] ?? "inbox";
  const derived = slugify((content.split("\n")[0] ?? "").slice(0, DERIVED_SLUG_CHARS)) || String(store.now());
  const free = since(store, "0.14") ? freeName(store, `${folder}/${derived}`, content) : derived;
  const name = slug === "" ? free : slug;
  const file = `${folder}/${name}.md`;
  const old = store.memories.has(file) ? parseMemory(file, store.memories.get(file) ?? "") : undefined;
  // What describes the old text goes with it; 0.23 keeps the rest.
  const kept = since(store, "0.23") ? { ...old?.frontmatter, description: undefined, summary: undefined } : {};
  const now = timestamp(store);
  const fields: Frontmatter = {
    entities: [],
    ...kept,
    ...filled(frontmatter),
    id: `${folder}-${name}`,
    category: folder,
    type,
    created_at: old?.frontmatter.created_at ?? now,
    last_updated: now,
  };
  const body = append && old ? appended(old, content, now) : content;
  store.memories.set(file, composed(fields, withFooter(body, strings(fields.entities))));
  if (old && append) return saveAnswer(store, file, "appended");
  if (old) return saveAnswer(store, file, slug === "" ? "resaved" : "replaced");
  return saveAnswer(store, file, slug === "" && name !== derived ? "disambiguated" : "created");
}

function appended(old: Memory, content: string, now: string): string {
  const before = chunksOf(old)
    .map((chunk) => chunk.content.trimEnd())
    .join("\n\n");
  return `${before}\n\n## Update — ${now.slice(0, 10)}\n\n${content}`;
}

function filled(frontmatter: Frontmatter): Frontmatter {
  const isFilled = (value: unknown): boolean =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(frontmatter).filter(([, value]) => isFilled(value)));
}

/** Why the server's security scan refuses a text, or undefined. */
export function unsafe(content: string): string | undefined {
  if (INJECTIONS.some((pattern) => pattern.test(content)))
    return "Security scan failed: Content matches injection pattern";
  // The server counts characters, as Python does, not UTF-16 units.
  const share = (content.match(SPECIAL)?.length ?? 0) / Math.max([...content].length, 1);
  return share > MAX_SPECIAL_SHARE
    ? "Security scan failed: Content has unusually high ratio of special characters"
    : undefined;
}

/** Who wrote it: the body, else the header, else "api". */
export function sourceOf({ source }: Fields, call: Call): string {
  return typeof source === "string" && source !== "" ? source : (call.headers["x-palinode-source"] ?? "api");
}

export function slugify(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

function saveAnswer(store: Store, file: string, outcome: string): Fields & { file_path: string } {
  return {
    file_path: `${store.root}/${file}`,
    rel_path: file,
    id: file.replace("/", "-").replace(/\.md$/, ""),
    indexed: store.embedder,
    embedded: store.embedder,
    indexed_vec: true,
    indexed_fts: true,
    git_committed: false,
    ...(store.embedder ? {} : { index_error: "embedder unreachable — reconcile aborted, will retry" }),
    ...(since(store, "0.16") ? { save_outcome: outcome } : {}),
    ...(since(store, "0.21") ? { retrieval_mode: "hybrid" } : {}),
  };
}

/** The first of `path`, `path-2`, `path-3`… that is free or holds the same text. */
function freeName(store: Store, path: string, content: string): string {
  const slug = path.slice(path.indexOf("/") + 1);
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? slug : `${slug}-${count}`;
    const text = store.memories.get(`${path.slice(0, path.indexOf("/"))}/${name}.md`);
    if (text === undefined || parseMemory(name, text).body.trim() === content.trim()) return name;
  }
}

function badValue(store: Store, { confidence, update_policy: policy }: Fields): string | undefined {
  if (since(store, "0.15") && typeof confidence === "number" && !(confidence >= 0 && confidence <= 1)) {
    return `confidence out of range: ${confidence}; expected a number in [0.0, 1.0]`;
  }
  if (policy === undefined || policy === null || policy === "append" || policy === "replace") return undefined;
  return `Invalid update_policy '${String(policy)}'; expected one of ['append', 'replace']`;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

// Memory files of the stand-in Palinode: their text, frontmatter and chunks. A memory is its whole text under its path,
// as on a disk, so a test can set, edit and delete files freely.
import { cosine, embed } from "./embedding.ts";

export type Frontmatter = Record<string, unknown>;

/** A memory as a test writes it: the whole `content`, or frontmatter and body apart. */
export type MemoryInput = {
  /** Path relative to the memory folder, `decisions/use-pnpm.md`. */
  file: string;
  /** The whole text of the file; the other fields are then ignored. */
  content?: string;
  body?: string;
  frontmatter?: Frontmatter;
  type?: string;
  name?: string;
  title?: string;
  description?: string;
  summary?: string;
  core?: boolean;
  entities?: string[];
  /** Becomes `last_updated`. @default the clock of the server */
  updated?: string;
};

export type Memory = { file: string; text: string; frontmatter: Frontmatter; body: string };
export type Chunk = { memory: Memory; sectionId: string; content: string };

const WHOLE_BODY_CHARS = 2000;
const RETIRED_STATES = ["archived", "superseded", "deprecated", "retracted"];
/** A bullet that was struck in place, with the server's mark behind it. */
const RETIRED_FACT = /^\s*(?:(?:[-*+]|\d+[.)])\s+)?~~.*~~\s*\[(?:superseded|RETRACTED)\s+\d{4}-\d{2}-\d{2}\b/m;
const FOOTER = "## See also\n<!-- palinode-auto-footer -->\n";

/** Returns the text of a memory file. */
export function memoryText(input: MemoryInput, updated?: string): string {
  if (input.content !== undefined) return input.content;
  const { type, name, title, description, summary, core, entities } = input;
  const fields = { type, name, title, description, summary, core, entities, last_updated: input.updated ?? updated };
  return composed({ ...fields, ...input.frontmatter }, input.body ?? "");
}

/** Frontmatter goes in the block style the server writes. */
export function composed(frontmatter: Frontmatter, body: string): string {
  const lines = Object.entries(frontmatter).flatMap(([key, value]) => yamlLines(key, value));
  return `---\n${lines.join("")}---\n\n${body}\n`;
}

/** Returns `body` with the links to its entities that the server adds to what it saves. */
export function withFooter(body: string, entities: readonly string[]): string {
  if (entities.length === 0) return body;
  return `${body}\n\n${FOOTER}${entities.map((entity) => `- [[${entity.split("/").at(-1)}]]\n`).join("")}`;
}

export function parseMemory(file: string, text: string): Memory {
  const [, head, body] = /^---\n(.*?\n)?---[ \t]*\n+(.*)$/s.exec(text) ?? [];
  return { file, text, frontmatter: parseYaml(head ?? ""), body: body ?? text };
}

/** Returns the memories outside the skipped top folders, newest first. */
export function memoriesIn(files: ReadonlyMap<string, string>, skipped: readonly string[] = []): Memory[] {
  return [...files]
    .filter(([file]) => !skipped.includes(topFolder(file)))
    .map(([file, text]) => parseMemory(file, text))
    .sort((a, b) => compare(updatedAt(b), updatedAt(a)));
}

/** A short body is one chunk, a long one is cut at its `##` and `###` headings. */
export function chunksOf(memory: Memory, hasFooter = false): Chunk[] {
  const body = hasFooter ? memory.body : (memory.body.split(FOOTER)[0] ?? "");
  if (body.length < WHOLE_BODY_CHARS) return [{ memory, sectionId: "root", content: body }];
  const sections = body
    .split(/^(?=#{2,3}\s)/m)
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return sections.map((content) => ({ memory, sectionId: sectionName(content), content }));
}

export function similarity(vector: readonly number[], text: string): number {
  return Math.min(1, cosine(vector, embed(text)));
}

export function topFolder(file: string): string {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : "";
}

export function stem(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.md$/, "");
}

export function updatedAt(memory: Memory): string {
  return String(memory.frontmatter.last_updated ?? "");
}

export function listOf(memory: Memory, key: string): string[] {
  const value = memory.frontmatter[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Tagged to some project, but not to this one. Untagged memories belong to everyone. */
export function isOtherProject(memory: Memory, project: string | null): boolean {
  const projects = listOf(memory, "entities").filter((entity) => entity.startsWith("project/"));
  return project !== null && projects.length > 0 && !projects.includes(project);
}

/** Private and restricted memories are readable by path, and nowhere else. */
export function isHidden(memory: Memory): boolean {
  return ["private", "restricted"].includes(String(memory.frontmatter.visibility));
}

export function isExpired(memory: Memory, now: number): boolean {
  return Date.parse(String(memory.frontmatter.expires_at)) <= now;
}

/** No longer current: expired, or said to be so. */
export function isRetired(memory: Memory, now: number): boolean {
  return retirement(memory, now) !== undefined;
}

/** Returns whether what a chunk says still holds, and what decides that: `currency` and `currency_reason` (0.20). */
export function currencyOf({ memory, content }: Chunk, now: number): [currency: string, reason: string] {
  const reason = retirement(memory, now);
  if (reason !== undefined) return ["retired", reason];
  if (RETIRED_FACT.test(content)) return ["retired", "retired fact text"];
  const rivals = listOf(memory, "contradicts");
  if (rivals.length > 0) return ["contested", `contradicts: ${rivals.join(", ")}`];
  for (const key of ["status", "lifecycle"])
    if (declared(memory, key)) return ["current", `${key}:${declared(memory, key)}`];
  return ["unmarked", "unmarked"];
}

/** Returns why a memory no longer holds: what replaced it is named first. */
function retirement(memory: Memory, now: number): string | undefined {
  const [replacement, status, lifecycle] = ["superseded_by", "status", "lifecycle"].map((key) => declared(memory, key));
  const reasons: [holds: boolean, reason: string][] = [
    [isExpired(memory, now), "expired"],
    [RETIRED_STATES.includes(status ?? ""), `status:${status}`],
    [RETIRED_STATES.includes(lifecycle ?? ""), `lifecycle:${lifecycle}`],
    [memory.file.split("/").slice(0, -1).includes("archive"), "path:archive"],
    [replacement !== "", "superseded_by"],
  ];
  const reason = reasons.find(([holds]) => holds)?.[1];
  return reason === undefined || replacement === "" ? reason : `superseded_by: ${memory.frontmatter.superseded_by}`;
}

function declared(memory: Memory, key: string): string {
  const value = memory.frontmatter[key];
  return value === undefined || value === null ? "" : String(value).trim().toLowerCase();
}

function sectionName(text: string): string {
  const [, heading = "root"] = /^#{2,3}\s+(.*)/.exec(text) ?? [];
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function yamlLines(key: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [`${key}: ${yamlScalar(value)}\n`];
  return value.length === 0 ? [`${key}: []\n`] : [`${key}:\n`, ...value.map((item) => `- ${yamlScalar(item)}\n`)];
}

function yamlScalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const plain = /^[\p{L}_/][^\n]*$/u.test(value) && !/: |:$| #|^(true|false|null|yes|no)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

/** The part of YAML that memory files use: scalars, and lists in either style. Anything else is a string. */
function parseYaml(text: string): Frontmatter {
  const result: Frontmatter = {};
  let list: unknown[] = [];
  for (const line of text.split("\n")) {
    const [, item] = /^\s*- (.*)$/.exec(line) ?? [];
    const [, key, rest = ""] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (item !== undefined) list.push(parseScalar(item));
    else if (key !== undefined && rest !== "") result[key] = parseScalar(rest);
    else if (key !== undefined) {
      list = [];
      result[key] = list;
    }
  }
  return result;
}

function parseScalar(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const bare = text.replace(/\s+#.*$/, "").trim();
    if (/^\[.*\]$/.test(bare))
      return bare
        .slice(1, -1)
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
    if (/^'.*'$/.test(bare)) return bare.slice(1, -1).replaceAll("''", "'");
    if (bare === "true" || bare === "false") return bare === "true";
    return bare;
  }
}

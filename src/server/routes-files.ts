// Memory files: which there are, and what one says.
import { asRecord, asText, textOf } from "../base/json.ts";
import type { Client, Limits } from "./client.ts";
import { PalinodeError } from "./failure.ts";
import { fileOf, rowsOf } from "./routes.ts";

const PRIME = "/context/prime";
const LIST = "/list";
const READ = "/read";

/** A memory file, as lists name it. */
export interface ListedMemory {
  /** Relative to the memory folder. */
  readonly file: string;
  readonly name: string | undefined;
  readonly title: string | undefined;
  readonly summary: string | undefined;
  /** Of the file, frontmatter and all, where the server tells. */
  readonly sizeBytes?: number;
  /** False only where the server says so. */
  readonly isCore: boolean;
  /** ISO text, or "". */
  readonly lastUpdated: string;
  /** References such as `project/shop`, its scope among them. */
  readonly entities: readonly string[];
  /** Files that it is in open conflict with, as a prime tells (0.20). */
  readonly contradicts?: readonly string[];
  /** Files that it rests on and that were retired, as a prime tells (0.20). */
  readonly staleBacking?: readonly string[];
}

export interface Prime {
  readonly core: readonly ListedMemory[];
  readonly snapshots: readonly ListedMemory[];
  readonly decisions: readonly ListedMemory[];
  readonly actionItems: readonly ListedMemory[];
}

/**
 * Returns what a session starts with, the newest first; all empty where the answer is of another shape. Servers before
 * 0.9.3 have no such route (palinode-api.md, 2.4).
 */
export async function primeSession(
  client: Client,
  { cwd, sessionId, project }: { cwd: string | undefined; sessionId?: string; project: string },
  limits?: Limits,
): Promise<Prime> {
  const body = { cwd, session_id: sessionId, project: project || undefined };
  const answer = asRecord(await client.post(PRIME, body, limits));
  const listed = (section: string): ListedMemory[] => {
    const rows = answer[section];
    return Array.isArray(rows) ? rows.flatMap(toListed) : [];
  };
  return {
    core: listed("core_memories"),
    snapshots: listed("recent_snapshots"),
    decisions: listed("recent_decisions"),
    actionItems: listed("open_action_items"),
  };
}

/** Returns every core memory of every project: no limit, no paging, no scope (palinode-api.md, 2.5). */
export async function listCore(client: Client, limits?: Limits): Promise<ListedMemory[]> {
  return rowsOf(await client.get(LIST, { core_only: "true" }, limits), LIST).flatMap(toListed);
}

/** A row that names no file is none. */
function toListed(row: unknown): ListedMemory[] {
  const { file, name, title, summary, core, entities, scope, contradicts, stale_backing } = asRecord(row);
  const { last_updated, size_bytes } = asRecord(row);
  const path = asText(file);
  if (path === undefined) return [];
  return [
    {
      file: path,
      name: asText(name),
      title: asText(title),
      summary: asText(summary),
      isCore: core !== false,
      lastUpdated: textOf(last_updated),
      entities: textsOf([...textsOf(entities), scope]),
      ...(typeof size_bytes === "number" && { sizeBytes: size_bytes }),
      ...(Array.isArray(contradicts) && { contradicts: textsOf(contradicts).map(fileOf) }),
      ...(Array.isArray(stale_backing) && { staleBacking: textsOf(stale_backing).map(fileOf) }),
    },
  ];
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((text) => typeof text === "string") : [];
}

/**
 * Returns the whole text of a memory file, frontmatter and all (palinode-api.md, 2.6). For a `project`, servers from
 * 0.22 on say of what belongs to others alone that there is no such file.
 */
export async function readMemory(client: Client, path: string, limits?: Limits, project = ""): Promise<string> {
  const scope: Record<string, string> = project === "" ? {} : { project, automatic: "true" };
  const { content } = asRecord(await client.get(READ, { file_path: path, ...scope }, limits));
  if (typeof content !== "string") throw new PalinodeError(READ, "bad-response");
  return content;
}

/** Returns a memory file's text without its frontmatter, or undefined where there is none or it cannot be read. */
export async function readBody(
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
  path: string,
): Promise<string | undefined> {
  try {
    return asText(withoutFrontmatter(await readMemory(client, path, { signal })));
  } catch {
    return undefined;
  }
}

/** A memory with what its frontmatter says. */
export interface KeptMemory {
  readonly path: string;
  /** Its text, without frontmatter and the footer that the server adds. */
  readonly body: string;
  readonly type: string | undefined;
  readonly title: string | undefined;
  readonly status: string | undefined;
  readonly core: boolean;
  readonly entities: readonly string[];
  /** The rest, but for what the server keeps of it by itself, or makes of its text. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

const FOOTER = /\n## See also\r?\n<!-- palinode-auto-footer -->[\s\S]*$/;

/** Returns a memory with its frontmatter (palinode-api.md, 2.6). */
export async function readKept(client: Client, path: string, limits?: Limits): Promise<KeptMemory> {
  const answer = asRecord(await client.get(READ, { file_path: path, meta: "true" }, limits));
  if (typeof answer.content !== "string") throw new PalinodeError(READ, "bad-response");
  const { type, title, status, core, entities, ...others } = asRecord(answer.frontmatter);
  // What it has of itself, and what it says of the text that goes.
  const { id, category, source, created_at, last_updated, content_hash, description, summary, ...rest } = others;
  // Quotes and claims are of that text too: 0.23 drops them itself (`_REPLACE_BODY_BOUND` in core/save.py).
  const { sources, claims, stale_backing, description_pending, summary_pending, ...metadata } = rest;
  return {
    path: asText(answer.file) ?? path,
    body: withoutFrontmatter(answer.content).replace(FOOTER, "").trim(),
    type: asText(type),
    title: asText(title),
    status: asText(status),
    core: core === true,
    entities: textsOf(entities),
    metadata,
  };
}

/** Returns a memory file's text without its frontmatter. */
export function withoutFrontmatter(content: string): string {
  return content.replace(/^\uFEFF?---\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/, "").trim();
}

// What the stand-in Palinode tells without embedding: /health, /status, /context/prime, /list, /read, /controls.

import type { Memory } from "./memory.ts";
import {
  chunksOf,
  isExpired,
  isHidden,
  isOtherProject,
  isRetired,
  listOf,
  memoriesIn,
  parseMemory,
  stem,
  topFolder,
  updatedAt,
} from "./memory.ts";
import type { Fields, Store } from "./store.ts";
import { decide, enforce, HttpError, projectOf, since, timestamp } from "./store.ts";

const PRIME_CAPS = { core: 10, decisions: 5, actions: 5, snapshots: 3 };
const SUMMARY_CHARS = 200;
const ABSTRACT_CHARS = 300;
const NEVER_LISTED = ["daily", "archive", "logs", "prompts"];

export function health(store: Store): Fields {
  const memories = memoriesIn(store.memories);
  return {
    status: "ok",
    version: store.version,
    chunks: memories.flatMap((memory) => chunksOf(memory)).length,
    last_indexed: memories[0] ? updatedAt(memories[0]) : null,
    entities: new Set(memories.flatMap((memory) => listOf(memory, "entities"))).size,
    ollama: store.embedder,
  };
}

export function status(store: Store): Fields {
  const { version, chunks, entities } = health(store);
  return {
    total_files: store.memories.size,
    total_chunks: chunks,
    version,
    fts_chunks: chunks,
    total_entities: entities,
    hybrid_search: store.hybrid,
    ollama_reachable: store.embedder,
    embed_functional: store.embedder,
    ...(since(store, "0.21") ? { memory_dir: store.root } : {}),
  };
}

export function prime(store: Store, fields: Fields): Fields {
  enforce(store, "recall", { ...fields, automatic: fields.automatic === true });
  const project = projectOf(store, fields);
  const listed = memoriesIn(store.memories, NEVER_LISTED);
  const usable = listed.filter((memory) => !isHidden(memory) && !isOut(store, memory, "0.20"));
  const seen = usable.filter((memory) => !since(store, "0.22") || !isOtherProject(memory, project));
  const own = seen.filter((memory) => project !== null && listOf(memory, "entities").includes(project));
  const rowsOf = (memories: Memory[], cap: number): Fields[] =>
    memories.slice(0, cap).map((memory) => primeRow(store, memory));
  const ofType = (type: string): Memory[] => own.filter(({ frontmatter }) => frontmatter.type === type);
  const snapshots = ofType("ProjectSnapshot").slice(0, PRIME_CAPS.snapshots);
  const source = fields.project ? "explicit" : "cwd_basename";
  const basis = project === null ? "none" : source;
  return {
    project,
    core_memories: rowsOf(
      seen.filter((memory) => isCore(memory) && !snapshots.includes(memory)),
      PRIME_CAPS.core,
    ),
    recent_decisions: rowsOf(ofType("Decision"), PRIME_CAPS.decisions),
    open_action_items: rowsOf(ofType("ActionItem"), PRIME_CAPS.actions),
    recent_snapshots: rowsOf(snapshots, PRIME_CAPS.snapshots),
    _palinode_hint: "Memory available. Call palinode_search before answering prior-state questions.",
    mode: fields.mode ?? "scoped",
    scope_chain: project === null ? [] : [project],
    ...(since(store, "0.21") ? { project_resolved_by: basis, project_known: own.length > 0 } : {}),
    ...(since(store, "0.22")
      ? { other_projects_withheld: usable.filter(isCore).length - seen.filter(isCore).length }
      : {}),
  };
}

export function list(store: Store, query: Fields): Fields[] {
  const skipped = query.include_inbox === true && since(store, "0.23") ? NEVER_LISTED : [...NEVER_LISTED, "inbox"];
  return memoriesIn(store.memories, skipped)
    .filter(
      (memory) => !isHidden(memory) && (query.category === undefined || topFolder(memory.file) === query.category),
    )
    .map((memory) => listRow(store, memory))
    .filter((row) => query.core_only !== true || row.core === true);
}

export function read(store: Store, query: Fields): Fields {
  const path = String(query.file_path);
  if (path.includes("\0")) throw new HttpError(400, "Invalid path");
  if (path.startsWith("/") || path.split("/").includes("..")) throw new HttpError(403, "Invalid path");
  const file = [path, `${path}.md`].find((name) => store.memories.has(name));
  if (file === undefined) throw new HttpError(404, "File not found");
  const memory = parseMemory(file, store.memories.get(file) ?? "");
  if (since(store, "0.22") && query.automatic === true && isOtherProject(memory, projectOf(store, query))) {
    throw new HttpError(404, "Withheld: record belongs to another project");
  }
  return {
    file,
    content: query.tier === "abstract" ? memory.body.trim().slice(0, ABSTRACT_CHARS) : memory.text,
    size_bytes: Buffer.byteLength(memory.text),
    ...(query.meta === true ? { frontmatter: memory.frontmatter } : {}),
    ...(typeof query.tier === "string" ? { tier: query.tier } : {}),
  };
}

export function controls(store: Store): Fields {
  const { capture, recall, excludedProjects, excludedPaths } = store.policy;
  return {
    policy_version: 1,
    capture_paused: capture === "capture_paused",
    recall_paused: recall === "recall_paused",
    excluded_projects: excludedProjects,
    excluded_paths: excludedPaths,
    updated_at: null,
    provenance: null,
  };
}

export function setControls(
  store: Store,
  { capture_paused, recall_paused, excluded_projects, excluded_paths }: Fields,
): Fields {
  const { policy } = store;
  if (typeof capture_paused === "boolean") policy.capture = capture_paused ? "capture_paused" : null;
  if (typeof recall_paused === "boolean") policy.recall = recall_paused ? "recall_paused" : null;
  if (Array.isArray(excluded_projects)) policy.excludedProjects = excluded_projects.map(String);
  if (Array.isArray(excluded_paths)) policy.excludedPaths = excluded_paths.map(String);
  return { ...controls(store), updated_at: timestamp(store), provenance: "api_controls", committed: false };
}

export function checkControls(store: Store, { action, automatic = true, ...scope }: Fields): unknown {
  return decide(store, action === "capture" ? "capture" : "recall", { ...scope, automatic: automatic === true });
}

function primeRow(store: Store, memory: Memory): Fields {
  const { title, description, epistemic } = memory.frontmatter;
  const contradicts = listOf(memory, "contradicts");
  const { stale_backing: backing } = memory.frontmatter;
  const stale_backing = Array.isArray(backing) ? backing.flatMap((entry) => (entry as { ref?: string }).ref ?? []) : [];
  const name = String(title ?? stem(memory.file));
  return {
    file: memory.file,
    summary: (description ? `${name} — ${String(description)}` : name).slice(0, SUMMARY_CHARS),
    ...(since(store, "0.20") && contradicts.length > 0 ? { contradicts } : {}),
    ...(since(store, "0.20") && stale_backing.length > 0 ? { stale_backing } : {}),
    ...(since(store, "0.20") && epistemic ? { epistemic } : {}),
  };
}

function listRow(store: Store, memory: Memory): Fields {
  const { name, title = null, type = null, scope = null, summary = "", core } = memory.frontmatter;
  const { expires_at = null, authority = null } = memory.frontmatter;
  // Truthiness, unlike /context/prime: the text "false" counts. A retired memory stays listed, but not as core.
  const isActing = Boolean(core) && !isOut(store, memory, "0.22");
  return {
    file: memory.file,
    name: name ?? stem(memory.file),
    title,
    type,
    category: topFolder(memory.file),
    core: isActing,
    scope,
    summary,
    last_updated: updatedAt(memory),
    entities: listOf(memory, "entities"),
    size_bytes: Buffer.byteLength(memory.text),
    ...(since(store, "0.17") ? { expires_at, authority } : {}),
    ...(since(store, "0.22") ? { core_retired_reason: core && !isActing ? "retired" : null } : {}),
  };
}

/** Expired memories stopped acting in 0.17, those of an ended status later. */
function isOut(store: Store, memory: Memory, statusSince: string): boolean {
  if (since(store, statusSince)) return isRetired(memory, store.now());
  return since(store, "0.17") && isExpired(memory, store.now());
}

function isCore(memory: Memory): boolean {
  return memory.frontmatter.core === true;
}

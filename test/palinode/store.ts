// What the stand-in Palinode knows: its memories, triggers, settings and the calls it has let through, with the rules
// that several routes share (version, pause and exclusion policy, rate limits, the project of a call).
import { lstatSync } from "node:fs";
import { basename, isAbsolute } from "node:path";

export type Trigger = {
  id: string;
  description: string;
  memory_file: string;
  threshold: number;
  cooldown_hours: number;
  last_fired: string | null;
  fire_count: number;
  created_at: string;
  enabled: 0 | 1;
  expires_at: string | null;
  authority: string | null;
};

/** A reason denies. `*_paused` and `invalid_policy` deny every controlled route, the others automatic calls only. */
export type Policy = {
  capture: string | null;
  recall: string | null;
  excludedProjects: string[];
  excludedPaths: string[];
};

export type Store = {
  /** Decides which routes and fields exist. */
  version: string;
  /** Root of `file_path` in answers; nothing is on disk there. */
  root: string;
  now: () => number;
  /** Whole file texts by path. */
  memories: Map<string, string>;
  triggers: Map<string, Trigger>;
  policy: Policy;
  /** False: every route that embeds answers as if the embedding service were away. */
  embedder: boolean;
  /** The keyword arm of /search, which admits hits with `raw_score: null`. */
  hybrid: boolean;
  /** Near-duplicates of what was stored in the last hour get no file of their own from /session-end. */
  dedup: boolean;
  rateLimits: { search: number; write: number };
  admitted: Map<string, { since: number; count: number }>;
  sessions: Record<string, unknown>[];
  saved: Record<string, unknown>[];
};

/** One request, its body parsed. */
export type Call = {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string | undefined>;
  body: unknown;
  /** The body as it came. */
  text: string;
};

export type Answer = { status: number; body: unknown; headers?: Record<string, string> };
export type Fields = Record<string, unknown>;

/** An answer other than 200. `detail` is a text, or the list of a 422. */
export class HttpError extends Error {
  readonly status: number;
  readonly detail: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, detail: unknown, headers: Record<string, string> = {}) {
    super(`HTTP ${status}`);
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}

export type Scope = { automatic: boolean; cwd?: unknown; project?: unknown; source_path?: unknown };
export type Decision = { allowed: boolean; reason: string | null; policy_version: 1; project: string | null };

const RATE_WINDOW_MS = 60_000;
const PAUSES = ["capture_paused", "recall_paused", "invalid_policy"];

/** True when the stand-in plays that version or a newer one: `since(store, "0.21")`. */
export function since(store: Pick<Store, "version">, version: string): boolean {
  const [have = [], want = []] = [store.version, version].map((text) => text.split(".").map(Number));
  const major = (have[0] ?? 0) - (want[0] ?? 0);
  return major !== 0 ? major > 0 : (have[1] ?? 0) >= (want[1] ?? 0);
}

export function timestamp(store: Pick<Store, "now">): string {
  return new Date(store.now()).toISOString();
}

/** Throws 429 once a bucket is full. Windows are fixed, and a refused call uses nothing up. */
export function admit(store: Store, bucket: keyof Store["rateLimits"]): void {
  const entry = store.admitted.get(bucket);
  const current = entry && store.now() - entry.since <= RATE_WINDOW_MS ? entry : { since: store.now(), count: 0 };
  if (current.count >= store.rateLimits[bucket]) throw new HttpError(429, "Rate limit exceeded");
  current.count += 1;
  store.admitted.set(bucket, current);
}

/** Throws what a route answers when the embedding service is away: 503, on old servers 500 with the `oldDetail`. */
export function needEmbedder(store: Store, oldDetail?: string): void {
  if (store.embedder) return;
  if (oldDetail !== undefined && !since(store, "0.14")) throw new HttpError(500, oldDetail);
  throw new HttpError(503, "Embedding backend unavailable — backend=local model='bge-m3'");
}

/** Returns the reason that stops everybody, whoever asks and for whatever. */
export function pauseOf(store: Store, action: "capture" | "recall"): string | null {
  const reason = store.policy[action];
  return since(store, "0.21") && reason !== null && PAUSES.includes(reason) ? reason : null;
}

/** Decides as POST /controls/check does: an explicit call is only stopped by a pause. */
export function decide(store: Store, action: "capture" | "recall", scope: Scope): Decision {
  const deny = (reason: string, project: string | null = null): Decision => ({
    allowed: false,
    reason,
    policy_version: 1,
    project,
  });
  const allow = (project: string | null): Decision => ({ allowed: true, reason: null, policy_version: 1, project });
  const pause = pauseOf(store, action);
  if (pause !== null) return deny(pause);
  if (!scope.automatic) return allow(null);
  const paths = [scope.cwd, scope.source_path].filter((path) => path !== undefined && path !== null).map(String);
  if (!isBareSlug(scope.project) || !paths.every(isPlainPath)) return deny("invalid_scope");
  const project = typeof scope.project === "string" ? scope.project : slugOf(basename(paths[0] ?? ""));
  const reason = store.policy[action] ?? exclusion(store.policy, project, paths);
  return reason === null ? allow(project) : deny(reason, project);
}

/** Throws 403 unless the policy allows the call. Servers before 0.21 have none. */
export function enforce(store: Store, action: "capture" | "recall", scope: Scope): void {
  const { allowed, reason } = decide(store, action, scope);
  if (since(store, "0.21") && !allowed) throw new HttpError(403, reason);
}

/** Returns the project of a call as `project/x`: the one it names, else one made from the folder it runs in. */
export function projectOf(store: Store, fields: Fields): string | null {
  const { project, cwd } = fields;
  if (typeof project === "string" && project !== "")
    return `${project.includes("/") ? "" : "project/"}${checked(store, project)}`;
  if (typeof cwd !== "string" || cwd === "") return null;
  // 0.13 takes the folder as it is here, and a slug of it in /session-end: it never finds such a note again.
  const name = since(store, "0.21") ? slugOf(basename(cwd)) : basename(cwd);
  return name === null ? null : `project/${name}`;
}

export function slugOf(name: string): string | null {
  return (
    name
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, "-")
      .replace(/-+/g, "-")
      .replace(/^-|-$/g, "") || null
  );
}

function checked(store: Store, project: string): string {
  if (!since(store, "0.22") || (/^(?:[\w.-]+\/)?[\w.-]+$/.test(project) && !project.includes(".."))) return project;
  throw new HttpError(
    400,
    "The project argument is not a usable project: it must be a slug or a single kind/name entity ref.",
  );
}

function exclusion(policy: Policy, project: string | null, paths: readonly string[]): string | null {
  const { excludedProjects, excludedPaths } = policy;
  if (project !== null && excludedProjects.includes(project)) return "excluded_project";
  if (paths.some((path) => excludedPaths.some((parent) => `${path}/`.startsWith(`${parent}/`)))) return "excluded_path";
  const isUnknown =
    (excludedProjects.length > 0 && project === null) || (excludedPaths.length > 0 && paths.length === 0);
  return isUnknown ? "unknown_scope" : null;
}

function isBareSlug(project: unknown): boolean {
  return project === undefined || project === null || /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(String(project));
}

/** Absolute, without `..`, and no component that exists is a link. */
function isPlainPath(path: string): boolean {
  if (!isAbsolute(path) || path.split("/").includes("..")) return false;
  const parents = path
    .split("/")
    .map((_, index, parts) => parts.slice(0, index + 1).join("/"))
    .slice(1);
  return parents.every((parent) => !lstatSync(parent, { throwIfNoEntry: false })?.isSymbolicLink());
}

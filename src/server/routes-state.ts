// How the server is, and what its policy allows.
import { asRecord, asText } from "../base/json.ts";
import type { Client, Limits } from "./client.ts";
import { type Askable, postIfThere } from "./routes.ts";

const HEALTH = "/health";
const STATUS = "/status";
const CHECK_CONTROLS = "/controls/check";
const REINDEX = "/reindex";

/** What `embed_functional` of the status says: null where the server searches by words alone. */
const EMBEDDERS = new Map<unknown, "ready" | "failing" | "none">([
  [true, "ready"],
  [false, "failing"],
  [null, "none"],
]);

export interface Health {
  /** Undefined where something else than Palinode answers. */
  readonly version: string | undefined;
  /** `ok`, or `degraded`. */
  readonly status: string | undefined;
  /** What the server says of its being degraded. */
  readonly trouble: string | undefined;
}

/** Returns how the server is; it wants no token for that, and may take 2 s (palinode-api.md, 2.1). */
export async function checkHealth(client: Client, limits?: Limits): Promise<Health> {
  const { version, status, db_error } = asRecord(await client.get(HEALTH, {}, limits));
  return { version: asText(version), status: asText(status), trouble: asText(db_error) };
}

export interface ServerStatus {
  /** Undefined where it does not say. */
  readonly embedder: "ready" | "failing" | "none" | undefined;
  readonly isOllamaReachable: boolean | undefined;
  /** As the server says it; undefined before 0.21. */
  readonly embeddingUrl: unknown;
}

/** Returns how the embedder is; this wants the token (palinode-api.md, 2.2). */
export async function checkStatus(client: Client, limits?: Limits): Promise<ServerStatus> {
  const { embed_functional, ollama_reachable, embedding_url } = asRecord(await client.get(STATUS, {}, limits));
  return {
    embedder: EMBEDDERS.get(embed_functional),
    isOllamaReachable: typeof ollama_reachable === "boolean" ? ollama_reachable : undefined,
    embeddingUrl: embedding_url,
  };
}

export interface Permission {
  /** Undefined where the server answers something else. */
  readonly isAllowed: boolean | undefined;
  /** One word, such as `capture_paused`. */
  readonly reason: string | undefined;
}

/**
 * Returns whether the server's policy allows what nobody asked for by hand; undefined where it has none, before 0.21.
 * It takes no `cwd` that holds a link for one (palinode-api.md, 2.12).
 */
export async function checkControls(
  asker: Askable,
  { action, cwd, project }: { action: "recall" | "capture"; cwd: string | undefined; project: string },
  limits?: Limits,
): Promise<Permission | undefined> {
  const body = { action, cwd, project: project || undefined, automatic: true };
  const answer = await postIfThere(asker, CHECK_CONTROLS, body, limits);
  if (answer === undefined) return undefined;
  const { allowed, reason } = answer;
  return { isAllowed: typeof allowed === "boolean" ? allowed : undefined, reason: asText(reason) };
}

/** Has the server read all memory files anew, and returns of how many it did (api/routers/maintenance.py of 0.23). */
export async function reindex(client: Client, limits?: Limits): Promise<number> {
  const { files_reindexed } = asRecord(await client.post(REINDEX, {}, limits));
  return typeof files_reindexed === "number" ? files_reindexed : 0;
}

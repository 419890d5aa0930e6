// The routes that store something: a memory, what a session came to, a trigger.
import { asRecord, asText } from "../base/json.ts";
import { hexDigestOf } from "../base/text.ts";
import type { Client, Limits } from "./client.ts";
import { PalinodeError } from "./failure.ts";

const SAVE = "/save";
const SESSION_END = "/session-end";
const TRIGGERS = "/triggers";

/** A memory. Text goes through `outgoing` first: the server refuses some markup (palinode-api.md, 2.9 and 2.10). */
export interface SaveRequest {
  readonly content: string;
  /** One of the server's six kinds; it says in which folder the memory goes. */
  readonly type: string;
  /** The file's name. A file that has it is overwritten. */
  readonly slug: string;
  readonly title?: string;
  /** Who wrote it. */
  readonly source: string;
  /** Whether every session starts with it. */
  readonly core?: boolean;
  /** References such as `project/shop`. */
  readonly entities?: readonly string[];
  /** More frontmatter, in its own names. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface SaveReceipt {
  readonly path: string;
  /** False where search cannot find it before the embedder works. */
  readonly isIndexed: boolean;
  /** Whether it took the place of a file of this name, as servers from 0.16 on say. */
  readonly isOverwritten: boolean;
}

/** Saves a memory. What gives no receipt is not Palinode: that is a `bad-response` (palinode-api.md, 2.10). */
export async function saveMemory(
  client: Pick<Client, "post">,
  request: SaveRequest,
  limits?: Limits,
): Promise<SaveReceipt> {
  const { rel_path, file_path, indexed, save_outcome } = asRecord(await client.post(SAVE, { ...request }, limits));
  const path = asText(rel_path) ?? asText(file_path);
  if (path === undefined) throw new PalinodeError(SAVE, "bad-response", undefined, { detail: "no receipt" });
  return { path, isIndexed: indexed !== false, isOverwritten: save_outcome === "replaced" };
}

/** What a session came to. */
export interface SessionEnd {
  readonly summary: string;
  readonly decisions?: readonly string[];
  readonly blockers?: readonly string[];
  /** A slug, or "". */
  readonly project: string;
  /** What the recording was made at, such as `run_end`, or by, such as `agent`. */
  readonly trigger: string;
  readonly sessionId: string | undefined;
  readonly cwd: string | undefined;
  readonly model?: string | undefined;
  readonly durationSeconds?: number | undefined;
  /** True where nobody asked for it: then the server's policy has a say. */
  readonly isAutomatic?: true;
}

/** A session's end in the server's names, as it waits on disk and as it is sent. */
export type SessionEndBody = Readonly<Record<string, unknown>>;

/** Returns what is sent. Both lists always are: without them the server refuses more markup (palinode-api.md, 2.9). */
export function sessionEndBody(session: SessionEnd): SessionEndBody {
  return {
    summary: session.summary,
    decisions: session.decisions ?? [],
    blockers: session.blockers ?? [],
    project: session.project || undefined,
    source: "cline-plugin",
    harness: "cline",
    trigger: session.trigger,
    session_id: session.sessionId,
    cwd: session.cwd,
    model: session.model,
    duration_seconds: session.durationSeconds,
    automatic: session.isAutomatic,
  };
}

/**
 * Stores a session's end; a second time, it is stored twice (palinode-api.md, 3.4). Returns whether the answer is a
 * receipt, which names the day's notes: something else may be at this address (palinode-api.md, 2.9).
 */
export async function recordSession(client: Client, body: SessionEndBody, limits?: Limits): Promise<boolean> {
  const receipt = await client.post(SESSION_END, body, { ...limits, isOnce: true });
  return asText(asRecord(receipt).daily_file) !== undefined;
}

/**
 * Returns the files of which one holds a session's end that was stored on this date of the server, in UTC: one that is
 * named after its summary, and the day's notes (palinode-api.md, 3.4).
 */
export function filesOfSessionEnd(date: string, { project, summary }: SessionEndBody): [own: string, daily: string] {
  const hash = hexDigestOf(String(summary));
  const slug = asText(project);
  const own =
    slug === undefined ? `insights/session-end-${date}-${hash}.md` : `projects/session-end-${date}-${slug}-${hash}.md`;
  return [own, `daily/${date}.md`];
}

/**
 * The server's own 0.75 fires for 1 of 64 prompts that it should fire for, on the scale of bge-m3; this for 15, and for
 * 5 of 331 others (palinode-api.md, 3.6).
 */
const TRIGGER_THRESHOLD = 0.6;

/** Has the server show a memory file whenever a prompt is about what is described (palinode-api.md, 2.7). */
export async function createTrigger(
  client: Client,
  { description, file }: { description: string; file: string },
  limits?: Limits,
): Promise<void> {
  await client.post(
    TRIGGERS,
    { description, memory_file: file, threshold: TRIGGER_THRESHOLD },
    {
      ...limits,
      isOnce: true,
    },
  );
}

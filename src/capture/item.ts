// One capture as a file: what it holds, what it is called, and what of it is believed when it is read again.
import { asRecord, asText } from "../base/json.ts";
import { fileStem } from "../base/store.ts";
import { digestOf } from "../base/text.ts";
import { isTime } from "../base/time.ts";
import type { Reason, SessionEndBody } from "../server/index.ts";
import { MAX_SUMMARY_CHARS } from "./summary.ts";

/** One capture, as it lies on disk. Redacted before it gets here. */
export interface Item {
  readonly sessionId: string;
  /** Whose tail it is: the session's, or one conversation's of several. */
  readonly tail: string;
  readonly prompts: number;
  /** What tells the prompts that it covers from all others; none in what 0.1.0 left. */
  readonly keys?: readonly string[];
  readonly createdAt: number;
  /** The process that wrote it. */
  readonly pid: number;
  readonly body: SessionEndBody;
  readonly refusals: number;
  /** When it may have reached the server without our knowing; absent when it never did. */
  readonly unknownSince?: number;
  /** Whether the server has answered to that: then it is not at work on it any more. */
  readonly isAnswered?: boolean;
  readonly reason?: Reason;
}

/** Returns the capture in a file, or undefined where it is none: what was changed on disk is not what was captured. */
export function readItem(raw: unknown): Item | undefined {
  const { sessionId, tail, prompts, keys, createdAt, pid, body, refusals, unknownSince, isAnswered, reason } =
    asRecord(raw);
  const [id, summary] = [asText(sessionId), asText(asRecord(body).summary)];
  if (summary === undefined || summary.length > MAX_SUMMARY_CHARS || !summary.isWellFormed()) return undefined;
  if (id === undefined || typeof prompts !== "number" || !isTime(createdAt) || typeof pid !== "number")
    return undefined;
  return {
    sessionId: id,
    tail: asText(tail) ?? id,
    prompts,
    createdAt,
    pid,
    body: asRecord(body),
    refusals: typeof refusals === "number" ? refusals : 0,
    ...(Array.isArray(keys) ? { keys: keys.flatMap((key) => asText(key) ?? []) } : {}),
    ...(isTime(unknownSince) ? { unknownSince, isAnswered: isAnswered === true } : {}),
    ...(typeof reason === "string" ? { reason: reason as Reason } : {}),
  };
}

/** Returns the file of what a conversation would still say. */
export function tailName(tail: string): string {
  return `tails/${fileStem(tail)}.json`;
}

/** Returns the file of a capture that is to be sent; sorted by name, the oldest is first. */
export function queueName(item: Item): string {
  return `queue/${String(item.createdAt).padStart(13, "0")}-${digestOf(`${item.tail} ${item.prompts}`)}.json`;
}

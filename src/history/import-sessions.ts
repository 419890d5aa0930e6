// One import, first session to last: each is read, sent where the server lacks it, and counted. It ends
// early when somebody stops it or the server is no use.
import { setImmediate as yieldToEvents } from "node:timers/promises";
import type { State } from "../base/store.ts";
import { adviceFor, type PalinodeError, type Reason, type SaveRequest } from "../server/index.ts";
import type { ProjectFor } from "./choose.ts";
import type { Kinship } from "./families.ts";
import { type ImportLedger, sessionDigest } from "./import-ledger.ts";
import type { Send, SendResult } from "./import-send.ts";
import { withoutPaused } from "./pauses.ts";
import { readSession } from "./read.ts";
import type { PastSession, ReadSession } from "./sessions.ts";
import { memoryOf } from "./snapshot.ts";
import { attempt, type Warn } from "./warn.ts";

/** So many in a row without a usable answer: it is the server, not the session. */
const MAX_FAILURES = 3;
/** Reading is synchronous: an interrupt is heard after so many sessions. */
export const SESSIONS_PER_YIELD = 20;
/** What no other session would fare better with. */
const HOPELESS: readonly Reason[] = ["refused", "dns", "tls", "unauthorized", "denied", "rate-limited"];

/** How many sessions became what. */
export interface ImportCounts {
  sent: number;
  unchanged: number;
  too_short: number;
  broken: number;
  refused: number;
  /** Only where there are such: all that they say is told with another session. */
  repeated?: number;
  /** Only where it ended early: the reason code or "interrupted", and how many sessions were not come to. */
  stopped?: string;
  left?: number;
}

export interface Importer {
  readonly send: Send;
  readonly ledger: ImportLedger;
  readonly signal: AbortSignal;
  readonly minPrompts: number;
  readonly projectFor: ProjectFor;
  /** A project that others are left out for, or "". */
  readonly project: string;
  /** By session id, what of it is told with another; none where that was not looked for. */
  readonly kinships?: ReadonlyMap<string, Kinship>;
  /** Where pauses are noted. */
  readonly pauses: State;
  readonly warn: Warn;
  /** Hears after each session how many are done. */
  readonly onDone: (done: number, total: number) => void;
}

/** What became of a session; `left_out` is of another project, or lost with its file. */
type Fate = SendResult | { readonly kind: "unchanged" | "too_short" | "repeated" | "left_out" };

/** Sends sessions in the order given until they are done, it is stopped or the server is no use. Never rejects. */
export async function importSessions(sessions: readonly PastSession[], importer: Importer): Promise<ImportCounts> {
  const counts: ImportCounts = { sent: 0, unchanged: 0, too_short: 0, broken: 0, refused: 0 };
  const counting = { ...importer, warn: countLost(importer.warn, counts) };
  const adviceAfter = createAdviser();
  for (const [index, session] of sessions.entries()) {
    if (index % SESSIONS_PER_YIELD === 0) await yieldToEvents();
    const fate = await importOne(session, counting);
    if (fate.kind === "stopped") return { ...counts, stopped: "interrupted", left: sessions.length - index };
    if (fate.kind !== "left_out") counts[fate.kind] = (counts[fate.kind] ?? 0) + 1;
    const advice = adviceAfter(fate);
    if (fate.kind === "refused" && advice !== undefined) {
      const left = sessions.length - index - 1;
      importer.warn(`stopped with ${left} left: ${advice}. A rerun goes on from here.`);
      return { ...counts, stopped: fate.error.code, left };
    }
    importer.onDone(index + 1, sessions.length);
  }
  return counts;
}

/** Returns a listener that passes warnings on and counts the sessions lost. */
export function countLost(warn: Warn, counts: Pick<ImportCounts, "broken">): Warn {
  return (text, isLost) => {
    if (isLost) counts.broken += 1;
    warn(text);
  };
}

async function importOne(session: PastSession, importer: Importer): Promise<Fate> {
  const { send, ledger, signal, warn } = importer;
  if (signal.aborted) return { kind: "stopped" };
  const prepared = attempt(session.file, warn, () => prepare(session, importer)) ?? { kind: "left_out" };
  if (prepared.kind !== "memory") return prepared;
  const result = await send(prepared.body);
  if (result.kind === "sent") ledger.add(session.id, prepared.digest);
  if (result.kind === "refused") warn(`${session.id} was refused: ${refusalText(result.error)}`);
  return result;
}

interface Memory {
  readonly kind: "memory";
  readonly body: SaveRequest;
  readonly digest: string;
}

function prepare(past: PastSession, importer: Importer): Memory | Exclude<Fate, SendResult> {
  const { ledger, minPrompts, project, projectFor, warn } = importer;
  const whole = readSession(past, warn);
  if (whole === undefined || (project !== "" && projectFor(whole) !== project)) return { kind: "left_out" };
  if (whole.prompts.length < minPrompts) return { kind: "too_short" };
  const own = withoutShared(whole, importer.kinships?.get(past.id));
  if (own === undefined) return { kind: "repeated" };
  const session = withoutPaused(own, importer.pauses);
  if (session.prompts.length < Math.min(minPrompts, own.prompts.length)) return { kind: "too_short" };
  const digest = sessionDigest(session);
  if (ledger.has(session.id, digest)) return { kind: "unchanged" };
  return { kind: "memory", body: memoryOf(session, projectFor(session)), digest };
}

/** Returns what a session has that the other has not, or undefined where that is nothing. */
function withoutShared(session: ReadSession, kinship: Kinship | undefined): ReadSession | undefined {
  if (kinship === undefined) return session;
  const prompts = session.prompts.slice(kinship.shared);
  const [first] = prompts;
  if (first === undefined) return undefined;
  const messages = session.messages.slice(session.messages.indexOf(first));
  return { ...session, prompts, messages, continues: kinship.continues };
}

function refusalText({ serverWords, status, message }: PalinodeError): string {
  return serverWords === undefined ? message : `HTTP ${status}, ${serverWords}`;
}

/** Returns a function that hears each fate, and returns what to do about the server once it is no use going on. */
function createAdviser(): (fate: Fate) => string | undefined {
  let failures = 0;
  return (fate) => {
    if (fate.kind === "sent") failures = 0;
    if (fate.kind !== "refused") return undefined;
    if (!isOfThisText(fate.error)) failures += 1;
    const { code } = fate.error;
    return failures === MAX_FAILURES || HOPELESS.includes(code) ? adviceFor(code) : undefined;
  };
}

/** A refusal of this one text, as opposed to no usable answer. */
function isOfThisText({ status }: PalinodeError): boolean {
  return [400, 413, 422].includes(status ?? 0);
}

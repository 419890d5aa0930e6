// The sessions of an import: each is read, and what the server lacks of it is sent.
import type { State } from "../base/store.ts";
import type { SaveRequest } from "../server/index.ts";
import type { ProjectFor } from "./choose.ts";
import type { Kinship } from "./families.ts";
import { type Counts, type Delivery, deliver, type Fate as FateOf, importEach } from "./import-each.ts";
import { sessionDigest } from "./import-ledger.ts";
import type { SendResult } from "./import-send.ts";
import { withoutPaused } from "./pauses.ts";
import { readSession } from "./read.ts";
import type { PastSession, ReadSession } from "./sessions.ts";
import { memoryOf } from "./snapshot.ts";
import { attempt, type Warn } from "./warn.ts";

/** How many sessions became what. */
export interface ImportCounts extends Counts {
  too_short: number;
  /** Only where there are such: all that they say is told with another session. */
  repeated?: number;
}

export interface Importer extends Delivery {
  readonly minPrompts: number;
  readonly projectFor: ProjectFor;
  /** A project that others are left out for, or "". */
  readonly project: string;
  /** By session id, what of it is told with another; none where that was not looked for. */
  readonly kinships?: ReadonlyMap<string, Kinship>;
  /** Where pauses are noted. */
  readonly pauses: State;
}

/** What became of a session; `left_out` is of another project, or lost with its file. */
type Fate = FateOf<"too_short" | "repeated">;

/** Sends sessions in the order given until they are done, it is stopped or the server is no use. Never rejects. */
export async function importSessions(sessions: readonly PastSession[], importer: Importer): Promise<ImportCounts> {
  const counts: ImportCounts = { sent: 0, unchanged: 0, too_short: 0, broken: 0, refused: 0 };
  const counting = { ...importer, warn: countLost(importer.warn, counts) };
  return importEach(sessions, counts, (session) => importOne(session, counting), importer);
}

/** Returns a listener that passes warnings on and counts the sessions lost. */
export function countLost(warn: Warn, counts: Pick<ImportCounts, "broken">): Warn {
  return (text, isLost) => {
    if (isLost) counts.broken += 1;
    warn(text);
  };
}

async function importOne(session: PastSession, importer: Importer): Promise<Fate> {
  const { signal, warn } = importer;
  if (signal.aborted) return { kind: "stopped" };
  const prepared = attempt(session.file, warn, () => prepare(session, importer)) ?? { kind: "left_out" };
  return prepared.kind === "memory" ? deliver({ ...prepared, id: session.id }, importer) : prepared;
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

// What of the findings goes into a conversation's ledger: chosen, rendered, kept within the budgets and accounted for.
// Asks nobody and keeps nothing.
import type { Message, Prompt } from "../cline/index.ts";
import type { Reason } from "../server/index.ts";
import type { Config } from "../settings/index.ts";
import {
  DIGEST_TITLE,
  type Entry,
  LATE_DIGEST_TITLE,
  LATE_TITLE,
  RECALL_TITLE,
  REPAIR_TITLE,
  renderBlock,
  renderNotes,
} from "./block.ts";
import type { Channel, Finding, Memory } from "./finding.ts";
import { createEntry, type Ledger, type LedgerEntry, visibleIn } from "./replay.ts";
import { select } from "./select.ts";

/** Less does not hold a block's fence and title. */
const MIN_ROOM_CHARS = 200;
const MAX_NOTES_CHARS = 1200;

/** What was injected in a conversation, and what waits for room. */
export interface Injected {
  readonly ledger: Ledger;
  /** Triggers that fired and found no room: their cooldown runs, so the next block shows them. */
  readonly carried: readonly Memory[];
}

/** What was asked about. */
export interface Occasion {
  readonly prompt: Prompt;
  /** The failed tool's message; absent for the prompt itself. */
  readonly failed?: Message;
  /** True after the deadline: a block may only stand where nothing was sent before. */
  readonly isLate: boolean;
}

/** One memory in a block; `chars` is its part of the block. */
export interface ShownMemory {
  readonly kind: LedgerEntry["kind"];
  readonly path: string;
  readonly score: number | null;
  readonly chars: number;
}

/** What is shown after findings were taken in, and an account of that. */
export interface Admission extends Injected {
  /** What was added to the ledger, and in how many characters. */
  readonly shown: readonly ShownMemory[];
  readonly chars: number;
  /** Memories that found no room. */
  readonly leftOut: number;
  /** Why a channel that brought memories added none. */
  readonly reasons: Partial<Record<Channel, Reason>>;
}

type Budgets = Pick<Config, "injectMaxChars" | "recallMaxChars" | "recallMaxResults" | "sessionMaxChars" | "tools">;

/** Returns whether a block of recall still has room in the session. */
export function hasRoom(ledger: Ledger, { recallMaxChars, sessionMaxChars }: Budgets): boolean {
  return Math.min(recallMaxChars, sessionMaxChars - charsOf(ledger)) >= MIN_ROOM_CHARS;
}

/**
 * Returns the ledger with what is new of the findings: the digest in one block, what else was recalled in another, both
 * not placed yet. Nothing that is in view is added again.
 */
export function admit(
  { ledger, carried }: Injected,
  findings: readonly Finding[],
  occasion: Occasion,
  config: Budgets,
): Admission {
  const visible = visibleIn(ledger);
  // Asked again after a failure, both answers may come in the end: the session is told once.
  const digest = memoriesOf(findings, true).filter(({ keys }) => !keys.every((key) => visible.keys.has(key)));
  const recalled = memoriesOf(findings, false);
  const wanted = select([...carried, ...recalled], visible, config.recallMaxResults);
  const first = put(ledger, digestPart(ledger, digest, config), occasion, config);
  const second = put(first.ledger, recallPart(wanted, occasion, config), occasion, config);
  const reasons: Admission["reasons"] = {};
  if (digest.length > 0 && first.shown.length === 0) reasons.prime = "budget";
  if (wanted.length > 0 && second.shown.length === 0) Object.assign(reasons, { search: "budget", repair: "budget" });
  // All that was found is in view already.
  if (wanted.length === 0 && recalled.length > 0) Object.assign(reasons, { search: "no-hits", repair: "no-hits" });
  return {
    ledger: second.ledger,
    carried: second.leftOut.filter(({ source }) => source === "trigger"),
    shown: [...first.shown, ...second.shown],
    chars: first.chars + second.chars,
    leftOut: first.leftOut.length + second.leftOut.length,
    reasons,
  };
}

/**
 * Returns what is added to a ledger when compaction took the turns that `notes` come from: one block, after the prompt
 * or at the end, as the digest is placed again there. Undefined where nothing is to be said, or nothing has room.
 */
export function admitNotes(
  ledger: Ledger,
  notes: readonly Entry[],
  prompt: Prompt,
  { injectMaxChars, sessionMaxChars }: Budgets,
): LedgerEntry | undefined {
  const room = Math.min(MAX_NOTES_CHARS, injectMaxChars, sessionMaxChars - charsOf(ledger));
  const text = renderNotes(notes, room)?.text;
  return text === undefined ? undefined : createEntry(prompt, { kind: "notes", atEnd: false, text, seen: [] });
}

/** A block before it is rendered. */
interface Part {
  readonly kind: LedgerEntry["kind"];
  readonly title: string;
  readonly memories: readonly Memory[];
  readonly maxChars: number;
}

function digestPart(ledger: Ledger, memories: readonly Memory[], { injectMaxChars }: Budgets): Part {
  const earlier = ledger.filter(({ kind }) => kind === "digest");
  const title = earlier.length > 0 ? LATE_DIGEST_TITLE : DIGEST_TITLE;
  return { kind: "digest", title, memories, maxChars: injectMaxChars - charsOf(earlier) };
}

function recallPart(memories: readonly Memory[], { failed, isLate }: Occasion, { recallMaxChars }: Budgets): Part {
  if (failed !== undefined) return { kind: "repair", title: REPAIR_TITLE, memories, maxChars: recallMaxChars };
  return { kind: "recall", title: isLate ? LATE_TITLE : RECALL_TITLE, memories, maxChars: recallMaxChars };
}

/** Returns the ledger with one more block, as far as the part and the session have room for it. */
function put(ledger: Ledger, { kind, title, memories, maxChars }: Part, occasion: Occasion, config: Budgets) {
  const room = Math.min(maxChars, config.sessionMaxChars - charsOf(ledger));
  const entries = memories.map((memory) => memory.entry);
  const block = renderBlock(title, entries, room, { namesTools: config.tools });
  if (block === undefined) return { ledger, shown: [], chars: 0, leftOut: memories };
  const kept = memories.filter((_, index) => block.kept.includes(index));
  const content = {
    kind,
    atEnd: occasion.isLate,
    text: block.text,
    seen: kept.flatMap(({ keys }) => keys),
    snippets: kept.flatMap(({ path, words }) => (words === undefined ? [] : [{ path, words }])),
  };
  const about = kind === "repair" ? occasion.failed : undefined;
  return {
    ledger: [...ledger, createEntry(occasion.prompt, content, about)],
    shown: kept.map(({ path, score, entry }) => ({ kind, path, score, chars: entry.lines.join("\n").length })),
    chars: block.text.length,
    leftOut: memories.filter((memory) => !kept.includes(memory)),
  };
}

function memoriesOf(findings: readonly Finding[], isPrime: boolean): Memory[] {
  return findings.filter(({ channel }) => (channel === "prime") === isPrime).flatMap(({ memories }) => memories);
}

function charsOf(ledger: Ledger): number {
  return ledger.reduce((sum, { text }) => sum + text.length, 0);
}

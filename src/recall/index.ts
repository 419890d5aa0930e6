// What to say to the model, and where it goes in a request.
export { type Admission, admit, admitNotes, hasRoom, type Injected, type ShownMemory } from "./admit.ts";
export { type Anchor, compactionIn, type Turn } from "./anchors.ts";
export { type Entry, renderBlock, triggerHeading } from "./block.ts";
export { askDigest, gistOf } from "./digest.ts";
export type { Asker, Channel, Finding, Memory } from "./finding.ts";
export { type Question, questionsFor, repairQuestions, type Silence } from "./questions.ts";
export { STRONG_COSINE } from "./relevance.ts";
export { type Failure, failuresIn, type Repaired, unrepaired } from "./repair.ts";
export {
  ENTRY_KINDS,
  entryId,
  hasBlockOfOthers,
  isAnsweredElsewhere,
  type Ledger,
  type LedgerEntry,
  replay,
  type Snippet,
} from "./replay.ts";
export { BY_HAND_TIMEOUT_MS, type Search, searchByHand } from "./search.ts";
export { doubtsOf } from "./standing.ts";

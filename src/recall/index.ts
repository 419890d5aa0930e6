// What to say to the model, and where it goes in a request.
export {
  DIGEST_TITLE,
  type Entry,
  LATE_DIGEST_TITLE,
  LATE_TITLE,
  RECALL_TITLE,
  REPAIR_TITLE,
  renderBlock,
  triggerHeading,
} from "./block.ts";
export { askDigest } from "./digest.ts";
export type { Asker, Channel, Finding, Memory } from "./finding.ts";
export type { Anchor, Turn } from "./places.ts";
export { queryOf, saysEnough } from "./query.ts";
export { type Failure, failuresIn } from "./repair.ts";
export {
  countHits,
  createEntry,
  entryId,
  isAnsweredElsewhere,
  type Ledger,
  type LedgerEntry,
  replay,
  type Snippet,
  visibleIn,
} from "./replay.ts";
export { askRepair, askResolve, askSearch, askTriggers, BY_HAND_TIMEOUT_MS, searchByHand } from "./search.ts";
export { select } from "./select.ts";

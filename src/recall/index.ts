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
export { type Failure, failuresIn } from "./repair.ts";
export {
  type Anchor,
  createEntry,
  entryId,
  isAnsweredElsewhere,
  type Ledger,
  type LedgerEntry,
  replay,
  type Turn,
  visibleIn,
} from "./replay.ts";
export {
  type Asker,
  askRepair,
  askResolve,
  askSearch,
  askTriggers,
  BY_HAND_TIMEOUT_MS,
  type Channel,
  type Finding,
  type Memory,
  queryOf,
  saysEnough,
  searchByHand,
} from "./search.ts";
export { countHits, select } from "./select.ts";

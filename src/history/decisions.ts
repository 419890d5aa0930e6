// Decision records of a repository (ADRs, MADRs, RFCs): where people keep them, and whether what they say still holds.
import { clip, clipMarked, oneLine } from "../base/text.ts";
import type { Document } from "./document.ts";

const IN_ARCHITECTURE = "(?:architecture|arch|design|development|dev|project)";
/** Folders of decision records, by their path in the repository. */
const FOLDER = new RegExp(`^(?:docs?/)?(?:${IN_ARCHITECTURE}/)?(?:adrs?|decisions?|decision[-_]records?|rfcs?)$`, "i");
/** Folders that may hold one of those. */
const ABOVE = new RegExp(`^(?:|docs?|(?:docs?/)?${IN_ARCHITECTURE})$`, "i");
/** Folders in one of those that hold no decisions that stand. */
const ASIDE = /(?:^|\/)(?:archived?|templates?|rejected|superseded|deprecated|obsolete|old|assets|images)$/i;
const RECORD = /\.(?:md|markdown|rst|adoc)$/i;
const NO_RECORD = /^(?:[._].*|readme|index|toc|.*template.*)$/i;

const MAX_STATUS_CHARS = 200;
/** As much of a section is looked at for the status. */
const MAX_LOOK_CHARS = 500;
/** As many sections are looked at for a line that tells it. */
const OPENING_SECTIONS = 3;
const LINK = /\[([^\]\n]{1,200})\]\([^)\n]{0,400}\)/g;

/** Names what stood in the place of the record, not the record: `Supersedes [the deprecated API](…)`. */
const OF_OTHERS = /\b(?:supersedes|superseding|replaces|amends|deprecates|obsoletes)\b[^\n.;]*/gi;
const RETIRED = new RegExp(
  "\\b(?:super[sc]eded|deprecated|reject(?:ed)?|declined|withdrawn|obsoleted?|abandoned|retired|replaced|revoked|" +
    "cancel?led|won['’]?t (?:do|fix)|no longer)\\b|废弃|弃用|作废|取代|拒绝|否决|廃止|却下|非推奨",
  "i",
);
const TAKEN = /\b(?:accepted|approved|adopted|agreed|decided|implemented|active|final|done)\b/i;
const OPEN = new RegExp(
  "\\b(?:propos(?:ed|al)|draft|pending|on[ -]hold|review|discussion|wip|in progress|open|undecided|deferred|" +
    "postponed)\\b|提议|草案|提案",
  "i",
);
const IN_BRACKETS = /[[(~]\s{0,4}(?:superseded|deprecated|rejected|withdrawn|obsolete)\b/i;

const STATUS = "(?:status|状态|狀態|ステータス|estado|statut)";
const STATUS_HEADING = new RegExp(`^[^\\p{L}]{0,9}${STATUS}[^\\p{L}]{0,9}$`, "iu");
/** How the value of such a line begins: `* **Status:** accepted`, `| Status | accepted |`. */
const LINE_START = "^[\\s>*_|:+-]{0,20}";
const LINE_SIGN = "[ \\t*_|]{0,10}[:：|]";
const STATUS_LINE = new RegExp(`${LINE_START}${STATUS}${LINE_SIGN}[ \\t*_|:]{0,10}([^\\n|]{1,400})`, "im");
const REPLACED_LINE = new RegExp(
  `${LINE_START}(super[sc]eded[ _-]by${LINE_SIGN}(?![ \\t*_|:]*(?:none|n/a|[-—]|$))[^\\n|]{1,400})`,
  "im",
);

/** Whether a record holds, and how it says so, on one line and at most 200 characters; "" where it does not. */
export interface Standing {
  readonly kind: "stands" | "open" | "retired";
  readonly status: string;
}

/** Returns whether a folder holds decision records, may hold folders that do, or neither. Paths have `/` and no end. */
export function kindOfFolder(path: string): "records" | "above" | "other" {
  const isAside = ASIDE.test(path);
  const isBelow = path.split("/").some((_, index, names) => FOLDER.test(names.slice(0, index + 1).join("/")));
  if (isBelow) return isAside ? "other" : "records";
  return ABOVE.test(path) ? "above" : "other";
}

/** Returns whether a file of such a folder is a record: no index and no template. */
export function isRecord(name: string): boolean {
  return RECORD.test(name) && !NO_RECORD.test(name.replace(RECORD, ""));
}

/** Returns whether the decision of a record still stands. In doubt it does not. */
export function standingOf(document: Document, title: string): Standing {
  const told = clip(statusOf(document), MAX_LOOK_CHARS);
  const status = clipMarked(oneLine(told.replace(LINK, "$1")), MAX_STATUS_CHARS);
  const said = told.replace(LINK, "").replace(OF_OTHERS, "");
  if (RETIRED.test(said) || IN_BRACKETS.test(title)) return { kind: "retired", status };
  return { kind: !TAKEN.test(said) && OPEN.test(said) ? "open" : "stands", status };
}

function statusOf({ front, sections }: Document): string {
  const replacement = front.get("superseded-by") || front.get("superseded_by");
  if (replacement) return `superseded by ${replacement}`;
  const section = sections.find(({ heading }) => STATUS_HEADING.test(heading))?.text;
  const opening = sections.slice(0, OPENING_SECTIONS).map(({ text }) => clip(text, MAX_LOOK_CHARS));
  const head = opening.join("\n");
  const line = REPLACED_LINE.exec(head)?.[1] ?? STATUS_LINE.exec(head)?.[1];
  return front.get("status") || section || line || "";
}

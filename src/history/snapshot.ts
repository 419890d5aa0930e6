// What a past session becomes as a memory: the body of `POST /save`, in words the server takes (palinode-api.md, 2.9, 2.10).
import { createHash } from "node:crypto";
import { asRecord } from "../base/json.ts";
import { clipMarked, clipMiddle } from "../base/text.ts";
import { isoTime, localTime } from "../base/time.ts";
import { described, lastAnswer, listed } from "../capture/index.ts";
import { type Message, textsOf, workOf } from "../cline/index.ts";
import { safe, safeText } from "../server/index.ts";
import { lastAt, type ReadSession, resumeLine, wordsOf } from "./sessions.ts";

const MAX_BODY_CHARS = 6000;
const MAX_PROMPT_CHARS = 300;
const MIN_PROMPT_CHARS = 80;
const MAX_PROMPTS_CHARS = 1800;
const MAX_ERROR_CHARS = 160;
const MAX_SECTION_CHARS = 1200;
const MAX_LISTED = 20;
const MAX_SLUG_CHARS = 80;

/** Ids as Cline makes them stay apart in a slug. */
const CLINE_ID = /^\d{13}(?:_[a-z0-9]+)?$/;

/** The server refuses texts of which more than 0.4 are other characters than these. */
const SPECIAL = /[^\p{L}\p{N} .,!?\-_\n#:()[\]{}'"]/gu;
const MAX_SPECIAL_SHARE = 0.35;
/** Accents of their own, without which words of many scripts cannot be read. */
const SIGN = /[^\p{L}\p{M}\p{N} .,!?\-_\n#:()[\]{}'"]/gu;
/** A rule of the same sign; three of them say as much. */
const RULE = /([^\p{L}\p{N}\s])\1{7,}/gu;

const DECISION =
  /^[\s>*_#\d.-]{0,12}(?:key )?(?:decisions?|decided)(?: made| \d+)?[*_]{0,2}\s{0,3}(?:(?:[:–—]|-\s)[*_\s]{0,4}(.*))?$/i;
const BULLET = /^\s*(?:[-*•]|\d+[.)])\s+(.+)$/;

/** Returns the body of `POST /save` for a session: redacted, at most 6,000 characters, under a slug of its own. */
export function memoryOf(session: ReadSession, project: string): Record<string, unknown> {
  const { id, cwd, startedAt, endedAt, model } = session;
  return {
    content: bodyOf(session),
    type: "ProjectSnapshot",
    slug: slugFor(id),
    title: safe(session.title),
    entities: project === "" ? [] : [`project/${project}`],
    source: "cline-import",
    metadata: {
      session_id: safe(id),
      harness: "cline",
      cwd: cwd && safe(cwd),
      started_at: isoTime(startedAt),
      ended_at: isoTime(endedAt),
      model: model && safe(model),
      resume: safe(resumeLine(session)),
    },
  };
}

/** A slug has fewer letters than an id may have: where two ids could get the same one, a digest keeps them apart. */
function slugFor(id: string): string {
  const slug = `cline-session-${id.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  if (CLINE_ID.test(id)) return slug;
  return `${slug.slice(0, MAX_SLUG_CHARS).replace(/-+$/, "")}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}`;
}

/** Returns what a session was about and what came of it, as safe lines of at most 6,000 characters. */
export function bodyOf(session: ReadSession): string {
  const sections = sectionsOf(session);
  // As it is, else without what the server counts as signs; last of all the accents, which it counts too.
  const drafts = [undefined, SIGN, SPECIAL].map((signs) =>
    joined(signs === undefined ? sections : sections.map(([label, text]) => [label, calm(text, signs)])),
  );
  return clipMarked(drafts.find((text) => !isNoisy(text)) ?? drafts.at(-1) ?? "", MAX_BODY_CHARS);
}

/** What each part says, behind its label. */
function sectionsOf(session: ReadSession): (readonly [label: string, text: string])[] {
  const { prompts, messages, title, summary } = session;
  const asked = prompts.map((prompt) => short(safe(wordsOf(prompt)))).filter((words) => words !== "");
  const promptChars = Math.min(
    MAX_PROMPT_CHARS,
    Math.max(MIN_PROMPT_CHARS, Math.floor(MAX_PROMPTS_CHARS / asked.length) - 3),
  );
  return [
    [
      "",
      `Cline session of ${localTime(lastAt(session))}, ${prompts.length} ${prompts.length === 1 ? "prompt" : "prompts"}. Resume: ${safe(resumeLine(session))}`,
    ],
    ["", `Topic: ${safe(title)}`],
    ["Prompts", clipMiddle(bullets(asked.map((words) => clipMarked(words, promptChars))), MAX_PROMPTS_CHARS)],
    ["Done", bullets(doneIn(messages))],
    ["Decisions", bullets(decisionsIn(messages))],
    ["Last answer", short(safeText(lastAnswer(messages)))],
    ["Summary", short(safeText(summary))],
  ];
}

function doneIn(messages: readonly Message[]): string[] {
  const { outcomes, edited, read, errors } = workOf(messages);
  const commands = outcomes
    .filter((outcome) => outcome.isCommand)
    .map((outcome) => `${described(outcome)}${outcome.isFailed && outcome.exitCode === undefined ? " (failed)" : ""}`);
  const done = [
    listed("edited", edited, MAX_LISTED),
    listed("ran", [...new Set(commands)], MAX_LISTED),
    listed("read", read, MAX_LISTED),
    ...errors.slice(-MAX_LISTED).map((error) => `error: ${clipMarked(safe(error), MAX_ERROR_CHARS)}`),
  ];
  return done.filter((line) => line !== "").map(safe);
}

function joined(sections: ReturnType<typeof sectionsOf>): string {
  const told = sections.filter(([, text]) => text !== "");
  return told
    .map(([label, text]) =>
      label === ""
        ? text
        : `${label}:\n${clipMarked(text, label === "Prompts" ? MAX_PROMPTS_CHARS : MAX_SECTION_CHARS)}`,
    )
    .join("\n");
}

/** Returns what the assistant itself marked as decided: `Decision: …`, or a list under such a heading. */
function decisionsIn(messages: readonly Message[]): string[] {
  const said = messages
    .filter((message) => asRecord(message).role === "assistant")
    .flatMap(textsOf)
    .join("\n\n");
  let isList = false;
  const found = safeText(said)
    .split("\n")
    .flatMap((line) => {
      const decision = DECISION.exec(line);
      const item = isList ? BULLET.exec(line)?.[1] : undefined;
      isList = decision ? !decision[1] : isList && (item !== undefined || line.trim() === "");
      return decision?.[1] || item || [];
    });
  return [...new Set(found)];
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** Takes signs out of lines that hold little else, and lines that hold nothing else. */
function calm(text: string, signs: RegExp): string {
  const lines = text
    .split("\n")
    .map((line) => (isNoisy(line) ? line.replace(signs, " ").replace(/ {2,}/g, " ").trim() : line));
  return lines.filter((line) => /[\p{L}\p{N}]/u.test(line)).join("\n");
}

function short(text: string): string {
  return text.replace(RULE, "$1$1$1");
}

function isNoisy(text: string): boolean {
  return (text.match(SPECIAL)?.length ?? 0) > MAX_SPECIAL_SHARE * [...text].length;
}

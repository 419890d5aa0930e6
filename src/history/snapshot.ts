// What a past session becomes as a memory, in words the server takes (palinode-api.md, 2.9, 2.10).
import { asRecord } from "../base/json.ts";
import { clipMarked, clipMiddle, hexDigestOf } from "../base/text.ts";
import { isoTime, zonedTime } from "../base/time.ts";
import { described, lastAnswer, listed } from "../capture/index.ts";
import { type Message, type Outcome, textsOf, workOf } from "../cline/index.ts";
import { type SaveRequest, safe, safeText } from "../server/index.ts";
import { lastAt, promptCount, type ReadSession, resumeLine } from "./sessions.ts";
import { bearable, withShortRules } from "./signs.ts";
import { wordsOf } from "./titles.ts";

const PROMPTS = "Prompts";
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

/** `Decision: …`, or the heading of a list of them: nothing stands behind that. */
const DECISION =
  /^[\s>*_#\d.-]{0,12}(?:key )?deci(?:sions?|ded)(?: made| \d+)?[*_]{0,2}\s{0,3}(?:(?:[:–—]|-\s)[*_\s]{0,4}(.*))?$/i;
const BULLET = /^\s*(?:[-*•]|\d+[.)])\s+(.+)$/;

/** Returns what is saved for a session: redacted, at most 6,000 characters, under a slug of its own. */
export function memoryOf(session: ReadSession, project: string): SaveRequest {
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
  return `${slug.slice(0, MAX_SLUG_CHARS).replace(/-+$/, "")}-${hexDigestOf(id)}`;
}

/** Returns what a session was about and what came of it, as safe lines of at most 6,000 characters. */
export function bodyOf(session: ReadSession): string {
  const sections = sectionsOf(session);
  const text = bearable((soften) => textFrom(sections.map((section) => ({ ...section, text: soften(section.text) }))));
  return clipMarked(text, MAX_BODY_CHARS);
}

interface Section {
  /** Stands in a line of its own above the text; without it the text is one line that is never cut. */
  readonly label?: string;
  readonly text: string;
}

function sectionsOf(session: ReadSession): Section[] {
  const { prompts, messages, title, summary, continues } = session;
  const start = continues === undefined ? "" : `, continues ${safe(continues)}`;
  const ended = `Cline session of ${zonedTime(lastAt(session))}, ${promptCount(prompts.length)}${start}.`;
  return [
    { text: `${ended} Resume: ${safe(resumeLine(session))}` },
    { text: `Topic: ${safe(title)}` },
    { label: PROMPTS, text: promptList(prompts) },
    { label: "Done", text: bullets(doneIn(messages)) },
    { label: "Decisions", text: bullets(decisionsIn(messages)) },
    { label: "Last answer", text: withShortRules(safeText(lastAnswer(messages))) },
    { label: "Summary", text: withShortRules(safeText(summary)) },
  ];
}

/** Each prompt gets its share of the room; of too many the first and the last are kept. */
function promptList(prompts: readonly Message[]): string {
  const texts = prompts.map((prompt) => withShortRules(safe(wordsOf(prompt)))).filter((text) => text !== "");
  const share = Math.floor(MAX_PROMPTS_CHARS / texts.length) - "- \n".length;
  const maxChars = Math.min(MAX_PROMPT_CHARS, Math.max(MIN_PROMPT_CHARS, share));
  return clipMiddle(bullets(texts.map((text) => clipMarked(text, maxChars))), MAX_PROMPTS_CHARS);
}

function doneIn(messages: readonly Message[]): string[] {
  const { outcomes, edited, read, errors } = workOf(messages);
  const commands = outcomes.filter((outcome) => outcome.isCommand).map(commandText);
  const lines = [
    listed("edited", edited, MAX_LISTED),
    listed("ran", [...new Set(commands)], MAX_LISTED),
    listed("read", read, MAX_LISTED),
    ...errors.slice(-MAX_LISTED).map((error) => `error: ${clipMarked(safe(error), MAX_ERROR_CHARS)}`),
  ];
  return lines.filter((line) => line !== "").map(safe);
}

/** Returns a command with its exit code, or that it failed without one; redacted. */
export function commandText(outcome: Outcome): string {
  // An exit code says it already.
  if (!outcome.isFailed || outcome.exitCode !== undefined) return described(outcome);
  return `${described(outcome)} (failed)`;
}

function textFrom(sections: readonly Section[]): string {
  return sections
    .filter(({ text }) => text !== "")
    .map(sectionText)
    .join("\n");
}

function sectionText({ label, text }: Section): string {
  if (label === undefined) return text;
  return `${label}:\n${clipMarked(text, label === PROMPTS ? MAX_PROMPTS_CHARS : MAX_SECTION_CHARS)}`;
}

/** Returns what the assistant itself marked as decided: `Decision: …`, or a list under such a heading. */
function decisionsIn(messages: readonly Message[]): string[] {
  const answers = messages.filter((message) => asRecord(message).role === "assistant").flatMap(textsOf);
  const decisions = new Set<string>();
  let isInList = false;
  for (const line of safeText(answers.join("\n\n")).split("\n")) {
    const marked = DECISION.exec(line);
    const item = isInList ? BULLET.exec(line)?.[1] : undefined;
    const decision = marked?.[1] || item;
    if (decision) decisions.add(decision);
    if (marked) isInList = !marked[1];
    else if (item === undefined && line.trim() !== "") isInList = false;
  }
  return [...decisions];
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

// A person's words in the user messages of the editor extension, told by their form: they stand in one of a few tags,
// at the start of a part or right behind a sentence that announces them. The same tag in a file that a tool read says
// nothing.
import { parseJson } from "../base/json.ts";
import { dropSpans } from "../base/markup.ts";
import { openingOf, opensWith, textsOf } from "../cline/index.ts";
import {
  AHEAD_OF_QUOTES,
  AHEAD_OF_REPLIES,
  AHEAD_OF_WORDS,
  HOST_PARTS,
  MENTIONED,
  NO_WORDS,
  RESUMPTIONS,
  STILL_RUNNING,
} from "./sentences.ts";

/** Tools whose result is what a person said. */
const ASKING = /^(?:ask_followup_question|plan_mode_respon(?:d|se)|attempt_completion)$/;
/** Of a task that the SDK took over the newer prompts stand in tags of the SDK's. */
const TAGGED =
  /^\s*(?:<mode_notice>[^<]{0,400}<\/mode_notice>\s*)?<(task|feedback|answer|user_(?:message|input|command))\b[^<>]*>/;
const TAGGED_REPLY = /^\s*<(feedback|answer|user_message)>/;
/** A sentence that announces words may go on before it comes to them. */
const ANNOUNCED = /^[\s\S]{0,400}?<(feedback|user_message)>/;
const QUOTED = /^[^"]{0,400}"([\s\S]*)"/;
/** What the extension puts ahead of the tag, in the same part. */
const INSTRUCTIONS = /^\s*<(explicit_instructions|mcp_prompt)\b[^<>]*>[\s\S]*?<\/\1>/;
/** What it puts behind the tag: what was mentioned in the words. */
const ATTACHED = /^\s*<(?:\w+_content|workspace_diagnostics|terminal_output|git_\w+|potentially_relevant_details)\b/;
const FEEDBACK = "The user provided the following feedback:\n<feedback>";
const MENTION_SIGNS = new RegExp(MENTIONED.map(([sign]) => ` ?${sign.replace(/[()]/g, "\\$&")}`).join("|"), "g");

/** Returns text without the signs that the extension put behind what a person mentioned. */
export function withoutMentionSigns(text: string): string {
  return text.replace(MENTION_SIGNS, "");
}

/** Returns what a person says in a part that is no result, in its tag; undefined where that is nothing. */
export function wordsIn(part: string): string | undefined {
  const text = withoutInstructions(part);
  if (opensWith(text, RESUMPTIONS)) return wordsIn(behindResumption(text));
  if (TAGGED.test(text)) return tagged(text, TAGGED);
  return announced(text, AHEAD_OF_WORDS);
}

/** Returns what a person says in the result of a tool, in its tag; undefined where that is nothing. */
export function replyIn(tool: string, output: string): string | undefined {
  // Most results hold nothing that could be a person's, and there may be thousands.
  if (!/<\/?(?:feedback|answer|user_message)>|^The user [\s\S]*"/.test(output)) return undefined;
  const result = textIn(output);
  // The output of the command, further up, may hold the like.
  if (opensWith(result, STILL_RUNNING)) return /<\/feedback>\s*$/.test(result) ? feedbackIn(result) : undefined;
  if (ASKING.test(tool) && TAGGED_REPLY.test(result)) return tagged(result, TAGGED_REPLY);
  return announced(result, AHEAD_OF_REPLIES);
}

/** Returns the feedback that a text ends with, in its tag, or undefined. */
export function feedbackIn(text: string): string | undefined {
  const start = text.lastIndexOf(FEEDBACK);
  return start < 0 ? undefined : tagged(text.slice(start), ANNOUNCED);
}

/** Returns whether a part without a person's words is the extension's own, and no tool's. */
export function isHostPart(part: string): boolean {
  return opensWith(part, HOST_PARTS) || opensWith(part, RESUMPTIONS) || opensWith(part, AHEAD_OF_WORDS);
}

/** From 3.35 to 3.38.2 a result with images is the JSON of its parts. */
function textIn(output: string): string {
  const parts = /^\s*\[\s*\{\s*"type"/.test(output) ? parseJson(output) : undefined;
  return Array.isArray(parts) ? textsOf({ content: parts }).join("\n") : output;
}

function withoutInstructions(part: string): string {
  let text = part;
  for (let found = INSTRUCTIONS.exec(text); found; found = INSTRUCTIONS.exec(text)) text = text.slice(found[0].length);
  return text;
}

/** The message of before the interruption is told once more; it was counted where it stands. */
function behindResumption(text: string): string {
  const own = dropSpans(text, "previous_message", false);
  const starts = AHEAD_OF_WORDS.map(([sentence]) => own.indexOf(`\n${sentence}`)).filter((index) => index >= 0);
  return starts.length === 0 ? "" : own.slice(Math.min(...starts)).trimStart();
}

function announced(text: string, sentences: typeof AHEAD_OF_WORDS): string | undefined {
  const sentence = openingOf(text, sentences);
  const words = sentence && tagged(text.trimStart().slice(sentence.length), ANNOUNCED);
  return words ?? quotation(text);
}

function quotation(text: string): string | undefined {
  const sentence = openingOf(text, AHEAD_OF_QUOTES);
  const words = sentence && QUOTED.exec(text.trimStart().slice(sentence.length))?.[1];
  return words ? inTag("feedback", words) : undefined;
}

/** Returns what stands in the tag that `opening` finds, which is its last group. */
function tagged(text: string, opening: RegExp): string | undefined {
  const found = opening.exec(text);
  const tag = found?.[1];
  if (!found || tag === undefined) return undefined;
  const rest = text.slice(found[0].length);
  return inTag(tag, rest.slice(0, endOfWords(rest, `</${tag}>`)));
}

/** Words may hold the closing tag too: theirs is the one that the attachments follow, else the last. */
function endOfWords(text: string, closing: string): number | undefined {
  for (let index = text.indexOf(closing); index >= 0; index = text.indexOf(closing, index + 1))
    if (ATTACHED.test(text.slice(index + closing.length, index + closing.length + 80))) return index;
  const last = text.lastIndexOf(closing);
  return last < 0 ? undefined : last;
}

function inTag(tag: string, text: string): string | undefined {
  const words = withoutMentionSigns(text).trim();
  return words === "" || NO_WORDS.some(([none]) => none === words) ? undefined : `<${tag}>\n${words}\n</${tag}>`;
}

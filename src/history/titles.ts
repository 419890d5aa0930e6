// The words of a person in a stored message, and the one line that names a session by them.
import { stripVTControlCharacters } from "node:util";
import { asText } from "../base/json.ts";
import { redact } from "../base/redact.ts";
import { clean, clipMarked, oneLine } from "../base/text.ts";
import { bareWords, type Message, textsOf } from "../cline/index.ts";
import { withoutMentionSigns } from "./words.ts";

const MAX_TITLE_CHARS = 120;
/** The host cuts the titles it stores here. Source: recordings/sessions, 0.0.86. */
const HOST_TITLE_CHARS = 120;

/** Returns what the person said. Escape sequences go first: what they leave behind could split a secret. */
export function wordsOf(message: Message): string {
  const texts = textsOf(message).map(stripVTControlCharacters);
  return withoutMentionSigns(bareWords({ ...message, content: texts.map((text) => ({ type: "text", text })) }));
}

/** Returns a title of at most 120 characters. Secrets go before the cut: half of one is not known for one. */
export function titleOf(message: Message): string {
  return clipMarked(oneLine(redact(clean(wordsOf(message)))), MAX_TITLE_CHARS);
}

/** Returns a title that the host stored without the word that it may have cut short, undefined where that is all. */
export function withoutCutWord(title: string | undefined): string | undefined {
  if (title === undefined || title.length < HOST_TITLE_CHARS) return title;
  return asText(title.slice(0, Math.max(0, title.search(/\s\S*$/))));
}

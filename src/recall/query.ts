// What memory is asked for a prompt: its own words, with the subject of the prompt before where it leans on that, a
// paste by its question, names spelled out; and whether there is anything to ask at all.
import { stripVTControlCharacters } from "node:util";
import { dropPrivate } from "../base/markup.ts";
import { redact } from "../base/redact.ts";
import { clean, clip, clipMiddle, clipStart, weigh } from "../base/text.ts";
import { gistOfPaste, isPaste } from "../cline/index.ts";
import type { Reason } from "../server/index.ts";
import type { Config } from "../settings/index.ts";
import { spelledNames } from "./names.ts";
import { contentWords, isTalk, leansBack } from "./talk.ts";

const MAX_QUERY_CHARS = 2000;
/** Of a longer prompt only head and tail are looked at, well beyond what any secret in the query could start in. */
const MAX_READ_CHARS = 200_000;
const MAX_SUBJECT_CHARS = 600;
const MAX_NAMES_CHARS = 200;
/** A prompt with fewer words of a subject takes the one before it along. */
const MIN_SUBJECT_WORDS = 3;

/** The query for a prompt, or why there is none. */
export type Wanted = { readonly query: string } | { readonly reason: Reason };

/**
 * Returns what memory is asked for a prompt's bare words. `before`: the bare words of earlier prompts, oldest first; a
 * follow-up takes the subject from there, and is then long enough, however short.
 */
export function wantedFor(words: string, before: readonly string[], config: Pick<Config, "recallMinChars">): Wanted {
  const own = sayable(words);
  const isShort = own === "" || weigh(own) < config.recallMinChars;
  if (isTalk(own)) return { reason: isShort ? "too-short" : "small-talk" };
  const subject = leansBack(own) ? subjectIn(before) : "";
  if (isShort && subject === "") return { reason: "too-short" };
  const said = isPaste(own) ? gistOfPaste(own) : own;
  return { query: withNames(subject === "" ? said : `${subject}\n${said}`, said) };
}

/** Returns the query for words that somebody searches for: redacted, at most 2,000 characters, head and tail kept. */
export function queryOf(words: string): string {
  return clipMiddle(sayable(words), MAX_QUERY_CHARS);
}

/** Secrets go before anything is cut, so that no half of one is left. */
function sayable(words: string): string {
  return redact(dropPrivate(clean(stripVTControlCharacters(clipMiddle(words, MAX_READ_CHARS))))).trim();
}

/** The last prompt that was no talk, or the last two where that says little. */
function subjectIn(before: readonly string[]): string {
  const chosen: string[] = [];
  for (let index = before.length - 1; index >= 0 && chosen.length < 2; index -= 1) {
    const words = sayable(before[index] ?? "");
    if (words === "" || isTalk(words)) continue;
    chosen.unshift(isPaste(words) ? gistOfPaste(words) : words);
    if (contentWords(words) >= MIN_SUBJECT_WORDS) break;
  }
  return clipStart(chosen.join("\n"), MAX_SUBJECT_CHARS).trim();
}

/** Names of the subject are not spelled out: they would outweigh the words that were said now. */
function withNames(query: string, said: string): string {
  const names = clip(spelledNames(clipMiddle(said, MAX_QUERY_CHARS)).join(" "), MAX_NAMES_CHARS);
  if (names === "") return clipMiddle(query, MAX_QUERY_CHARS);
  return `${clipMiddle(query, MAX_QUERY_CHARS - names.length - 1)}\n${names}`;
}

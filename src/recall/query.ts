// What a prompt's words are searched by, and whether they say enough for that.
import { stripVTControlCharacters } from "node:util";
import { dropPrivate } from "../base/markup.ts";
import { redact } from "../base/redact.ts";
import { clean, clipMiddle, weigh } from "../base/text.ts";
import type { Config } from "../settings/index.ts";

const MAX_QUERY_CHARS = 2000;
/** Of a longer prompt only head and tail are looked at, well beyond what any secret in the query could start in. */
const MAX_READ_CHARS = 200_000;

/** Returns the query for a prompt's bare words: redacted, at most 2,000 characters, head and tail kept. */
export function queryOf(words: string): string {
  return clipMiddle(
    redact(dropPrivate(clean(stripVTControlCharacters(clipMiddle(words, MAX_READ_CHARS))))).trim(),
    MAX_QUERY_CHARS,
  );
}

/** Returns whether the words say enough to recall for. */
export function saysEnough(words: string, config: Config): boolean {
  return words !== "" && weigh(words) >= config.recallMinChars;
}

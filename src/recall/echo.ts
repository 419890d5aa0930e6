// What was said in sessions comes back as memory, and is nearest to whoever asks the same again. It must not crowd out
// what answers the question.
import type { Hit } from "../server/index.ts";

/** A session's own file, the day's notes with an entry for each, and what an import makes of one. */
const CAPTURE = /^(?:daily\/|[a-z]+\/(?:session-end|cline-session)-)/;
/** What every capture says, whatever the session was about. */
const LABELS = new Set(
  "cline session sessions prompt prompts topic latest done last answer summary source end".split(" "),
);
const MAX_COMPARED_CHARS = 2000;
/** Of its own words an echo has hardly any. */
const MAX_OWN_SHARE = 0.1;

/** What the server writes ahead of a session's summary says nothing of it (`/session-end`, palinode-api.md, 2.10). */
const OF_SESSION = "(?:#{1,3} Session End — \\S+\\s*)?";
const FIELDS = "(?:\\*\\*(?:Source|Harness|Model|Trigger|Session ID):\\*\\*\\s\\S+\\s+)*";
const HEADER = new RegExp(`^\\s*(?:…|\\.{3})?\\s*${OF_SESSION}${FIELDS}(?:\\*\\*Summary:\\*\\*\\s*)?`);

/** Returns a snippet from where it says something of the session; as it is where nothing follows. */
export function withoutHeader(snippet: string): string {
  const rest = snippet.replace(HEADER, "");
  return rest === "" ? snippet : rest;
}

/** Returns whether a memory file tells of a session, by its path. */
export function isCapture(path: string): boolean {
  return CAPTURE.test(path);
}

/** Returns whether a hit is a capture that says only what is asked. */
export function isEcho({ path, snippet, content }: Hit, query: string): boolean {
  if (!isCapture(path)) return false;
  const asked = new Set(wordsOf(query));
  const said = wordsOf(withoutHeader(content ?? snippet ?? "")).filter((word) => !LABELS.has(word));
  return said.filter((word) => !asked.has(word)).length <= MAX_OWN_SHARE * said.length;
}

/** Words, and each character of scripts that put none between them; no numbers, of which a header is full. */
function wordsOf(text: string): string[] {
  const lower = text.slice(0, MAX_COMPARED_CHARS).toLowerCase();
  return lower.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?<![\p{L}\p{N}])\p{L}{3,}/gu) ?? [];
}

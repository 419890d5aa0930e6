// What a session laid down, left open and changed, told to the model again once compaction has taken the turns that
// said so.
import { safeLine } from "../base/markup.ts";
import { clipMarked } from "../base/text.ts";
import { type Message, promptsOf, workOf } from "../cline/index.ts";
import { redacted } from "../server/index.ts";
import { laidDownIn } from "./laid-down.ts";
import { described, gistOfWords, listed, unfixedIn } from "./summary.ts";

const MAX_UNFIXED = 4;
const MAX_FILES_CHARS = 240;

/** Lines of a block, made safe, each under its heading. */
interface Note {
  readonly heading: string;
  readonly lines: readonly string[];
}

/**
 * Returns the files that were edited, the commands whose last run failed, and what the person laid down, the newest
 * first: the longest part last, since that is where a block is cut. Redacted; empty where there is nothing.
 */
export function notesOf(transcript: readonly Message[]): Note[] {
  const work = workOf(transcript);
  const files = newestFiles(work.edited);
  const unfixed = unfixedIn(work).slice(-MAX_UNFIXED).map(described);
  const rules = promptsOf(transcript).flatMap((prompt) => laidDownIn(gistOfWords(prompt)));
  return [
    ...linesUnder("### Files edited", files === "" ? [] : [redacted(files)]),
    ...linesUnder(
      "### Commands that failed and were not mended",
      unfixed.map((command) => `- ${command}`),
    ),
    ...linesUnder(
      "### Laid down by the user, newest first",
      [...new Set(rules.reverse())].map((rule) => `- ${redacted(rule)}`),
    ),
  ];
}

/** Returns as many of the newest as have room on one line. */
function newestFiles(paths: readonly string[]): string {
  const lists = [8, 4, 2].map((count) => listed("-", paths, count));
  return lists.find((line) => line.length <= MAX_FILES_CHARS) ?? clipMarked(listed("-", paths, 1), MAX_FILES_CHARS);
}

function linesUnder(heading: string, lines: readonly string[]): Note[] {
  return lines.map((line) => ({ heading, lines: [safeLine(line)] }));
}

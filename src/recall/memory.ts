// The server's answers as memories: hits, triggers that fired, resolutions. Their text is made safe here.
import { asText } from "../base/json.ts";
import { safeLine, safeLines, stripOurBlocks } from "../base/markup.ts";
import { CUT_MARK, clip, clipLines, clipMarked, digestOf, wordsIn } from "../base/text.ts";
import { type FiredTrigger, type Hit, type Resolution, readBody } from "../server/index.ts";
import { triggerHeading } from "./block.ts";
import { withoutHeader } from "./echo.ts";
import type { Asker, Memory } from "./finding.ts";
import { type OtherSide, otherSideLine, standingText } from "./standing.ts";

const MAX_TRIGGER_CHARS = 1200;
/** The server marks a window with dots, so a snippet may be a little longer than asked; some ignore the wish. */
const MAX_SNIPPET_CHARS = 320;
/** Making text safe takes time: of what is shown, so many times its cap is looked at. */
const MAX_LOOK_TIMES = 8;
const MAX_PATH_CHARS = 300;
/** As much of a text as is compared with others. */
const MAX_GIST_CHARS = 1000;
const MAX_KEY_CHARS = 20_000;

/**
 * Returns what a search hit shows: a line with its score and whether it still holds, and under it its other side and
 * how an imported session is reopened.
 */
export function hitMemory(hit: Hit, heading?: string, side?: OtherSide): Memory {
  const path = clip(hit.path, MAX_PATH_CHARS);
  const { score } = hit;
  const snippet = hit.snippet ?? hit.content ?? "";
  const text = hit.content ?? snippet;
  const said = withoutHeader(stripOurBlocks(looked(snippet, MAX_SNIPPET_CHARS)));
  const words = clipMarked(safeLine(said), MAX_SNIPPET_CHARS);
  const line = `- [${safeLine(path)}] (${matchText(score)}${standingText(hit)}) ${words}`.trimEnd();
  const resume = safeLine(looked(asText(hit.metadata.resume) ?? "", MAX_SNIPPET_CHARS));
  const hasResume = resume !== "" && !line.includes(resume);
  return {
    source: "hit",
    keys: [`hit ${digestOf(`${path} ${hit.contentHash ?? text}`)}`, textKey(path, text)],
    path,
    score,
    words,
    gist: clip(text, MAX_GIST_CHARS),
    entry: {
      ...(heading === undefined ? {} : { heading }),
      // Half of a conflict would look settled.
      ...(side === undefined ? {} : { isWhole: true }),
      lines: [
        line,
        ...(side === undefined ? [] : [otherSideLine(hit, side)]),
        ...(hasResume ? [`  Resume: ${clipMarked(resume, MAX_SNIPPET_CHARS)}`] : []),
      ],
    },
  };
}

/**
 * Returns what a trigger that fired shows: its file, where that is wanted and can be read, else its description. Never
 * rejects.
 */
export async function triggerMemory(asker: Asker, trigger: FiredTrigger, wantsFile: boolean): Promise<Memory> {
  const path = clip(trigger.file, MAX_PATH_CHARS);
  const body = wantsFile ? await readBody(asker, path) : undefined;
  const text = body ?? trigger.description;
  const lines = triggerLines(text);
  const note = wantsFile && body === undefined ? ["(the file could not be read)"] : [];
  const isWhole = body !== undefined && body === looked(body, MAX_TRIGGER_CHARS) && !lines.includes(CUT_MARK);
  const heading = triggerHeading(path);
  return {
    source: "trigger",
    keys: [textKey(path, text), ...(isWhole ? [wholeKey(path)] : [])],
    path,
    score: trigger.score,
    gist: clip(text, MAX_GIST_CHARS),
    entry: { lines: [heading, ...lines, ...note] },
    mention: { lines: [heading, "(its text stands further up)"] },
  };
}

/** Returns what a resolution shows; its keys are those of the memories that it tells, where it names them. */
export function resolvedMemory(text: string, told: Resolution["told"]): Memory {
  const lines = safeLines(text.replace(/^\s*### Resolved from memory/, "### Resolved"));
  const isTitled = lines[0]?.startsWith("### Resolved") === true;
  return {
    source: "resolution",
    keys:
      told.length > 0 ? told.map(({ path, statement }) => textKey(path, statement)) : [`resolved ${digestOf(text)}`],
    path: "",
    score: null,
    gist: text,
    entry: { lines: isTitled ? ["### Resolved from memory (current state)", ...lines.slice(1)] : lines },
  };
}

/** Returns the key of a file whose whole text is in view. */
export function wholeKey(path: string): string {
  return `whole ${digestOf(path)}`;
}

/** The same for a hit and for a trigger that show the same text of a file. */
function textKey(path: string, text: string): string {
  return `text ${digestOf(`${path} ${wordsIn(clip(text, MAX_KEY_CHARS)).join(" ")}`)}`;
}

function matchText(score: number | null): string {
  return score === null ? "keyword match" : `${Math.round(Math.min(1, Math.max(0, score)) * 100)}% match`;
}

function triggerLines(text: string): string[] {
  const lines = safeLines(looked(text, MAX_TRIGGER_CHARS)).join("\n");
  return clipLines(lines, MAX_TRIGGER_CHARS)
    .split("\n")
    .filter((line) => line !== "");
}

/** As much of a text as is looked at to show `maxChars` of it. */
function looked(text: string, maxChars: number): string {
  return clip(text, MAX_LOOK_TIMES * maxChars);
}

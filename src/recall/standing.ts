// Whether memories still hold: a contested one is shown with what speaks against it, and one that was retired only
// where nothing else answers, with what replaced it. What holds is for the server to say.
import { safeLine, stripOurBlocks } from "../base/markup.ts";
import { clip, clipMarked } from "../base/text.ts";
import { type Hit, type ListedMemory, readMemory, withoutFrontmatter } from "../server/index.ts";
import type { Asker } from "./finding.ts";

const MAX_SIDE_CHARS = 300;
/** More of a file is not looked at for what it says. */
const MAX_LOOKED_CHARS = 4000;

/** The other side of a hit: what contests it, or what replaced it. */
export interface OtherSide {
  readonly path: string;
  /** One line, safe; undefined where the file cannot be had. */
  readonly words: string | undefined;
}

/** Returns whether a hit was retired: archived, replaced, retracted or expired. */
export function isRetired({ challenge }: Hit): boolean {
  return challenge?.currency === "retired";
}

/**
 * Returns the other side of each hit that has one. What is among `known` costs nothing; of the others the first is
 * read, which is one request more, and the rest are named alone. Never rejects.
 */
export async function otherSides(
  asker: Asker,
  hits: readonly Hit[],
  known: readonly Hit[],
): Promise<Map<Hit, OtherSide>> {
  const sides = new Map<Hit, OtherSide>();
  let hasRead = false;
  for (const hit of hits) {
    const [path] = hit.challenge?.otherSides ?? [];
    if (path === undefined) continue;
    const twin = known.find((other) => other.path === path);
    const text = twin?.snippet ?? twin?.content ?? (hasRead ? undefined : await bodyOf(asker, path));
    hasRead ||= twin === undefined;
    sides.set(hit, { path, words: text === undefined ? undefined : wordsOf(text) });
  }
  return sides;
}

/** Nobody is shown another project's memory by this way either: the server withholds it (0.22). */
async function bodyOf({ client, signal, project }: Asker, path: string): Promise<string | undefined> {
  try {
    return withoutFrontmatter(await readMemory(client, path, { signal }, project));
  } catch {
    return undefined;
  }
}

function wordsOf(text: string): string {
  return clipMarked(safeLine(stripOurBlocks(clip(text, MAX_LOOKED_CHARS))), MAX_SIDE_CHARS);
}

/** Returns what is to be said of a hit's standing after its score, or "". */
export function standingText({ challenge }: Hit): string {
  if (challenge === undefined) return "";
  const { currency, reason, otherSides } = challenge;
  if (currency === "contested") return ", contested";
  return otherSides.length > 0 ? ", replaced" : `, retired: ${safeLine(clip(reason, MAX_SIDE_CHARS))}`;
}

/** Returns the line that tells the other side. */
export function otherSideLine(hit: Hit, { path, words }: OtherSide): string {
  const about = isRetired(hit) ? "Replaced by" : "Against it";
  return `  ${about} [${safeLine(path)}]: ${words ?? "(not read)"}`;
}

/** Returns what is to be known of a memory of a prime, in brackets and with a space after it, or "". */
export function doubtsOf({ contradicts = [], staleBacking = [] }: ListedMemory): string {
  const parts = [named("contested by", contradicts), named("rests on what was retired:", staleBacking)];
  const said = parts.filter((part) => part !== "").join("; ");
  return said === "" ? "" : `(${said}) `;
}

function named(what: string, paths: readonly string[]): string {
  return paths.length === 0 ? "" : `${what} ${safeLine(clip(paths.join(", "), MAX_SIDE_CHARS))}`;
}

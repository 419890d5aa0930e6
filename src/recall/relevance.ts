// Which hits of a search are worth a model's attention: those of this project, and only where the answer as a whole
// says that memory knows something of what was asked. Measured: `npm run bench recall`.
import type { Hit } from "../server/index.ts";

/** A floor that the user set holds for cosines; what both arms found may lie so much below it. */
export const BOTH_ARMS_MARGIN = 0.15;
/** What the keyword arm alone has to reach under such a floor. */
const MIN_KEYWORD_SCORE = 0.3;

/** Where nobody set a floor: a cosine that prompts about nothing do not reach with common embedders. */
export const STRONG_COSINE = 0.46;
const STRONG_KEYWORD_SCORE = 0.25;
/** Fewer documents than this would hold the query's words together by accident. */
const STRONG_KEYWORD_CHANCE = 5;
/** Of all projects' memories this project's is the nearest, at this cosine and within this margin. */
const NEAREST_COSINE = 0.3;
const NEAREST_MARGIN = 0.01;
/** Across languages cosines lie low, and no floor parts right from wrong. */
const ACROSS_LANGUAGES_COSINE = 0.2;
/** The first hits speak for the answer. */
const FIRST_HITS = 3;
/** Beside the best hit, one that is much weaker is noise. */
const MIN_COSINE_SHARE = 0.9;
const MIN_KEYWORD_SHARE = 0.5;

const OTHER_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Cyrillic}\p{Script=Arabic}]/u;
const ENGLISH = wordSet(
  "the a an of to in is are was do does did how what why when where which who can could should would we i my our",
  "your it this that for on with and or not if be have has there from by at as",
);
const NOT_ENGLISH = wordSet(
  "der die das und ist wie wir ich nicht ein eine einen den dem mit für auf warum was kann soll bei nach zu im von ob",
  "oft el la los las de que qué por cómo un una es en con para si podemos se del cuando",
  "le les des est pourquoi comment dans pour avec une sur nous pas",
);

/** For whom hits are weighed. */
export interface Purpose {
  /** The session's project slug, maybe empty. */
  readonly project: string;
  /** What was asked: a project that is named there counts as meant. */
  readonly query: string;
  /** Whether memories of all projects are wanted. */
  readonly isForAll?: boolean;
}

/** Returns the hits that do not belong to other projects alone, in their order. */
export function ownHits(hits: readonly Hit[], { project, query, isForAll = false }: Purpose): Hit[] {
  // Where the session has no project, nothing is another one's.
  if (isForAll || project === "") return [...hits];
  const isNamed = (slug: string): boolean => slug === project || names(query, slug);
  return hits.filter(({ projects }) => projects.length === 0 || projects.some(isNamed));
}

/** Returns those of a project's hits that lie over the floor that the user set. Without cosines there is no floor. */
export function hitsOverFloor(hits: readonly Hit[], floor: number): Hit[] {
  if (!hits.some(({ score }) => score !== null)) return [...hits];
  return hits.filter(({ score, keywordScore }) => {
    if (score !== null && score >= floor - (keywordScore === null ? 0 : BOTH_ARMS_MARGIN)) return true;
    return (keywordScore ?? 0) >= MIN_KEYWORD_SCORE;
  });
}

/**
 * Returns those of a project's hits that are worth showing where nobody set a floor: none unless one of the first three
 * is strong, or nearest of all projects' (`all`), or found across languages; then those not much weaker than the best.
 */
export function tellingHits(own: readonly Hit[], all: readonly Hit[], query: string): Hit[] {
  const best = Math.max(0, ...own.map(({ score }) => score ?? 0));
  const bestOfAll = Math.max(0, ...all.map(({ score }) => score ?? 0));
  const isNearest = all.length > own.length && best >= NEAREST_COSINE && best >= bestOfAll - NEAREST_MARGIN;
  const isAcross = best >= ACROSS_LANGUAGES_COSINE && isNotEnglish(query);
  if (!own.slice(0, FIRST_HITS).some(isStrong) && !isNearest && !isAcross) return [];
  if (bestOfAll === 0) return [...own];
  const bestKeyword = Math.max(0, ...own.map(({ keywordScore }) => keywordScore ?? 0));
  return own.filter((hit) => {
    if (isUnweighed(hit) || (hit.score ?? 0) >= MIN_COSINE_SHARE * best) return true;
    return hit.keywordScore !== null && hit.keywordScore >= MIN_KEYWORD_SHARE * bestKeyword;
  });
}

function isStrong(hit: Hit): boolean {
  const { score, keywordScore, keywordChance } = hit;
  if ((score ?? 0) >= STRONG_COSINE || (keywordScore ?? 0) >= STRONG_KEYWORD_SCORE) return true;
  return keywordChance === null ? isUnweighed(hit) : keywordChance < STRONG_KEYWORD_CHANCE;
}

/** Servers before 0.22 say nothing of a keyword match but that it is one. */
function isUnweighed({ score, keywordScore }: Hit): boolean {
  return score === null && keywordScore === null;
}

/** A slug is named with `-`, `_`, a space or nothing where it has a hyphen. */
function names(text: string, slug: string): boolean {
  const words = slug.split(/[-_]/).filter((word) => word !== "");
  if (words.length === 0) return false;
  return new RegExp(`(?<![\\p{L}\\p{N}])${words.map(escaped).join("[-_ ]?")}(?![\\p{L}\\p{N}])`, "iu").test(text);
}

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function isNotEnglish(text: string): boolean {
  if (OTHER_SCRIPT.test(text)) return true;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const count = (set: ReadonlySet<string>): number => words.filter((word) => set.has(word)).length;
  return count(NOT_ENGLISH) > count(ENGLISH);
}

function wordSet(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.join(" ").split(" "));
}

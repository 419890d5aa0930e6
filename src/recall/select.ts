// Which of the memories that were found are worth showing now. Nothing is shown twice; triggers that fired always are.
import { safeLine } from "../base/markup.ts";
import { wordsIn } from "../base/text.ts";
import { isCapture } from "./echo.ts";
import type { Memory } from "./finding.ts";
import { wholeKey } from "./memory.ts";
import type { Snippet, Visible } from "./replay.ts";

/** A word set that shares this much with another says the same. */
const NEAR_EQUAL = 0.9;
/** Fewer words say too little to be nearly the same. */
const MIN_WORDS = 4;
const MAX_COMPARED_CHARS = 1000;

/**
 * Returns the memories worth showing now: none that is visible already, one a file, none that says what another says,
 * and at most `maxHits` search hits. Triggers that fired always stay.
 */
export function select(memories: readonly Memory[], visible: Visible, maxHits: number): Memory[] {
  const chosen: Memory[] = [];
  for (const memory of memories) {
    if (isVisible(memory, visible)) {
      if (memory.mention !== undefined) chosen.push({ ...memory, entry: memory.mention });
      continue;
    }
    const twin = chosen.find((other) => isSame(other, memory));
    const isOver = memory.source === "hit" && chosen.filter(({ source }) => source === "hit").length >= maxHits;
    if (twin === undefined && !isOver) chosen.push(memory);
    // Its cooldown runs: what says the same as another one is told by its name at least.
    else if (twin !== undefined && memory.source === "trigger") chosen.push(named(memory, twin));
  }
  return chosen;
}

function named(trigger: Memory, twin: Memory): Memory {
  const [heading = ""] = trigger.entry.lines;
  const words = twin.path === trigger.path ? "(see above)" : `(says the same as ${safeLine(twin.path)})`;
  return { ...trigger, entry: { lines: [heading, words] } };
}

/** The same file, the same in other words, or a second session: who asks again is told of one that asked before. */
function isSame(one: Memory, other: Memory): boolean {
  if (one.path === other.path || isNearlyEqual(one.gist, other.gist)) return true;
  return one.source === "hit" && other.source === "hit" && isCapture(one.path) && isCapture(other.path);
}

function isVisible(memory: Memory, { keys, snippets }: Visible): boolean {
  // A resolution is one text of several memories.
  if (memory.source === "resolution") return memory.keys.every((key) => keys.has(key));
  return keys.has(wholeKey(memory.path)) || memory.keys.some((key) => keys.has(key)) || looksSeen(memory, snippets);
}

/**
 * A text that only grew since it was shown, or whose window moved a little, says nothing new. A daily note grows with
 * every capture, and a session's own file says it all in its first lines, so one look at them is enough.
 */
function looksSeen({ source, path, words }: Memory, snippets: readonly Snippet[]): boolean {
  if (source !== "hit") return false;
  const ofFile = snippets.filter((snippet) => snippet.path === path);
  if (isCapture(path)) return ofFile.length > 0;
  // With its name, a word of difference weighs less.
  return ofFile.some(
    (snippet) => isNearlyEqual(`${path} ${snippet.words}`, `${path} ${words}`) || holds(snippet.words, words ?? ""),
  );
}

function isNearlyEqual(a: string, b: string): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.size < MIN_WORDS || right.size < MIN_WORDS) return a === b;
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / (left.size + right.size - shared) >= NEAR_EQUAL;
}

/** What the digest says of a file may be all that a hit says of it. */
function holds(shown: string, words: string): boolean {
  const [all, some] = [wordsOf(shown), [...wordsOf(words)]];
  return some.length >= MIN_WORDS && some.filter((word) => all.has(word)).length >= NEAR_EQUAL * some.length;
}

function wordsOf(text: string): Set<string> {
  return new Set(wordsIn(text.slice(0, MAX_COMPARED_CHARS)));
}

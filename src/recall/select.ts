// Which of the memories that were found are worth showing now. Nothing is shown twice, and triggers that fired always
// are.
import { safeLine } from "../base/markup.ts";
import type { Memory } from "./finding.ts";
import { HIT, wholeKey } from "./memory.ts";
import type { Visible } from "./replay.ts";

/** A word set that shares this much with another says the same. */
const NEAR_EQUAL = 0.9;
const SCORE = /\(\d{1,3}% match\)|\(keyword match\)/;

/**
 * Returns the memories worth showing now: none that is visible already, one a file, none that says what another says,
 * and at most `maxHits` search hits. Triggers that fired always stay.
 */
export function select(memories: readonly Memory[], visible: Visible, maxHits: number): Memory[] {
  const chosen: Memory[] = [];
  for (const memory of memories) {
    const isVisible =
      [...memory.keys, wholeKey(memory.path)].some((key) => visible.keys.has(key)) || looksSeen(memory, visible.lines);
    if (isVisible && memory.mention !== undefined) chosen.push({ ...memory, entry: memory.mention });
    if (isVisible) continue;
    if (chosen.some((other) => other.path === memory.path || nearEqual(other.gist, memory.gist))) continue;
    if (
      chosen.filter((other) => other.entry.heading !== undefined).length >= maxHits &&
      memory.entry.heading !== undefined
    )
      continue;
    chosen.push(memory);
  }
  return chosen;
}

/** Returns how many search hits the model can see already, so that as many more are asked for. */
export function countHits({ keys }: Visible): number {
  return [...keys].filter((key) => key.startsWith(HIT)).length;
}

/**
 * A text that only grew since it was shown, or whose window moved a little, says nothing new. A daily note grows with
 * every capture, so one look at it is enough.
 */
function looksSeen({ path, entry }: Memory, lines: readonly string[]): boolean {
  const line = entry.lines[0] ?? "";
  const ofFile = entry.heading === undefined ? [] : lines.filter((shown) => shown.startsWith(`- [${safeLine(path)}] `));
  return ofFile.some(
    (shown) => path.startsWith("daily/") || nearEqual(shown.replace(SCORE, ""), line.replace(SCORE, "")),
  );
}

function nearEqual(a: string, b: string): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.size < 4 || right.size < 4) return a === b;
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / (left.size + right.size - shared) >= NEAR_EQUAL;
}

function wordsOf(text: string): Set<string> {
  return new Set(
    text
      .slice(0, 1000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
}

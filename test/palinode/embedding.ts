// A deterministic embedding: every lower-case word adds 1 to one of N buckets, and the vector is scaled to unit length,
// as Palinode expects. Texts that share words are close, texts that share none are (collisions aside) at zero.

/** Wide enough that the few dozen words of a test rarely collide. Give a real server the same `dimensions`. */
export const DIMENSIONS = 256;

/** Returns the words of a text, lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** Returns the unit vector of a text. A text without words gets a fixed one, since zero has no direction. */
export function embed(text: string, dimensions = DIMENSIONS): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of wordsOf(text)) {
    const bucket = hash(word) % dimensions;
    vector[bucket] = (vector[bucket] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  if (length === 0) vector[0] = 1;
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Returns the cosine of two unit vectors. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** FNV-1a over UTF-16 units. */
function hash(word: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < word.length; index += 1) value = Math.imul(value ^ word.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

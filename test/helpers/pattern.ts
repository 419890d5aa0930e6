// Patterns of texts that have several lines.

/** Returns the pattern of lines that follow each other, given one pattern for each. Flags are dropped. */
export function linesLike(...lines: readonly RegExp[]): RegExp {
  return new RegExp(lines.map((line) => line.source).join("\\n"));
}

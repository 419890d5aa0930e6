// What JSON holds, before anybody has looked at it: every value from the host, the server or the disk is `unknown`
// until one of these functions has read it.

/** Returns `value` as an object to look into, or an empty one. Arrays count as objects without the wanted members. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns `value` when it is a non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns text and numbers as text, else "". `String` throws on what cannot become a text, as `{"toString":null}`. */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Returns what JSON text says, whether or not a byte order mark leads it. Throws a `SyntaxError`. */
export function mustParseJson(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ""));
}

/** Returns what JSON text says, or undefined. */
export function parseJson(text: string | undefined): unknown {
  try {
    return mustParseJson(text ?? "");
  } catch {
    return undefined;
  }
}

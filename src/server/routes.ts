// Palinode's answers, read defensively; each route is named here once.
import { asRecord, asText } from "../base/json.ts";
import { type Client, PalinodeError } from "./client.ts";

/** Returns the rows of an answer: a bare array, or `{ results }` (with a receipt, or from other versions). */
export function rowsOf(answer: unknown, route: string): Record<string, unknown>[] {
  const rows = Array.isArray(answer) ? answer : asRecord(answer).results;
  if (!Array.isArray(rows)) throw new PalinodeError(route, "bad-response");
  return rows.filter((row) => typeof row === "object" && row !== null && !Array.isArray(row));
}

/** Returns a memory file's text without its frontmatter, or undefined when it cannot be read. */
export async function readBody(
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
  path: string,
): Promise<string | undefined> {
  try {
    const content = asText(asRecord(await client.get("/read", { file_path: path }, { signal })).content);
    return content === undefined ? undefined : asText(withoutFrontmatter(content));
  } catch {
    return undefined;
  }
}

/** Returns a memory file's text without its frontmatter. */
export function withoutFrontmatter(content: string): string {
  return content.replace(/^\uFEFF?---\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/, "").trim();
}

// What the routes share. Each is asked in one place, by one function: `routes-search`, `routes-files`, `routes-state`
// and `routes-write` alone know what the server calls things (palinode-api.md). Requests go in with our names; answers
// come out in rows that are read defensively. All throw `PalinodeError` and nothing else.
import { asRecord } from "../base/json.ts";
import type { Client, Limits } from "./client.ts";
import { PalinodeError } from "./failure.ts";

/** Returns the rows of an answer: a bare array, or `{ results }` (with a receipt, or from other versions). */
export function rowsOf(answer: unknown, route: string): Record<string, unknown>[] {
  const rows = Array.isArray(answer) ? answer : asRecord(answer).results;
  if (!Array.isArray(rows)) throw new PalinodeError(route, "bad-response");
  return rows.filter((row) => typeof row === "object" && row !== null && !Array.isArray(row));
}

/** Returns the file that a reference names: without its suffix, as the server writes them (evidence.py of 0.23). */
export function fileOf(reference: string): string {
  const path = reference.trim().replace(/^\/+/, "");
  return path.endsWith(".md") ? path : `${path}.md`;
}

/** Whom to ask for what older servers do not have: the routes found missing are kept, and are not asked again. */
export interface Askable {
  readonly client: Client;
  readonly missingRoutes: Set<string>;
}

/**
 * Returns the answer, or undefined where the server has no such route: an older one says 404 to that, and 405 where it
 * has another one of that name.
 */
export async function postIfThere(
  { client, missingRoutes }: Askable,
  route: string,
  body: Record<string, unknown>,
  limits: Limits | undefined,
): Promise<Record<string, unknown> | undefined> {
  if (missingRoutes.has(route)) return undefined;
  try {
    return asRecord(await client.post(route, body, limits));
  } catch (error) {
    if (!(error instanceof PalinodeError && (error.status === 404 || error.status === 405))) throw error;
    missingRoutes.add(route);
    return undefined;
  }
}

// Memories that are put away and taken back (palinode-api.md, 2.13). Both can be asked for twice.
import { asRecord, asText, textOf } from "../base/json.ts";
import type { Client, Limits } from "./client.ts";
import { PalinodeError } from "./failure.ts";
import { fileOf } from "./routes.ts";

const ARCHIVE = "/archive";
const RESTORE = "/restore";

/** What became of a memory. */
export interface Retired {
  /** Relative to the memory folder. */
  readonly path: string;
  /** False where it was so before. */
  readonly isNews: boolean;
  /** Files that quote or link it, and are recalled as before (0.22). */
  readonly copies: readonly string[];
  /** Whether the server goes on listing it where it is core: before 0.22 (seen on 0.13). */
  readonly isListed: boolean;
}

/**
 * Archives a memory. It is tried first in a dry run: what cannot be done is said before anything was. A server before
 * 0.22 knows no dry run, and has done it then.
 */
export async function archiveMemory(
  client: Client,
  wanted: { readonly path: string; readonly reason: string | undefined; readonly supersededBy: string | undefined },
  limits?: Limits,
): Promise<Retired> {
  const { path, reason, supersededBy } = wanted;
  const body = { file_path: fileOf(path), reason, superseded_by: supersededBy };
  const tried = asRecord(await client.post(ARCHIVE, { ...body, dry_run: true }, limits));
  const isDone = tried.status === "archived" || tried.status === "already_archived";
  const answer = isDone ? tried : asRecord(await client.post(ARCHIVE, body, limits));
  return retiredIn(ARCHIVE, answer, path, "archived", "already_archived");
}

/** Takes an archived memory back; undefined where the server has no such route, before 0.17. */
export async function restoreMemory(
  { client }: { readonly client: Client },
  path: string,
  limits?: Limits,
): Promise<Retired | undefined> {
  try {
    const answer = asRecord(await client.post(RESTORE, { file_path: fileOf(path) }, limits));
    return retiredIn(RESTORE, answer, path, "active", "not_archived");
  } catch (error) {
    // A file that is not there is a 404 too, in other words.
    const isMissing = error instanceof PalinodeError && error.status === 404 && error.serverWords === "Not Found";
    if (isMissing || (error instanceof PalinodeError && error.status === 405)) return undefined;
    throw error;
  }
}

/** What tells neither of both is no answer of Palinode. */
function retiredIn(
  route: string,
  { status, file, retained_copies }: Record<string, unknown>,
  path: string,
  done: string,
  before: string,
): Retired {
  if (status !== done && status !== before) throw new PalinodeError(route, "bad-response", undefined);
  const { records } = asRecord(retained_copies);
  const copies = (Array.isArray(records) ? records : []).map((record) => textOf(asRecord(record).file));
  return {
    path: asText(file) ?? path,
    isNews: status === done,
    copies: copies.filter((copy) => copy !== ""),
    isListed: retained_copies === undefined,
  };
}

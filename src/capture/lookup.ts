// Whether the server has a capture whose answer never came: sent again, it would be stored twice.
import { type Client, filesOfSessionEnd, PalinodeError, type Reason, readMemory, reasonOf } from "../server/index.ts";
import type { Item } from "./item.ts";

interface Limits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Returns whether the server has a capture that was sent at epoch milliseconds `sentAt`: in the file that is named
 * after its summary, else in the day's notes. With a `reason` that is not known. Never rejects.
 */
export async function lookUp(
  client: Client,
  item: Item,
  sentAt: number,
  limits: Limits,
): Promise<{ isStored: boolean; reason?: Reason }> {
  for (const date of datesAround(sentAt, limits.timeoutMs)) {
    for (const file of filesOfSessionEnd(date, item.body)) {
      try {
        if (holdsEntry(await readMemory(client, file, limits), item)) return { isStored: true };
      } catch (error) {
        // An answer that is no file says nothing about the capture, which must not be given up for it.
        if (!(error instanceof PalinodeError && error.status === 404))
          return { isStored: false, reason: reasonOf(error) };
      }
    }
  }
  return { isStored: false };
}

/** The server may reword dates in a summary; its first line, with the session's id, names one capture all the same. */
function holdsEntry(notes: string, item: Item): boolean {
  const opening = String(item.body.summary).split("\n")[0] ?? "";
  return notes.split(/^## Session End/m).some((entry) => entry.includes(opening) && entry.includes(item.sessionId));
}

/** A post may have arrived just before or after midnight (UTC, as the server counts). */
function datesAround(sentAt: number, timeoutMs: number): Set<string> {
  const times = [sentAt - timeoutMs, sentAt, sentAt + timeoutMs];
  return new Set(times.map((at) => new Date(at).toISOString().slice(0, 10)));
}

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
  for (const date of datesAround(sentAt)) {
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

/** Two conversations of a session may open alike, and the server rewords dates: so much of what was said is there. */
const MIN_SHARE = 0.9;

/** The entry of this session that says what this capture says. */
function holdsEntry(notes: string, { sessionId, body }: Item): boolean {
  const [opening = "", ...said] = String(body.summary).split("\n");
  const words = wordsOf(said.join("\n"));
  return notes.split(/^## Session End/m).some((entry) => {
    if (!entry.includes(opening) || !isNamed(entry, sessionId)) return false;
    const told = new Set(wordsOf(entry));
    return words.filter((word) => told.has(word)).length >= MIN_SHARE * words.length;
  });
}

/** As a whole: `job-1` is not in `job-12`. */
function isNamed(entry: string, id: string): boolean {
  return entry.split(/[\s"'`]+/).includes(id);
}

/** Without numbers, of which dates are made, and the small words ahead of them. */
function wordsOf(text: string): string[] {
  return text.match(/\p{L}{3,}/gu) ?? [];
}

const DAY_MS = 24 * 3600_000;

/** The server counts days in UTC, by a clock that may differ from this machine's. */
function datesAround(sentAt: number): string[] {
  return [0, -DAY_MS, DAY_MS].map((ms) => new Date(sentAt + ms).toISOString().slice(0, 10));
}

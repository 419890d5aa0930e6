// Keeps the state folder within bounds, whatever is switched on. A pause is not here: it ends when somebody says so.
import { tidy } from "../capture/index.ts";
import type { Session } from "./session.ts";

const MAX_FILES = 200;
const MAX_AGE_MS = 30 * 24 * 3600_000;

/**
 * Removes what no session goes back to, once a session: records, captures that were not taken, and beside the folders
 * the server's health and what a killed process left half-written. Does not block. Never rejects.
 */
export async function pruneState(session: Session): Promise<void> {
  if (session.isPruned) return;
  session.isPruned = true;
  const { state, now } = session;
  for (const folder of ["sessions", ""])
    await state.prune(folder, { maxFiles: MAX_FILES, maxAgeMs: MAX_AGE_MS }, now());
  await tidy(state, now());
}

// Memories that were archived by hand: they leave what new prompts are shown at once, also what was asked for before.
// The server leaves them out of its answers by itself; of some versions not out of lists and triggers.
import { asRecord } from "../base/json.ts";
import type { Finding, Memory } from "../recall/index.ts";
import { fileOf } from "../server/index.ts";
import type { Session } from "./session.ts";

const FILE = "archived.json";
const MAX_ENTRIES = 100;
/** By then nothing that was asked for before is under way, and what another client restored is shown again. */
const DAY_MS = 24 * 3600_000;
/** For a server that goes on listing it. */
const LISTED_DAYS = 90;

type Place = Pick<Session, "state" | "config" | "now" | "archived">;

/** Notes for all sessions of this state folder that a memory was archived; `isListed`: the server lists it still. */
export function noteArchived(place: Place, path: string, isListed: boolean): void {
  const { [keyOf(place, path)]: _, ...others } = notesOf(place);
  const at = place.now();
  const note = { at, until: at + (isListed ? LISTED_DAYS : 1) * DAY_MS };
  keep(place, Object.fromEntries([...Object.entries(others).slice(-MAX_ENTRIES), [keyOf(place, path), note]]));
}

/** Notes that a memory is wanted again. */
export function noteWanted(place: Place, path: string): void {
  const { [keyOf(place, path)]: note, ...others } = notesOf(place);
  if (note !== undefined) keep(place, others);
}

/** Returns memories without those that were archived. `askedAt`: when, in epoch milliseconds; long ago where absent. */
export function withoutArchived(place: Place, memories: readonly Memory[], askedAt = 0): readonly Memory[] {
  if (memories.length === 0) return memories;
  const notes = notesOf(place);
  return memories.filter(({ source, path }) => {
    const { at, until } = asRecord(notes[keyOf(place, path)]);
    if (typeof at !== "number" || typeof until !== "number" || place.now() >= until) return true;
    // No server finds what is archived (0.13.0 to 0.23.0), so somebody else has restored it.
    const isBack = source === "hit" && askedAt > at;
    if (isBack) noteWanted(place, path);
    return isBack;
  });
}

/** Returns the same of findings; one that has none left says so. */
export function findingsWithoutArchived(
  place: Place,
  findings: readonly Finding[],
  askedAt: number,
): readonly Finding[] {
  return findings.map((finding) => {
    const memories = withoutArchived(place, finding.memories, askedAt);
    if (memories.length === finding.memories.length) return finding;
    return { ...finding, memories, ...(memories.length === 0 ? { reason: "no-hits" as const } : {}) };
  });
}

function notesOf({ state, archived }: Place): Record<string, unknown> {
  return { ...asRecord(state.read(FILE)), ...archived };
}

/** Where nothing is kept on disk, this session knows it at least. */
function keep(place: Place, notes: Record<string, unknown>): void {
  place.archived = place.state.write(FILE, notes) ? {} : notes;
}

/** A trigger may name its file without the suffix. */
function keyOf({ config }: Pick<Session, "config">, path: string): string {
  return `${config.apiUrl} ${fileOf(path)}`;
}

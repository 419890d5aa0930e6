// Memories that were archived by hand: they leave what new prompts are shown at once, also what was asked for before.
// The server leaves them out of its answers by itself; of some versions not out of lists and triggers.
import { asRecord } from "../base/json.ts";
import type { Finding, Memory } from "../recall/index.ts";
import type { Session } from "./session.ts";

const FILE = "archived.json";
const MAX_ENTRIES = 100;
/** By then nothing that was asked for before is under way, and what another client restored is shown again. */
const DAY_MS = 24 * 3600_000;
/** For a server that goes on listing it. */
const LISTED_DAYS = 90;

type Place = Pick<Session, "state" | "config" | "now">;

/** Notes for all sessions of this state folder that a memory was archived; `isListed`: the server lists it still. */
export function noteArchived({ state, config, now }: Place, path: string, isListed: boolean): void {
  const { [keyOf(config, path)]: _, ...others } = asRecord(state.read(FILE));
  const until = now() + (isListed ? LISTED_DAYS : 1) * DAY_MS;
  state.write(FILE, Object.fromEntries([...Object.entries(others).slice(-MAX_ENTRIES), [keyOf(config, path), until]]));
}

/** Notes that a memory is wanted again. */
export function noteWanted({ state, config }: Place, path: string): void {
  const { [keyOf(config, path)]: until, ...others } = asRecord(state.read(FILE));
  if (until !== undefined) state.write(FILE, others);
}

/** Returns what is left of memories without those that were archived. */
export function withoutArchived({ state, config, now }: Place, memories: readonly Memory[]): readonly Memory[] {
  if (memories.length === 0) return memories;
  const archived = asRecord(state.read(FILE));
  return memories.filter(({ path }) => {
    const until = archived[keyOf(config, path)];
    return !(typeof until === "number" && now() < until);
  });
}

/** Returns the same of findings; one that has none left says so. */
export function findingsWithoutArchived(place: Place, findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) => {
    const memories = withoutArchived(place, finding.memories);
    if (memories.length === finding.memories.length) return finding;
    return { ...finding, memories, ...(memories.length === 0 ? { reason: "no-hits" as const } : {}) };
  });
}

function keyOf({ apiUrl }: Session["config"], path: string): string {
  return `${apiUrl} ${path}`;
}

// `/palinode pause`: memory is muted in one workspace until `unpause`. A file says so, because the command runs in
// another process than the sessions do, and since when until when it was so: nothing of that is told later either.
import { asRecord } from "../base/json.ts";
import type { State } from "../base/store.ts";
import { digestOf } from "../base/text.ts";
import { isTime } from "../base/time.ts";

/** So many pauses that are over are remembered of a workspace. */
const MAX_STRETCHES = 500;

/** A pause that is over, in epoch milliseconds. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Returns since when a workspace is muted, in epoch milliseconds, or undefined. */
export function pausedSince(state: State, workspace: string | undefined): number | undefined {
  const at = workspace === undefined ? undefined : asRecord(state.read(fileOf(workspace))).since;
  return isTime(at) ? at : undefined;
}

/** Returns whether a workspace was muted at a time, in epoch milliseconds, or is since then. Reads two small files. */
export function pausesOf(state: State, workspace: string): (at: number) => boolean {
  const { since = Infinity, stretches } = readPauses(state, workspace);
  return (at) => at >= since || stretches.some(({ from, to }) => at >= from && at <= to);
}

/** Mutes a workspace, or ends that at epoch milliseconds `now`. Returns false when it could not be written. */
export function setPaused(state: State, workspace: string, since: number | undefined, now = Date.now()): boolean {
  const { since: from, stretches } = readPauses(state, workspace);
  // Paused once more, it was so all the time.
  if (since !== undefined) return state.write(fileOf(workspace), { workspace, since: Math.min(since, from ?? since) });
  const over = from === undefined ? [] : [{ from, to: now }];
  if (over.length > 0)
    state.write(pastFileOf(workspace), { workspace, stretches: [...stretches, ...over].slice(-MAX_STRETCHES) });
  state.remove(fileOf(workspace));
  return pausedSince(state, workspace) === undefined;
}

function readPauses(state: State, workspace: string): { since?: number; stretches: Stretch[] } {
  const since = pausedSince(state, workspace);
  const { stretches } = asRecord(state.read(pastFileOf(workspace)));
  const rows = Array.isArray(stretches) ? stretches.map(asRecord) : [];
  return {
    ...(since === undefined ? {} : { since }),
    stretches: rows.flatMap(({ from, to }) => (isTime(from) && isTime(to) ? [{ from, to }] : [])),
  };
}

/** One file each: two that are paused at the same moment do not undo each other. */
function fileOf(workspace: string): string {
  return `paused/${digestOf(workspace)}.json`;
}

function pastFileOf(workspace: string): string {
  return `pauses/${digestOf(workspace)}.json`;
}

// `/palinode pause`: memory is muted in one workspace until `unpause`. A file says so, because the command runs in
// another process than the sessions do.
import { asRecord } from "../base/json.ts";
import type { State } from "../base/store.ts";
import { digestOf } from "../base/text.ts";
import { isTime } from "../base/time.ts";

/** Returns since when a workspace is muted, in epoch milliseconds, or undefined. */
export function pausedSince(state: State, workspace: string | undefined): number | undefined {
  const at = workspace === undefined ? undefined : asRecord(state.read(fileOf(workspace))).since;
  return isTime(at) ? at : undefined;
}

/** Mutes a workspace, or ends that. Returns false when it could not be written. */
export function setPaused(state: State, workspace: string, since: number | undefined): boolean {
  if (since !== undefined) return state.write(fileOf(workspace), { workspace, since });
  state.remove(fileOf(workspace));
  return pausedSince(state, workspace) === undefined;
}

/** One file each: two that are paused at the same moment do not undo each other. */
function fileOf(workspace: string): string {
  return `paused/${digestOf(workspace)}.json`;
}

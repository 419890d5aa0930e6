// `/palinode pause`: memory is muted in one workspace until `resume`. A file says so, because the command runs in another
// process than the sessions do.
import { asRecord } from "./cline.ts";
import type { State } from "./state.ts";

const FILE = "paused.json";

/** Returns since when a workspace is muted, in epoch milliseconds, or undefined. */
export function pausedSince(state: State, workspace: string | undefined): number | undefined {
  const at = workspace === undefined ? undefined : asRecord(state.read(FILE))[workspace];
  return typeof at === "number" ? at : undefined;
}

/** Mutes a workspace, or ends that. Returns false when it could not be written. */
export function setPaused(state: State, workspace: string, since: number | undefined): boolean {
  const { [workspace]: _, ...others } = asRecord(state.read(FILE));
  return state.write(FILE, since === undefined ? others : { ...others, [workspace]: since });
}

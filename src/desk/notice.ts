// What a person sees of memory without asking: the description of `/palinode`, which Cline's TUI shows as soon as `/`
// is typed. It is the one place where CLI 3.0.65 shows a line of a plugin's own: it drops a plugin's events, output and
// (over the hub) its log, and a throwing or stopping hook costs the run. Tried on the real CLI and TUI.
import type { Reason } from "../server/index.ts";
import { type ChannelNews, latestSession, type Session } from "../session/index.ts";
import { isActive, pausedSince } from "../settings/index.ts";

/** Troubles that keep memory away, until somebody mends them. */
const OFF: Partial<Record<Reason, string>> = {
  refused: "the server does not answer",
  dns: "the server cannot be found",
  tls: "the server's certificate is not trusted",
  unreachable: "no whole answer comes from the server",
  timeout: "the server is too slow",
  unauthorized: "the server refused the token",
  denied: "the server's policy says no",
};

/**
 * Returns the description of `/palinode`: what it does, or why memory is off, by what the latest session here left on
 * disk. Asks nobody.
 */
export function commandDescription(session: Session, verbs: readonly string[]): string {
  // A session shows its description to nobody; the TUI sets the plugin up without one, for the command alone.
  const trouble = session.id === undefined ? whyOff(session) : undefined;
  return trouble ?? `Long-term memory: ${verbs.join(", ")}`;
}

function whyOff({ config, pauses, state, cwd }: Session): string | undefined {
  if (!isActive(config)) return "Memory is switched off here; see /palinode status";
  if (pausedSince(pauses, cwd) !== undefined) return "Memory is paused here; /palinode unpause ends that";
  const trouble = lastTrouble(Object.values(latestSession(state, cwd)?.record.channels ?? {}));
  return trouble && `Memory is off: ${trouble}; see /palinode status`;
}

/** What the newest word of any channel says; one that was answered since says that all is well. */
function lastTrouble(channels: readonly ChannelNews[]): string | undefined {
  const newest = channels.toSorted((a, b) => b.at - a.at)[0];
  if (newest === undefined || channels.some(({ okAt = 0 }) => okAt >= newest.at)) return undefined;
  // What costs no question, such as thanks, says nothing of the server; the trouble before it stands beside it.
  const reason = newest.cause ?? newest.reason;
  return reason && OFF[reason];
}

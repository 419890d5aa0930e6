// How captures leave a session: who sends them, and when what earlier sessions could not send is tried again.
import { drain, type Sender } from "../capture/index.ts";
import { coverInRecord } from "./record.ts";
import type { Session } from "./session.ts";

/** Undelivered captures are looked for again after this long. */
const DRAIN_EVERY_MS = 60_000;
const DRAIN_AGAIN_MS = 5000;

/** Returns who sends captures for this session. */
export function senderOf(session: Session, signal?: AbortSignal): Sender {
  const { state, client, now } = session;
  return {
    state,
    client,
    now,
    onCovered: ({ sessionId, prompts, keys = [] }) => coverInRecord(state, sessionId, prompts, keys),
    refusal: async () =>
      session.stopped.capture ?? (session.breaker.isPaused() ? "paused" : await session.refusalOf("capture")),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** The server answered: sends, behind the hook, what earlier sessions could not. */
export function drainSoon(session: Session, ownSessionId: string): void {
  const { config, abort, now } = session;
  if (!config.capture || abort.signal.aborted || isRecent(session, now())) return;
  session.drainedAt = now();
  setImmediate(() => void drainNow(session, ownSessionId)).unref();
}

/** A time that is still to come was read from a clock that has been set back since. */
function isRecent({ drainedAt }: Session, now: number): boolean {
  return now >= drainedAt && now - drainedAt < DRAIN_EVERY_MS;
}

async function drainNow(session: Session, ownSessionId: string): Promise<void> {
  const isHeld = await drain(senderOf(session, session.abort.signal), ownSessionId).catch(() => false);
  // Another copy of the plugin had some of it under way; if that one has died, it shows by then.
  if (isHeld && !session.abort.signal.aborted)
    setTimeout(() => void drainNow(session, ownSessionId), DRAIN_AGAIN_MS).unref();
}

// What was said while memory was paused is told to no server, not even when the session is imported.
import type { State } from "../base/store.ts";
import { createdAtOf, withoutTurns } from "../cline/index.ts";
import { pausesOf, workspaceOf } from "../settings/index.ts";
import type { ReadSession } from "./sessions.ts";
import { titleOf } from "./titles.ts";

/** Returns a session without the prompts of its workspace's pauses and what followed them; itself where none were. */
export function withoutPaused(session: ReadSession, pauses: State): ReadSession {
  if (session.cwd === undefined) return session;
  const wasPaused = pausesOf(pauses, workspaceOf(session.cwd));
  const muted = new Set(session.prompts.filter((prompt) => wasPaused(createdAtOf(prompt) ?? 0)));
  if (muted.size === 0) return session;
  const messages = withoutTurns(session.messages, (prompt) => muted.has(prompt));
  const prompts = session.prompts.filter((prompt) => !muted.has(prompt));
  const isNamedSo = muted.has(session.prompts[0] ?? {});
  const title = isNamedSo ? (prompts.map(titleOf).find((each) => each !== "") ?? "") : session.title;
  // A summary is of all that was said.
  return { ...session, title, messages, prompts, summary: "" };
}

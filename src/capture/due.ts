// When a session is captured: how often, and not where the agent saved it itself.
import { isFailed, type Message, promptsOf, toolCallsOf, toolResultsOf } from "../cline/index.ts";

/** Returns whether a session of `prompts` is due: at the floor, then each time it has doubled since `captured`. */
export function isDue(prompts: number, captured: number, minMessages: number): boolean {
  return prompts >= minMessages && (captured === 0 || prompts >= 2 * captured);
}

/** Returns whether the agent saved the session itself after the first `captured` prompts. */
export function savedByAgent(transcript: readonly Message[], captured: number): boolean {
  const since = promptsOf(transcript)[captured];
  const recent = since === undefined ? [] : transcript.slice(transcript.indexOf(since));
  const done = new Set(
    recent
      .flatMap(toolResultsOf)
      .filter((result) => !isFailed(result))
      .map((result) => result.id),
  );
  // An MCP server prefixes its name to the tool's.
  return recent
    .flatMap(toolCallsOf)
    .some((call) => /(?:^|[^a-z])palinode_session_end$/.test(call.name) && done.has(call.id));
}

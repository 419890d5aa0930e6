// Tool calls that were not carried out: a person said no, or a mode or a rule did. They are neither work nor failures.
import { asRecord, asText, parseJson } from "../base/json.ts";
import { type Message, partsOf } from "../cline/index.ts";
import { opensWith, REFUSALS, SDK_REFUSALS } from "./sentences.ts";

/** The SDK puts it behind every reason for a refusal. Source: `TOOL_REJECTION_SUFFIX` of @cline/shared 0.0.86. */
const REFUSED = "NOT a tool or system failure";

/** Returns what a result says of its call not being carried out, or undefined where it was. */
export function refusalOf(output: unknown, isError: boolean): string | undefined {
  const said = asText(asRecord(typeof output === "string" && isError ? parseJson(output) : output).error);
  const text = said ?? asText(output);
  if (text === undefined) return undefined;
  if (isError) return text.includes(REFUSED) || opensWith(text, SDK_REFUSALS) ? text : undefined;
  return opensWith(text, REFUSALS) ? text : undefined;
}

/** Returns messages without the results that stand there as refused; their calls are then as if never answered. */
export function withoutRefused(messages: readonly Message[]): Message[] {
  return messages.map((message) => ({
    ...message,
    content: partsOf(message).filter(({ refusal }) => refusal === undefined),
  }));
}

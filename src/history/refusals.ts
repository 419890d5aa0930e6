// Tool calls of stored sessions that were not carried out, as the extension and the SDK say it.
import { asText, parseJson } from "../base/json.ts";
import { type Message, opensWith, partsOf, refusalOf } from "../cline/index.ts";
import { REFUSALS } from "./sentences.ts";

/** Returns what a stored result says of its call not being carried out, or undefined where it was. */
export function storedRefusalOf(output: unknown, isError: boolean): string | undefined {
  if (isError)
    return refusalOf({ output: typeof output === "string" ? (parseJson(output) ?? output) : output, isError });
  const text = asText(output);
  return text !== undefined && opensWith(text, REFUSALS) ? text : undefined;
}

/** Returns messages without the results that stand there as refused; their calls are then as if never answered. */
export function withoutRefused(messages: readonly Message[]): Message[] {
  return messages.map((message) => ({
    ...message,
    content: partsOf(message).filter(({ refusal }) => refusal === undefined),
  }));
}

// Tool calls that were not carried out: a person said no, or a mode or a rule did. They are neither work nor failures.
import { asRecord, asText } from "../base/json.ts";
import type { ToolResult } from "./messages.ts";
import { opensWith, REFUSALS } from "./sentences.ts";

/** The host puts it behind every reason for a refusal. Source: `TOOL_REJECTION_SUFFIX` of @cline/shared 0.0.86. */
const REFUSED = "NOT a tool or system failure";

/** Returns what a result says of its call not being carried out, or undefined where it was. */
export function refusalOf({ output, isError }: Pick<ToolResult, "output" | "isError">): string | undefined {
  if (!isError) return undefined;
  const text = asText(asRecord(output).error) ?? asText(output);
  return text !== undefined && (text.includes(REFUSED) || opensWith(text, REFUSALS)) ? text : undefined;
}

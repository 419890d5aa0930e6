// Text as it may leave this machine: without secrets, private spans, our own blocks, and markup that the server
// refuses.
import { stripVTControlCharacters } from "node:util";
import { dropPrivate, stripOurBlocks } from "../base/markup.ts";
import { redact } from "../base/redact.ts";
import { clean, oneLine } from "../base/text.ts";

/** Returns text of a session as it may be sent: no escape sequences, private spans, own blocks, secrets or markup. */
export function safeText(text: string): string {
  return escaped(redacted(stripOurBlocks(text)));
}

/** Returns the same on one line. */
export function safe(text: string): string {
  return escaped(oneLine(redacted(stripOurBlocks(text))));
}

/** Returns text without private spans, secrets, and the escape sequences and hidden characters that could hide one. */
export function redacted(text: string): string {
  return redact(dropPrivate(clean(stripVTControlCharacters(text))));
}

/** What the server takes for a call that went astray, unless it stands in code (palinode-api.md, 2.9). */
const CALL_TAGS = [
  "invoke",
  "parameter",
  "function_calls",
  "tool_call",
  "tool_use",
  "summary",
  "decisions",
  "blockers",
  "system-reminder",
  "command-",
  "local-command-",
  "user-prompt-",
  "bash-",
  "ide_",
].join("|");
const CODE = "```[\\s\\S]*?```|~~~[\\s\\S]*?~~~|`[^`\\n]+`";
const CODE_OR_CALL = new RegExp(`(${CODE})|<(?=\\/?(?:[a-z][\\w.-]*:)?(?:${CALL_TAGS}))`, "gi");

/** Returns text as it was written, but for tags that the server would refuse it for. */
export function withoutCallTags(text: string): string {
  return text.replace(CODE_OR_CALL, (_, code: string | undefined) => code ?? "&lt;");
}

function escaped(text: string): string {
  return text.replace(/<(?=[/\s]{0,4}[a-z!])/gi, "&lt;");
}

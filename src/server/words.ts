// What is wrong with the server, in words that lead to what mends it.
import { safeLine } from "../base/markup.ts";
import type { Config } from "../settings/index.ts";
import { mayCarryToken, PalinodeError, reasonOf } from "./client.ts";

/** Something that was asked for by hand and cannot be done; the message says what would mend it. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
}

/** Returns what is wrong and what the user can do about it. Names no token and no text of memory. */
export function explain(error: unknown, { config }: { readonly config: Config }): string {
  const { status, detail, said } = error instanceof PalinodeError ? error : {};
  const at = `The Palinode server at ${config.apiUrl}`;
  switch (reasonOf(error)) {
    case "refused":
      return `${at} does not answer. Start it with: palinode-api (to get it: pip install palinode)`;
    case "dns":
      return `${at} cannot be found. Check PALINODE_API_URL.`;
    case "timeout":
      return `${at} did not answer in time. Its embedder may be loading; see: node palinode.js doctor`;
    case "unauthorized":
      if (config.token === "") return `${at} wants a token. Set one: export PALINODE_API_TOKEN=…`;
      return mayCarryToken(config)
        ? `${at} refused the token. Set the right one: export PALINODE_API_TOKEN=…`
        : `${at} wants a token, which is not sent over plain http to a public address. Use https, or: export PALINODE_ALLOW_HTTP=1`;
    case "denied":
      return `${at} does not allow this (${detail ?? "its policy"}). See: palinode controls`;
    case "rate-limited":
      return `${at} has had too many requests. Try again in a minute.`;
    default:
      if (status === 413) return `${at} takes no text of that size.`;
      if (status === 503)
        return `${at} has no working embedder. Get its model with: ollama pull bge-m3. Without one it can still search: PALINODE_RETRIEVAL_MODE=lexical palinode-api`;
      if (status === 400 || status === 422)
        return `${at} refused it${said === undefined ? ` (HTTP ${status})` : `: ${safeLine(said)}`}`;
      return `${at} gave no usable answer${status === undefined ? "" : ` (HTTP ${status})`}. Is that palinode-api? See: node palinode.js doctor`;
  }
}

// Every way in which a server can fail, as one error with a reason code: what was thrown, and what it answered instead.
import { asRecord, asText, parseJson } from "../base/json.ts";
import { clip, oneLine } from "../base/text.ts";
import { redacted } from "./outgoing.ts";

/** Why there is no memory, as a code that is the same on every runtime. */
export type Reason =
  | "refused"
  | "timeout"
  | "dns"
  | "tls"
  | "unreachable"
  | "unauthorized"
  | "denied"
  | "rate-limited"
  | "bad-response"
  | "too-short"
  | "small-talk"
  | "no-hits"
  | "below-threshold"
  | "no-embedder"
  | "paused"
  | "muted"
  | "budget";

const MAX_SERVER_WORDS_CHARS = 200;

interface Words {
  readonly detail?: string | undefined;
  readonly serverWords?: string | undefined;
}

/** A request that brought no usable answer. Its message names route and code, never a token or any text of memory. */
export class PalinodeError extends Error {
  override readonly name = "PalinodeError";
  readonly code: Reason;
  /** The HTTP status, when there was one. */
  readonly status: number | undefined;
  /** What the server said of it: a policy reason of one word, or what it has against a request. */
  readonly detail: string | undefined;
  readonly #serverWords: string | undefined;

  constructor(route: string, code: Reason, status?: number, words: Words = {}) {
    const { detail, serverWords } = words;
    const http = status === undefined ? "" : ` (HTTP ${status})`;
    super(`${route}: ${code}${http}${detail === undefined ? "" : `, ${detail}`}`);
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.#serverWords = serverWords;
  }

  /** What the server said, which may echo what was sent: for whoever sent it. Private, so that no log shows it. */
  get serverWords(): string | undefined {
    return this.#serverWords;
  }
}

/** Returns anything that was thrown as an error of the server, with its reason code or `otherwise`. */
export function palinodeErrorOf(error: unknown, route = "the server", otherwise?: Reason): PalinodeError {
  return error instanceof PalinodeError ? error : new PalinodeError(route, reasonOf(error, otherwise));
}

/**
 * Returns the reason code of anything that was thrown, by names and codes: texts differ between Node and Bun. Of what
 * says nothing known, `otherwise`.
 */
export function reasonOf(error: unknown, otherwise: Reason = "bad-response"): Reason {
  if (error instanceof PalinodeError) return error.code;
  let cause: unknown = error;
  for (let depth = 0; cause !== undefined && depth < MAX_CAUSES; depth += 1) {
    const { name, code, errors, message, cause: next } = asRecord(cause);
    // A port that no request may go to, and that nothing listens at.
    if (message === "bad port") return "refused";
    // A proxy that opens no tunnel, in the words of Node's `fetch`, which calls that an aborted request.
    if (asText(message)?.startsWith("Proxy response (")) return "unreachable";
    const reason = REASONS.get(code) ?? REASONS.get(name);
    if (reason) return reason;
    if (TLS.test(asText(code) ?? "")) return "tls";
    if (NO_ANSWER.test(asText(code) ?? "")) return "bad-response";
    if (Array.isArray(errors) && errors.length > 0) return reasonOf(errors[0], otherwise);
    cause = next;
  }
  return otherwise;
}

/** An error may be its own cause. */
const MAX_CAUSES = 5;
const TIMEOUTS = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ETIMEDOUT"];
const REFUSALS = ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"];
/** The reasons by the codes and names of errors, of Node and of Bun. */
const REASONS = new Map<unknown, Reason>([
  ...named("timeout", ["AbortError", "TimeoutError", ...TIMEOUTS]),
  ...named("refused", ["ConnectionRefused", "FailedToOpenSocket", ...REFUSALS]),
  // It broke before there was a whole answer.
  ...named("unreachable", ["ECONNRESET", "ECONNABORTED", "EPIPE", "UND_ERR_SOCKET", "ConnectionClosed"]),
  ...named("dns", ["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "DNSException"]),
]);

/** A certificate that nobody vouches for or that is another's, and what speaks no TLS: OpenSSL's and Node's codes. */
const TLS = /^(?:ERR_(?:SSL|TLS)_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET|VERIFY)_|UNKNOWN_CERT|EPROTO$)/;

/** Something came, and was no HTTP, or packed as nothing is: codes of Node's parser, of `fetch` and of zlib. */
const NO_ANSWER = /^(?:HPE_|UND_ERR_(?:HEADERS_OVERFLOW|RES_|INVALID_RETURN)|Z_|ERR_(?:HTTP|STREAM_PREMATURE))/;

function named(reason: Reason, codes: readonly string[]): [string, Reason][] {
  return codes.map((code) => [code, reason]);
}

interface Refusal {
  readonly status: number;
  readonly body: string | undefined;
  readonly token: string;
  /** Whether a proxy was in the way, which may have answered itself. */
  readonly isProxied: boolean;
}

/**
 * Returns what an answer with any other status than 2xx comes to. No message quotes `body`, but for a few known words.
 */
export function refusalOf(route: string, { status, body, token, isProxied }: Refusal): PalinodeError {
  // The server always says in JSON what is wrong; what does not is a proxy's, and no word of the server's.
  if (isProxied && asRecord(parseJson(body)).detail === undefined)
    return new PalinodeError(route, "bad-response", status);
  if (status === 401) return new PalinodeError(route, "unauthorized", status);
  if (status === 403) return new PalinodeError(route, "denied", status, { detail: policyWordIn(body) });
  if (status === 429) return new PalinodeError(route, "rate-limited", status);
  const detail = NOT_STORED.exec(body ?? "")?.[1];
  return new PalinodeError(route, "bad-response", status, { detail, serverWords: serverWordsIn(body, token) });
}

/** How the server begins to say what it does not store; what follows echoes what was sent. */
const NOT_STORED = /"detail"\s*:\s*"(Security scan failed|Refusing to store|Content too large)/;

/** Returns the words of a refusal; a list of wrong fields holds none. */
function serverWordsIn(body: string | undefined, token: string): string | undefined {
  const words = asText(asRecord(parseJson(body)).detail);
  if (words === undefined) return undefined;
  const tokenless = token === "" ? words : words.replaceAll(token, "[redacted]");
  return clip(oneLine(redacted(tokenless)), MAX_SERVER_WORDS_CHARS);
}

/** The server's policy reasons are single words; anything longer is not shown, since it may echo what was sent. */
function policyWordIn(body: string | undefined): string | undefined {
  return /"detail"\s*:\s*"([a-z_]{1,40})"/.exec(body ?? "")?.[1];
}

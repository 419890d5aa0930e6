// The one caller of `fetch`. Turns every way in which a server can fail into one error with a reason code, and hands
// bodies on as `unknown`: what they mean is read where they are used.
import { isIP } from "node:net";
import { asRecord, asText, parseJson } from "../base/json.ts";
import { clip, oneLine } from "../base/text.ts";
import type { Config } from "../settings/index.ts";
import { redacted } from "./outgoing.ts";

/** Why there is no memory, as a code that is the same on every runtime. */
export type Reason =
  | "refused"
  | "timeout"
  | "dns"
  | "unauthorized"
  | "denied"
  | "rate-limited"
  | "bad-response"
  | "too-short"
  | "no-hits"
  | "below-threshold"
  | "paused"
  | "muted"
  | "budget";

/** A larger body is not memory: reading stops there. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_SAID_CHARS = 200;

/** A request that brought no usable answer. Its message names route and code, never a token or any text of memory. */
export class PalinodeError extends Error {
  override readonly name = "PalinodeError";
  readonly code: Reason;
  /** The HTTP status, when there was one. */
  readonly status: number | undefined;
  /** What the server said of it: a policy reason of one word, or what it has against a request. */
  readonly detail: string | undefined;
  readonly #said: string | undefined;

  constructor(route: string, code: Reason, status?: number, detail?: string, said?: string) {
    super(
      `${route}: ${code}${status === undefined ? "" : ` (HTTP ${status})`}${detail === undefined ? "" : `, ${detail}`}`,
    );
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.#said = said;
  }

  /** The server's own words, which may echo what was sent: for whoever sent it by hand. Private, so that no log shows them. */
  get said(): string | undefined {
    return this.#said;
  }
}

/** The server as the rest of the plugin sees it. */
export interface Client {
  /** Returns the parsed answer. Throws `PalinodeError`, and nothing else. */
  get(route: string, query: Record<string, string>, limits?: Limits): Promise<unknown>;
  post(route: string, body: Record<string, unknown>, limits?: Limits): Promise<unknown>;
}

export interface Limits {
  /** Milliseconds for this request; the setting `recallTimeoutMs` when absent. */
  readonly timeoutMs?: number;
  /** Ends the request early. */
  readonly signal?: AbortSignal;
}

type ClientConfig = Pick<Config, "apiUrl" | "token" | "allowHttp" | "recallTimeoutMs">;

/**
 * Returns a client for the server of these settings. Opens nothing until it is used. `onRateLimited` hears how many
 * milliseconds the server wants quiet.
 */
export function createClient(config: ClientConfig, onRateLimited: (ms: number) => void = () => undefined): Client {
  const headers: Record<string, string> = { accept: "application/json" };
  if (config.token !== "" && mayCarryToken(config)) headers.authorization = `Bearer ${config.token}`;

  async function send(
    method: string,
    route: string,
    search: string,
    body: string | undefined,
    limits: Limits = {},
  ): Promise<unknown> {
    const timeout = AbortSignal.timeout(limits.timeoutMs ?? config.recallTimeoutMs);
    const signal = limits.signal ? AbortSignal.any([limits.signal, timeout]) : timeout;
    try {
      const response = await fetch(`${config.apiUrl}${route}${search}`, {
        method,
        // A redirect is never followed: the token must not travel.
        redirect: "manual",
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        signal,
        ...(body === undefined ? {} : { body }),
      });
      if (response.status === 429) onRateLimited(retryAfterMs(response.headers.get("retry-after"), Date.now()));
      return await readAnswer(route, response, config.token);
    } catch (error) {
      throw error instanceof PalinodeError ? error : new PalinodeError(route, reasonOf(error));
    }
  }

  return {
    get: (route, query, limits) => send("GET", route, `?${new URLSearchParams(query)}`, undefined, limits),
    post: (route, body, limits) => send("POST", route, "", JSON.stringify(body), limits),
  };
}

/** Returns anything that was thrown as an error of the server, with its reason code. */
export function palinodeErrorOf(error: unknown): PalinodeError {
  return error instanceof PalinodeError ? error : new PalinodeError("the server", reasonOf(error));
}

/** Returns the reason code of anything that was thrown, by names and codes: texts differ between Node and Bun. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof PalinodeError) return error.code;
  for (
    let cause: unknown = error, depth = 0;
    cause !== undefined && depth < 5;
    cause = asRecord(cause).cause, depth += 1
  ) {
    const { name, code, errors, message } = asRecord(cause);
    // A port that no request may go to, and that nothing listens at.
    if (message === "bad port") return "refused";
    const known = REASON_BY_CODE.get(code) ?? REASON_BY_CODE.get(name);
    if (known) return known;
    if (Array.isArray(errors) && errors.length > 0) return reasonOf(errors[0]);
  }
  return "bad-response";
}

const REASON_BY_CODE = new Map<unknown, Reason>([
  ...[
    "AbortError",
    "TimeoutError",
    "ETIMEDOUT",
    "UND_ERR_CONNECT_TIMEOUT",
    "UND_ERR_HEADERS_TIMEOUT",
    "UND_ERR_BODY_TIMEOUT",
  ].map((code) => [code, "timeout"] as const),
  ...["ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"].map(
    (code) => [code, "refused"] as const,
  ),
  ...["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "DNSException"].map((code) => [code, "dns"] as const),
]);

/** Returns whether the token may be sent: over https, or to a loopback or private address, or where the user allows it. */
export function mayCarryToken({ apiUrl, allowHttp }: Pick<Config, "apiUrl" | "allowHttp">): boolean {
  const { protocol, hostname } = new URL(apiUrl);
  return allowHttp || protocol === "https:" || isPrivateHost(hostname.replace(/^\[|\]$/g, "").toLowerCase());
}

function isPrivateHost(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  if (isIP(host) === 4) return /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)/.test(host);
  if (isIP(host) !== 6) return false;
  // `URL` writes an IPv4 address inside an IPv6 one as two groups of hex digits.
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (!mapped) return host === "::1" || /^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:/.test(host);
  const [high, low] = [parseInt(mapped[1] ?? "", 16), parseInt(mapped[2] ?? "", 16)];
  return isPrivateHost([high >> 8, high & 255, low >> 8, low & 255].join("."));
}

/** Returns the milliseconds of a `Retry-After` header: seconds or a date; a minute where it says neither. */
export function retryAfterMs(header: string | null, now: number): number {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` takes nearly anything for a date; HTTP's begin with a weekday.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? 60_000 : Math.max(0, at - now);
}

async function readAnswer(route: string, response: Response, token: string): Promise<unknown> {
  if (!response.ok) throw await refusal(route, response, token);
  const text = await readText(response);
  try {
    return JSON.parse(text ?? "");
  } catch {
    throw new PalinodeError(route, "bad-response", response.status);
  }
}

async function refusal(route: string, response: Response, token: string): Promise<PalinodeError> {
  const { status } = response;
  const text = await readText(response).catch(() => undefined);
  if (status === 401) return new PalinodeError(route, "unauthorized", status);
  if (status === 403) return new PalinodeError(route, "denied", status, policyWord(text));
  if (status === 429) return new PalinodeError(route, "rate-limited", status);
  return new PalinodeError(route, "bad-response", status, REFUSALS.exec(text ?? "")?.[1], saidIn(text, token));
}

/** How the server begins to say what it does not store; what follows echoes what was sent. */
const REFUSALS = /"detail"\s*:\s*"(Security scan failed|Refusing to store|Content too large)/;

/** Returns the words of a refusal; a list of wrong fields holds none. */
function saidIn(text: string | undefined, token: string): string | undefined {
  const words = asText(asRecord(parseJson(text)).detail);
  return words === undefined
    ? undefined
    : clip(oneLine(redacted(token === "" ? words : words.replaceAll(token, "[redacted]"))), MAX_SAID_CHARS);
}

/** The server's policy reasons are single words; anything longer is not shown, since it may echo what was sent. */
function policyWord(text: string | undefined): string | undefined {
  return /"detail"\s*:\s*"([a-z_]{1,40})"/.exec(text ?? "")?.[1];
}

/** Returns the body as text, or undefined past the limit. */
async function readText(response: Response): Promise<string | undefined> {
  if (!response.body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

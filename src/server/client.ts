// The one caller of `fetch`. Every way in which a server can fail is one error with a reason code; bodies are handed on
// as `unknown`, and `routes` reads them.
import { isIP } from "node:net";
import type { Config } from "../settings/index.ts";
import { PalinodeError, palinodeErrorOf, reasonOf, refusalOf } from "./failure.ts";

/** A larger body is not memory: reading stops there. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

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

/** What a client tells and asks whoever has it. */
interface ClientHooks {
  /** Hears how many milliseconds the server wants quiet. */
  readonly onRateLimited?: (ms: number) => void;
  /** Returns the token as the settings have it now: one that was refused is read anew. */
  readonly readToken?: () => string;
}

/** Returns a client for the server of these settings. Opens nothing until it is used. */
export function createClient(config: ClientConfig, { onRateLimited, readToken }: ClientHooks = {}): Client {
  let { token } = config;

  async function send(route: string, search: string, body: string | undefined, limits?: Limits): Promise<unknown> {
    const used = token;
    try {
      return await sendOnce(route, search, body, limits);
    } catch (error) {
      if (reasonOf(error) !== "unauthorized") throw error;
      // Of several requests under way the first that is refused reads it for all.
      if (token === used) token = readToken?.() || used;
      if (token === used) throw error;
      return sendOnce(route, search, body, limits);
    }
  }

  async function sendOnce(route: string, search: string, body: string | undefined, limits: Limits = {}) {
    const headers: Record<string, string> = { accept: "application/json" };
    if (token !== "" && mayCarryToken(config)) headers.authorization = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const init = body === undefined ? { method: "GET", headers } : { method: "POST", headers, body };
    const timeout = AbortSignal.timeout(limits.timeoutMs ?? config.recallTimeoutMs);
    const signal = limits.signal ? AbortSignal.any([limits.signal, timeout]) : timeout;
    try {
      // A redirect is never followed: the token must not travel.
      const response = await fetch(`${config.apiUrl}${route}${search}`, { ...init, redirect: "manual", signal });
      if (response.status === 429) onRateLimited?.(retryAfterMs(response.headers.get("retry-after"), Date.now()));
      return await readAnswer(route, response, token);
    } catch (error) {
      throw palinodeErrorOf(error, route);
    }
  }

  return {
    get: (route, query, limits) => send(route, `?${new URLSearchParams(query)}`, undefined, limits),
    post: (route, body, limits) => send(route, "", JSON.stringify(body), limits),
  };
}

/** Returns whether the token may be sent: by https, to a loopback or private address, or where the user allows it. */
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
  const [high = 0, low = 0] = mapped.slice(1).map((group) => parseInt(group, 16));
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
  if (!response.ok) {
    const body = await readText(response).catch(() => undefined);
    throw refusalOf(route, response.status, body, token);
  }
  const text = await readText(response);
  try {
    return JSON.parse(text ?? "");
  } catch {
    throw new PalinodeError(route, "bad-response", response.status);
  }
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

// The one caller of `requestDirectly`, and of `fetch` where a proxy is to be asked. Every way in which a server can
// fail is one error with a reason code; bodies are handed on as `unknown`, and `routes` reads them.
import { isIP } from "node:net";
import type { Config } from "../settings/index.ts";
import { type Answer, type Init, namesProxy, requestDirectly } from "./direct.ts";
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
  /** Whether it must not be sent a second time, whatever became of the first. */
  readonly isOnce?: boolean;
}

type ClientConfig = Pick<Config, "apiUrl" | "token" | "allowHttp" | "recallTimeoutMs">;

/** What a client tells and asks whoever has it. */
interface ClientHooks {
  /** Hears how many milliseconds the server wants quiet. */
  readonly onRateLimited?: (ms: number) => void;
  /** Hears that nobody listens at the address. */
  readonly onRefused?: () => void;
  /** Returns the token as the settings have it now: one that was refused is read anew. */
  readonly readToken?: () => string;
}

/** Returns a client for the server of these settings. Opens nothing until it is used. */
export function createClient(config: ClientConfig, { onRateLimited, onRefused, readToken }: ClientHooks = {}): Client {
  let { token } = config;
  const isPublic = mayUseProxy(config.apiUrl);

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
    const timeout = AbortSignal.timeout(limits.timeoutMs ?? config.recallTimeoutMs);
    const signal = limits.signal ? AbortSignal.any([limits.signal, timeout]) : timeout;
    const method = body === undefined ? "GET" : "POST";
    const init = {
      method,
      headers,
      signal,
      isRepeatable: limits.isOnce !== true,
      ...(body === undefined ? {} : { body }),
    };
    const hasProxy = namesProxy();
    const ask = hasProxy && isPublic ? fetched : requestDirectly;
    try {
      const answer = await ask(`${config.apiUrl}${route}${search}`, init);
      return await readAnswer(route, answer, token, hasProxy && isPublic).catch((error: unknown) => {
        if (reasonOf(error) === "rate-limited") onRateLimited?.(retryAfterMs(answer.retryAfter, Date.now()));
        throw error;
      });
    } catch (error) {
      // A connection that was ended from here says only that it is gone.
      if (!(error instanceof PalinodeError) && signal.aborted) throw new PalinodeError(route, "timeout");
      const failure = palinodeErrorOf(error, route, "unreachable");
      // Who was not found or did not listen may have been the proxy.
      const isOfProxy = hasProxy && isPublic && ["refused", "dns"].includes(failure.code);
      if (isOfProxy) throw new PalinodeError(route, "unreachable");
      if (failure.code === "refused") onRefused?.();
      throw failure;
    }
  }

  return {
    get: (route, query, limits) => send(route, `?${new URLSearchParams(query)}`, undefined, limits),
    post: (route, body, limits) => send(route, "", JSON.stringify(body), limits),
  };
}

async function fetched(url: string, init: Init): Promise<Answer> {
  // A redirect is never followed: the token must not travel.
  const { isRepeatable: _, ...rest } = init;
  const { status, headers, body } = await fetch(url, { ...rest, redirect: "manual" });
  return { status, retryAfter: headers.get("retry-after"), body: body as unknown as Answer["body"] };
}

/**
 * Returns whether a proxy may be given the requests: to a server by https that is not at a loopback or private address,
 * nor under a name that only a local network has.
 */
export function mayUseProxy(apiUrl: string): boolean {
  const { protocol, host } = addressOf(apiUrl);
  const isLocal = isPrivateHost(host) || (isIP(host) === 0 && LOCAL_NAME.test(host));
  return protocol === "https:" && !isLocal;
}

const LOCAL_NAME = /^[^.]+\.?$|\.(?:localhost|local|lan|internal|home\.arpa)\.?$/;

/** Returns whether the token may be sent: by https, to a loopback or private address, or where the user allows it. */
export function mayCarryToken({ apiUrl, allowHttp }: Pick<Config, "apiUrl" | "allowHttp">): boolean {
  const { protocol, host } = addressOf(apiUrl);
  return allowHttp || protocol === "https:" || isPrivateHost(host);
}

/** Returns whether an address is one of this machine. */
export function isLoopback(apiUrl: string): boolean {
  const { host } = addressOf(apiUrl);
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function addressOf(apiUrl: string): { protocol: string; host: string } {
  const { protocol, hostname } = new URL(apiUrl);
  return { protocol, host: hostname.replace(/^\[|\]$/g, "").toLowerCase() };
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

async function readAnswer(route: string, answer: Answer, token: string, isProxied: boolean): Promise<unknown> {
  const { status } = answer;
  if (status < 200 || status > 299) {
    const body = await readText(answer).catch(() => undefined);
    throw refusalOf(route, { status, body, token, isProxied });
  }
  const text = await readText(answer);
  try {
    return JSON.parse(text ?? "");
  } catch {
    throw new PalinodeError(route, "bad-response", status);
  }
}

/** Returns the body as text, or undefined past the limit. */
async function readText({ body }: Answer): Promise<string | undefined> {
  if (!body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

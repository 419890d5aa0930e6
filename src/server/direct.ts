// Requests that no proxy sees. Bun's `fetch` gives each to the proxy that the environment names, loopback or not; so
// does Node's from 24 on, under NODE_USE_ENV_PROXY, and that of a host with a dispatcher for it. `node:http` without a
// shared agent gives it nothing, on either (measured on Node 24.22.3 and Bun 1.4.5).
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** What is sent, as `fetch` takes it too. */
export interface Init {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** An answer whose body is still to be read. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Returns whether the environment names a proxy; which of its variables count is for each runtime to say. */
export function namesProxy(env: NodeJS.ProcessEnv = process.env): boolean {
  return Object.entries(env).some(([name, value]) => value && /^(?:https?|all)_proxy$/i.test(name));
}

/** Returns the answer to a request that goes straight to the server. Follows no redirect, and unpacks nothing. */
export function requestDirectly(url: string, { body, ...init }: Init): Promise<Answer> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...init, agent: false }, (message) => {
      const { "retry-after": retryAfter = null, "content-encoding": encoding } = message.headers;
      // None was asked for, so what is packed all the same is read as an empty body, which is no answer.
      const isPacked = encoding !== undefined && encoding !== "identity";
      if (isPacked) message.destroy();
      resolve({ status: message.statusCode ?? 0, retryAfter, body: isPacked ? null : message });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

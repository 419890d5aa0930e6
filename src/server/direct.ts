// Requests on connections of our own, which are kept for the next one. They hold no process: who waits for an answer
// does (`holding`), and one that nobody waits for any more ends with the process. `fetch` can be told neither; and
// Bun's, as Node's from 24 on under NODE_USE_ENV_PROXY, gives each request to the proxy that the environment names,
// loopback or not. An agent of one's own goes straight (measured on Node 20.20, 22.23, 24.22 and Bun 1.4.5).
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { codeOf } from "../base/files.ts";

/** Servers close a connection that is idle for five seconds (uvicorn's default); a request must not meet that. */
const IDLE_MS = 4000;

/** What is sent, as `fetch` takes it too. */
export interface Init {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Whether it may be sent once more where a kept connection turns out to be closed: the server may have had it. */
  readonly isRepeatable?: boolean;
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

let agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined;

/** Returns the answer to a request that goes straight to the server. Follows no redirect, and unpacks nothing. */
export function requestDirectly(url: string, { body, isRepeatable = false, ...init }: Init): Promise<Answer> {
  const options = { keepAlive: true, timeout: IDLE_MS };
  agents ??= { http: new HttpAgent(options), https: new HttpsAgent(options) };
  const [request, agent] = url.startsWith("https:") ? [requestHttps, agents.https] : [requestHttp, agents.http];
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...init, agent }, (message) => {
      const { "retry-after": retryAfter = null, "content-encoding": encoding } = message.headers;
      // None was asked for, so what is packed all the same is read as an empty body, which is no answer.
      const isPacked = encoding !== undefined && encoding !== "identity";
      if (isPacked) message.destroy();
      resolve({ status: message.statusCode ?? 0, retryAfter, body: isPacked ? null : message });
    });
    sent.on("socket", (socket) => socket.unref());
    sent.on("error", (error) => {
      const isStale = isRepeatable && sent.reusedSocket && codeOf(error) === "ECONNRESET";
      if (isStale) requestDirectly(url, { body, ...init }).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });
}

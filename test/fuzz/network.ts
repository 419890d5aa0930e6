// A network without sockets: `node:http` and `fetch` are replaced, every request is kept, and what comes back is the
// test's to decide. Ten thousand cases over real sockets would take an hour, and to a public address none may go.
import { replaceRequests } from "../helpers/requests.ts";
import type { Call } from "../palinode/store.ts";

export type Request = Call & { readonly url: URL };

export interface Network {
  /** Every request since the last `forget`. */
  readonly requests: Request[];
  /**
   * Makes the answer to each request. A promise that never ends is a server that hangs, one that rejects a line that
   * breaks; what is thrown is a mistake of the request's, for `check`.
   */
  answer: (request: Request) => Response | Promise<Response>;
  forget(): void;
  /** Throws what `answer` threw. */
  check(): void;
  /** Gives the real ones back. */
  close(): void;
}

/** Takes the network over. Requests end when their signal says so, as real ones do. */
export function openNetwork(): Network {
  const realFetch = globalThis.fetch;
  const requests: Request[] = [];
  const thrown: unknown[] = [];
  const answerTo = (request: Request): Response | Promise<Response> => {
    try {
      return network.answer(request);
    } catch (error) {
      thrown.push(error);
      return new Response(null, { status: 599 });
    }
  };
  const network: Network = {
    requests,
    answer: () => new Response("{}"),
    forget: () => void requests.splice(0),
    check: () => {
      if (thrown.length > 0) throw thrown.pop();
    },
    close: () => {
      globalThis.fetch = realFetch;
      giveBack();
    },
  };
  globalThis.fetch = async (input, init = {}) => {
    const request = read(String(input), init);
    requests.push(request);
    const { signal } = init;
    if (signal?.aborted) throw signal.reason;
    const ended = new Promise<never>((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
    return Promise.race([answerTo(request), ended]);
  };
  const giveBack = replaceRequests(globalThis.fetch);
  return network;
}

function read(address: string, init: RequestInit): Request {
  const url = new URL(address);
  const text = typeof init.body === "string" ? init.body : "";
  return {
    url,
    text,
    method: init.method ?? "GET",
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(new Headers(init.headers)),
    body: text === "" ? undefined : JSON.parse(text),
  };
}

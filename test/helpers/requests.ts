// `request` of `node:http` and `node:https`, replaced by something that answers as `fetch` does, without a network.
import { EventEmitter } from "node:events";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

/** Has `fetch` answer all requests, also of modules that were loaded before. Returns what gives the real ones back. */
export function replaceRequests(fetch: typeof globalThis.fetch): () => void {
  const real = [http.request, https.request] as const;
  http.request = requestBy(fetch);
  https.request = http.request;
  syncBuiltinESMExports();
  return () => {
    [http.request, https.request] = real;
    syncBuiltinESMExports();
  };
}

/** As far as the plugin uses it. */
function requestBy(fetch: typeof globalThis.fetch): typeof http.request {
  const request = (
    url: string,
    { agent: _, ...init }: RequestInit & { agent: unknown },
    hear: (message: unknown) => void,
  ) =>
    Object.assign(new EventEmitter(), {
      end(this: EventEmitter, body?: string) {
        fetch(url, { ...init, ...(body === undefined ? {} : { body }) }).then(
          ({ status, headers, body: stream }) => {
            const parts = stream === null ? Readable.from([]) : Readable.fromWeb(stream as ReadableStream);
            hear(Object.assign(parts, { statusCode: status, headers: Object.fromEntries(headers) }));
          },
          (error: unknown) => this.emit("error", error),
        );
      },
    });
  return request as unknown as typeof http.request;
}

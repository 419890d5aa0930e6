// How the stand-in Palinode sends an answer, and the ways in which it fails to when a test asks for it.
import type { ServerResponse } from "node:http";
import type { Answer } from "./store.ts";

/** How a call goes wrong. All but `hang` and `reset` do the work of the call first, as a real server would have. */
export type Fault =
  | OtherAnswer
  /** Takes the request and never answers. With `handled` the work is done all the same. */
  | { hang: true; handled?: boolean }
  /** Does the work at once, and answers that much later. */
  | { delayMs: number }
  /** Does the work at once, and answers when that has come. */
  | { until: Promise<void> }
  /** Drops the connection instead of answering. */
  | { reset: true; handled?: boolean }
  /** Half of the answer, then the connection is gone. */
  | { cut: true }
  /** A body of one byte each so many milliseconds, for ever. */
  | { dripMs: number };

/** Status 200 where none is given. */
type OtherAnswer =
  /** A body that is a text goes out as it is. */
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** The page of a proxy or a captive portal. */
  | { html: true }
  | { json: unknown }
  /** This text, called JSON. */
  | { raw: string }
  /** A JSON text of that many bytes. */
  | { bigBytes: number }
  | { redirect: string };

export type Faults = {
  set(path: string, fault: Fault | null, times?: number): void;
  /** Returns the fault of the next call of a path, and uses it up once. */
  take(path: string): Fault | undefined;
};

const PAGE = "<!doctype html><title>Sign in</title><p>Please sign in to this network.</p>";

export function createFaults(): Faults {
  const pending = new Map<string, { fault: Fault; left: number }>();
  return {
    set(path, fault, times = Infinity) {
      if (fault === null) pending.delete(path);
      else pending.set(path, { fault, left: times });
    },
    take(path) {
      const key = pending.has(path) ? path : "*";
      const entry = pending.get(key);
      if (!entry) return undefined;
      entry.left -= 1;
      if (entry.left <= 0) pending.delete(key);
      return entry.fault;
    },
  };
}

/** Tells whether a call with this fault gets as far as doing its work. */
export function doesWork(fault: Fault | undefined): boolean {
  return !fault || !("hang" in fault || "reset" in fault) || fault.handled === true;
}

/** Sends an answer, or what the fault makes of it. Timers go into `timers`, for the server to stop. */
export function respond(
  response: ServerResponse,
  answer: Answer,
  fault: Fault | undefined,
  timers: Set<NodeJS.Timeout>,
): void {
  if (fault && "hang" in fault) return;
  if (!fault) send(response, answer);
  else if ("delayMs" in fault) timers.add(setTimeout(() => send(response, answer), fault.delayMs));
  else if ("until" in fault) void fault.until.then(() => send(response, answer));
  else if ("reset" in fault) response.socket?.resetAndDestroy();
  else if ("cut" in fault) cut(response, answer);
  else if ("dripMs" in fault) drip(response, fault.dripMs, timers);
  else send(response, replaced(fault));
}

function replaced(fault: OtherAnswer): Answer {
  if ("html" in fault) return { status: 200, body: PAGE, headers: { "content-type": "text/html; charset=utf-8" } };
  if ("json" in fault) return { status: 200, body: JSON.stringify(fault.json) };
  if ("raw" in fault) return { status: 200, body: fault.raw };
  if ("redirect" in fault) return { status: 307, body: "", headers: { location: fault.redirect } };
  if ("bigBytes" in fault) return { status: 200, body: `["${"a".repeat(Math.max(0, fault.bigBytes - 4))}"]` };
  return {
    status: fault.status,
    body: fault.body ?? { detail: `Status ${fault.status} on request` },
    headers: fault.headers,
  };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

function cut(response: ServerResponse, { status, body }: Answer): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
}

function drip(response: ServerResponse, everyMs: number, timers: Set<NodeJS.Timeout>): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("[");
  const timer = setInterval(() => response.write(" "), everyMs);
  timers.add(timer);
  response.once("close", () => clearInterval(timer));
}

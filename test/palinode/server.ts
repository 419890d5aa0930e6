// A stand-in Palinode over real HTTP, for tests: it answers as the server of a chosen version would (routes.ts),
// remembers every request, and breaks in the ways a network does when a test asks for it (faults.ts).

import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fault } from "./faults.ts";
import { createFaults, doesWork, respond } from "./faults.ts";
import type { MemoryInput } from "./memory.ts";
import { memoryText } from "./memory.ts";
import { answerTo } from "./routes.ts";
import type { Answer, Call, Fields, Policy, Store, Trigger } from "./store.ts";
import { timestamp } from "./store.ts";
import type { TriggerInput } from "./triggers.ts";
import { addTrigger } from "./triggers.ts";

export { memoryText } from "./memory.ts";
export type { Fault, MemoryInput, Policy, Trigger, TriggerInput };
export type PalinodeRequest = Call;

export type PalinodeOptions = {
  /** Decides which routes and fields exist. @default "0.23.0" */
  version?: string;
  /** Required as `Authorization: Bearer …` on every route but /health. @default none */
  token?: string;
  memories?: MemoryInput[];
  triggers?: TriggerInput[];
  /** Clock of time stamps, cooldowns, rate limits and the duplicate window, in milliseconds. @default Date.now */
  now?: () => number;
  /** Calls a minute. @default { search: 100, write: 30 } */
  rateLimits?: Partial<Store["rateLimits"]>;
  /** @default everything allowed */
  policy?: Partial<Policy>;
  /** Whether the keyword arm of /search may add hits with `raw_score: null`. @default true */
  hybrid?: boolean;
  /** Whether /session-end gives no file to a near-duplicate of something stored within the hour. @default true */
  dedup?: boolean;
  /** Whether embedding works. @default true */
  embedder?: boolean;
  /** Root of absolute paths in answers. @default "/srv/palinode" */
  root?: string;
};

export type Palinode = {
  /** Without a slash at the end. */
  readonly url: string;
  /** Every request received, in order; faults do not hide any. */
  readonly requests: PalinodeRequest[];
  /** The requests for one path. */
  calls(path: string): PalinodeRequest[];
  /** How many requests for one path were under way at the same time, at most. */
  mostAtOnce(path: string): number;
  /** Whole file texts by path. Set, edit and delete freely: nothing is cached. */
  readonly memories: Map<string, string>;
  /** Adds or replaces memories. */
  remember(...memories: MemoryInput[]): void;
  readonly triggers: Map<string, Trigger>;
  readonly policy: Policy;
  /** Bodies of accepted /session-end calls, dry runs left out. */
  readonly sessions: Fields[];
  /** Bodies of accepted /save calls. */
  readonly saved: Fields[];
  /** All daily notes in one text. */
  readonly daily: string;
  /** Set to false to take the embedding service away. */
  embedder: boolean;
  /** Breaks the next `times` calls of a path (`"*"`: of any path), or mends it with null. @default every call */
  fault(path: string, fault: Fault | null, times?: number): void;
  /** Drops all connections, also of calls that still hang. */
  close(): Promise<void>;
};

const MAX_BODY_BYTES = 5 * 1024 * 1024;
const NO_WORK: Answer = { status: 500, body: "Internal Server Error" };

export async function startPalinode(options: PalinodeOptions = {}): Promise<Palinode> {
  const store = createStore(options);
  const requests: PalinodeRequest[] = [];
  const faults = createFaults();
  const timers = new Set<NodeJS.Timeout>();
  const underWay = new Map<string, number>();
  const most = new Map<string, number>();
  const count = (path: string, by: number): void => {
    underWay.set(path, (underWay.get(path) ?? 0) + by);
    most.set(path, Math.max(most.get(path) ?? 0, underWay.get(path) ?? 0));
  };
  const server = createServer(async (request, response) => {
    const read = await readCall(request);
    if (!read) return;
    requests.push(read.call);
    count(read.call.path, 1);
    response.once("close", () => count(read.call.path, -1));
    const fault = faults.take(read.call.path);
    const limits = { token: options.token, isTooLarge: read.isTooLarge };
    respond(response, doesWork(fault) ? answerTo(store, read.call, limits) : NO_WORK, fault, timers);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { memories, triggers, policy, sessions, saved } = store;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    calls: (path) => requests.filter((request) => request.path === path),
    mostAtOnce: (path) => most.get(path) ?? 0,
    memories,
    remember: (...added) => remember(store, added),
    triggers,
    policy,
    sessions,
    saved,
    get daily() {
      return [...memories].flatMap(([file, text]) => (file.startsWith("daily/") ? [text] : [])).join("");
    },
    get embedder() {
      return store.embedder;
    },
    set embedder(works) {
      store.embedder = works;
    },
    fault: faults.set,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

/** Returns what the stand-in knows at its start; `answerTo` of palinode-routes answers from it without a network. */
export function createStore({
  version,
  now,
  rateLimits,
  policy,
  hybrid,
  dedup,
  embedder,
  root,
  memories,
  triggers,
}: PalinodeOptions): Store {
  const store: Store = {
    version: version ?? "0.23.0",
    root: root ?? "/srv/palinode",
    now: now ?? Date.now,
    memories: new Map(),
    triggers: new Map(),
    policy: { capture: null, recall: null, excludedProjects: [], excludedPaths: [], ...policy },
    embedder: embedder ?? true,
    hybrid: hybrid ?? true,
    dedup: dedup ?? true,
    rateLimits: { search: 100, write: 30, ...rateLimits },
    admitted: new Map(),
    sessions: [],
    saved: [],
  };
  remember(store, memories ?? []);
  for (const trigger of triggers ?? []) addTrigger(store, trigger);
  return store;
}

function remember(store: Store, memories: readonly MemoryInput[]): void {
  for (const memory of memories) store.memories.set(memory.file, memoryText(memory, timestamp(store)));
}

/** Reads a request to its end; undefined when the client went away. What is over the cap is read too, but not kept. */
async function readCall(request: IncomingMessage): Promise<{ call: Call; isTooLarge: boolean } | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
    }
  } catch {
    return undefined;
  }
  const text = Buffer.concat(chunks).toString("utf8");
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
  const headers = request.headers as Record<string, string | undefined>;
  const method = request.method ?? "GET";
  const query = Object.fromEntries(searchParams);
  const body = parsed(text, headers["content-type"] ?? "");
  return { call: { method, path: pathname, query, headers, body, text }, isTooLarge: bytes > MAX_BODY_BYTES };
}

/** A body that is not sent as JSON counts as a text, which no route takes. */
function parsed(text: string, contentType: string): unknown {
  if (text === "") return undefined;
  if (!contentType.includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

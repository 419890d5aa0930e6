// The stand-in server in a thread of its own, so that its work is not counted as the plugin's waiting. What it is told
// is the fault of all routes from then on; null mends them.
import { parentPort } from "node:worker_threads";
import { type Fault, startPalinode } from "../palinode/server.ts";
import { MEMORIES, TRIGGERS } from "./session.ts";

const TWO_DAYS_MS = 2 * 86_400_000;
let now = Date.now();

const server = await startPalinode({
  memories: [...MEMORIES],
  triggers: [...TRIGGERS],
  rateLimits: { search: 1e6 },
  // A trigger rests for a day after it fired; here each call is a day and more after the one before.
  now: () => (now += TWO_DAYS_MS),
});
parentPort?.on("message", (fault: Fault | null) => {
  server.fault("*", fault);
  parentPort?.postMessage("done");
});
parentPort?.postMessage(server.url);

// One import as the command line wants it: for real or dry, told in words or as JSON.
import { setTimeout as sleep } from "node:timers/promises";
import { printJson, type Shell, type Values } from "../base/shell.ts";
import { createClient } from "../server/index.ts";
import { readConfig } from "../settings/index.ts";
import { stateOf } from "./choose.ts";
import type { Counts, Delivery } from "./import-each.ts";
import { openImportLedger } from "./import-ledger.ts";
import { countsText, dryRunJson, memoryText, progressOn } from "./import-report.ts";
import { createSend, type Send } from "./import-send.ts";
import { warnOn } from "./warn.ts";

/** The exit code of a program that was interrupted. */
const INTERRUPTED = 130;

/** An import that was begun. */
export interface ImportRun extends Delivery {
  /** Says how many became what, and returns the exit code. */
  finish(counts: Counts): number;
}

/** Begins an import. With `dry-run` among the values, what would be sent is shown, and no mark is left. */
export function openRun(shell: Shell, values: Values, signal: AbortSignal): ImportRun {
  const isDry = values["dry-run"] === true;
  const isJson = values.json === true;
  const live = liveDelivery(shell, signal);
  const bodies: unknown[] = [];
  const show: Show = (body) => (isJson ? bodies.push(body) : shell.out(memoryText(body)));
  return {
    ...(isDry ? dryDelivery(live, show) : live),
    finish(counts) {
      if (isJson) printJson(shell, isDry ? dryRunJson(counts, bodies) : counts);
      else shell.out(countsText(counts, isDry));
      if (signal.aborted) live.warn("stopped; a rerun goes on from here");
      return exitCodeOf(counts, signal);
    },
  };
}

function liveDelivery(shell: Shell, signal: AbortSignal): Delivery {
  const { config, problems } = readConfig(null, shell.env, shell.cwd);
  const warn = warnOn(shell);
  for (const { text } of problems) warn(text);
  let quietMs = 0;
  const client = createClient(config, {
    onRateLimited: (ms) => {
      quietMs = ms;
    },
  });
  const clock = { now: Date.now, wait: (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined) };
  return {
    send: createSend({ client, clock, signal, quietMs: () => quietMs, warn }),
    ledger: openImportLedger(stateOf(shell, warn), config.apiUrl),
    onDone: progressOn(shell),
    signal,
    warn,
  };
}

type Show = (body: Parameters<Send>[0]) => unknown;

/** Returns what shows all that it would send, and leaves no mark. */
function dryDelivery(live: Delivery, show: Show): Delivery {
  return {
    ...live,
    send: async (body) => {
      show(body);
      return { kind: "sent" };
    },
    ledger: { ...live.ledger, add: () => undefined, prune: async () => undefined },
    onDone: () => undefined,
  };
}

function exitCodeOf({ refused }: Counts, { aborted }: AbortSignal): number {
  if (aborted) return INTERRUPTED;
  return refused > 0 ? 1 : 0;
}

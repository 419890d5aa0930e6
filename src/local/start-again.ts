// What a session does about a server that was installed from here and is not there: it starts it, once in a minute over
// all processes. Nobody waits for that.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../settings/index.ts";
import { listeningAt } from "./address.ts";
import { type Installation, installationIn, isStopped, type Place, placeIn } from "./place.ts";
import { runningPid, startProcess, untilAnswering } from "./running.ts";

const MINUTE_MS = 60_000;
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 500;

/**
 * Starts the server that was installed for this address, unless somebody stopped it, `serverStart` is off, or it was
 * tried within the last minute. Returns undefined where nothing was started, else a promise of whether it came to
 * answer, which holds no process. Never throws; the promise never rejects.
 */
export function startAgain(
  config: Config,
  env: NodeJS.ProcessEnv,
  now: number = Date.now(),
): Promise<boolean> | undefined {
  try {
    const place = placeIn(config);
    const installation = config.serverStart ? installationIn(place) : undefined;
    if (installation === undefined || !isFor(installation, config)) return undefined;
    if (isStopped(place) || runningPid(place) !== undefined || !claimMinute(place, now)) return undefined;
    if (!startProcess(place, installation, { env, token: config.token, isIndexed: true })) return undefined;
    const signal = AbortSignal.timeout(START_TIMEOUT_MS);
    return untilAnswering(place, config, signal, POLL_MS).then((version) => version !== undefined);
  } catch {
    return undefined;
  }
}

function isFor({ apiUrl }: Installation, config: Config): boolean {
  const [installed, asked] = [apiUrl, config.apiUrl].map((url) => listeningAt(url));
  return asked !== undefined && asked.host === installed?.host && asked.port === installed.port;
}

/** Each minute has a file that one process alone can make; the one of the minute before tells when it was made. */
function claimMinute({ notes, folder }: Place, now: number): boolean {
  const minute = Math.floor(now / MINUTE_MS);
  const [current, before] = [`start-${minute}.json`, `start-${minute - 1}.json`];
  const last = notes.read(before);
  if (typeof last === "number" && now - last < MINUTE_MS) return false;
  try {
    writeFileSync(join(folder, current), JSON.stringify(now), { flag: "wx", mode: 0o600 });
  } catch {
    return false;
  }
  for (const name of notes.list("")) {
    if (/^start-\d+\.json$/.test(name) && name !== current && name !== before) notes.remove(name);
  }
  return true;
}

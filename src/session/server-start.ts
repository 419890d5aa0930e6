// Nobody listens where the server should be: one that was installed from here is started, behind the hook.
import { startAgain } from "../local/index.ts";
import type { Breaker } from "../server/index.ts";
import type { Config } from "../settings/index.ts";

/** What of a session knows of its server. */
interface Missed {
  readonly config: Config;
  readonly breaker: Breaker;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/**
 * Returns what to call when nobody listens. What asked goes on without an answer; the next prompt has one. Several
 * calls of one moment are one.
 */
export function serverStarter({ config, breaker, now, log }: Missed): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      const started = startAgain(config, process.env, now());
      if (started === undefined) return;
      log(`nobody listens at ${config.apiUrl}: the server that was installed from here is being started`);
      void started.then((isThere) => isThere && breaker.finish("answered"));
    }).unref();
  };
}

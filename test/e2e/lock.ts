// One process installs, the others wait for what it leaves: test files start together.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A cold installation may take this long on a slow line; then the lock's owner is taken for dead. */
const WAIT_MS = 15 * 60_000;

/**
 * Does work while no other process holds `lock`, a folder beside what is installed. Returns what the work does; it has
 * to look first whether another did it meanwhile. An owner that died is no owner.
 */
export async function locked<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + WAIT_MS;
  while (!taken(lock)) {
    if (Date.now() > deadline || isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
    else await sleep(250);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function taken(lock: string): boolean {
  try {
    mkdirSync(lock);
  } catch {
    return false;
  }
  writeFileSync(join(lock, "pid"), String(process.pid));
  return true;
}

function isAbandoned(lock: string): boolean {
  const file = join(lock, "pid");
  const pid = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  try {
    // An owner that has not written its number yet is alive.
    return pid > 0 && !process.kill(pid, 0);
  } catch {
    return true;
  }
}

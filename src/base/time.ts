// Times, and waiting with a limit.

/** Returns a time as ISO text, or undefined when it is not known. */
export function isoTime(at: number | undefined): string | undefined {
  return at ? new Date(at).toISOString() : undefined;
}

/** Returns a time as the clock on the wall shows it, to the minute. */
export function localTime(at: number): string {
  return at === 0 ? "unknown time" : new Date(at).toLocaleString("sv-SE").slice(0, 16);
}

/** Returns a time as the clock on the wall shows it, with its zone: who reads it may live in another. */
export function zonedTime(at: number): string {
  if (at === 0) return localTime(at);
  const offset = -new Date(at).getTimezoneOffset();
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
  const sign = offset < 0 ? "-" : "+";
  const zone = offset === 0 ? "" : `${sign}${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
  return `${localTime(at)} UTC${zone}`;
}

/** Returns whether a value is epoch milliseconds that a date can be made of. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < 8e15;
}

/**
 * Returns what `work` resolves to, or undefined when it takes longer than `ms` milliseconds. The work goes on. Leaves
 * no timer behind. Rejects when the work does within the limit; a later rejection is swallowed.
 */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns what `work` resolves to, and keeps the process alive the while: a request to the server does not. */
export async function holding<T>(work: Promise<T> | T): Promise<T> {
  const timer = setInterval(() => undefined, LONGEST_TIMER_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

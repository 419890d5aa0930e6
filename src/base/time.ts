// Times, and waiting with a limit.

/** Returns a time as ISO text, or undefined when it is not known. */
export function isoTime(at: number | undefined): string | undefined {
  return at ? new Date(at).toISOString() : undefined;
}

/** Returns a time as the clock on the wall shows it, to the minute. */
export function localTime(at: number): string {
  return at === 0 ? "unknown time" : new Date(at).toLocaleString("sv-SE").slice(0, 16);
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

// Times, and waiting with a limit.

/** Returns whether a value is epoch milliseconds that a date can be made of. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < 8e15;
}

/**
 * Returns what `work` resolves to, or undefined when it takes longer than `ms` milliseconds. The work goes on. Leaves no
 * timer behind. Rejects when the work does within the limit; a later rejection is swallowed.
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

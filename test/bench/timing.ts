// Times by plain loops. Only ratios of figures from one run mean anything: machines differ, and so do their days.

/** Returns the median of some numbers; 0 without any. */
export function medianOf(values: readonly number[]): number {
  return quantileOf(values, 1 / 2);
}

/** Returns the number below which that share of them lies; 0 without any. */
export function quantileOf(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

/** Returns how many milliseconds some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Returns the median time of some work in milliseconds. */
export async function medianTime(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await timed(() => work(round)));
  return medianOf(times);
}

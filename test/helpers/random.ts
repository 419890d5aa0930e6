// A small seeded generator, so that a failing random test can be run again.

export type Random = {
  /** A whole number from 0 up to `limit`, without it. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
};

/** Returns a generator (mulberry32); equal seeds give equal sequences. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
  };
}

/** The seed of this run: SEED, else always the same. `npm test` says the same twice; `npm run fuzz` looks for news. */
export function seedOfRun(): number {
  return process.env.SEED === undefined ? 20_261_130 : Number(process.env.SEED);
}

// A disk may be a network's, and each operation on it holds up the hook that waits for it. What costs a hook too much
// is left out from then on: the session goes on in memory.
import { noState, type State } from "./store.ts";

/** A hook has two seconds; so much of them may go to the disk. */
const BUDGET_MS = 800;

/** A state that is left alone once it has cost 0.8 seconds since it was last renewed. */
export interface Budgeted {
  readonly state: State;
  /** A hook begins. */
  renew(): void;
}

/** Returns the state with a budget of time; `onSlow` hears once what it had cost when nothing more was kept. */
export function withBudget(state: State, onSlow: (ms: number) => void, clock = () => performance.now()): Budgeted {
  let spentMs = 0;
  let isSlow = false;

  function timed<Given extends unknown[], T>(work: (...given: Given) => T, instead: (...given: Given) => T) {
    return (...given: Given): T => {
      if (isSlow) return instead(...given);
      const startedAt = clock();
      const result = work(...given);
      spentMs += clock() - startedAt;
      if (spentMs > BUDGET_MS) {
        isSlow = true;
        onSlow(spentMs);
      }
      return result;
    };
  }

  return {
    state: {
      read: timed(state.read, noState.read),
      write: timed(state.write, noState.write),
      rename: timed(state.rename, noState.rename),
      remove: timed(state.remove, noState.remove),
      touch: timed(state.touch, noState.touch),
      list: timed(state.list, noState.list),
      writtenAt: timed(state.writtenAt, noState.writtenAt),
      prune: (...given) => (isSlow ? noState.prune(...given) : state.prune(...given)),
    },
    renew() {
      spentMs = 0;
    },
  };
}

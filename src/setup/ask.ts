// One question of the doctor to the server.
import { type PalinodeError, palinodeErrorOf } from "../server/index.ts";

/** The server itself may wait two seconds for its embedder before it answers. */
export const HEALTH_LIMITS = { timeoutMs: 4000 } as const;

/** What came back, and after how many milliseconds; or why nothing did. */
export type Answer<T> = { value: T; ms: number } | { error: PalinodeError };

/** Returns the answer to a question that is on its way. Never rejects. */
export async function ask<T>(call: Promise<T>): Promise<Answer<T>> {
  const start = performance.now();
  try {
    return { value: await call, ms: Math.round(performance.now() - start) };
  } catch (error) {
    return { error: palinodeErrorOf(error) };
  }
}

// What is asked of memory and what comes of it: whom to ask, one memory, and the finding of one channel.
import { type Client, type Embedder, type Reason, reasonOf } from "../server/index.ts";
import type { Config } from "../settings/index.ts";
import type { Entry } from "./block.ts";

export type Channel = "prime" | "triggers" | "search" | "repair";

/** One memory that could be shown. */
export interface Memory {
  readonly source: "digest" | "trigger" | "hit" | "resolution";
  /** What showing it makes visible: the same for the same text of the same file, however a snippet was windowed. */
  readonly keys: readonly string[];
  readonly path: string;
  /** Raw cosine, or null where there is none. */
  readonly score: number | null;
  /** What a hit or a memory of the digest says of its file in its one line; others show more than a line. */
  readonly words?: string;
  readonly entry: Entry;
  /** Stands in when the text is visible already, for what must be mentioned all the same. */
  readonly mention?: Entry;
  /** What is compared to find near-equal memories. */
  readonly gist: string;
}

/** What one channel has to say: memories, or the reason why there are none. */
export interface Finding {
  readonly channel: Channel;
  readonly memories: readonly Memory[];
  readonly reason?: Reason;
  /** What the same question may still bring. */
  readonly later?: Promise<Finding>;
}

/** Whom to ask, and for whom. */
export interface Asker {
  readonly client: Client;
  readonly config: Config;
  /** Project slug, maybe empty. */
  readonly project: string;
  readonly cwd: string | undefined;
  readonly sessionId: string;
  /** Ends questions whose conversation is gone. */
  readonly signal: AbortSignal;
  /** Remembers for the session which routes this server does not have. */
  readonly missingRoutes: Set<string>;
  readonly embedder: Embedder;
}

/** Returns what asking brought, or the reason code of what it threw. */
export async function findingOf(channel: Channel, ask: () => Promise<Omit<Finding, "channel">>): Promise<Finding> {
  try {
    const { memories, reason, later } = await ask();
    return {
      channel,
      memories,
      ...(memories.length === 0 ? { reason: reason ?? "no-hits" } : {}),
      ...(later && { later }),
    };
  } catch (error) {
    return { channel, memories: [], reason: reasonOf(error) };
  }
}

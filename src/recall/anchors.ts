// Finds messages again in later requests, which the host builds anew each time: with other ids, folded into one
// another, cut off at the front, or without ids at all.
import { asRecord, asText } from "../base/json.ts";
import { fingerprint, isPrompt, type Message, type Prompt, toolResultsOf } from "../cline/index.ts";

/** The message after which an entry stands. */
export interface Anchor {
  /** Null where the host gives no id, or one that says nothing: compaction reuses ids, or makes new ones each time. */
  readonly id: string | null;
  readonly print: string;
  /**
   * How many messages with the same content stand before it in the transcript: tells them apart where there is no id,
   * or where the host gives it another. Of prompts and results, whose ids stay, it is not counted.
   */
  readonly ordinal: number;
}

/** A request, the transcript behind it, and the prompt that is being answered. */
export interface Turn {
  readonly request: readonly Message[];
  readonly transcript: readonly Message[];
  readonly prompt: Prompt | undefined;
}

/** Returns the place of the prompt in the request; -1 when compaction folded it into another message. */
export function indexOfPrompt({ request, prompt }: Turn): number {
  if (prompt === undefined) return -1;
  const id = asText(asRecord(prompt.message).id);
  if (id !== undefined) return request.findLastIndex((message) => asRecord(message).id === id && !isFolded(message));
  const print = fingerprint(prompt.message);
  return request.findLastIndex((message) => !isFolded(message) && fingerprint(message) === print);
}

/** Returns what tells a request's newest compaction from others, or undefined where its history is whole. */
export function compactionIn(request: readonly Message[]): string | undefined {
  const folded = request.findLast(isFolded);
  return folded && fingerprint(folded);
}

/** Returns what finds anchors in a turn. By id this is one look; only without ids are contents read, each once. */
export function createPlaces({ request, transcript }: Turn) {
  const byId = new Map<unknown, number>();
  for (const [index, message] of request.entries()) byId.set(asRecord(message).id, index);
  const inRequest = lazy(() => indexesByPrint(request));
  const inTranscript = lazy(() => indexesByPrint(transcript));

  function find({ id, print, ordinal }: Anchor): number {
    const index = id === null ? undefined : byId.get(id);
    if (index !== undefined && !isFolded(request[index])) return index;
    const alike = inRequest().get(print) ?? [];
    // Transcript and request end alike, so what compaction took from the front is counted from the end.
    const total = inTranscript().get(print)?.length ?? ordinal + 1;
    const at = alike[alike.length - (total - ordinal)];
    // A codec may mint new ids for what it wrote itself; a prompt keeps its own, so another one like it is another.
    const isAnother = at !== undefined && id !== null && isPrompt(request[at] as Message);
    return at === undefined || isAnother ? -1 : at;
  }

  function anchorAt(index: number): Anchor {
    const message = request[index] as Message;
    const print = fingerprint(message);
    const id = isFolded(message) ? undefined : asText(asRecord(message).id);
    if (id !== undefined && (isPrompt(message) || toolResultsOf(message).length > 0)) return { id, print, ordinal: 0 };
    const alike = inRequest().get(print) ?? [];
    const total = inTranscript().get(print)?.length ?? alike.length;
    return { id: id ?? null, print, ordinal: Math.max(0, total - (alike.length - alike.indexOf(index))) };
  }

  /** Returns an anchor that was found at this place with the id that the host's message there has now. */
  function renewed(anchor: Anchor, index: number): Anchor {
    const { id } = asRecord(request[index]);
    return anchor.id === null || anchor.id === id ? anchor : { ...anchor, id: asText(id) ?? null };
  }

  return { find, anchorAt, renewed, has: (id: string) => byId.has(id) };
}

function indexesByPrint(messages: readonly Message[]): Map<string, number[]> {
  const indexes = new Map<string, number[]>();
  for (const [index, message] of messages.entries()) {
    const print = fingerprint(message);
    const alike = indexes.get(print);
    if (alike === undefined) indexes.set(print, [index]);
    else alike.push(index);
  }
  return indexes;
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function isFolded(message: Message | undefined): boolean {
  const kind = asRecord(asRecord(message).metadata).kind;
  return typeof kind === "string" && kind.startsWith("compaction");
}

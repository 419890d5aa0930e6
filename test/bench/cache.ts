// What a provider's prompt cache makes of a series of requests, in characters. The cache is taken to be as good as one
// can be: it never forgets, and it holds every request's text to the character. Real ones work in blocks or by
// breakpoints, which is no better for anybody.
import { type Message, wire } from "../helpers/chat.ts";

/** A request as far as a cache compares it. */
export type Request = { readonly system: string; readonly messages: readonly Message[] };

/** Characters over a whole series of requests. */
export type Cost = {
  /** Found in the longest beginning that some earlier request shares. */
  readonly cached: number;
  /** All others: new ones, and those that are sent again because something before them moved. */
  readonly uncached: number;
};

/** A session says most messages a hundred times over. */
const written = new WeakMap<Message, string>();

/** Returns the parts of a request in the order in which a cache reads them. */
export function partsOf({ system, messages }: Request): string[] {
  const partOf = (message: Message): string => {
    const part = written.get(message) ?? wire([message]).join();
    written.set(message, part);
    return part;
  };
  return [system, ...messages.map(partOf)];
}

/** Returns what a series of requests costs, each given as its parts. */
export function costOf(requests: readonly (readonly string[])[]): Cost {
  const start: Place = { next: new Map() };
  let [cached, total] = [0, 0];
  for (const parts of requests) {
    total += parts.reduce((sum, part) => sum + part.length, 0);
    cached += remember(start, parts);
  }
  return { cached, uncached: total - cached };
}

/** A place in some earlier request, and the parts that requests went on with from there. */
type Place = { readonly next: Map<string, Place> };

/** Adds a request and returns how many of its first characters some earlier one has as well. */
function remember(start: Place, parts: readonly string[]): number {
  let place = start;
  let shared = 0;
  for (const part of parts) {
    const known = place.next.get(part);
    shared +=
      known === undefined
        ? Math.max(0, ...[...place.next.keys()].map((other) => commonStart(other, part)))
        : part.length;
    const next: Place = known ?? { next: new Map() };
    place.next.set(part, next);
    place = next;
  }
  return shared;
}

function commonStart(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at += 1) if (a[at] !== b[at]) return at;
  return end;
}

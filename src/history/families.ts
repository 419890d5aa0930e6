// Forks and copies of one conversation among sessions: the longest is told whole, of another only what is new in it.

import type { ListedSession } from "./sessions.ts";

/** What a session shares with another that is told before it. */
export interface Kinship {
  /** The id of the other session. */
  readonly continues: string;
  /** How many of its first prompts the other has too, at least one. */
  readonly shared: number;
}

type Member = Pick<ListedSession, "id" | "source" | "startedAt" | "outline">;

/** Returns, by session id, what is told elsewhere; a session that is not in it is told whole. */
export function kinshipsOf(members: readonly Member[]): Map<string, Kinship> {
  const kinships = new Map<string, Kinship>();
  const toldByStart = new Map<string, Member[]>();
  for (const member of members.toSorted(longestFirst)) {
    const [firstKey] = member.outline.promptKeys;
    if (firstKey === undefined) continue;
    // The CLI copies no task of the extension's under another id.
    const start = `${member.source.kind} ${firstKey}`;
    const told = toldByStart.get(start) ?? [];
    const kinship = closest(member, told);
    if (kinship !== undefined) kinships.set(member.id, kinship);
    toldByStart.set(start, [...told, member]);
  }
  return kinships;
}

/** The same order in every run: what was sent once is not sent again in another way. */
function longestFirst(a: Member, b: Member): number {
  const prompts = b.outline.promptKeys.length - a.outline.promptKeys.length;
  const messages = b.outline.messageCount - a.outline.messageCount;
  return prompts || messages || (a.startedAt ?? 0) - (b.startedAt ?? 0) || (a.id < b.id ? -1 : 1);
}

function closest({ outline }: Member, told: readonly Member[]): Kinship | undefined {
  const kinships = told.map((other) => ({
    continues: other.id,
    shared: sharedStart(outline.promptKeys, other.outline.promptKeys),
  }));
  return kinships.toSorted((a, b) => b.shared - a.shared)[0];
}

function sharedStart(keys: readonly string[], others: readonly string[]): number {
  const end = keys.findIndex((key, index) => !isSame(key, others[index]));
  return end < 0 ? keys.length : end;
}

/** A prompt that has no answer yet is the same as the one that has. */
function isSame(key: string, other: string | undefined): boolean {
  if (key === other || other === undefined) return key === other;
  return [key, other].some((each) => each.endsWith(".")) && key.split(".")[0] === other.split(".")[0];
}

// A session of the host: its conversations, what they ask, and what is kept on disk.

export type { Account, ChannelNews } from "./news.ts";
export { noteArchived, noteWanted } from "./put-away.ts";
export { type LatestSession, latestSession } from "./record.ts";
export { Roster } from "./roster.ts";
export { askerOf, createSession, isMuted, newSurroundings, type Session } from "./session.ts";

// A session of the host: its conversations, what they ask, and what is kept on disk.
export { pausedSince, setPaused } from "./pause.ts";
export { type Account, type ChannelNews, type LatestSession, latestSession } from "./record.ts";
export { Roster } from "./roster.ts";
export { askerOf, createSession, isMuted, newSurroundings, type Session } from "./session.ts";

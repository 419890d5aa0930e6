// What a session leaves behind, and its way to the server.
export type { Item } from "./item.ts";
export { drain, dropTail, keepTail, type Sender, sendCapture, tidy } from "./outbox.ts";
export { captureOf, described, isDue, lastAnswer, listed, savedByAgent } from "./summary.ts";

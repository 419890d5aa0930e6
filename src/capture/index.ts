// What a session leaves behind, and its way to the server.
export { isDue, savedByAgent } from "./due.ts";
export type { Item } from "./item.ts";
export { notesOf } from "./notes.ts";
export { drain, dropTail, keepTail, promptsLeft, type Sender, sendCapture, tidy } from "./outbox.ts";
export { captureOf, described, lastAnswer, listed } from "./summary.ts";

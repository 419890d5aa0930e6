// What a session leaves behind, and its way to the server.

export { inTurn } from "./claim.ts";
export type { Sender } from "./deliver.ts";
export { isDue, savedByAgent } from "./due.ts";
export type { Item } from "./item.ts";
export { notesOf } from "./notes.ts";
export { drain, dropTail, type Fate, keepTail, sendCapture, tailLeft, tidy } from "./outbox.ts";
export { captureOf, described, lastAnswer, listed } from "./summary.ts";

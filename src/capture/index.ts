// What a session leaves behind, and its way to the server.
export { drain, dropTail, type Item, keepTail, type Sender, sendCapture, tidy } from "./outbox.ts";
export { captureOf, described, isDue, lastAnswer, listed, savedByAgent } from "./summary.ts";

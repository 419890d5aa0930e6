// What a session leaves behind, and its way to the server.
export { drain, dropTail, type Item, keepTail, sendCapture, type Sender, tidy } from "./outbox.ts";
export { captureOf, described, isDue, lastAnswer, listed, savedByAgent, sessionEndBody } from "./summary.ts";

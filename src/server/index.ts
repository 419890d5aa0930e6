// Palinode over HTTP: one caller of `fetch`, its answers, when it is not asked, and what is wrong in words.
export { Breaker, type Outcome } from "./breaker.ts";
export { type Client, createClient, mayCarryToken, PalinodeError, type Reason, reasonOf } from "./client.ts";
export { redacted, safe, safeText, withoutCallTags } from "./outgoing.ts";
export { readBody, rowsOf, withoutFrontmatter } from "./routes.ts";
export { explain, MemoryError } from "./words.ts";

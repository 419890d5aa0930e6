// Palinode over HTTP: one caller of `fetch`, one function a route, when it is not asked, and what is wrong in words.
export { Breaker, type Outcome } from "./breaker.ts";
export { type Client, createClient, isLoopback, mayCarryToken } from "./client.ts";
export { Embedder } from "./embedder.ts";
export { PalinodeError, palinodeErrorOf, type Reason, reasonOf } from "./failure.ts";
export { redacted, safe, safeText, withoutCallTags } from "./outgoing.ts";
export { fileOf } from "./routes.ts";
export {
  type KeptMemory,
  type ListedMemory,
  listCore,
  type Prime,
  primeSession,
  readBody,
  readKept,
  readMemory,
  withoutFrontmatter,
} from "./routes-files.ts";
export { archiveMemory, restoreMemory } from "./routes-retire.ts";
export {
  checkTriggers,
  type FiredTrigger,
  type Hit,
  probeSearch,
  type Resolution,
  resolveQuery,
  searchMemory,
} from "./routes-search.ts";
export { checkControls, checkHealth, checkStatus, type Health, reindex, type ServerStatus } from "./routes-state.ts";
export {
  createTrigger,
  filesOfSessionEnd,
  recordSession,
  type SaveRequest,
  type SessionEndBody,
  saveMemory,
  sessionEndBody,
} from "./routes-write.ts";
export { adviceFor, explain, MemoryError, PULL_MODEL, START_LEXICAL, troubleOf, UNSENT_TOKEN } from "./words.ts";

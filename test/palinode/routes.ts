// Which routes the stand-in Palinode has at which version, and what stands before them: pause, size, token, validation.
// Where it differs from the real server the server is right; contract.ts holds facts that both must pass.
import { checkControls, controls, health, list, prime, read, setControls, status } from "./reads.ts";
import { resolve } from "./resolve.ts";
import { archive, restore } from "./retire.ts";
import { FOLDERS, save } from "./save.ts";
import { search } from "./search.ts";
import { sessionEnd } from "./session.ts";
import type { Answer, Call, Fields, Store } from "./store.ts";
import { HttpError, pauseOf, since } from "./store.ts";
import { checkTriggers, createTrigger, deleteTrigger, listTriggers } from "./triggers.ts";
import type { Field, Shape } from "./validation.ts";
import { bodyProblems, queryProblems, typedQuery } from "./validation.ts";

type Route = {
  method: "GET" | "POST" | "DELETE";
  /** Exact path, or one whose last segment varies: `/triggers/*`. */
  path: string;
  since?: string;
  /** The pause (0.21) that closes the route for everybody. */
  gate?: "capture" | "recall";
  query?: Shape;
  body?: Shape;
  /** Extra fields are an error, and errors do not say which field. */
  isStrict?: boolean;
  answer: (store: Store, fields: Fields, call: Call) => unknown;
};

export type Limits = { token: string | undefined; isTooLarge: boolean };

const TEXT: Field = { is: "string" };
const FLAG: Field = { is: "boolean" };
const NUMBER: Field = { is: "number" };
const WHOLE: Field = { is: "integer" };
const TEXTS: Field = { is: "strings" };
const NEEDED: Field = { is: "string", required: true };
const PRIORITY: Field = { is: "integer", min: 1, max: 5 };
const TYPES = Object.keys(FOLDERS);
const CATEGORY: Field = { is: "string", oneOf: ["people", "projects", "decisions", "insights", "research"] };
const SCOPE: Shape = { cwd: TEXT, project: TEXT, session_id: TEXT, source_path: TEXT, automatic: FLAG };

const PRIME: Shape = { ...SCOPE, mode: { is: "string", oneOf: ["classic", "scoped"] }, scope: { is: "object" } };
const LIST: Shape = { category: CATEGORY, core_only: FLAG, include_inbox: FLAG };
const TIER: Field = { is: "string", oneOf: ["abstract", "overview", "full"] };
const READ: Shape = { file_path: NEEDED, meta: FLAG, tier: TIER, project: TEXT, automatic: FLAG };
const SEARCH: Shape = {
  ...SCOPE,
  query: NEEDED,
  category: CATEGORY,
  limit: { is: "integer", min: 1, max: 1000 },
  threshold: NUMBER,
  hybrid: FLAG,
  context: TEXTS,
  include_daily: FLAG,
  types: { is: "strings", oneOf: TYPES },
  type_deny: TEXTS,
  min_priority: PRIORITY,
  max_chars: WHOLE,
  mode: TEXT,
  receipt: FLAG,
};
const RESOLVE: Shape = {
  ...SCOPE,
  query: TEXT,
  ref: TEXT,
  context: TEXTS,
  max_items: { is: "integer", min: 0, max: 50 },
  max_chars: { is: "integer", min: 0, max: 20_000 },
};
const CHECK_TRIGGERS: Shape = { ...SCOPE, query: NEEDED, cooldown_bypass: FLAG };
const TRIGGER: Shape = {
  description: NEEDED,
  memory_file: NEEDED,
  trigger_id: TEXT,
  threshold: NUMBER,
  cooldown_hours: WHOLE,
  expires_at: TEXT,
  authority: TEXT,
};
const SESSION: Shape = {
  ...SCOPE,
  summary: NEEDED,
  decisions: TEXTS,
  blockers: TEXTS,
  source: TEXT,
  harness: TEXT,
  model: TEXT,
  trigger: TEXT,
  duration_seconds: WHOLE,
  push: FLAG,
  dry_run: FLAG,
};
const SAVE: Shape = {
  content: NEEDED,
  type: { is: "string", required: true, oneOf: TYPES },
  slug: TEXT,
  title: TEXT,
  source: TEXT,
  project: TEXT,
  entities: TEXTS,
  core: FLAG,
  confidence: NUMBER,
  priority: PRIORITY,
  update_policy: TEXT,
  epistemic: TEXT,
};
const ARCHIVE: Shape = { file_path: NEEDED, reason: TEXT, superseded_by: TEXT, dry_run: FLAG };
const RESTORE: Shape = { file_path: NEEDED, reason: TEXT, dry_run: FLAG };
const CONTROLS: Shape = { capture_paused: FLAG, recall_paused: FLAG, excluded_projects: TEXTS, excluded_paths: TEXTS };
const CHECK: Shape = {
  action: { is: "string", required: true, oneOf: ["capture", "recall"] },
  cwd: TEXT,
  project: TEXT,
  source_path: TEXT,
  automatic: FLAG,
};

const ROUTES: Route[] = [
  { method: "GET", path: "/health", answer: health },
  { method: "GET", path: "/status", answer: status },
  { method: "POST", path: "/context/prime", gate: "recall", body: PRIME, answer: prime },
  { method: "GET", path: "/list", gate: "recall", query: LIST, answer: list },
  { method: "GET", path: "/read", gate: "recall", query: READ, answer: read },
  { method: "POST", path: "/search", gate: "recall", body: SEARCH, answer: search },
  { method: "POST", path: "/resolve", gate: "recall", since: "0.20", body: RESOLVE, answer: resolve },
  { method: "POST", path: "/triggers", body: TRIGGER, answer: createTrigger },
  { method: "GET", path: "/triggers", answer: listTriggers },
  { method: "DELETE", path: "/triggers/*", answer: deleteTrigger },
  { method: "POST", path: "/check-triggers", gate: "recall", body: CHECK_TRIGGERS, answer: checkTriggers },
  { method: "POST", path: "/session-end", gate: "capture", body: SESSION, answer: sessionEnd },
  { method: "POST", path: "/save", gate: "capture", body: SAVE, answer: save },
  { method: "POST", path: "/archive", body: ARCHIVE, answer: archive },
  { method: "POST", path: "/restore", since: "0.17", body: RESTORE, answer: restore },
  { method: "GET", path: "/controls", since: "0.21", answer: controls },
  { method: "POST", path: "/controls", since: "0.21", body: CONTROLS, isStrict: true, answer: setControls },
  { method: "POST", path: "/controls/check", since: "0.21", body: CHECK, isStrict: true, answer: checkControls },
];

/** Answers one call as the server would. Errors of the stand-in itself are thrown. */
export function answerTo(store: Store, call: Call, { token, isTooLarge }: Limits): Answer {
  try {
    const routes = ROUTES.filter(
      (route) => matches(route, call.path) && (route.since === undefined || since(store, route.since)),
    );
    const pauses = routes.map(({ gate }) => (gate ? pauseOf(store, gate) : null));
    const pause = pauses.find((reason) => reason !== null);
    if (pause) throw new HttpError(403, pause);
    if (isTooLarge) throw new HttpError(413, "Request body too large", { connection: "close" });
    if (token !== undefined && call.path !== "/health" && call.headers.authorization !== `Bearer ${token}`) {
      throw new HttpError(401, "Unauthorized", { "www-authenticate": 'Bearer realm="palinode"' });
    }
    if (routes.length === 0) throw new HttpError(404, "Not Found");
    const route = routes.find(({ method }) => method === call.method);
    if (!route) throw new HttpError(405, "Method Not Allowed");
    return { status: 200, body: route.answer(store, fieldsOf(route, call), call) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { status: error.status, body: { detail: error.detail }, headers: error.headers };
  }
}

function matches({ path }: Route, actual: string): boolean {
  return path.endsWith("/*") ? actual.length >= path.length && actual.startsWith(path.slice(0, -1)) : path === actual;
}

/** Returns the checked body, or the checked query where a route takes none. */
function fieldsOf({ query = {}, body: shape, isStrict }: Route, call: Call): Fields {
  const fields = shape ? call.body : typedQuery(query, call.query);
  const problems = shape ? bodyProblems(shape, call) : queryProblems(query, fields as Fields);
  const hasExtra =
    isStrict && problems.length === 0 && Object.keys(fields as Fields).some((key) => !(shape && key in shape));
  if (problems.length > 0 || hasExtra) throw new HttpError(422, isStrict ? "Invalid controls request" : problems);
  return fields as Fields;
}

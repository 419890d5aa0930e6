// What the doctor asks the server: does it answer, does it take the token, is its embedder ready, does its policy allow
// it, and how long does one recall take. Asks nothing that changes memory, starts a cooldown or counts as a recall.
import { realFolder } from "../base/files.ts";
import { quoted, thisProgram } from "../base/shell.ts";
import {
  type Client,
  checkControls,
  checkHealth,
  checkStatus,
  createClient,
  type Health,
  mayCarryToken,
  type PalinodeError,
  PULL_MODEL,
  palinodeErrorOf,
  probeSearch,
  type ServerStatus,
  START_LEXICAL,
  troubleOf,
  UNSENT_TOKEN,
} from "../server/index.ts";
import { type Config, DEFAULT_API_URL, projectOf, type ReadConfig, readUrl, type Source } from "../settings/index.ts";
import { type Check, editing, failure, ok, setting, warning } from "./check.ts";
import { findProgram } from "./programs.ts";

/** The server itself may wait two seconds for its embedder before it answers. */
const HEALTH_TIMEOUT_MS = 4000;
/** Without an embedder a search takes five seconds to fail; shorter, and the reason would not be heard. */
const SEARCH_TIMEOUT_MS = 6000;

type Answer<T> = { value: T; ms: number } | { error: PalinodeError };

/** Returns a line for each thing the server could be asked; where it is away, that line alone. Never rejects. */
export async function checkServer(
  { config, sources, tokenFile }: ReadConfig,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Check[]> {
  const client = createClient(config);
  const server = serverLine(
    config,
    await ask(checkHealth(client, { timeoutMs: HEALTH_TIMEOUT_MS })),
    sources.apiUrl,
    env,
  );
  const unsent = config.token === "" || mayCarryToken(config) ? [] : [notSent(config, sources, env)];
  if (server.level === "failure") return [server, ...unsent];
  const project = projectOf(config.project, cwd);
  const [status, recall, ...policies] = await Promise.all([
    ask(checkStatus(client, { timeoutMs: HEALTH_TIMEOUT_MS })),
    ask(probeSearch(client, { timeoutMs: SEARCH_TIMEOUT_MS })),
    policyLines(client, "recall", project, cwd),
    policyLines(client, "capture", project, cwd),
  ]);
  const token = unsent.length > 0 ? unsent : tokenLines(config, sources.token, tokenFile, [status, recall]);
  if (token.some(({ level }) => level === "failure")) return [server, ...token];
  const embedder = embedderLine(status, isList(recall), config, env);
  return [server, ...token, embedder, ...policies.flat(), recallLine(recall, config, embedder)];
}

async function ask<T>(call: Promise<T>): Promise<Answer<T>> {
  const start = performance.now();
  try {
    return { value: await call, ms: Math.round(performance.now() - start) };
  } catch (error) {
    return { error: palinodeErrorOf(error) };
  }
}

function serverLine(config: Config, health: Answer<Health>, source: Source | undefined, env: NodeJS.ProcessEnv): Check {
  const { apiUrl } = config;
  const error = "error" in health ? health.error : undefined;
  const start = startOf(apiUrl);
  const { what } = troubleOf(error, config);
  if (error?.code === "timeout") return failure("server", `${what}; start it anew`, start);
  if (error?.code === "refused") return awayLine(what, apiUrl, source, env);
  const other =
    apiUrl === DEFAULT_API_URL ? "http://localhost:6341; PALINODE_API_PORT=6341 palinode-api" : DEFAULT_API_URL;
  const another = setting("PALINODE_API_URL", other, source, env);
  if (error?.code === "dns") return failure("server", what, another);
  const { version, status, trouble } = "value" in health ? health.value : {};
  if (version === undefined) return failure("server", `${what}: that is not palinode-api`, another);
  const message = `Palinode ${version.slice(0, 40)} at ${apiUrl}`;
  if (status !== "degraded") return ok("server", message);
  return warning(
    "server",
    `${message} is degraded: ${trouble?.slice(0, 200) ?? "it does not say why"}`,
    "palinode doctor",
  );
}

function startOf(apiUrl: string): string {
  const { port } = new URL(apiUrl);
  return `${["", "6340"].includes(port) ? "" : `PALINODE_API_PORT=${port} `}palinode-api`;
}

/** An address that somebody chose may be wrong; only at the usual one is a server missing for certain. */
function awayLine(message: string, apiUrl: string, source: Source | undefined, env: NodeJS.ProcessEnv): Check {
  const { hostname, port } = new URL(apiUrl);
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  const isUsual = isHere && port === "6340";
  const start = startOf(apiUrl);
  if (isHere && findProgram("palinode-api", env))
    return failure("server", isUsual ? message : `${message} (${source}); if that address is right:`, start);
  if (isUsual)
    return failure(
      "server",
      `${message}, and palinode-api is not in PATH; once it is installed: ${start}`,
      "pip install palinode",
    );
  const fix = setting("PALINODE_API_URL", DEFAULT_API_URL, source, env);
  return failure(
    "server",
    `${message}; check PALINODE_API_URL (${source}) and its port: the default is ${DEFAULT_API_URL}. ` +
      `If it is right: ${isHere ? start : "start palinode-api there"}`,
    fix,
  );
}

function notSent({ apiUrl }: Config, sources: ReadConfig["sources"], env: NodeJS.ProcessEnv): Check {
  const message = `${UNSENT_TOKEN.what} (${sources.token}); ${UNSENT_TOKEN.mend}`;
  const fix = setting("PALINODE_API_URL", quoted(apiUrl.replace(/^http:/, "https:")), sources.apiUrl, env);
  return failure("token", message, fix);
}

/** Where the server answered neither yes nor no, there is nothing to say of it. */
function tokenLines(
  config: Config,
  source: Source | undefined,
  file: string | undefined,
  answers: readonly Answer<unknown>[],
): Check[] {
  const has = config.token !== "";
  const errors = answers.flatMap((answer) => ("error" in answer ? [answer.error] : []));
  const refusal = errors.find(({ code }) => code === "unauthorized");
  if (refusal !== undefined) {
    const { what } = troubleOf(refusal, config);
    const message = has ? `${what} (${source})` : what;
    return [failure("token", message, file ? editing(file) : "export PALINODE_API_TOKEN=…")];
  }
  if (!answers.some((answer) => "value" in answer)) return [];
  return [ok("token", has ? `the token (${source}) is accepted` : "none is set, and the server wants none")];
}

function embedderLine(
  status: Answer<ServerStatus>,
  isRecalling: boolean,
  { recallTriggers, recallMaxChars }: Config,
  env: NodeJS.ProcessEnv,
): Check {
  const { embedder, isOllamaReachable, embeddingUrl } = "value" in status ? status.value : {};
  if (embedder === "ready") return ok("embedder", "ready");
  if (embedder === "none") {
    const message = "none: the server searches by words alone";
    if (!recallTriggers || recallMaxChars === 0) return ok("embedder", message);
    return warning(
      "embedder",
      `${message}. Triggers cannot work there, and each prompt waits for them`,
      "export PALINODE_HOOK_RECALL_TRIGGERS=0",
    );
  }
  if (embedder === undefined) {
    return warning(
      "embedder",
      `the server does not say whether it is ready${"error" in status ? ` (${status.error.message})` : ""}`,
      "palinode doctor",
    );
  }
  const trouble = isRecalling ? warning : failure;
  const where = readUrl(embeddingUrl) ?? "its address";
  if (isOllamaReachable !== false)
    return trouble("embedder", `Ollama answers at ${where} but cannot embed: its model may be missing`, PULL_MODEL);
  const isThere = findProgram("ollama", env) !== undefined;
  const get = process.platform === "linux" ? "curl -fsSL https://ollama.com/install.sh | sh" : START_LEXICAL;
  const missing = isThere ? "" : " and is not in PATH; to get it: https://ollama.com/download";
  return trouble(
    "embedder",
    `Ollama does not answer at ${where}${missing}; then: ${PULL_MODEL}. To do without: ${START_LEXICAL}`,
    isThere ? "ollama serve" : get,
  );
}

/** Servers before 0.21 have no policy and say 404. */
async function policyLines(
  client: Client,
  action: "recall" | "capture",
  project: string,
  cwd: string,
): Promise<Check[]> {
  const asker = { client, missingRoutes: new Set<string>() };
  const question = { action, cwd: realFolder(cwd), project };
  const answer = await ask(checkControls(asker, question, { timeoutMs: HEALTH_TIMEOUT_MS }));
  const { isAllowed, reason = "no reason told" } = ("value" in answer ? answer.value : undefined) ?? {};
  if (isAllowed === true) return [ok("policy", `the server allows ${action} here`)];
  const word = reason.slice(0, 40);
  if (isAllowed !== false) return [];
  const fix = `palinode controls ${policyMend(word, action, project)}`;
  return [warning("policy", `the server allows no ${action} here (${word})`, fix)];
}

function policyMend(reason: string, action: string, project: string): string {
  if (reason.endsWith("_paused")) return `resume --${action}`;
  return reason === "excluded_project" ? `exclude-project --remove ${project}` : "status";
}

function isList(answer: Answer<boolean>): answer is { value: true; ms: number } {
  return "value" in answer && answer.value;
}

function recallLine(answer: Answer<boolean>, config: Config, embedder: Check): Check {
  const { hookDeadlineMs } = config;
  if (isList(answer)) {
    const message = `a search took ${answer.ms} ms`;
    if (answer.ms <= hookDeadlineMs) return ok("recall", message);
    const late = `longer than a prompt waits (${hookDeadlineMs} ms): it comes with the next request`;
    return warning("recall", `${message}, ${late}. The first one may have loaded the model`, thisProgram("doctor"));
  }
  if (!("error" in answer))
    return failure("recall", "the server's answer to a search is no list", "pip install --upgrade palinode");
  const { code } = answer.error;
  const { what, mend } = troubleOf(answer.error, config);
  if (code === "denied") return warning("recall", what, "palinode controls resume --recall");
  if (code === "rate-limited") return warning("recall", `${what}; ${mend}`, thisProgram("doctor"));
  const message =
    code === "timeout" ? `no answer to a search within ${SEARCH_TIMEOUT_MS / 1000} s` : `a search failed: ${what}`;
  return failure("recall", message, embedder.fix ?? "palinode doctor");
}

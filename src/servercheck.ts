// What the doctor asks the server: does it answer, does it take the token, is its embedder ready, does its policy allow
// it, and how long does one recall take. Asks nothing that changes memory, starts a cooldown or counts as a recall.
import { type Check, failure, ok, warning } from "./check.ts";
import { type Client, createClient, mayCarryToken, PalinodeError } from "./client.ts";
import { asRecord, asText } from "./cline.ts";
import { type Config, DEFAULT_API_URL, type ReadConfig } from "./config.ts";
import { findProgram } from "./programs.ts";
import { projectOf, realFolder } from "./project.ts";
import { readUrl } from "./values.ts";

/** The server itself may wait two seconds for its embedder before it answers. */
const HEALTH_TIMEOUT_MS = 4000;
/** Without an embedder a search takes five seconds to fail; shorter, and the reason would not be heard. */
const SEARCH_TIMEOUT_MS = 6000;

type Answer = { value: unknown; ms: number } | { error: PalinodeError };

/** Returns a line for each thing the server could be asked; where it is away, that line alone. Never rejects. */
export async function checkServer({ config, sources }: ReadConfig, cwd: string, env: NodeJS.ProcessEnv): Promise<Check[]> {
  const client = createClient(config);
  const server = serverLine(config, await ask(client.get("/health", {}, { timeoutMs: HEALTH_TIMEOUT_MS })), env);
  const unsent = config.token === "" || mayCarryToken(config) ? [] : [notSent(sources.token)];
  if (server.level === "failure") return [server, ...unsent];
  const project = projectOf(config.project, cwd);
  const [status, recall, ...policies] = await Promise.all([
    ask(client.get("/status", {}, { timeoutMs: HEALTH_TIMEOUT_MS })),
    ask(client.post("/search", { query: "What is known about this project?", mode: "passive", limit: 1 }, { timeoutMs: SEARCH_TIMEOUT_MS })),
    policyLines(client, "recall", project, cwd),
    policyLines(client, "capture", project, cwd),
  ]);
  const token = unsent.length > 0 ? unsent : tokenLines(config.token !== "", sources.token, [status, recall]);
  if (token.some(({ level }) => level === "failure")) return [server, ...token];
  const embedder = embedderLine(status, isList(recall), env);
  return [server, ...token, embedder, ...policies.flat(), recallLine(recall, config, embedder)];
}

async function ask(call: Promise<unknown>): Promise<Answer> {
  const start = performance.now();
  try {
    return { value: await call, ms: Math.round(performance.now() - start) };
  } catch (error) {
    return { error: error instanceof PalinodeError ? error : new PalinodeError("", "bad-response") };
  }
}

function serverLine({ apiUrl }: Config, health: Answer, env: NodeJS.ProcessEnv): Check {
  const { hostname, port } = new URL(apiUrl);
  const error = "error" in health ? health.error : undefined;
  const start = `${["", "6340"].includes(port) ? "" : `PALINODE_API_PORT=${port} `}palinode-api`;
  if (error?.code === "timeout") return failure("server", `something listens at ${apiUrl} but does not answer; start it anew`, start);
  if (error?.code === "refused" && findProgram("palinode-api", env)) return failure("server", `nothing listens at ${apiUrl}`, start);
  if (error?.code === "refused") {
    return failure("server", `nothing listens at ${apiUrl}, and palinode-api is not in PATH; once it is installed: ${start}`, "pip install palinode");
  }
  const another = `export PALINODE_API_URL=${apiUrl === DEFAULT_API_URL ? "http://localhost:6341; PALINODE_API_PORT=6341 palinode-api" : DEFAULT_API_URL}`;
  if (error?.code === "dns") return failure("server", `there is no host ${hostname}`, another);
  const { version, status, db_error: trouble } = asRecord("value" in health ? health.value : undefined);
  if (typeof version !== "string") return failure("server", `what answers at ${apiUrl} is not Palinode${error ? ` (${error.message})` : ""}`, another);
  const message = `Palinode ${version.slice(0, 40)} at ${apiUrl}`;
  if (status !== "degraded") return ok("server", message);
  return warning("server", `${message} is degraded: ${asText(trouble)?.slice(0, 200) ?? "it does not say why"}`, "palinode doctor");
}

function notSent(source: string | undefined): Check {
  return failure("token", `the token (${source}) is not sent over plain http to a public address; use https, or allow it`, "export PALINODE_ALLOW_HTTP=1");
}

/** Where the server answered neither yes nor no, there is nothing to say of it. */
function tokenLines(has: boolean, source: string | undefined, answers: readonly Answer[]): Check[] {
  if (answers.some((answer) => "error" in answer && answer.error.code === "unauthorized")) {
    return [failure("token", has ? `the server refused the token (${source})` : "the server wants a token, and none is set", "export PALINODE_API_TOKEN=…")];
  }
  if (!answers.some((answer) => "value" in answer)) return [];
  return [ok("token", has ? `the token (${source}) is accepted` : "none is set, and the server wants none")];
}

function embedderLine(status: Answer, isRecalling: boolean, env: NodeJS.ProcessEnv): Check {
  const { embed_functional: ready, ollama_reachable: reachable, embedding_url: url } = asRecord("value" in status ? status.value : undefined);
  if (ready === true) return ok("embedder", "ready");
  if (ready === null) return ok("embedder", "none: the server searches by words alone");
  if (ready !== false) {
    return warning("embedder", `the server does not say whether it is ready${"error" in status ? ` (${status.error.message})` : ""}`, "palinode doctor");
  }
  const trouble = isRecalling ? warning : failure;
  const where = readUrl(url) ?? "its address";
  if (reachable !== false) return trouble("embedder", `Ollama answers at ${where} but cannot embed: its model may be missing`, "ollama pull bge-m3");
  const get = findProgram("ollama", env) ? "" : "to get it: https://ollama.com/download, ";
  const without = "To do without: PALINODE_RETRIEVAL_MODE=lexical palinode-api";
  return trouble("embedder", `Ollama does not answer at ${where}; ${get}then: ollama pull bge-m3. ${without}`, "ollama serve");
}

/** Servers before 0.21 have no policy and say 404. */
async function policyLines(client: Client, action: "recall" | "capture", project: string, cwd: string): Promise<Check[]> {
  const body = { action, cwd: realFolder(cwd), ...(project && { project }), automatic: true };
  const answer = await ask(client.post("/controls/check", body, { timeoutMs: HEALTH_TIMEOUT_MS }));
  const { allowed, reason } = asRecord("value" in answer ? answer.value : undefined);
  if (allowed === true) return [ok("policy", `the server allows ${action} here`)];
  const word = String(reason).slice(0, 40);
  const fix = word.endsWith("_paused") ? `resume --${action}` : word === "excluded_project" ? `exclude-project --remove ${project}` : "status";
  return allowed === false ? [warning("policy", `the server allows no ${action} here (${word})`, `palinode controls ${fix}`)] : [];
}

function isList(answer: Answer): answer is { value: unknown[]; ms: number } {
  return "value" in answer && Array.isArray(answer.value);
}

function recallLine(answer: Answer, { hookDeadlineMs }: Config, embedder: Check): Check {
  if (isList(answer)) {
    const message = `a search took ${answer.ms} ms`;
    if (answer.ms <= hookDeadlineMs) return ok("recall", message);
    const late = `longer than a prompt waits (${hookDeadlineMs} ms): it comes with the next request`;
    return warning("recall", `${message}, ${late}. The first one may have loaded the model`, "node palinode.js doctor");
  }
  if (!("error" in answer)) return failure("recall", "the server's answer to a search is no list", "pip install --upgrade palinode");
  const { code, message } = answer.error;
  if (code === "denied") return warning("recall", "the server's policy allows no search", "palinode controls resume --recall");
  if (code === "rate-limited") return warning("recall", "the server wants quiet for a minute (rate limit)", "node palinode.js doctor");
  const told = code === "timeout" ? `no answer to a search within ${SEARCH_TIMEOUT_MS / 1000} s` : `a search failed (${message})`;
  return failure("recall", told, embedder.fix ?? "palinode doctor");
}

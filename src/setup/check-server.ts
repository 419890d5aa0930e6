// What the doctor asks the server: does it answer, and does it take the token. What is asked of recall is
// check-recall.ts.
import { quoted } from "../base/shell.ts";
import { checkHealth, createClient, type Health, mayCarryToken, troubleOf, UNSENT_TOKEN } from "../server/index.ts";
import { type Config, DEFAULT_API_URL, projectOf, type ReadConfig, type Source } from "../settings/index.ts";
import { type Answer, ask, HEALTH_LIMITS } from "./ask.ts";
import { type Check, editing, failure, ok, setting, warning } from "./check.ts";
import { askAboutRecall, recallLines } from "./check-recall.ts";
import { findProgram } from "./programs.ts";

const MAX_VERSION_CHARS = 40;
const MAX_TROUBLE_CHARS = 200;

/** Returns a line for each thing the server could be asked; where it is away, that line alone. Never rejects. */
export async function checkServer(read: ReadConfig, workspace: string, env: NodeJS.ProcessEnv): Promise<Check[]> {
  const { config, sources } = read;
  const client = createClient(config);
  const health = await ask(checkHealth(client, HEALTH_LIMITS));
  const server = serverLine(config, health, sources.apiUrl, env);
  const unsent = config.token === "" || mayCarryToken(config) ? [] : [notSent(read, env)];
  if (server.level === "failure") return [server, ...unsent];
  const answers = await askAboutRecall(client, projectOf(config.project, workspace), workspace);
  const token = unsent.length > 0 ? unsent : tokenLines(read, [answers.status, answers.search]);
  if (token.some(({ level }) => level === "failure")) return [server, ...token];
  return [server, ...token, ...recallLines(answers, config, env)];
}

function serverLine(config: Config, health: Answer<Health>, source: Source | undefined, env: NodeJS.ProcessEnv): Check {
  const { apiUrl } = config;
  const error = "error" in health ? health.error : undefined;
  const { what } = troubleOf(error, config);
  if (error?.code === "timeout") return failure("server", `${what}; start it anew`, startOf(apiUrl));
  if (error?.code === "refused") return awayLine(what, apiUrl, source, env);
  const another = setting("PALINODE_API_URL", otherThan(apiUrl), source, env);
  if (error?.code === "dns") return failure("server", what, another);
  const { version, status, trouble } = "value" in health ? health.value : {};
  if (version === undefined) return failure("server", `${what}: that is not palinode-api`, another);
  const message = `Palinode ${version.slice(0, MAX_VERSION_CHARS)} at ${apiUrl}`;
  if (status !== "degraded") return ok("server", message);
  const why = trouble?.slice(0, MAX_TROUBLE_CHARS) ?? "it does not say why";
  return warning("server", `${message} is degraded: ${why}`, "palinode doctor");
}

function otherThan(apiUrl: string): string {
  return apiUrl === DEFAULT_API_URL ? "http://localhost:6341; PALINODE_API_PORT=6341 palinode-api" : DEFAULT_API_URL;
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
  if (isUsual) {
    const missing = "palinode-api is not in PATH; once it is installed";
    return failure("server", `${message}, and ${missing}: ${start}`, "pip install palinode");
  }
  const doubt = `check PALINODE_API_URL (${source}) and its port: the default is ${DEFAULT_API_URL}`;
  const right = isHere ? start : "start palinode-api there";
  const fix = setting("PALINODE_API_URL", DEFAULT_API_URL, source, env);
  return failure("server", `${message}; ${doubt}. If it is right: ${right}`, fix);
}

function notSent({ config, sources }: ReadConfig, env: NodeJS.ProcessEnv): Check {
  const message = `${UNSENT_TOKEN.what} (${sources.token}); ${UNSENT_TOKEN.mend}`;
  const https = quoted(config.apiUrl.replace(/^http:/, "https:"));
  return failure("token", message, setting("PALINODE_API_URL", https, sources.apiUrl, env));
}

/** Where the server answered neither yes nor no, there is nothing to say of it. */
function tokenLines({ config, sources, tokenFile }: ReadConfig, answers: readonly Answer<unknown>[]): Check[] {
  const isSet = config.token !== "";
  const errors = answers.flatMap((answer) => ("error" in answer ? [answer.error] : []));
  const refusal = errors.find(({ code }) => code === "unauthorized");
  if (refusal !== undefined) {
    const { what } = troubleOf(refusal, config);
    const message = isSet ? `${what} (${sources.token})` : what;
    return [failure("token", message, tokenFile ? editing(tokenFile) : "export PALINODE_API_TOKEN=…")];
  }
  if (errors.length === answers.length) return [];
  return [ok("token", isSet ? `the token (${sources.token}) is accepted` : "none is set, and the server wants none")];
}

// What the doctor asks the server: does it answer, and does it take the token. What is asked of recall is
// check-recall.ts.
import { findProgram } from "../base/programs.ts";
import { thisProgram } from "../base/shell.ts";
import { installationIn, placeIn } from "../local/index.ts";
import {
  checkHealth,
  createClient,
  type Health,
  isLoopback,
  mayCarryToken,
  troubleOf,
  UNSENT_TOKEN,
} from "../server/index.ts";
import { type Config, DEFAULT_API_URL, projectOf, type ReadConfig, type Source, userFile } from "../settings/index.ts";
import { type Answer, ask, HEALTH_LIMITS } from "./ask.ts";
import { type Check, failure, ok, warning } from "./check.ts";
import { askAboutRecall, recallLines } from "./check-recall.ts";
import { editing, setting, settingByHand, starting } from "./mend.ts";

const MAX_VERSION_CHARS = 40;
const MAX_TROUBLE_CHARS = 200;

/** Returns a line for each thing the server could be asked; where it is away, that line alone. Never rejects. */
export async function checkServer(read: ReadConfig, workspace: string, env: NodeJS.ProcessEnv): Promise<Check[]> {
  const { config } = read;
  const client = createClient(config);
  const health = await ask(checkHealth(client, HEALTH_LIMITS));
  const usual = await usualServer(config, health);
  const server = serverLine(read, health, usual, env);
  const unsent = config.token === "" || mayCarryToken(config) ? [] : [notSent(read, env)];
  if (server.level === "failure") return [server, ...unsent];
  const answers = await askAboutRecall(client, projectOf(config.project, workspace), workspace);
  const token = unsent.length > 0 ? unsent : tokenLines(read, [answers.status, answers.search], env);
  if (token.some(({ level }) => level === "failure")) return [server, ...token];
  return [server, ...token, ...recallLines(answers, read, env)];
}

/** Returns what answers at the usual address where nothing of use does at the chosen one; "" for nothing. */
async function usualServer(config: Config, health: Answer<Health>): Promise<string> {
  if (config.apiUrl === DEFAULT_API_URL || ("value" in health && health.value.version !== undefined)) return "";
  // The token is for the chosen server alone.
  const answer = await ask(checkHealth(createClient({ ...config, apiUrl: DEFAULT_API_URL, token: "" }), HEALTH_LIMITS));
  const version = "value" in answer ? answer.value.version : undefined;
  return version === undefined ? "" : `Palinode ${version.slice(0, MAX_VERSION_CHARS)} answers at ${DEFAULT_API_URL}`;
}

function serverLine(read: ReadConfig, health: Answer<Health>, usual: string, env: NodeJS.ProcessEnv): Check {
  const { config, sources } = read;
  const { apiUrl } = config;
  const source = sources.apiUrl;
  const error = "error" in health ? health.error : undefined;
  const { what, mend } = troubleOf(error, config);
  const isServer = "value" in health && health.value.version !== undefined;
  if (usual !== "" && !isServer)
    return failure("server", `${what} (${source}), but ${usual}`, setting("apiUrl", DEFAULT_API_URL, source, env));
  const start = startOf(config, env);
  if (error?.code === "timeout") return failure("server", `${what}; start it anew`, start);
  if (error?.code === "refused") return awayLine(what, start, read, env);
  const another = otherThan(apiUrl, source, env);
  if (error?.code === "dns") return failure("server", what, another);
  if (error?.code === "unreachable") return failure("server", what, another);
  if (error?.code === "tls") return failure("server", `${what}; ${mend}`, editing(userFile(env)));
  const { version, status, trouble } = "value" in health ? health.value : {};
  if (version === undefined) return failure("server", `${what}: that is not palinode-api`, another);
  const message = `Palinode ${version.slice(0, MAX_VERSION_CHARS)} at ${apiUrl}`;
  if (status !== "degraded") return ok("server", message);
  const why = trouble?.slice(0, MAX_TROUBLE_CHARS) ?? "it does not say why";
  return warning("server", `${message} is degraded: ${why}`, "palinode doctor");
}

function otherThan(apiUrl: string, source: Source | undefined, env: NodeJS.ProcessEnv): string {
  if (apiUrl !== DEFAULT_API_URL) return setting("apiUrl", DEFAULT_API_URL, source, env);
  const start = starting("palinode-api", { PALINODE_API_PORT: "6341" });
  return `${setting("apiUrl", "http://localhost:6341", source, env)}; ${start}`;
}

/** Who wants no triggers and has no embedder has a server that searches by words alone. */
function startOf(config: Config, env: NodeJS.ProcessEnv): string {
  if (isInstalledHere(config)) return thisProgram("server start");
  const { apiUrl, recallTriggers } = config;
  const { port } = new URL(apiUrl);
  const isLexical = !recallTriggers && findProgram("ollama", env) === undefined;
  return starting("palinode-api", {
    ...(!["", "6340"].includes(port) && { PALINODE_API_PORT: port }),
    ...(isLexical && { PALINODE_RETRIEVAL_MODE: "lexical" }),
  });
}

/** An address that somebody chose may be wrong; only at the usual one is a server missing for certain. */
function awayLine(message: string, start: string, { config, sources }: ReadConfig, env: NodeJS.ProcessEnv): Check {
  const source = sources.apiUrl;
  const { port } = new URL(config.apiUrl);
  const isHere = isLoopback(config.apiUrl);
  const isUsual = isHere && port === "6340";
  if (isHere && (isInstalledHere(config) || findProgram("palinode-api", env)))
    return failure("server", isUsual ? message : `${message} (${source}); if that address is right:`, start);
  if (isUsual) {
    const missing = "palinode-api is not in PATH; one of its own is installed and started with one command";
    return failure("server", `${message}, and ${missing}`, thisProgram("server install"));
  }
  const doubt = `check PALINODE_API_URL (${source}) and its port: the default is ${DEFAULT_API_URL}`;
  const right = isHere ? start : "start palinode-api there";
  const fix = setting("apiUrl", DEFAULT_API_URL, source, env);
  return failure("server", `${message}; ${doubt}. If it is right: ${right}`, fix);
}

/** Whether `server install` installed a server here. */
function isInstalledHere(config: Config): boolean {
  return isLoopback(config.apiUrl) && installationIn(placeIn(config)) !== undefined;
}

function notSent({ config, sources }: ReadConfig, env: NodeJS.ProcessEnv): Check {
  const message = `${UNSENT_TOKEN.what} (${sources.token}); ${UNSENT_TOKEN.mend}`;
  const https = config.apiUrl.replace(/^http:/, "https:");
  return failure("token", message, setting("apiUrl", https, sources.apiUrl, env));
}

/** Where the server answered neither yes nor no, there is nothing to say of it. */
function tokenLines(read: ReadConfig, answers: readonly Answer<unknown>[], env: NodeJS.ProcessEnv): Check[] {
  const { config, sources, tokenFile } = read;
  const isSet = config.token !== "";
  const errors = answers.flatMap((answer) => ("error" in answer ? [answer.error] : []));
  const refusal = errors.find(({ code }) => code === "unauthorized");
  if (refusal !== undefined) {
    const { what } = troubleOf(refusal, config);
    if (tokenFile) return [failure("token", `${what} (${sources.token})`, editing(tokenFile))];
    const message = `${isSet ? `${what} (${sources.token})` : what}; put this into your file: { "token": "…" }`;
    return [failure("token", message, settingByHand("token", sources.token, env))];
  }
  if (errors.length === answers.length) return [];
  return [ok("token", isSet ? `the token (${sources.token}) is accepted` : "none is set, and the server wants none")];
}

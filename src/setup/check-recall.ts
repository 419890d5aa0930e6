// What the doctor asks of recall: is the server's embedder ready, does its policy allow it here, and how long does one
// search take. Asks nothing that changes memory, starts a cooldown or counts as a recall.

import { realFolder } from "../base/files.ts";
import { findProgram } from "../base/programs.ts";
import { thisProgram } from "../base/shell.ts";
import {
  type Client,
  checkControls,
  checkStatus,
  PULL_MODEL,
  probeSearch,
  type ServerStatus,
  troubleOf,
} from "../server/index.ts";
import { type Config, type ReadConfig, readUrl } from "../settings/index.ts";
import { type Answer, ask, HEALTH_LIMITS } from "./ask.ts";
import { type Check, failure, ok, warning } from "./check.ts";
import { askForNoise, floorLines } from "./check-floor.ts";
import { starting } from "./mend.ts";

/** Without an embedder a search takes five seconds to fail; shorter, and the reason would not be heard. */
const SEARCH_TIMEOUT_MS = 6000;
const MAX_WORD_CHARS = 40;
const START_LEXICAL = starting("palinode-api", { PALINODE_RETRIEVAL_MODE: "lexical" });

export interface RecallAnswers {
  readonly status: Answer<ServerStatus>;
  /** Whether a list came back. */
  readonly search: Answer<boolean>;
  readonly policies: readonly Check[];
  /** What sentences about nothing reach. */
  readonly noise: readonly number[];
}

/** Asks all at once. Never rejects. */
export async function askAboutRecall(client: Client, project: string, workspace: string): Promise<RecallAnswers> {
  const [status, search, ofRecall, ofCapture] = await Promise.all([
    ask(checkStatus(client, HEALTH_LIMITS)),
    ask(probeSearch(client, { timeoutMs: SEARCH_TIMEOUT_MS })),
    policyLines(client, "recall", project, workspace),
    policyLines(client, "capture", project, workspace),
  ]);
  // After the search that is timed; one that was not answered would not be either.
  const noise = isList(search) ? await askForNoise(client) : [];
  return { status, search, policies: [...ofRecall, ...ofCapture], noise };
}

/** Returns a line for the embedder, one for each policy, one for the search, and one for a floor that is too low. */
export function recallLines(answers: RecallAnswers, read: ReadConfig, env: NodeJS.ProcessEnv): Check[] {
  const { status, search, policies, noise } = answers;
  const embedder = embedderLine(status, isList(search), env);
  return [embedder, ...policies, searchLine(search, read.config, embedder), ...floorLines(noise, read, env)];
}

function embedderLine(status: Answer<ServerStatus>, isSearching: boolean, env: NodeJS.ProcessEnv): Check {
  const { embedder, isOllamaReachable, embeddingUrl } = "value" in status ? status.value : {};
  if (embedder === "ready") return ok("embedder", "ready");
  if (embedder === "none")
    return ok("embedder", "none: the server searches by words alone; triggers need one, and are not asked for");
  if (embedder === undefined) {
    const why = "error" in status ? ` (${status.error.message})` : "";
    return warning("embedder", `the server does not say whether it is ready${why}`, "palinode doctor");
  }
  const trouble = isSearching ? warning : failure;
  const where = readUrl(embeddingUrl) ?? "its address";
  if (isOllamaReachable !== false)
    return trouble("embedder", `Ollama answers at ${where} but cannot embed: its model may be missing`, PULL_MODEL);
  const [missing, mend] = wayToOllama(env);
  const message = `Ollama does not answer at ${where}${missing}; then: ${PULL_MODEL}`;
  return trouble("embedder", `${message}. To do without: ${START_LEXICAL}`, mend);
}

/** Returns what is to be said of Ollama itself, and the command that starts it or gets it. */
function wayToOllama(env: NodeJS.ProcessEnv): [string, string] {
  if (findProgram("ollama", env) !== undefined) return ["", "ollama serve"];
  const get = process.platform === "linux" ? "curl -fsSL https://ollama.com/install.sh | sh" : START_LEXICAL;
  return [" and is not in PATH; to get it: https://ollama.com/download", get];
}

/** Servers before 0.21 have no policy and say 404. */
async function policyLines(
  client: Client,
  action: "recall" | "capture",
  project: string,
  workspace: string,
): Promise<Check[]> {
  const asker = { client, missingRoutes: new Set<string>() };
  const question = { action, cwd: realFolder(workspace), project };
  const answer = await ask(checkControls(asker, question, HEALTH_LIMITS));
  const { isAllowed, reason = "no reason told" } = ("value" in answer ? answer.value : undefined) ?? {};
  if (isAllowed === true) return [ok("policy", `the server allows ${action} here`)];
  if (isAllowed !== false) return [];
  const word = reason.slice(0, MAX_WORD_CHARS);
  const message = `the server allows no ${action} here (${word})`;
  return [warning("policy", message, `palinode controls ${wayToAllow(word, action, project)}`)];
}

function wayToAllow(reason: string, action: string, project: string): string {
  if (reason.endsWith("_paused")) return `resume --${action}`;
  return reason === "excluded_project" ? `exclude-project --remove ${project}` : "status";
}

function isList(answer: Answer<boolean>): answer is { value: true; ms: number } {
  return "value" in answer && answer.value;
}

function searchLine(answer: Answer<boolean>, config: Config, embedder: Check): Check {
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
  const isLate = code === "timeout";
  const message = isLate ? `no answer to a search within ${SEARCH_TIMEOUT_MS / 1000} s` : `a search failed: ${what}`;
  return failure("recall", message, embedder.fix ?? "palinode doctor");
}

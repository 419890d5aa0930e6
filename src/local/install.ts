// `server install`: from nothing to a server that answers. Each step is told as it begins, and one that was done before
// is passed over, so that a second call goes on where the first one ended.
import { existsSync } from "node:fs";
import { asText } from "../base/json.ts";
import { thisProgram } from "../base/shell.ts";
import { makeEnvironment, removeOtherEnvironments } from "./environment.ts";
import { memoryDirOf, prepareMemoryDir } from "./memory-folder.ts";
import { lookForOllama, whatOllamaAdds } from "./ollama.ts";
import { type Installation, installationIn, noteInstallation, programOf, TESTED_VERSION } from "./place.ts";
import { progressOn } from "./progress.ts";
import { stopProcess } from "./running.ts";
import { bringUp } from "./start.ts";
import { say, type Task, usedAsItIs, whoAnswers } from "./task.ts";

/** Variables of the server's own that are kept for each start (palinode-api.md, 4). */
const KEPT = ["OLLAMA_URL", "EMBEDDING_MODEL", "PALINODE_EMBEDDING_API_KEY_FILE"];

/** Installs and starts the server. Returns the exit code. Throws an `Error` for the user. */
export async function install(task: Task, wanted: string | undefined): Promise<number> {
  const { version, isOurs } = await whoAnswers(task);
  if (version !== undefined && !isOurs) {
    say(task, `${usedAsItIs(task, version)} Nothing was installed.`);
  } else {
    const mode = await installOwn(task, wanted, version !== undefined);
    for (const line of mode) say(task, line);
  }
  offer(task);
  return 0;
}

/** Returns what is to be said of how the server searches. */
async function installOwn(task: Task, wanted: string | undefined, isAnswering: boolean): Promise<string[]> {
  const { shell, config, place } = task;
  const former = installationIn(place);
  try {
    const environment = await environmentOf(task, former, wanted ?? TESTED_VERSION);
    const memoryDir = memoryDirOf(shell.env, shell.cwd, former?.memoryDir);
    say(task, `Memories: ${await prepareMemoryDir(memoryDir, shell.env)}`);
    const { variables, mode } = await modeOf(task, memoryDir);
    const installation = inOrder({ ...environment, memoryDir, variables, apiUrl: config.apiUrl });
    task.signal.throwIfAborted();
    const isSame = former !== undefined && JSON.stringify(inOrder(former)) === JSON.stringify(installation);
    if (!isSame || !isAnswering) await stopProcess(place);
    noteInstallation(place, installation);
    // What a server without an embedder has saved has no vectors, and it does not make them up by itself.
    await bringUp(task, installation, isLexical(former) && !isLexical(installation));
    return mode;
  } finally {
    // What was made and is not noted, and what was noted before.
    removeOtherEnvironments(place, installationIn(place)?.environment);
  }
}

function isLexical(installation: Installation | undefined): boolean {
  return installation?.variables.PALINODE_RETRIEVAL_MODE === "lexical";
}

/** As notes are read back, so that two can be compared. */
function inOrder({ version, environment, apiUrl, memoryDir, variables }: Installation): Installation {
  return { version, environment, apiUrl, memoryDir, variables };
}

/** The environment that is there, where it is of this version and whole; else a new one. */
async function environmentOf(
  task: Task,
  former: Installation | undefined,
  version: string,
): Promise<Pick<Installation, "version" | "environment">> {
  const { shell, place, signal } = task;
  if (former?.version === version && existsSync(programOf(place, former.environment, "palinode-api"))) {
    say(task, `palinode ${version} is installed already`);
    return { version, environment: former.environment };
  }
  const progress = progressOn(shell);
  try {
    const onStep = (step: string): void => say(task, `Installing ${step}; that takes a minute or two`);
    const making = { version, env: shell.env, signal, onStep, onLine: progress.line };
    return { version, environment: await makeEnvironment(place, making) };
  } finally {
    progress.end();
  }
}

/** How the server is to search, and what is to be said of that. */
async function modeOf(
  { shell: { env } }: Task,
  memoryDir: string,
): Promise<{ variables: Record<string, string>; mode: string[] }> {
  const kept = KEPT.flatMap((name) => (asText(env[name]) === undefined ? [] : [[name, env[name] as string]]));
  const variables: Record<string, string> = Object.fromEntries(kept);
  const chosen = asText(env.PALINODE_RETRIEVAL_MODE);
  if (chosen !== undefined)
    return {
      variables: { ...variables, PALINODE_RETRIEVAL_MODE: chosen },
      mode: [`It searches in the mode ${chosen}.`],
    };
  if (existsSync(`${memoryDir}/palinode.config.yaml`))
    return { variables, mode: [`It searches as ${memoryDir}/palinode.config.yaml says.`] };
  const ollama = await lookForOllama(env);
  if (ollama.state === "ready")
    return { variables, mode: [`It searches with the embedder ${ollama.model} of Ollama at ${ollama.url}.`] };
  const again = `then once more: ${thisProgram("server install")}`;
  return {
    variables: { ...variables, PALINODE_RETRIEVAL_MODE: "lexical" },
    mode: ["It searches by words alone, which needs nothing else.", `${whatOllamaAdds(ollama)}; ${again}`],
  };
}

function offer(task: Task): void {
  const lines = [
    ["install", "the plugin for Cline, where it is not there yet"],
    ["import --dry-run", "memories from Cline's past sessions: what would be sent"],
    ["import --git --dry-run", "memories from what a repository says: the same"],
  ];
  say(task, "Next:");
  for (const [verb = "", what] of lines) say(task, `  ${thisProgram(verb)}   # ${what}`);
}

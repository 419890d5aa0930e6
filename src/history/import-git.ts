// `import --git`: sends what a repository already says to Palinode, each once and again only when it changed.
import { resolve } from "node:path";
import { entryAt, realFolder } from "../base/files.ts";
import { type Shell, UsageError, type Values } from "../base/shell.ts";
import { digestOf } from "../base/text.ts";
import type { SaveRequest } from "../server/index.ts";
import { workTreeAround } from "../settings/index.ts";
import { projectNamer, readChoice } from "./choose.ts";
import { tellingOfCommits } from "./commits.ts";
import { type Counts, type Delivery, deliver, type Fate, importEach } from "./import-each.ts";
import { openRun } from "./import-run.ts";
import { countLost } from "./import-sessions.ts";
import { memoriesOfFiles, memoryOf, type Repository } from "./repository.ts";

/** Options that choose sessions. */
const OF_SESSIONS = ["since", "limit", "min-prompts", "all"];

/** Imports the repository around a folder, the shell's or the one named. Returns the exit code. Throws `UsageError`. */
export async function importRepository(
  shell: Shell,
  words: readonly string[],
  values: Values,
  signal: AbortSignal,
): Promise<number> {
  const repository = readRepository(shell, words, values);
  const run = openRun(shell, values, signal);
  const counts: Counts = { sent: 0, unchanged: 0, broken: 0, refused: 0 };
  const warn = countLost(run.warn, counts);
  const changes = await tellingOfCommits(repository, shell.env, signal, warn);
  // The newest of all is what changed.
  const memories = [...memoriesOfFiles(repository, warn), ...(changes ? [memoryOf(repository, changes)] : [])];
  return run.finish(await importEach(memories, counts, (memory) => importOne(memory, run), run));
}

async function importOne(body: SaveRequest, delivery: Delivery): Promise<Fate<never>> {
  if (delivery.signal.aborted) return { kind: "stopped" };
  const [id, digest] = [body.slug, digestOf(JSON.stringify(body))];
  return delivery.ledger.has(id, digest) ? { kind: "unchanged" } : deliver({ id, digest, body }, delivery);
}

function readRepository(shell: Shell, words: readonly string[], values: Values): Repository {
  const wrong = OF_SESSIONS.find((name) => values[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} is about sessions; with --git there are none`);
  if (words.length > 1) throw new UsageError("import --git takes one folder");
  const folder = realFolder(resolve(shell.cwd, words[0] ?? ""));
  if (entryAt(folder)?.isDirectory() !== true) throw new UsageError(`${folder} is no folder`);
  const root = workTreeAround(folder)?.root;
  if (root === undefined) throw new UsageError(`${folder} is no git repository, and none is around it`);
  const { project } = readChoice([], { project: values.project }, 1);
  return { root, project: project || projectNamer(shell.env)({ cwd: root, remoteUrls: [] }) };
}

// The folder that the server keeps memories in: made, and under git where git is there, so that nothing is overwritten
// for good.
import { existsSync, readdirSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { entryAt, makeFolder, replaceFile } from "../base/files.ts";
import { findProgram, runProgram } from "../base/programs.ts";
import { homeDir } from "../cline/index.ts";

const GIT_TIMEOUT_MS = 20_000;
/** What the server keeps beside the memories. */
const IGNORED = ".palinode.db*\n.audit/\nlogs/\n";

/** Returns the folder of memories: `PALINODE_DIR`, else the former one, else `palinode` in the home folder. */
export function memoryDirOf(env: NodeJS.ProcessEnv, cwd: string, former: string | undefined): string {
  const given = env.PALINODE_DIR?.trim();
  if (!given) return former ?? join(homeDir(env), "palinode");
  const path = given.replace(/^~(?=$|[\\/])/, () => homeDir(env));
  return isAbsolute(path) ? path : resolve(cwd, path);
}

/**
 * Makes the folder, and a repository of it where it is none yet and git is there. Returns what is to be told of it.
 * Throws an `Error` for the user where there can be no such folder.
 */
export async function prepareMemoryDir(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    makeFolder(folder);
  } catch (cause) {
    throw new Error(`cannot make ${folder}; PALINODE_DIR names another folder for memories`, { cause });
  }
  if (!entryAt(folder)?.isDirectory()) throw new Error(`${folder} is no folder; PALINODE_DIR names another`);
  if (existsSync(join(folder, ".git"))) return `${folder} (a git repository)`;
  const git = findProgram("git", env);
  if (git === undefined) return `${folder} (git is not in PATH, so what is overwritten there is lost)`;
  const isMade = await makeRepository(git, folder, env);
  return `${folder} (${isMade ? "a git repository from now on" : "git could make no repository of it"})`;
}

async function makeRepository(git: string, folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const run = async (...args: string[]): Promise<boolean> => {
    const { code } = await runProgram(git, ["-C", folder, ...args], { env, timeoutMs: GIT_TIMEOUT_MS });
    return code === 0;
  };
  if (!(await run("init", "--quiet"))) return false;
  if (!existsSync(join(folder, ".gitignore"))) replaceFile(join(folder, ".gitignore"), IGNORED, 0o644);
  // Without a name git takes no commit, and the server would say nothing of that.
  if (!(await run("config", "user.email"))) {
    await run("config", "user.name", "palinode");
    await run("config", "user.email", "palinode@localhost");
  }
  return true;
}

/** Returns whether the server has to read the memories that lie there: there are some, and no index. */
export function needsIndex(folder: string): boolean {
  if (existsSync(join(folder, ".palinode.db"))) return false;
  return [".", ...namesIn(folder)].some((name) => namesIn(join(folder, name)).some((file) => file.endsWith(".md")));
}

function namesIn(folder: string): string[] {
  return entryAt(folder)?.isDirectory() ? readdirSync(folder) : [];
}

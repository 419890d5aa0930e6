// Which git work tree is around a folder, and so which folder Cline takes as workspace. Git's files are read; git is
// never run.
import { statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { readSmallFile, realFolder } from "../base/files.ts";

const MAX_DEPTH = 64;

/** The work tree around a folder. */
export interface WorkTree {
  readonly root: string;
  /** The folder with the configuration, shared by all work trees of a repository. */
  readonly commonDir: string;
  /** The name of the main work tree's folder. */
  readonly mainFolder: string;
}

/**
 * Returns the folder that Cline takes as workspace when it is started in `folder`: the root of the git work tree around
 * it (a linked worktree's or a submodule's own), else the folder itself. Links are resolved, as git does. Never throws.
 * Source: CLI 3.0.65, which asks `git rev-parse --show-toplevel`.
 */
export function workspaceOf(folder: string): string {
  const real = realFolder(folder);
  return workTreeAround(real)?.root ?? real;
}

/** Returns the nearest git work tree that a folder lies in, or undefined. Never throws. */
export function workTreeAround(folder: string): WorkTree | undefined {
  let root = resolve(folder);
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const gitDir = gitDirOf(root);
    if (gitDir !== undefined) return describe(gitDir, root);
    if (dirname(root) === root) return undefined;
    root = dirname(root);
  }
  return undefined;
}

/** `.git` is a folder, or in linked worktrees and submodules a file that names one. */
function gitDirOf(root: string): string | undefined {
  const path = join(root, ".git");
  try {
    if (statSync(path).isDirectory()) return path;
  } catch {
    return undefined;
  }
  const target = /^[ \t]*gitdir:(.*)/m.exec(readSmallFile(path) ?? "")?.[1]?.trim();
  return target ? resolve(root, target) : undefined;
}

function describe(gitDir: string, root: string): WorkTree {
  const common = readSmallFile(join(gitDir, "commondir"))?.trim();
  // A submodule's git folder has no `commondir`, and its project is its own folder.
  if (!common) return { root, commonDir: gitDir, mainFolder: basename(root) };
  const commonDir = isAbsolute(common) ? common : resolve(gitDir, common);
  // `/work/shop/.git` and `/work/shop/.bare` both belong to `shop`; a bare `/work/shop.git` names itself.
  const own = basename(commonDir);
  const mainFolder = own.startsWith(".") ? basename(dirname(commonDir)) : own.replace(/\.git$/, "");
  return { root, commonDir, mainFolder };
}

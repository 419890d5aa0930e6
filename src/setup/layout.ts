// The two ways in which this file stands in a plugins folder: bare, or in a folder of its own. Node takes the bare file
// as a module where no package.json above says otherwise; else it needs one of its own, or Cline transpiles it on each
// load and may give up.
import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, entryAt, readRecord, realFolder, replaceFile } from "../base/files.ts";
import { asRecord } from "../base/json.ts";
import { quoted } from "../base/shell.ts";
import { kindOf, versionOf } from "./copies.ts";
import { removing } from "./mend.ts";

const FILE_NAME = "palinode.js";
const FOLDER_NAME = "palinode";
const MANIFEST = { type: "module", cline: { plugins: [{ paths: [`./${FILE_NAME}`] }] } };

/** Returns where the bare file stands in a plugins folder. */
export function barePath(plugins: string): string {
  return join(plugins, FILE_NAME);
}

/** Returns where the file stands in a plugins folder when it has a folder of its own. */
export function ownFolderPath(plugins: string): string {
  return join(plugins, FOLDER_NAME, FILE_NAME);
}

/** Returns whether a path is one of a folder of its own. */
export function isInOwnFolder(path: string): boolean {
  return path === ownFolderPath(dirname(dirname(path)));
}

/**
 * Returns the package.json that keeps Node from taking a bare file in `folder` as a module: the nearest one, unless its
 * type is module. Source: Node's documentation of packages, "Determining module system".
 */
export function packageInTheWay(folder: string): string | undefined {
  for (let at = realFolder(folder); ; at = dirname(at)) {
    const manifest = join(at, "package.json");
    if (entryAt(manifest)?.isFile()) return readRecord(manifest).type === "module" ? undefined : manifest;
    if (dirname(at) === at) return undefined;
  }
}

/** Returns whether the file's own folder is one as `install` makes it. */
export function hasOwnFolder(plugins: string): boolean {
  const path = ownFolderPath(plugins);
  return kindOf(dirname(path)) === "folder" && versionOf(path) !== undefined && isManifest(manifestOf(path));
}

/** Writes the manifest of a folder of its own. Throws an `Error` for the user where somebody else's is in the way. */
export function writeManifest(path: string, isForced: boolean, force: string): void {
  const manifest = manifestOf(path);
  if (isManifest(manifest)) return;
  if (kindOf(manifest) !== "nothing" && !isForced)
    throw new Error(`${manifest} is not as install writes it; to replace it all the same: ${force}`);
  replaceFile(manifest, `${JSON.stringify(MANIFEST, null, 2)}\n`, 0o644);
}

/** Takes one copy out, and the folder of its own with it, unless that holds more. Throws an `Error` for the user. */
export function takeOut(path: string): void {
  try {
    rmSync(path);
    if (!isInOwnFolder(path)) return;
    if (isManifest(manifestOf(path))) rmSync(manifestOf(path));
  } catch (error) {
    throw new Error(`cannot remove ${path} (${codeOf(error)}): its folder has to be one that you may write to`);
  }
  removeIfEmpty(dirname(path));
}

/**
 * Returns the command that takes a copy out: Cline's own for what Cline installed, which wants its folder; the whole
 * folder where it is one of its own that holds nothing else.
 */
export function removalOf(path: string): string {
  const folder = /^.*[\\/]_installed[\\/][^\\/]+[\\/][^\\/]+/.exec(path)?.[0];
  if (folder !== undefined) return `cline plugin uninstall ${quoted(folder)}`;
  const isWhole =
    isInOwnFolder(path) && hasOwnFolder(dirname(dirname(path))) && readdirSync(dirname(path)).length === 2;
  return isWhole ? removing(dirname(path), true) : removing(path, false);
}

function manifestOf(path: string): string {
  return join(dirname(path), "package.json");
}

/** Somebody may have written it by hand: what counts is what Node and Cline read. */
function isManifest(path: string): boolean {
  const { type, cline } = readRecord(path);
  const { plugins } = asRecord(cline);
  const paths = (Array.isArray(plugins) ? plugins : []).flatMap((entry) => asRecord(entry).paths ?? []);
  return type === "module" && paths.includes(`./${FILE_NAME}`);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It holds something else, which stays.
  }
}

// Which copies of this file Cline would load, found as Cline's own search finds them, and their versions.
// Source: discoverPluginModulePaths of @cline/shared 0.0.86, and the real CLI.
import { type Dirent, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { entryAt, readRecord, readSmallFile } from "../base/files.ts";
import { asRecord } from "../base/json.ts";
import { globalSettingsFile, pluginFolders } from "../cline/index.ts";

/** One palinode.js below a plugins folder. */
export interface Copy {
  readonly path: string;
  readonly version: string;
  /** Why Cline passes it over, when it does. */
  readonly passedOver?: "a link" | "switched off";
}

const BANNER = /^\/\*! palinode\.js (\S{1,40}) \|/;
const MAX_FOLDERS = 2000;

/** Returns the copies in all of Cline's plugins folders; of those that are not passed over, Cline loads the last. */
export function findCopies(env: NodeJS.ProcessEnv, workspace: string): Copy[] {
  const { disabledPlugins } = readRecord(globalSettingsFile(env));
  const disabled: readonly unknown[] = Array.isArray(disabledPlugins) ? disabledPlugins : [];
  return pluginFolders(env, workspace)
    .flatMap(modulesIn)
    .flatMap(({ path, isLink }): Copy[] => {
      const version = versionOf(path);
      if (version === undefined) return [];
      if (isLink) return [{ path, version, passedOver: "a link" }];
      return [disabled.includes(path) ? { path, version, passedOver: "switched off" } : { path, version }];
    });
}

/** Returns the version that the first line of a palinode.js names; undefined for anything else. */
export function versionOf(path: string): string | undefined {
  return BANNER.exec(readSmallFile(path) ?? "")?.[1];
}

/** Returns whether version `a` is newer than `b`. A pre-release is older than its release. */
export function isNewer(a: string, b: string): boolean {
  // The highest letter there is, so that a release sorts behind its pre-releases.
  const [keyA = "", keyB = ""] = [a, b].map((version) => version.replace(/\+.*/, "").replace(/^[^-]*$/, "$&-\uffff"));
  return keyA.localeCompare(keyB, "en", { numeric: true }) > 0;
}

interface Module {
  readonly path: string;
  readonly isLink: boolean;
}

function modulesIn(root: string): Module[] {
  const modules: Module[] = [];
  const folders = [root];
  for (let count = 0; folders.length > 0 && count < MAX_FOLDERS; count += 1) {
    const folder = folders.pop() as string;
    // That makes it one of Cline's other kind of plugins.
    if (isFile(join(folder, "plugin.json"))) continue;
    const declared = folder === root ? [] : declaredIn(folder);
    const entries = declared.length > 0 ? [] : entriesOf(folder);
    modules.push(...declared, ...entries.filter(isModule).map((entry) => moduleAt(folder, entry)));
    folders.push(...entries.filter(isSearched).map(({ name }) => join(folder, name)));
  }
  return modules.sort((a, b) => a.path.localeCompare(b.path));
}

function isSearched(entry: Dirent): boolean {
  return entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith(".");
}

function isModule(entry: Dirent): boolean {
  return /^[^.].*\.[jt]s$/.test(entry.name) && (entry.isFile() || entry.isSymbolicLink());
}

function moduleAt(folder: string, entry: Dirent): Module {
  return { path: join(folder, entry.name), isLink: entry.isSymbolicLink() };
}

/** The search reads the `paths` form of `cline.plugins` only. */
function declaredIn(folder: string): Module[] {
  const { plugins } = asRecord(readRecord(join(folder, "package.json")).cline);
  const paths = (Array.isArray(plugins) ? plugins : []).flatMap((entry) => asRecord(entry).paths ?? []);
  return paths
    .filter((path) => typeof path === "string")
    .map((path) => resolve(folder, path))
    .filter(isFile)
    .map((path) => ({ path, isLink: false }));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  return entryAt(path)?.isFile() === true;
}

export type Kind = "nothing" | "file" | "link" | "folder" | "other";

/** Returns what stands at a path itself, links not followed. */
export function kindOf(path: string): Kind {
  const entry = entryAt(path, { followsLinks: false });
  if (entry === undefined) return "nothing";
  if (entry.isFile()) return "file";
  if (entry.isSymbolicLink()) return "link";
  return entry.isDirectory() ? "folder" : "other";
}

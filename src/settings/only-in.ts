// Where memory is on: the user's lists of folders, `onlyIn` and `notIn`.
import { delimiter, isAbsolute, relative } from "node:path";
import { realFolder } from "../base/files.ts";
import { homeDir } from "../cline/index.ts";
import type { Config } from "./config.ts";
import type { Problem } from "./layers.ts";

export type PlaceList = "onlyIn" | "notIn";

/**
 * Returns the list by which memory is off in a workspace, or undefined. A list that cannot be used leaves every place
 * out: whoever wrote it wanted some of them to be left alone.
 */
export function placeLeftOut(
  { onlyIn, notIn }: Pick<Config, PlaceList>,
  problems: readonly Problem[],
  workspace: string | undefined,
  env: NodeJS.ProcessEnv,
): PlaceList | undefined {
  const isBroken = (list: PlaceList): boolean =>
    problems.some(({ setting, source, isShadowed }) => setting === list && source !== "workspace file" && !isShadowed);
  const holds = (folders: readonly string[]): boolean =>
    workspace !== undefined &&
    folders.some((folder) => isBelow(realFolder(workspace), realFolder(atHome(folder, env))));
  if (isBroken("notIn") || holds(notIn)) return "notIn";
  return isBroken("onlyIn") || (onlyIn.length > 0 && !holds(onlyIn)) ? "onlyIn" : undefined;
}

/**
 * Reads folders: a list of them, or text with the system's path separator between them. Each is absolute or starts with
 * `~`; a `/*` or `/**` at its end says no more than the folder itself.
 */
export function readFolders(raw: unknown): readonly string[] | undefined {
  const list: unknown = typeof raw === "string" ? raw.split(delimiter) : raw;
  if (!Array.isArray(list)) return undefined;
  const folders = list.map(readPlace).filter((folder) => folder !== "");
  return folders.every((folder) => folder !== undefined) ? (folders as string[]) : undefined;
}

function readPlace(raw: unknown): string | undefined {
  if (typeof raw !== "string") return undefined;
  const path = raw.trim().replace(/[\\/]\*{1,2}$/, "");
  if (path === "") return raw.trim() === "" ? "" : undefined;
  return /^~(?:$|[\\/])/.test(path) || isAbsolute(path) ? path : undefined;
}

function atHome(folder: string, env: NodeJS.ProcessEnv): string {
  return folder.replace(/^~/, () => homeDir(env));
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!/^\.\.(?:$|[\\/])/.test(way) && !isAbsolute(way));
}

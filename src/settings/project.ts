// Which project a workspace belongs to. One slug is used everywhere it is sent, because the server derives a different
// one on each route (palinode-api.md, 3.5).
import { isAbsolute, join } from "node:path";
import { readSmallFile } from "../base/files.ts";
import { hexDigestOf } from "../base/text.ts";
import { workTreeAround } from "./git.ts";

const MAX_SLUG_CHARS = 80;

/** Latin letters that `normalize` does not take apart. */
const LATIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
};
const OTHER_LATIN = new RegExp(`[${Object.keys(LATIN).join("")}]`, "g");

/** Returns a slug of lower-case letters, digits, `_` and `-` that starts with a letter or digit; maybe empty. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(OTHER_LATIN, (letter) => LATIN[letter] ?? "")
    .replace(/[^a-z0-9_-]+/g, "-");
  return slug.slice(0, MAX_SLUG_CHARS).replace(/^[-_]+|-+$/g, "");
}

/** Returns the slug of a project as somebody names it, with the server's `project/` ahead of it or without; or "". */
export function projectSlug(name: string): string {
  return slugOf(name.trim().replace(/^project\//, ""));
}

/**
 * Returns the project slug of a workspace: the setting, else the origin remote's repository name, else the main
 * worktree's folder, else the workspace folder. Empty when nothing can be derived. Never throws.
 */
export function projectOf(setting: string, cwd: string | undefined, remoteUrls: readonly string[] = []): string {
  const chosen = projectSlug(setting);
  if (chosen !== "") return chosen;
  const ofHost = remoteUrls.find((url) => /^origin[:\s]/.test(url))?.slice("origin:".length);
  // A path of another system (`D:\shop` on Linux) would be taken as relative, and lead to git of the wrong place.
  const git = cwd !== undefined && isAbsolute(cwd) ? workTreeAround(cwd) : undefined;
  const found = [
    repositoryOf(ofHost),
    repositoryOf(git && originOf(git.commonDir)),
    git?.mainFolder,
    cwd && lastSegment(cwd),
  ];
  const names = found.filter((name) => name !== undefined && name !== "") as string[];
  return names.map(tellingSlug).find((slug) => slug !== "") ?? digestSlug(names);
}

/** Returns the slug of a name, or "" where it says less than the name: letters were lost, and none is left. */
function tellingSlug(name: string): string {
  const slug = slugOf(name);
  return /[a-z]/.test(slug) || !/\p{L}/u.test(name) ? slug : "";
}

/** Of a name in another script its digest tells it from all others: `2-` and that for `проект-2`. */
function digestSlug(names: readonly string[]): string {
  const name = names.find((each) => /[\p{L}\p{N}]/u.test(each));
  return name === undefined ? "" : slugOf(`${slugOf(name)}-${hexDigestOf(name.normalize("NFC"))}`);
}

/** Returns origin's address from git's configuration: section and key in any case, a comment behind either. */
function originOf(commonDir: string): string | undefined {
  let isOrigin = false;
  for (const line of linesOf(readSmallFile(join(commonDir, "config")))) {
    if (line.startsWith("[")) isOrigin = /^\[remote\s+"([^"]*)"/i.exec(line)?.[1] === "origin";
    const value = isOrigin ? /^url\s*=(.*)/i.exec(line)?.[1] : undefined;
    if (value !== undefined) return settingOf(value);
  }
  return undefined;
}

/** Returns a value as git reads it: without its quotes, and without the comment that `#` or `;` starts outside them. */
function settingOf(value: string): string {
  return value.replace(/"([^"]*)"|[#;].*/g, "$1").trim();
}

function linesOf(text: string | undefined): string[] {
  return (text ?? "").split("\n").map((line) => line.trim());
}

function repositoryOf(url: string | undefined): string | undefined {
  return url === undefined
    ? undefined
    : lastSegment(url.split(/[?#]/, 1)[0] as string)
        .trim()
        .replace(/\.git$/i, "");
}

function lastSegment(path: string): string {
  return (
    path
      .split(/[\\/:]+/)
      .filter((part) => part !== "")
      .at(-1) ?? ""
  );
}

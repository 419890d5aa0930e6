// The last commits of a repository, as one short list of what changed where. Git is run, since only git reads its
// objects; the repository may be anybody's, so nothing in it may have git run a program or ask a server.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { asRecord } from "../base/json.ts";
import { clip, clipMarked, oneLine } from "../base/text.ts";
import { safe } from "../server/index.ts";
import type { Repository, Telling } from "./repository.ts";
import type { Warn } from "./warn.ts";

const MAX_COMMITS = 300;
const MAX_SUBJECT_CHARS = 100;
const MAX_FOLDER_CHARS = 80;
const MAX_FOLDERS = 12;
/** A folder further down counts as the one above it. */
const MAX_FOLDER_DEPTH = 8;
const MAX_LIST_CHARS = 3000;
/** What is printed beyond is of older commits, and is not read. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const GIT_TIMEOUT_MS = 20_000;

/** Settings of a repository that make `git log` run a program, read a file elsewhere, or print something else. */
const HARMLESS = [
  "core.fsmonitor=false",
  "log.showSignature=false",
  "log.showRoot=true",
  "log.mailmap=false",
  "diff.relative=false",
  "safe.bareRepository=explicit",
].flatMap((setting) => ["-c", setting]);
/** Renames would be looked for in the files themselves, which a partial clone fetches. */
const LOG = (
  "log --no-merges -z --name-only --no-renames --no-ext-diff --no-textconv --no-show-signature --no-mailmap " +
  "--no-notes --no-color --no-decorate --encoding=UTF-8 --date=short -O/dev/null"
).split(" ");
const QUIET = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  // No protocol is called so: git before 2.44 knows no other way to leave fetching be, and settings give way to it.
  GIT_ALLOW_PROTOCOL: "none",
  LC_ALL: "C",
} as const;

const BOT = new RegExp(
  "\\[bot\\]|^(?:dependabot|renovate|greenkeeper|github[- ]actions?|semantic-release|snyk|mergify|pre-commit-ci|" +
    "allcontributors|weblate)\\b",
  "i",
);
/** What tools write into subjects, and versions, which say nothing of what changed. */
const NOISE = new RegExp(
  "^(?:merge (?:branch|pull request|remote-tracking|tag)\\b|bump \\S+ from\\b|(?:fixup|squash|amend)! |" +
    "\\w+\\((?:deps|release)[\\w-]*\\)|update dependency\\b|(?:release )?v?\\d+\\.\\d+\\.\\d+\\S*$)",
  "i",
);

interface Commit {
  readonly subject: string;
  /** As the author's calendar had it, 2026-01-31. */
  readonly date: string;
  /** The folder that most of its files lie in, or "" for the root. */
  readonly folder: string;
}

/**
 * Returns what the last 300 commits changed where, at most 3,000 characters, each subject redacted; undefined where
 * nothing is to be told: then why is warned of. Never rejects.
 */
export async function tellingOfCommits(
  { root, project }: Repository,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  warn: Warn,
): Promise<Telling | undefined> {
  const commits = await recentCommits(root, env, signal).catch((error: unknown) => {
    if (!signal.aborted) warn(`${reasonFor(error)}; the commits are left out`);
    return [];
  });
  if (commits.length === 0) return undefined;
  const whose = project === "" ? "" : ` of ${project}`;
  const dates = commits.map(({ date }) => date).sort();
  const when = `${dates[0]} to ${dates.at(-1)}`;
  const head = `${counted(commits.length)}${whose}, ${when}, newest first, without merges and bots.`;
  const title = "What changed where";
  return { type: "ProjectSnapshot", origin: "changes", title, text: listOf(`# ${title}\n\n${head}`, commits) };
}

/** Returns the commits of people, newest first, each subject once. Rejects with what git says. */
async function recentCommits(root: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Commit[]> {
  // Nobody can have written it into a subject or a file's name.
  const mark = randomUUID();
  const output = await git(root, [`-${MAX_COMMITS}`, `--format=${mark}%an%x00%ad%x00%s%x00`, "--"], env, signal);
  const commits = new Map<string, Commit>();
  for (const part of output.split(mark).slice(1)) {
    const [author = "", date = "", text = "", ...files] = part.split("\0").map((field) => field.replace(/^\n/, ""));
    const subject = clipMarked(safe(text), MAX_SUBJECT_CHARS);
    // The last may have been cut off, and an old one may be in any encoding.
    const isWhole = files.length > 0 && subject !== "" && !subject.includes("\uFFFD");
    if (!isWhole || BOT.test(author) || NOISE.test(subject) || commits.has(subject)) continue;
    commits.set(subject, { subject, date, folder: folderOf(files.filter((file) => file !== "")) });
  }
  return [...commits.values()];
}

function git(root: string, args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  // What the shell says of git, such as GIT_DIR or GIT_EXTERNAL_DIFF, was said of another call.
  const kept = Object.entries(env).filter(([name]) => !/^GIT_/i.test(name));
  const options = {
    // Windows, and a PATH with a dot in it, look for programs here first: never in the repository.
    cwd: dirname(process.execPath),
    // A folder whose `.git` is none must not be taken for a part of the repository around it.
    env: { ...Object.fromEntries(kept), ...QUIET, GIT_CEILING_DIRECTORIES: dirname(root) },
    timeout: GIT_TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: MAX_OUTPUT_BYTES,
    windowsHide: true,
    signal,
  } as const;
  return new Promise((resolve, reject) => {
    execFile("git", ["--no-pager", ...HARMLESS, "-C", root, ...LOG, ...args], options, (error, stdout) => {
      if (error === null || error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") resolve(stdout);
      else reject(error);
    });
  });
}

/** Returns why git told nothing, in its own words where it has some. */
function reasonFor(error: unknown): string {
  const { code, killed, message } = asRecord(error);
  if (code === "ENOENT") return "git is not in PATH";
  if (killed === true) return `git took longer than ${GIT_TIMEOUT_MS / 1000} s`;
  const words =
    String(message)
      .split("\n")
      .find((line) => line.startsWith("fatal:")) ?? "git failed";
  return clip(safe(oneLine(words)), 200);
}

/** Returns the folder of most files; those at the root count only where there are no others. */
function folderOf(files: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const file of files) {
    const folder = folderAbove(file).split("/").slice(0, MAX_FOLDER_DEPTH).join("/");
    if (folder !== "") counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? "";
}

/** Returns the commits by folder under a head, most first: each in turn has its newest told while there is room. */
function listOf(head: string, commits: readonly Commit[]): string {
  const folders = [...byFolder(commits)].sort(([, a], [, b]) => b.length - a.length);
  const lists = folders.map(([folder, own]) => ({ own, lines: [`## ${named(folder, own)}: ${counted(own.length)}`] }));
  let room = MAX_LIST_CHARS - head.length;
  for (const { lines } of lists) room -= (lines[0]?.length ?? 0) + "\n\n".length;
  for (let turn = 0; turn < commits.length; turn += 1) {
    for (const { own, lines } of lists) {
      const line = `- ${own[turn]?.subject}`;
      if (own[turn] === undefined || line.length + 1 > room) continue;
      lines.push(line);
      room -= line.length + 1;
    }
  }
  return [head, ...lists.map(({ lines }) => lines.join("\n"))].join("\n\n");
}

/** Returns the commits of at most 12 folders: where there are more, the smallest goes with the folder above it. */
function byFolder(commits: readonly Commit[]): Map<string, Commit[]> {
  const groups = new Map<string, Commit[]>();
  const put = (folder: string, more: readonly Commit[]): void => {
    const all = new Set([...(groups.get(folder) ?? []), ...more]);
    groups.set(
      folder,
      commits.filter((commit) => all.has(commit)),
    );
  };
  for (const commit of commits) put(commit.folder, [commit]);
  while (groups.size > MAX_FOLDERS) {
    const below = [...groups].filter(([folder]) => folder !== "");
    const smallestFirst = below.sort(([a, x], [b, y]) => x.length - y.length || depthOf(b) - depthOf(a));
    const [folder, own] = smallestFirst[0] as [string, Commit[]];
    groups.delete(folder);
    put(folderAbove(folder), own);
  }
  return groups;
}

function depthOf(folder: string): number {
  return folder.split("/").length;
}

function folderAbove(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

function named(folder: string, commits: readonly Commit[]): string {
  if (folder !== "") return clipMarked(safe(folder), MAX_FOLDER_CHARS);
  return commits.every((commit) => commit.folder === "") ? "the root" : "the root and elsewhere";
}

function counted(commits: number): string {
  return commits === 1 ? "1 commit" : `${commits} commits`;
}

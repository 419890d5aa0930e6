// The verbs `install` and `uninstall`: this file into Cline's plugins folder and out again. What stands in Cline's MCP
// settings is mcp.ts.
import { readFileSync, rmSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { entryAt, realFolder, replaceFile } from "../base/files.ts";
import { type Command, plainText, printJson, type Shell, thisProgram, UsageError, type Values } from "../base/shell.ts";
import { VERSION } from "../base/version.ts";
import { clineDir } from "../cline/index.ts";
import { workspaceOf } from "../settings/index.ts";
import { type Copy, findCopies, isNewer, type Kind, kindOf, versionOf } from "./copies.ts";
import { barePath, hasOwnFolder, ownFolderPath, packageInTheWay, removalOf, takeOut, writeManifest } from "./layout.ts";
import { addMcpServer, type McpChange, removeMcpServer } from "./mcp.ts";

/** What was done to the file. */
interface FileChange {
  readonly action: "installed" | "replaced" | "unchanged" | "removed" | "none";
  readonly path: string;
  /** The version that was there before. */
  readonly previous?: string;
  readonly message: string;
}

const PROJECT = { project: { type: "string" }, mcp: { type: "boolean" }, json: { type: "boolean" } } as const;

export const installCommand: Command = {
  usage: "[--project DIR] [--mcp] [--force] [--json]",
  help: "copies this file to Cline's plugins, or a project's; --mcp adds Palinode's MCP server",
  options: { ...PROJECT, force: { type: "boolean" } },
  async run(shell, words, values) {
    const file = installFile(pluginsOf(shell, words, values), values.force === true);
    return finish(shell, values, file, () => addMcpServer(shell.env, values.force === true));
  },
};

export const uninstallCommand: Command = {
  usage: "[--project DIR] [--mcp] [--json]",
  help: "takes out what install put in",
  options: PROJECT,
  async run(shell, words, values) {
    return finish(shell, values, uninstallFile(pluginsOf(shell, words, values)), () => removeMcpServer(shell.env));
  },
};

/** Returns the plugins folder that the file goes to. */
function pluginsOf(shell: Shell, words: readonly string[], { project }: Values): string {
  if (words.length > 0) throw new UsageError(`unexpected argument "${words[0]}"`);
  if (project === undefined) return join(clineDir(shell.env), "plugins");
  const folder = resolve(shell.cwd, String(project));
  if (project === "" || !entryAt(folder)?.isDirectory()) throw new Error(`--project ${project}: no such folder`);
  const workspace = workspaceOf(folder);
  const plugins = join(workspace, ".cline", "plugins");
  const leadsTo = realFolder(existingPart(plugins));
  // A cloned project may bring a link that leads anywhere.
  if (isOutside(leadsTo, realFolder(workspace)))
    throw new Error(`${plugins} leads out of the project, to ${leadsTo}; take the link away first`);
  return plugins;
}

/** Returns a path as far as it is there. */
function existingPart(path: string): string {
  return entryAt(path, { followsLinks: false }) === undefined ? existingPart(dirname(path)) : path;
}

function isOutside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

/** A folder of its own that stands is kept: it loads wherever it is. The other layout's copy goes. */
function installFile(plugins: string, isForced: boolean): FileChange {
  const bytes = readThisFile();
  const inFolder = hasOwnFolder(plugins) || packageInTheWay(plugins) !== undefined;
  const [bare, own] = [barePath(plugins), ownFolderPath(plugins)];
  const [path, other] = inFolder ? [own, bare] : [bare, own];
  const spare = versionOf(other);
  const kind = kindOf(path);
  const previous = versionOf(path);
  // Cline passes links over, so a link to the same bytes is not the same.
  const isSame = kind === "file" && bytes.equals(readFileSync(path)) && (!inFolder || hasOwnFolder(plugins));
  if (isSame && spare === undefined && !isForced)
    return { action: "unchanged", path, previous, message: `Already up to date: ${path} is ${VERSION}` };
  refuseToReplace(path, kind, previous, isForced);
  if (spare !== undefined) refuseToReplace(other, kindOf(other), spare, isForced);
  if (inFolder) makeOwnFolder(path, isForced);
  replaceFile(path, bytes, 0o644);
  if (spare !== undefined) takeOut(other);
  return changeOf(path, kind, previous, spare === undefined ? undefined : { path: other, version: spare });
}

function makeOwnFolder(path: string, isForced: boolean): void {
  // What a link leads to is somebody's own.
  if (kindOf(dirname(path)) === "link") rmSync(dirname(path));
  writeManifest(path, isForced, thisProgram("install --force"));
}

function changeOf(path: string, kind: Kind, previous: string | undefined, spare: Copy | undefined): FileChange {
  const instead = spare === undefined ? "" : `, in place of ${spare.path}`;
  if (kind === "nothing" && spare === undefined)
    return { action: "installed", path, message: `Installed ${VERSION}: ${path}` };
  const former = previous ?? spare?.version;
  const before = kind === "link" ? `a link to ${previous ?? "no palinode.js"}` : (former ?? "a file of another kind");
  const message = `Replaced ${before} → ${VERSION}: ${path}${instead}`;
  return { action: "replaced", path, previous: former, message };
}

/** Throws an `Error` for the user that says what is in the way, and the way out. */
function refuseToReplace(path: string, kind: Kind, previous: string | undefined, isForced: boolean): void {
  const refusal = refusalToReplace(kind, previous, isForced);
  if (refusal !== undefined) throw new Error(`${path} is ${refusal}`);
}

/** Returns what is in the way, and the way out; undefined when it may be replaced. */
function refusalToReplace(kind: Kind, previous: string | undefined, isForced: boolean): string | undefined {
  if (kind === "folder") return "a folder; move it away first";
  if (kind === "other") return "a special file; move it away first";
  if (isForced) return undefined;
  const mend = `to replace it all the same: ${thisProgram("install --force")}`;
  if (previous === undefined) return kind === "file" ? `no palinode.js that can be read; ${mend}` : undefined;
  return isNewer(previous, VERSION) ? `${previous}, newer than this file (${VERSION}); ${mend}` : undefined;
}

function uninstallFile(plugins: string): FileChange {
  const paths = [barePath(plugins), ownFolderPath(plugins)];
  const copies = paths.flatMap(copyAt);
  const [first] = copies;
  if (first !== undefined) {
    for (const { path } of copies) takeOut(path);
    const removed = copies.map(({ path, version }) => `${version}: ${path}`).join(", and ");
    return { action: "removed", path: first.path, previous: first.version, message: `Removed ${removed}` };
  }
  const path = paths.find((each) => kindOf(each) !== "nothing") ?? barePath(plugins);
  const isThere = kindOf(path) !== "nothing";
  const message = isThere ? `Left alone: ${path} is no palinode.js` : `Nothing to take out: there is no ${path}`;
  return { action: "none", path, message };
}

function copyAt(path: string): Copy[] {
  const version = versionOf(path);
  return version === undefined ? [] : [{ path, version }];
}

/** Only the built file can be copied: inside somebody's bundle there is nothing to install. */
function readThisFile(): Buffer {
  try {
    const path = fileURLToPath(import.meta.url);
    if (versionOf(path) === VERSION) return readFileSync(path);
  } catch {
    // Told below.
  }
  throw new Error("this program cannot read itself as a palinode.js; take the file from a release and run its install");
}

/** The file is done and told before the MCP settings are touched: a failure there must not hide it. */
function finish(shell: Shell, values: Values, file: FileChange, changeMcp: () => McpChange): number {
  const others = findCopies(shell.env, workspaceOf(shell.cwd)).filter((copy) => resolve(copy.path) !== file.path);
  const { message, ...facts } = file;
  const say = (line: string): void => (values.json === true ? undefined : shell.out(`${plainText(line)}\n`));
  const isOut = file.action === "removed" || file.action === "none";
  [message, ...others.map(isOut ? aboutStaying : aboutOther)].forEach(say);
  const mcp = values.mcp === true ? changeMcp() : undefined;
  mcp?.messages.forEach(say);
  if (file.action === "installed" || file.action === "replaced")
    say(`New sessions use it. To check: ${thisProgram("doctor")}`);
  if (values.json === true) printJson(shell, { ...facts, version: VERSION, others, ...(mcp && { mcp }) });
  return file.action === "none" && others.some(({ passedOver }) => passedOver === undefined) ? 1 : 0;
}

function aboutOther({ path, version }: Copy): string {
  return `Another copy, ${version}, is at ${path}. Cline uses one only; to take that one out: ${removalOf(path)}`;
}

/** What is left after `uninstall`. */
function aboutStaying({ path, version, passedOver }: Copy): string {
  const what = passedOver === undefined ? "Memory stays loaded from" : `Not loaded (${passedOver}) is`;
  return `${what} ${path} (${version}); to take that one out: ${removalOf(path)}`;
}

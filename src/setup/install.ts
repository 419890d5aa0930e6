// The verbs `install` and `uninstall`: this file into Cline's plugins folder and out again. What stands in Cline's MCP
// settings is mcp.ts.
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { codeOf, entryAt, replaceFile } from "../base/files.ts";
import { type Command, plainText, printJson, type Shell, thisProgram, UsageError, type Values } from "../base/shell.ts";
import { VERSION } from "../base/version.ts";
import { clineDir } from "../cline/index.ts";
import { workspaceOf } from "../settings/index.ts";
import { type Copy, findCopies, isNewer, type Kind, kindOf, removalOf, versionOf } from "./copies.ts";
import { addMcpServer, type McpChange, removeMcpServer } from "./mcp.ts";

const FILE_NAME = "palinode.js";

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
    const file = installFile(targetOf(shell, words, values), values.force === true);
    return finish(shell, values, file, () => addMcpServer(shell.env, values.force === true));
  },
};

export const uninstallCommand: Command = {
  usage: "[--project DIR] [--mcp] [--json]",
  help: "takes out what install put in",
  options: PROJECT,
  async run(shell, words, values) {
    return finish(shell, values, uninstallFile(targetOf(shell, words, values)), () => removeMcpServer(shell.env));
  },
};

function targetOf(shell: Shell, words: readonly string[], { project }: Values): string {
  if (words.length > 0) throw new UsageError(`unexpected argument "${words[0]}"`);
  if (project === undefined) return join(clineDir(shell.env), "plugins", FILE_NAME);
  const folder = resolve(shell.cwd, String(project));
  if (project === "" || !entryAt(folder)?.isDirectory()) throw new Error(`--project ${project}: no such folder`);
  return join(workspaceOf(folder), ".cline", "plugins", FILE_NAME);
}

function installFile(path: string, isForced: boolean): FileChange {
  const bytes = readThisFile();
  const kind = kindOf(path);
  const previous = versionOf(path);
  // Cline passes links over, so a link to the same bytes is not the same.
  if (kind === "file" && bytes.equals(readFileSync(path)))
    return { action: "unchanged", path, previous, message: `Already up to date: ${path} is ${VERSION}` };
  const refusal = refusalToReplace(kind, previous, isForced);
  if (refusal !== undefined) throw new Error(`${path} is ${refusal}`);
  replaceFile(path, bytes, 0o644);
  if (kind === "nothing") return { action: "installed", path, message: `Installed ${VERSION}: ${path}` };
  const before = kind === "link" ? `a link to ${previous ?? "no palinode.js"}` : (previous ?? "a file of another kind");
  const after = previous === VERSION ? `${VERSION} (other bytes)` : VERSION;
  return { action: "replaced", path, previous, message: `Replaced ${before} → ${after}: ${path}` };
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

function uninstallFile(path: string): FileChange {
  const kind = kindOf(path);
  const previous = versionOf(path);
  if (kind === "nothing") return { action: "none", path, message: `Nothing to take out: there is no ${path}` };
  if (previous === undefined) return { action: "none", path, message: `Left alone: ${path} is no palinode.js` };
  try {
    rmSync(path);
  } catch (error) {
    throw new Error(`cannot remove ${path} (${codeOf(error)}): its folder has to be one that you may write to`);
  }
  return { action: "removed", path, previous, message: `Removed ${previous}: ${path}` };
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

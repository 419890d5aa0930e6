// Palinode's own MCP server in Cline's settings: puts the entry in and takes it out, and leaves everything else there
// as it is. The shape is what Cline 3.0.65 accepts; `palinode-mcp` (0.23) reads host and port, not an address, and gets
// the rest of its environment from Cline.

import { COPYFILE_EXCL } from "node:constants";
import { copyFileSync, existsSync, realpathSync, statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { codeOf, readRecord, readText, replaceFile } from "../base/files.ts";
import { asRecord, asText, parseJson } from "../base/json.ts";
import { findProgram } from "../base/programs.ts";
import { thisProgram } from "../base/shell.ts";
import { mcpSettingsFile } from "../cline/index.ts";
import { DEFAULT_API_URL, readConfig } from "../settings/index.ts";
import { gettingPalinode } from "./mend.ts";

const NAME = "palinode";
const PROGRAM = "palinode-mcp";
/**
 * Cline's default for a call. Without a number here it gives up after three seconds, about what this program takes to
 * start.
 */
const TIMEOUT_SECONDS = 60;

/** A string of JSON, or a number. Numbers of others are kept as text, or `1.50` and those beyond 2^53 would change. */
const NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d[-+.\deE]*)/g;

/** What was done to the MCP settings. */
export interface McpChange {
  readonly action: "added" | "replaced" | "unchanged" | "kept" | "removed" | "none";
  readonly path: string;
  /** Where the unreadable settings of before went. */
  readonly backup?: string;
  readonly messages: readonly string[];
}

interface Settings {
  readonly path: string;
  /** The whole file, with an object of servers in it. */
  readonly content: Record<string, unknown> & { mcpServers: Record<string, unknown> };
  readonly isBroken: boolean;
}

/** Returns the program that the entry starts; undefined where there is none, or it is switched off. */
export function mcpProgram(env: NodeJS.ProcessEnv): string | undefined {
  const { command, transport, disabled } = asRecord(asRecord(readRecord(mcpSettingsFile(env)).mcpServers)[NAME]);
  return disabled === true ? undefined : (asText(command) ?? asText(asRecord(transport).command));
}

/**
 * Adds the entry. One that differs stays unless `isForced`. Throws an `Error` for the user when the file cannot be
 * written.
 */
export function addMcpServer(env: NodeJS.ProcessEnv, isForced: boolean): McpChange {
  const { path, content, isBroken } = readSettings(env);
  const { config, sources } = readConfig(undefined, env);
  const entry = entryFor(config.apiUrl);
  const former = content.mcpServers[NAME];
  const notes = notesOn(env, config.apiUrl, config.token !== "" && sources.token !== "environment");
  if (former !== undefined && isSame(former, entry))
    return { action: "unchanged", path, messages: [`Already there: ${NAME} in ${path}`, ...notes] };
  if (former !== undefined && !isForced) {
    const mend = thisProgram("install --mcp --force");
    return keptAs(path, `Left alone: ${NAME} in ${path} is another entry; to replace it: ${mend}`);
  }
  const backup = isBroken ? backUp(path) : undefined;
  content.mcpServers[NAME] = entry;
  save(path, content);
  const done = `${former === undefined ? "Added" : "Replaced"} ${NAME} in ${path}`;
  const messages = [done, ...(backup ? [aboutBackup(backup)] : []), ...notes];
  return { action: former === undefined ? "added" : "replaced", path, ...(backup && { backup }), messages };
}

function keptAs(path: string, message: string): McpChange {
  return { action: "kept", path, messages: [message] };
}

function aboutBackup(backup: string): string {
  const what = "What was there could not be read as MCP settings";
  return `${what}: other servers are no longer in the file, they are in its backup ${backup}`;
}

/** Takes out an entry as `addMcpServer` writes it, whatever the address, and whatever Cline noted in it since. */
export function removeMcpServer(env: NodeJS.ProcessEnv): McpChange {
  const { path, content, isBroken } = readSettings(env);
  if (isBroken) throw new Error(`${path} cannot be read as MCP settings and was left alone`);
  const entry = content.mcpServers[NAME];
  if (entry === undefined) return { action: "none", path, messages: [`Nothing to take out: no ${NAME} in ${path}`] };
  if (!isOfInstall(asRecord(entry))) {
    const mend = `cline mcp uninstall ${NAME}`;
    return keptAs(path, `Left alone: ${NAME} in ${path} is not as install wrote it; to take it out: ${mend}`);
  }
  delete content.mcpServers[NAME];
  save(path, content);
  return { action: "removed", path, messages: [`Removed ${NAME} from ${path}`] };
}

function isOfInstall(entry: Record<string, unknown>): boolean {
  const isAddressAlone = Object.keys(asRecord(entry.env)).every((name) => ADDRESS.includes(name));
  return isAddressAlone && isSame({ ...entry, env: undefined }, entryFor(DEFAULT_API_URL));
}

const ADDRESS = ["PALINODE_API_URL", "PALINODE_API_HOST", "PALINODE_API_PORT"];

function entryFor(apiUrl: string): Record<string, unknown> {
  const { hostname, port, protocol } = new URL(apiUrl);
  const values = [apiUrl, hostname, port || (protocol === "https:" ? "443" : "80")];
  const env = Object.fromEntries(ADDRESS.map((name, index) => [name, values[index]]));
  return { command: PROGRAM, args: [], ...(apiUrl !== DEFAULT_API_URL && { env }), timeout: TIMEOUT_SECONDS };
}

/** Cline keeps switches of its own in an entry (`disabled`, `timeout`): only what starts the server counts. */
function isSame(other: unknown, entry: Record<string, unknown>): boolean {
  const { command, args = [], env = {}, url, transport } = asRecord(other);
  if (url !== undefined || transport !== undefined) return false;
  return isDeepStrictEqual([command, args, env], [entry.command, entry.args, entry.env ?? {}]);
}

function notesOn(env: NodeJS.ProcessEnv, apiUrl: string, hasTokenElsewhere: boolean): string[] {
  const { protocol, pathname } = new URL(apiUrl);
  const notes: string[] = [];
  if (!findProgram(PROGRAM, env)) notes.push(`${PROGRAM} is not in PATH; to get it: ${gettingPalinode(env)}`);
  if (protocol !== "http:" || pathname !== "/")
    notes.push(`${PROGRAM} speaks plain http to a host and port only: ${apiUrl} may be out of its reach`);
  if (hasTokenElsewhere)
    notes.push(`${PROGRAM} does not read the token's file: put PALINODE_API_TOKEN into "env" of its entry`);
  return notes;
}

/** A file that is no JSON, or not of this shape, is broken: then as much is kept as can be. */
function readSettings(env: NodeJS.ProcessEnv): Settings {
  const path = mcpSettingsFile(env);
  if (!existsSync(path)) return { path, content: { mcpServers: {} }, isBroken: false };
  const text = textOf(path);
  const value =
    parseJson(text) && parseJson(text.replace(NUMBERS, (token, number) => (number ? `"\\u0000${number}"` : token)));
  const content = { ...(isObject(value) ? value : {}) };
  const isBroken =
    (!isObject(value) && text.trim() !== "") || !(content.mcpServers === undefined || isObject(content.mcpServers));
  const mcpServers = isObject(content.mcpServers) ? content.mcpServers : {};
  return { path, content: { ...content, mcpServers }, isBroken };
}

function textOf(path: string): string {
  try {
    return readText(path);
  } catch (error) {
    throw new Error(
      error instanceof RangeError ? `${path} ${error.message}` : `cannot read ${path} (${codeOf(error)})`,
    );
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The file may be a link into somebody's settings repository, and may hold secrets of other servers: both stay so. */
function save(path: string, content: object): void {
  const exists = existsSync(path);
  const text = JSON.stringify(content, null, 2).replace(/"\\u0000([-+.\deE]+)"/g, "$1");
  replaceFile(exists ? realpathSync(path) : path, `${text}\n`, exists ? statSync(path).mode & 0o777 : 0o600);
}

/** No backup replaces another. */
function backUp(path: string): string {
  for (let number = 1; ; number += 1) {
    const backup = `${path}.${number === 1 ? "" : `${number}.`}bak`;
    try {
      copyFileSync(path, backup, COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if (codeOf(error) !== "EEXIST")
        throw new Error(`cannot keep a copy of ${path} (${codeOf(error)}), so it was left alone`);
    }
  }
}

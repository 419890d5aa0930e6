// Where Cline keeps things, by the host's own precedence. Source: @cline/core 0.0.86, measured.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { realFolder } from "../base/files.ts";

/**
 * Returns Cline's folder: `CLINE_DIR`, else `.cline` in the home folder, which is `HOME`, `USERPROFILE`,
 * `HOMEDRIVE`+`HOMEPATH` or what the system says.
 */
export function clineDir(env: NodeJS.ProcessEnv): string {
  return set(env, "CLINE_DIR") ?? join(homeDir(env), ".cline");
}

/** Returns Cline's data folder: `CLINE_DATA_DIR`, else `data` in Cline's folder. */
export function clineDataDir(env: NodeJS.ProcessEnv): string {
  return set(env, "CLINE_DATA_DIR") ?? join(clineDir(env), "data");
}

/**
 * Returns where the CLI and SDK keep sessions: `PALINODE_CLINE_ROOT` for reading elsewhere, `CLINE_SESSION_DATA_DIR`,
 * else `sessions` in the data folder.
 */
export function clineSessionsDir(env: NodeJS.ProcessEnv): string {
  return set(env, "PALINODE_CLINE_ROOT") ?? set(env, "CLINE_SESSION_DATA_DIR") ?? join(clineDataDir(env), "sessions");
}

/** A folder that the editor extension keeps its tasks in, and the editor it belongs to. */
export interface ExtensionRoot {
  readonly editor: string;
  readonly path: string;
}

const EXTENSION = join("User", "globalStorage", "saoudrizwan.claude-dev");
const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
/** Servers that an editor starts on a remote machine, in the home folder there. */
const SERVERS: Readonly<Record<string, string>> = {
  ".vscode-server": "Code",
  ".vscode-server-insiders": "Code - Insiders",
  ".vscode-remote": "Code",
  ".vscodium-server": "VSCodium",
  ".cursor-server": "Cursor",
  ".windsurf-server": "Windsurf",
};

/**
 * Returns where the editor extension may keep tasks: the list in `PALINODE_CLINE_ROOTS`, else every known place. Those
 * of other systems are looked at too: homes are shared and mounted.
 */
export function extensionRoots(env: NodeJS.ProcessEnv): ExtensionRoot[] {
  const given = set(env, "PALINODE_CLINE_ROOTS")
    ?.split(delimiter)
    .filter((path) => path.trim() !== "");
  if (given)
    return given.map((path) => ({
      editor: EDITORS.findLast((name) => path.includes(name)) ?? "Code",
      path: tasksRoot(path),
    }));
  const home = homeDir(env);
  const folders = [
    set(env, "XDG_CONFIG_HOME") ?? join(home, ".config"),
    join(home, "Library", "Application Support"),
    set(env, "APPDATA") ?? join(home, "AppData", "Roaming"),
  ];
  const local = folders.flatMap((folder) =>
    EDITORS.map((editor) => ({ editor, path: join(folder, editor, EXTENSION) })),
  );
  return [
    ...local,
    ...Object.entries(SERVERS).map(([folder, editor]) => ({ editor, path: join(home, folder, "data", EXTENSION) })),
  ];
}

/** Somebody may name the folder of the extension, or the one around it. */
function tasksRoot(path: string): string {
  const below = join(path, "saoudrizwan.claude-dev");
  return existsSync(join(below, "tasks")) ? below : path;
}

/** Returns the folders that Cline loads plugins from, in its order: of two plugins with one name the later wins. */
export function pluginFolders(env: NodeJS.ProcessEnv, workspace: string): string[] {
  const folders = [
    join(workspace, ".cline", "plugins"),
    join(clineDir(env), "plugins"),
    join(homeDir(env), "Documents", "Cline", "Plugins"),
  ];
  // A folder that is reached by two ways is one: its only copy is not one too many.
  return folders.filter(
    (folder, index) => folders.findIndex((other) => realFolder(other) === realFolder(folder)) === index,
  );
}

/** Returns Cline's file of MCP servers. */
export function mcpSettingsFile(env: NodeJS.ProcessEnv): string {
  return set(env, "CLINE_MCP_SETTINGS_PATH") ?? join(clineDataDir(env), "settings", "cline_mcp_settings.json");
}

/** Returns Cline's file of settings that hold everywhere, such as which plugins are switched off. */
export function globalSettingsFile(env: NodeJS.ProcessEnv): string {
  return set(env, "CLINE_GLOBAL_SETTINGS_PATH") ?? join(clineDataDir(env), "settings", "global-settings.json");
}

/** Returns the file in which a running hub says its process id. */
export function hubRecordFile(env: NodeJS.ProcessEnv): string {
  return set(env, "CLINE_HUB_DISCOVERY_PATH") ?? join(clineDataDir(env), "locks", "hub", "production.json");
}

/** Returns Cline's log, one JSON object a line. */
export function clineLogFile(env: NodeJS.ProcessEnv): string {
  return join(clineDataDir(env), "logs", "cline.log");
}

/** Returns the home folder that Cline goes by: `HOME`, `USERPROFILE`, `HOMEDRIVE`+`HOMEPATH`, else the system's. */
export function homeDir(env: NodeJS.ProcessEnv): string {
  const [drive, path] = [set(env, "HOMEDRIVE"), set(env, "HOMEPATH")];
  return set(env, "HOME") ?? set(env, "USERPROFILE") ?? (drive && path ? `${drive}${path}` : homedir());
}

function set(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

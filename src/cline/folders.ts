// Where Cline keeps things, by the host's own precedence. Source: @cline/core 0.0.86, measured.
import { existsSync, readdirSync } from "node:fs";
import { devNull, homedir } from "node:os";
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

const EXTENSIONS = ["saoudrizwan.claude-dev", "saoudrizwan.cline-nightly"];
const EDITORS = [
  ...["Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders", "Cursor", "Cursor Nightly"],
  ...["Windsurf", "Windsurf - Next", "Trae", "Kiro", "Antigravity", "Positron"],
];
/** Where else an editor keeps its data in the home folder: on a remote machine, in a browser, boxed. */
const SERVERS: Readonly<Record<string, string>> = {
  ".vscode-server/data": "Code",
  ".vscode-server-insiders/data": "Code - Insiders",
  ".vscode-remote/data": "Code",
  ".vscodium-server/data": "VSCodium",
  ".cursor-server/data": "Cursor",
  ".windsurf-server/data": "Windsurf",
  ".openvscode-server/data": "Code",
  ".local/share/code-server": "Code",
  ".var/app/com.visualstudio.code/config/Code": "Code",
};

/**
 * Returns where the classic core, 1.3 to 3.89, may keep tasks: the list in `PALINODE_CLINE_ROOTS`, else every known
 * place. Those of other systems are looked at too: homes are shared and mounted. Source: the extension's
 * core/storage/disk.ts and standalone/vscode-context.ts, the layouts of the editors.
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
  return [
    ...folders.flatMap((folder) => EDITORS.flatMap((editor) => rootsOf(editor, join(folder, editor)))),
    ...Object.entries(SERVERS).flatMap(([folder, editor]) => rootsOf(editor, join(home, folder))),
    ...folders.flatMap((folder) => ideRoots(join(folder, "JetBrains"))),
    ...standaloneRoots(env),
  ];
}

/** An editor has a store for all its profiles, and may have one for each. */
function rootsOf(editor: string, data: string): ExtensionRoot[] {
  const profiles = join(data, "User", "profiles");
  const stores = [join(data, "User"), ...namesIn(profiles).map((name) => join(profiles, name))];
  return stores.flatMap((store) => EXTENSIONS.map((name) => ({ editor, path: join(store, "globalStorage", name) })));
}

function ideRoots(folder: string): ExtensionRoot[] {
  return namesIn(folder).flatMap((editor) =>
    EXTENSIONS.map((name) => ({ editor, path: join(folder, editor, "globalStorage", name) })),
  );
}

/** JetBrains and CLI 1 and 2 run the core without an editor; it takes `CLINE_DIR`, VS Code 4 `CLINE_DATA_DIR` too. */
function standaloneRoots(env: NodeJS.ProcessEnv): ExtensionRoot[] {
  const paths = new Set([clineDataDir(env), join(clineDir(env), "data")]);
  return [...paths].map((path) => ({ editor: "JetBrains or CLI 1 or 2", path }));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
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

/**
 * Returns the home folder that Cline goes by: `HOME`, `USERPROFILE`, `HOMEDRIVE`+`HOMEPATH`, else the system's.
 * Throws an `Error` for the user where there is none.
 */
export function homeDir(env: NodeJS.ProcessEnv): string {
  const [drive, path] = [set(env, "HOMEDRIVE"), set(env, "HOMEPATH")];
  return set(env, "HOME") ?? set(env, "USERPROFILE") ?? (drive && path ? `${drive}${path}` : systemHome());
}

/** Returns the environment for a session: a user without a home gets one where nothing is and nothing can be kept. */
export function sessionEnv(): NodeJS.ProcessEnv {
  try {
    homeDir(process.env);
    return process.env;
  } catch {
    return { ...process.env, HOME: devNull };
  }
}

/** A user whom the system does not know, as in a container, has none; an empty one would be the working folder. */
function systemHome(): string {
  try {
    const home = homedir();
    if (home !== "") return home;
  } catch {
    // Told below.
  }
  throw new Error("this user has no home folder; name one in HOME");
}

function set(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

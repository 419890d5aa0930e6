// Where Cline keeps things, by the host's own precedence. Source: @cline/core 0.0.86, measured.
import { homedir } from "node:os";
import { join } from "node:path";

/** Returns Cline's folder: `CLINE_DIR`, else `.cline` in the home of `HOME`, `USERPROFILE`, `HOMEDRIVE`+`HOMEPATH` or the system. */
export function clineDir(env: NodeJS.ProcessEnv): string {
  return set(env, "CLINE_DIR") ?? join(homeDir(env), ".cline");
}

/** Returns Cline's data folder: `CLINE_DATA_DIR`, else `data` in Cline's folder. */
export function clineDataDir(env: NodeJS.ProcessEnv): string {
  return set(env, "CLINE_DATA_DIR") ?? join(clineDir(env), "data");
}

/** Returns the folders that Cline loads plugins from, in its order: of two plugins with one name the later wins. */
export function pluginFolders(env: NodeJS.ProcessEnv, workspace: string): string[] {
  const folders = [join(workspace, ".cline", "plugins"), join(clineDir(env), "plugins"), join(homeDir(env), "Documents", "Cline", "Plugins")];
  return [...new Set(folders)];
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

/** Returns the home folder as Cline finds it. */
export function homeDir(env: NodeJS.ProcessEnv): string {
  const [drive, path] = [set(env, "HOMEDRIVE"), set(env, "HOMEPATH")];
  return set(env, "HOME") ?? set(env, "USERPROFILE") ?? (drive && path ? `${drive}${path}` : homedir());
}

function set(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

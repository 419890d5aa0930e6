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

/** Returns the home folder as Cline finds it. */
export function homeDir(env: NodeJS.ProcessEnv): string {
  const [drive, path] = [set(env, "HOMEDRIVE"), set(env, "HOMEPATH")];
  return set(env, "HOME") ?? set(env, "USERPROFILE") ?? (drive && path ? `${drive}${path}` : homedir());
}

function set(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

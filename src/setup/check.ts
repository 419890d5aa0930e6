// One line of the doctor: what was looked at, how it is, and the one command that mends it.
import { quoted } from "../base/shell.ts";
import { type Source, userFile } from "../settings/index.ts";

export interface Check {
  readonly name: string;
  readonly level: "ok" | "warning" | "failure";
  readonly message: string;
  /** What to type into a shell. */
  readonly fix?: string;
}

export function ok(name: string, message: string): Check {
  return { name, level: "ok", message };
}

/** Memory works, but not as it could. */
export function warning(name: string, message: string, fix?: string): Check {
  return { name, level: "warning", message, fix };
}

/** Returns the command that opens a file to be changed. */
export function editing(path: string): string {
  return `\${EDITOR:-vi} ${quoted(path)}`;
}

/**
 * Returns what gives a variable a value: the user's file where that sets it, since the hub reads it too, else the
 * shell.
 */
export function setting(variable: string, value: string, source: Source | undefined, env: NodeJS.ProcessEnv): string {
  return source === "user file" ? editing(userFile(env)) : `export ${variable}=${value}`;
}

/** Memory cannot work. */
export function failure(name: string, message: string, fix?: string): Check {
  return { name, level: "failure", message, fix };
}

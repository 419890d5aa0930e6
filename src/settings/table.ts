// The table of settings: each one's variable, default, limits and line of help. How a value is read is values.ts.
import { delimiter } from "node:path";
import { type Config, PROFILE_NAMES } from "./config.ts";
import { readFolders } from "./only-in.ts";
import { projectSlug } from "./project.ts";
import {
  clamped,
  milliseconds,
  number,
  readFlag,
  readFolder,
  readLine,
  readToken,
  readUrl,
  whole,
  word,
} from "./values.ts";

export interface Setting<T> {
  readonly variable: string;
  readonly fallback: T;
  /** Returns the value, or undefined for nonsense. Environment values arrive as text, options as anything. */
  readonly read: (raw: unknown) => T | undefined;
  readonly help: string;
  /** The default as help names it, where that differs. */
  readonly shown?: string;
}

type Settings = { readonly [Key in keyof Config]: Setting<Config[Key]> };

export const DEFAULT_API_URL = "http://localhost:6340";

/** The variable that names a file with the token, as the server has it. */
const TOKEN_FILE_VARIABLE = "PALINODE_API_TOKEN_FILE";

/** The table of settings, in the order in which help and README list them. */
export const SETTINGS: Settings = {
  apiUrl: {
    variable: "PALINODE_API_URL",
    fallback: DEFAULT_API_URL,
    read: readUrl,
    help: "where palinode-api listens",
  },
  token: { variable: "PALINODE_API_TOKEN", fallback: "", read: readToken, help: "bearer token of a protected server" },
  recallProfile: {
    variable: "PALINODE_HOOK_RECALL_PROFILE",
    fallback: "coding",
    read: word(PROFILE_NAMES),
    help: "coding, monitoring, investigation, writing, conversation, minimal or off",
  },
  recallMaxResults: {
    variable: "PALINODE_HOOK_RECALL_MAX_RESULTS",
    fallback: 3,
    read: whole(0, 100),
    help: "search hits per prompt; 0 = no search",
  },
  recallThreshold: {
    variable: "PALINODE_HOOK_RECALL_THRESHOLD",
    fallback: undefined,
    read: number(0, 1),
    help: "floor for a hit's raw cosine; unset, the answer as a whole decides",
    shown: "",
  },
  recallTriggers: {
    variable: "PALINODE_HOOK_RECALL_TRIGGERS",
    fallback: true,
    read: readFlag,
    help: "0 = no triggers",
  },
  recallMinChars: {
    variable: "PALINODE_HOOK_RECALL_MIN_CHARS",
    fallback: 12,
    read: whole(0, 1e6),
    help: "shorter prompts are not recalled for",
  },
  recallMaxChars: {
    variable: "PALINODE_HOOK_RECALL_MAX_CHARS",
    fallback: 3000,
    read: whole(0, 1e5),
    help: "cap of one prompt's recall",
  },
  recallTimeoutMs: {
    variable: "PALINODE_HOOK_RECALL_TIMEOUT",
    fallback: 4000,
    read: milliseconds(1, 60_000),
    help: "limit of one request, in seconds",
    shown: "4",
  },
  injectMaxFiles: {
    variable: "PALINODE_HOOK_INJECT_MAX_FILES",
    fallback: 10,
    read: whole(0, 1000),
    help: "core memories at session start; 0 = no priming",
  },
  injectMaxChars: {
    variable: "PALINODE_HOOK_INJECT_MAX_CHARS",
    fallback: 4000,
    read: whole(0, 1e5),
    help: "cap of the session-start digest",
  },
  minMessages: {
    variable: "PALINODE_HOOK_MIN_MESSAGES",
    fallback: 3,
    read: whole(1, 1e6),
    help: "prompts before the first capture",
  },
  hookDeadlineMs: {
    variable: "PALINODE_CLINE_HOOK_DEADLINE_MS",
    fallback: 2000,
    read: clamped(100, 2700),
    help: "limit of a whole hook, 100 to 2700",
  },
  resolve: {
    variable: "PALINODE_HOOK_RESOLVE",
    fallback: false,
    read: readFlag,
    help: "1 = bounded resolution in place of search (server 0.20)",
  },
  resolveDeadlineMs: {
    variable: "PALINODE_HOOK_RESOLVE_DEADLINE",
    fallback: 250,
    read: whole(1, 60_000),
    help: "milliseconds before search stands in",
  },
  capture: { variable: "PALINODE_CAPTURE_ENABLED", fallback: true, read: readFlag, help: "0 = no capture" },
  sessionMaxChars: {
    variable: "PALINODE_CLINE_SESSION_MAX_CHARS",
    fallback: 24_000,
    read: whole(0, 60_000),
    help: "injected characters alive in one session",
  },
  persist: { variable: "PALINODE_CLINE_PERSIST", fallback: true, read: readFlag, help: "0 = keep nothing on disk" },
  stateDir: {
    variable: "PALINODE_CLINE_STATE_DIR",
    fallback: "",
    read: readFolder,
    help: "where state is kept, an absolute path",
    shown: "<cline data dir>/palinode",
  },
  project: {
    variable: "PALINODE_PROJECT",
    fallback: "",
    read: readProject,
    help: "project slug, of letters a to z and digits; derived from git when unset",
  },
  onlyIn: {
    variable: "PALINODE_CLINE_ONLY_IN",
    fallback: [],
    read: readFolders,
    help: "folders, absolute or from ~, that memory is on in; elsewhere it is off",
  },
  notIn: {
    variable: "PALINODE_CLINE_NOT_IN",
    fallback: [],
    read: readFolders,
    help: "folders, absolute or from ~, that memory is off in",
  },
  tools: {
    variable: "PALINODE_CLINE_TOOLS",
    fallback: true,
    read: readFlag,
    help: "0 = no palinode_* tools for the agent",
  },
  repair: {
    variable: "PALINODE_CLINE_REPAIR",
    fallback: true,
    read: readFlag,
    help: "0 = no recall after a failed command",
  },
  digest: {
    variable: "PALINODE_CLINE_DIGEST",
    fallback: "full",
    read: word(["core", "full"]),
    help: "core memories, or full: also where the project stands",
  },
  allowHttp: {
    variable: "PALINODE_ALLOW_HTTP",
    fallback: false,
    read: readFlag,
    help: "1 = send the token over plain http to any address",
  },
  serverStart: {
    variable: "PALINODE_CLINE_SERVER_START",
    fallback: true,
    read: readFlag,
    help: "0 = no session starts the server that server install installed",
  },
};

/** What can be set: a setting, or the file that one of them is in. */
export type SettingName = keyof Config | "tokenFile";

/** The names in the order of the table. */
export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof Config)[];

/** Returns the environment variable of a setting. */
export function variableOf(name: SettingName): string {
  return name === "tokenFile" ? TOKEN_FILE_VARIABLE : SETTINGS[name].variable;
}

/** Returns a value as its variable would say it: a switch as 1 or 0. */
export function asVariable(value: unknown): string {
  if (Array.isArray(value)) return value.join(delimiter);
  return typeof value === "boolean" ? String(Number(value)) : String(value);
}

/** Returns for each setting its variable, what it does, and its default, or "" for none, in the order of the table. */
export function settingRows(): { variable: string; effect: string; fallback: string }[] {
  return SETTING_NAMES.flatMap((name) => {
    const { variable, help, fallback, shown = asVariable(fallback) } = SETTINGS[name];
    const row = { variable, effect: help, fallback: shown };
    const tokenFile = { variable: TOKEN_FILE_VARIABLE, effect: "a file that holds the token", fallback: "" };
    return name === "token" ? [row, tokenFile] : [row];
  });
}

function readProject(raw: unknown): string | undefined {
  const name = readLine(raw);
  return name !== undefined && projectSlug(name) !== "" ? name : undefined;
}

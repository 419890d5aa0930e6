// Every setting of the plugin: its name as an option and as an environment variable, its default and its limits. The one
// reader of the environment. A value that makes no sense falls back to the default, and `problems` names it.
import { join } from "node:path";
import { realFolder } from "../base/files.ts";
import { clip, oneLine } from "../base/text.ts";
import { clineDataDir, clineDir } from "../cline/index.ts";
import { readJsonObject, readTokenFile } from "./files.ts";
import { projectSlug } from "./project.ts";
import {
  clamped,
  hintFor,
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

/** Returns the user's settings file. */
export function userFile(env: NodeJS.ProcessEnv): string {
  return join(clineDir(env), "palinode.json");
}

/** The settings of the plugin, after defaults, profile, environment and options were put together. */
export interface Config {
  /** Where the Palinode API lives, without a trailing slash. */
  readonly apiUrl: string;
  /** Bearer token for a protected server, or "" for none. */
  readonly token: string;
  /** Channels that are on by default; explicit settings win over it. */
  readonly recallProfile: Profile;
  /** Search hits injected per prompt; 0 disables the search channel. */
  readonly recallMaxResults: number;
  /** Floor for a hit's raw cosine, 0 to 1. */
  readonly recallThreshold: number;
  /** Whether triggers are checked. */
  readonly recallTriggers: boolean;
  /** Prompts that say less are not recalled for; a CJK character counts double. */
  readonly recallMinChars: number;
  /** Cap of what one prompt injects, headings included; 0 disables search and triggers. */
  readonly recallMaxChars: number;
  /** Limit of one request, in milliseconds (the variable is in seconds). */
  readonly recallTimeoutMs: number;
  /** Core memories in the session-start digest; 0 disables priming. */
  readonly injectMaxFiles: number;
  /** Cap of the session-start digest, headings included; 0 disables priming. */
  readonly injectMaxChars: number;
  /** Prompts by a person before the first capture. */
  readonly minMessages: number;
  /** Limit of a whole hook, in milliseconds, 100 to 2,700: Cline ends the plugin at 3,000. */
  readonly hookDeadlineMs: number;
  /** Whether bounded resolution (`POST /resolve`) stands in for search. */
  readonly resolve: boolean;
  /** Limit of a resolution before search stands in, in milliseconds. */
  readonly resolveDeadlineMs: number;
  /** Whether sessions are captured. */
  readonly capture: boolean;
  /** Project slug, or "" to derive it. */
  readonly project: string;
  /** Whether what was injected is kept on disk, to replay it in another process. Off: nothing at all is kept. */
  readonly persist: boolean;
  /** Folder for ledgers, undelivered captures and reasons for silence. */
  readonly stateDir: string;
  /** Injected characters that may be alive in one session. */
  readonly sessionMaxChars: number;
  /** Whether the agent gets the `palinode_*` tools, and the rule that explains them. */
  readonly tools: boolean;
  /** Whether a failed command is recalled for. */
  readonly repair: boolean;
  /** What the session-start digest holds: core memories, or also where the project stands. */
  readonly digest: "core" | "full";
  /** Whether a token may travel over plain http to a public address. */
  readonly allowHttp: boolean;
}

const PROFILE_NAMES = ["coding", "monitoring", "investigation", "writing", "conversation", "minimal", "off"] as const;
export type Profile = (typeof PROFILE_NAMES)[number];

/** Options of `createPalinodePlugin`: each beats its environment variable. */
export type PalinodeOptions = Partial<Config> & {
  /** A file that holds the token; `token` wins. */
  readonly tokenFile?: string;
};

/** Settings and what was wrong with the values that were not taken. */
export interface ReadConfig {
  readonly config: Config;
  readonly problems: readonly string[];
  /** Where each setting comes from that is not at its default. */
  readonly sources: Sources;
}

/** One setting as it can be shown: a token only as being there. */
export interface SettingNote {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

export type Source = "option" | "environment" | "workspace file" | "user file" | "profile";
type Sources = Partial<Record<keyof Config, Source>>;

interface Setting<T> {
  readonly variable: string;
  readonly fallback: T;
  /** Returns the value, or undefined for nonsense. Environment values arrive as text, options as anything. */
  readonly read: (raw: unknown) => T | undefined;
  readonly help: string;
  /** The default as the variable would say it, where that differs. */
  readonly shown?: string;
}

type Settings = { readonly [Key in keyof Config]: Setting<Config[Key]> };

export const DEFAULT_API_URL = "http://localhost:6340";

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
    fallback: 0.5,
    read: number(0, 1),
    help: "similarity floor, raw cosine",
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
};

/** The variable that names a file with the token, as the server has it. */
export const TOKEN_FILE_VARIABLE = "PALINODE_API_TOKEN_FILE";

/** The name of a settings file: in Cline's folder the user's, in a workspace's `.cline` the workspace's. */
const SETTINGS_FILE = "palinode.json";
const MAX_PROBLEMS = 10;
/** Marks the problem of a value that another one stands in for. */
export const NOT_NEEDED = ", though not needed";
/** A cloned repository must not be able to send prompts elsewhere, to read files, or to loosen what guards the token. */
const NOT_FOR_WORKSPACES: ReadonlySet<string> = new Set(["apiUrl", "token", "tokenFile", "stateDir", "allowHttp"]);

/** What a profile changes of the defaults. `off` is not here: it stops everything, whatever else is set. */
const PROFILES: Record<Profile, Partial<Config>> = {
  coding: {},
  monitoring: { injectMaxFiles: 0, recallMaxResults: 0 },
  investigation: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 6, recallThreshold: 0.4 },
  writing: { recallTriggers: false, recallMaxResults: 0 },
  conversation: { recallMaxResults: 0 },
  minimal: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 0, tools: false },
  off: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 0, capture: false, tools: false, repair: false },
};

/**
 * Returns the settings: options, environment, workspace file, user file, profile, default, in this order. Reads the two
 * files, and a token file when one is named. Never throws: what cannot be used is left at its default and named in
 * `problems`, without the value.
 */
export function readConfig(
  given?: PalinodeOptions | null,
  env: NodeJS.ProcessEnv = process.env,
  workspace?: string,
): ReadConfig {
  const problems: string[] = [];
  const [ofUser, ofWorkspace] = [clineDir(env), join(workspace ?? "", ".cline")].map((folder) =>
    join(realFolder(folder), SETTINGS_FILE),
  ) as [string, string];
  const layers: Layer[] = [
    { source: "option", values: { ...given }, labelOf: (key) => key },
    { source: "environment", values: fromEnvironment(env), labelOf: variableOf },
    // In the home folder the two are one.
    ...(workspace === undefined || ofWorkspace === ofUser
      ? []
      : [readSettingsFile("workspace file", ofWorkspace, problems)]),
    readSettingsFile("user file", ofUser, problems),
  ];
  const explicit: Record<string, unknown> = {};
  const sources: Sources = {};
  for (const [key, setting] of Object.entries(SETTINGS)) {
    const found = key === "token" ? findToken(layers, problems) : findValue(layers, key, setting, problems);
    if (found === undefined) continue;
    explicit[key] = found.value;
    sources[key as keyof Config] = found.source;
  }
  const profile = (explicit.recallProfile ?? SETTINGS.recallProfile.fallback) as Profile;
  const defaults = Object.fromEntries(Object.entries(SETTINGS).map(([key, setting]) => [key, setting.fallback]));
  // An explicit setting wins over a profile, except over `off`.
  const merged = profile === "off" ? { ...explicit, ...PROFILES.off } : { ...PROFILES[profile], ...explicit };
  for (const key of Object.keys(PROFILES[profile]) as (keyof Config)[])
    if (profile === "off" || sources[key] === undefined) sources[key] = "profile";
  const config = { ...defaults, ...merged } as Record<keyof Config, unknown>;
  if (!config.stateDir) config.stateDir = join(clineDataDir(env), "palinode");
  return { config: Object.freeze(config) as unknown as Config, problems, sources };
}

/** Returns the settings that are not at their defaults, as they can be shown. */
export function settingNotes({ config, sources }: ReadConfig): SettingNote[] {
  return Object.entries(sources).map(([key, source]) => {
    const value = config[key as keyof Config];
    return {
      name: variableOf(key),
      value: key === "token" ? "(set)" : typeof value === "boolean" ? String(Number(value)) : String(value),
      source,
    };
  });
}

/** Returns whether anything at all is left to do. */
export function isActive(config: Config): boolean {
  return config.capture || recalls(config) || primes(config) || config.tools;
}

/** Returns whether a session starts with a digest of core memories. */
export function primes(config: Config): boolean {
  return config.injectMaxFiles > 0 && config.injectMaxChars > 0;
}

/** Returns whether prompts are recalled for, by search or by triggers. */
export function recalls(config: Config): boolean {
  return config.recallMaxChars > 0 && (config.recallMaxResults > 0 || config.recallTriggers);
}

/** Returns whether failed commands are recalled for, by search. */
export function repairs(config: Config): boolean {
  return config.repair && config.recallMaxChars > 0 && config.recallMaxResults > 0;
}

/** One place that settings come from: raw values by option name, and how a problem names them. */
interface Layer {
  readonly source: Source;
  readonly values: Readonly<Record<string, unknown>>;
  readonly labelOf: (key: string) => string;
}

interface Found {
  readonly value: unknown;
  readonly source: Source;
}

function findValue(
  layers: readonly Layer[],
  key: string,
  setting: Setting<unknown>,
  problems: string[],
): Found | undefined {
  let found: Found | undefined;
  for (const { source, values, labelOf } of layers) {
    const raw = values[key];
    if (isUnset(raw)) continue;
    const value = setting.read(raw);
    // One that does not count is named all the same: it would count once the better one is gone.
    if (value === undefined)
      problems.push(`${labelOf(key)} is not usable${found ? NOT_NEEDED : ""} (${hintFor(key, raw) ?? setting.help})`);
    else found ??= { value, source };
  }
  return found;
}

/** The nearer source wins, whichever of its two ways it names a token in. */
function findToken(layers: readonly Layer[], problems: string[]): Found | undefined {
  for (const layer of layers) {
    const value =
      findValue([layer], "token", SETTINGS.token, problems)?.value ??
      readTokenFile(layer.values.tokenFile, layer.labelOf("tokenFile"), problems);
    if (value) return { value, source: layer.source };
  }
  return undefined;
}

function readProject(raw: unknown): string | undefined {
  const name = readLine(raw);
  return name !== undefined && projectSlug(name) !== "" ? name : undefined;
}

function isUnset(raw: unknown): boolean {
  return raw === undefined || raw === null || (typeof raw === "string" && raw.trim() === "");
}

function fromEnvironment(env: NodeJS.ProcessEnv): Record<string, unknown> {
  return Object.fromEntries([...Object.keys(SETTINGS), "tokenFile"].map((key) => [key, env[variableOf(key)]]));
}

function variableOf(key: string): string {
  return key === "tokenFile" ? TOKEN_FILE_VARIABLE : SETTINGS[key as keyof Config].variable;
}

/** Keys are option names, or variables with values as a shell would have them. */
function readSettingsFile(source: "workspace file" | "user file", path: string, problems: string[]): Layer {
  const values: Record<string, unknown> = {};
  const labelOf = (key: string): string => `${path}: ${key}`;
  const known = new Map(
    [...Object.keys(SETTINGS), "tokenFile"].flatMap((key) => [
      [key, key],
      [variableOf(key), key],
    ]),
  );
  const found: string[] = [];
  for (const [name, raw] of Object.entries(readJsonObject(path, problems))) {
    const key = known.get(name);
    if (key === undefined) found.push(`${labelOf(clip(oneLine(name), 80))} is no setting`);
    else if (source === "workspace file" && NOT_FOR_WORKSPACES.has(key))
      found.push(`${labelOf(name)} is not for a workspace to set; put it into the user file`);
    // A variable's value is text; what is none, and no number either, is left for the reader to refuse.
    else if (raw !== null) values[key] = name !== key && typeof raw === "number" ? String(raw) : raw;
  }
  problems.push(
    ...found.slice(0, MAX_PROBLEMS),
    ...(found.length > MAX_PROBLEMS ? [`${path}: and ${found.length - MAX_PROBLEMS} more of these`] : []),
  );
  return { source, values, labelOf };
}

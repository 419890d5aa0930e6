// Every setting of the plugin: its name as an option and as an environment variable, its default and its limits. The one
// reader of the environment. A value that makes no sense falls back to the default, and `problems` names it.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

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
  /** Whether a token may travel over plain http to a public address. */
  readonly allowHttp: boolean;
}

export type Profile = "coding" | "monitoring" | "investigation" | "writing" | "conversation" | "minimal" | "off";

/** Options of `createPalinodePlugin`: each beats its environment variable. */
export type PalinodeOptions = Partial<Config> & {
  /** A file that holds the token; `token` wins. */
  readonly tokenFile?: string;
};

/** Settings and what was wrong with the values that were not taken. */
export interface ReadConfig {
  readonly config: Config;
  readonly problems: readonly string[];
}

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
  apiUrl: { variable: "PALINODE_API_URL", fallback: DEFAULT_API_URL, read: readUrl, help: "where palinode-api listens" },
  token: { variable: "PALINODE_API_TOKEN", fallback: "", read: readToken, help: "bearer token of a protected server" },
  recallProfile: {
    variable: "PALINODE_HOOK_RECALL_PROFILE", fallback: "coding", read: readProfile,
    help: "coding, monitoring, investigation, writing, conversation, minimal or off",
  },
  recallMaxResults: { variable: "PALINODE_HOOK_RECALL_MAX_RESULTS", fallback: 3, read: whole(0, 100), help: "search hits per prompt; 0 = no search" },
  recallThreshold: { variable: "PALINODE_HOOK_RECALL_THRESHOLD", fallback: 0.5, read: number(0, 1), help: "similarity floor, raw cosine" },
  recallTriggers: { variable: "PALINODE_HOOK_RECALL_TRIGGERS", fallback: true, read: readFlag, help: "0 = no triggers" },
  recallMinChars: { variable: "PALINODE_HOOK_RECALL_MIN_CHARS", fallback: 12, read: whole(0, 1e6), help: "shorter prompts are not recalled for" },
  recallMaxChars: { variable: "PALINODE_HOOK_RECALL_MAX_CHARS", fallback: 3000, read: whole(0, 1e5), help: "cap of one prompt's recall" },
  recallTimeoutMs: { variable: "PALINODE_HOOK_RECALL_TIMEOUT", fallback: 4000, read: milliseconds(1, 60_000), help: "limit of one request, in seconds", shown: "4" },
  injectMaxFiles: { variable: "PALINODE_HOOK_INJECT_MAX_FILES", fallback: 10, read: whole(0, 1000), help: "core memories at session start; 0 = no priming" },
  injectMaxChars: { variable: "PALINODE_HOOK_INJECT_MAX_CHARS", fallback: 4000, read: whole(0, 1e5), help: "cap of the session-start digest" },
  minMessages: { variable: "PALINODE_HOOK_MIN_MESSAGES", fallback: 3, read: whole(1, 1e6), help: "prompts before the first capture" },
  hookDeadlineMs: { variable: "PALINODE_CLINE_HOOK_DEADLINE_MS", fallback: 2000, read: clamped(100, 2700), help: "limit of a whole hook, 100 to 2700" },
  resolve: { variable: "PALINODE_HOOK_RESOLVE", fallback: false, read: readFlag, help: "1 = bounded resolution in place of search (server 0.20)" },
  resolveDeadlineMs: { variable: "PALINODE_HOOK_RESOLVE_DEADLINE", fallback: 250, read: whole(1, 60_000), help: "milliseconds before search stands in" },
  capture: { variable: "PALINODE_CAPTURE_ENABLED", fallback: true, read: readFlag, help: "0 = no capture" },
  sessionMaxChars: { variable: "PALINODE_CLINE_SESSION_MAX_CHARS", fallback: 24_000, read: whole(0, 60_000), help: "injected characters alive in one session" },
  persist: { variable: "PALINODE_CLINE_PERSIST", fallback: true, read: readFlag, help: "0 = keep nothing on disk" },
  stateDir: { variable: "PALINODE_CLINE_STATE_DIR", fallback: "", read: readFolder, help: "where state is kept, an absolute path", shown: "<cline data dir>/palinode" },
  project: { variable: "PALINODE_PROJECT", fallback: "", read: readLine, help: "project slug; derived from git when unset" },
  allowHttp: { variable: "PALINODE_ALLOW_HTTP", fallback: false, read: readFlag, help: "1 = send the token over plain http to any address" },
};

/** The variable that names a file with the token, as the server has it. */
export const TOKEN_FILE_VARIABLE = "PALINODE_API_TOKEN_FILE";

/** What a profile changes of the defaults. `off` is not here: it stops everything, whatever else is set. */
const PROFILES: Record<Profile, Partial<Config>> = {
  coding: {},
  monitoring: { injectMaxFiles: 0, recallMaxResults: 0 },
  investigation: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 6, recallThreshold: 0.4 },
  writing: { recallTriggers: false, recallMaxResults: 0 },
  conversation: { recallMaxResults: 0 },
  minimal: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 0 },
  off: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 0, capture: false },
};

/**
 * Returns the settings: options, then environment, then profile, then default. Reads a token file when one is named.
 * Never throws: what cannot be used is left at its default and named in `problems`, without the value.
 */
export function readConfig(given?: PalinodeOptions | null, env: NodeJS.ProcessEnv = process.env): ReadConfig {
  const options = given ?? {};
  const problems: string[] = [];
  const explicit: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(SETTINGS)) {
    const value = firstValid([[key, options[key as keyof Config]], [setting.variable, env[setting.variable]]], setting, problems);
    if (value !== undefined) explicit[key] = value;
  }
  const profile = (explicit.recallProfile ?? SETTINGS.recallProfile.fallback) as Profile;
  const defaults = Object.fromEntries(Object.entries(SETTINGS).map(([key, setting]) => [key, setting.fallback]));
  // An explicit setting wins over a profile, except over `off`.
  const merged = profile === "off" ? { ...explicit, ...PROFILES.off } : { ...PROFILES[profile], ...explicit };
  const config = { ...defaults, ...merged } as Record<keyof Config, unknown>;
  if (!config.stateDir) config.stateDir = join(clineDataDir(env), "palinode");
  // The nearer source wins, whichever of its two ways it names a token in.
  const isTokenGiven = SETTINGS.token.read(options.token) !== undefined;
  const fromFile = isTokenGiven ? "" : readTokenFile(options.tokenFile, problems);
  config.token = fromFile || config.token || readTokenFile(env[TOKEN_FILE_VARIABLE], problems);
  return { config: Object.freeze(config) as unknown as Config, problems };
}

/**
 * Returns Cline's data folder by the host's own precedence: `CLINE_DATA_DIR`, `CLINE_DIR`/data, and below the home of
 * `HOME`, `USERPROFILE`, `HOMEDRIVE`+`HOMEPATH` or the operating system. Source: @cline/core 0.0.86, measured.
 */
export function clineDataDir(env: NodeJS.ProcessEnv): string {
  const set = (name: string): string | undefined => env[name]?.trim() || undefined;
  const drive = set("HOMEDRIVE") && set("HOMEPATH") ? `${set("HOMEDRIVE")}${set("HOMEPATH")}` : undefined;
  const home = set("HOME") ?? set("USERPROFILE") ?? drive ?? homedir();
  return set("CLINE_DATA_DIR") ?? join(set("CLINE_DIR") ?? join(home, ".cline"), "data");
}

/** Returns whether anything at all is left to do. */
export function isActive(config: Config): boolean {
  return config.capture || recalls(config) || primes(config);
}

/** Returns whether a session starts with a digest of core memories. */
export function primes(config: Config): boolean {
  return config.injectMaxFiles > 0 && config.injectMaxChars > 0;
}

/** Returns whether prompts are recalled for, by search or by triggers. */
export function recalls(config: Config): boolean {
  return config.recallMaxChars > 0 && (config.recallMaxResults > 0 || config.recallTriggers);
}

function firstValid(sources: [string, unknown][], setting: Setting<unknown>, problems: string[]): unknown {
  for (const [name, raw] of sources) {
    if (raw === undefined || raw === null || (typeof raw === "string" && raw.trim() === "")) continue;
    const value = setting.read(raw);
    if (value !== undefined) return value;
    problems.push(`${name} is not usable (${setting.help})`);
  }
  return undefined;
}

function readTokenFile(path: unknown, problems: string[]): string {
  if (typeof path !== "string" || path.trim() === "") return "";
  try {
    // Reading a pipe or a device would block the host.
    const token = statSync(path.trim()).isFile() ? readToken(readFileSync(path.trim(), "utf8")) : undefined;
    if (token) return token;
    problems.push(`${TOKEN_FILE_VARIABLE}: the file holds no token`);
  } catch {
    problems.push(`${TOKEN_FILE_VARIABLE}: the file cannot be read`);
  }
  return "";
}

function readUrl(raw: unknown): string | undefined {
  const url = typeof raw === "string" && URL.canParse(raw.trim()) ? new URL(raw.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  // `fetch` refuses a URL with credentials, and a query belongs to no base address.
  return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, "");
}

function readToken(raw: unknown): string | undefined {
  const token = typeof raw === "string" ? raw.trim() : "";
  return /^[\x21-\x7e]{1,4096}$/.test(token) ? token : undefined;
}

function readProfile(raw: unknown): Profile | undefined {
  const name = typeof raw === "string" ? raw.trim().toLowerCase() : "";
  return Object.hasOwn(PROFILES, name) ? (name as Profile) : undefined;
}

function readLine(raw: unknown): string | undefined {
  return typeof raw === "string" && raw.length <= 200 ? raw.trim() : undefined;
}

/** A relative folder would land in whatever repository is open. */
function readFolder(raw: unknown): string | undefined {
  const path = typeof raw === "string" ? raw.trim() : "";
  return isAbsolute(path) && !/[\u0000-\u001f]/.test(path) ? path : undefined;
}

function readFlag(raw: unknown): boolean | undefined {
  if (typeof raw === "boolean") return raw;
  const word = typeof raw === "string" || typeof raw === "number" ? String(raw).trim().toLowerCase() : "";
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : undefined;
}

function readNumber(raw: unknown): number {
  if (typeof raw === "number") return raw;
  return typeof raw === "string" && /^\s*(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})\s*$/.test(raw) ? Number(raw) : NaN;
}

function number(min: number, max: number) {
  return (raw: unknown): number | undefined => {
    const value = readNumber(raw);
    return value >= min && value <= max ? value : undefined;
  };
}

function whole(min: number, max: number) {
  const inRange = number(min, max);
  return (raw: unknown): number | undefined => {
    const value = inRange(raw);
    return value !== undefined && Number.isInteger(value) ? value : undefined;
  };
}

function clamped(min: number, max: number) {
  return (raw: unknown): number | undefined => {
    const value = readNumber(raw);
    return Number.isFinite(value) && value >= 0 ? Math.round(Math.min(max, Math.max(min, value))) : undefined;
  };
}

/** The variable is in seconds, the option in milliseconds: text is seconds, a number milliseconds. */
function milliseconds(min: number, max: number) {
  const inRange = number(min, max);
  return (raw: unknown): number | undefined => inRange(typeof raw === "number" ? raw : Math.round(readNumber(raw) * 1000));
}

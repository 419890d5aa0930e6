// What the settings come to: one frozen object, and which channels it leaves on.

export const PROFILE_NAMES = [
  "coding",
  "monitoring",
  "investigation",
  "writing",
  "conversation",
  "minimal",
  "off",
] as const;
export type Profile = (typeof PROFILE_NAMES)[number];

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
  /** Floor for a hit's raw cosine, 0 to 1; undefined: nobody set one, and the answer as a whole decides. */
  readonly recallThreshold: number | undefined;
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
  /** Folders, absolute or from `~`, that memory is on in; empty: everywhere. */
  readonly onlyIn: readonly string[];
  /** Folders, absolute or from `~`, that memory is off in, also below the others. */
  readonly notIn: readonly string[];
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
  /** Whether a session starts the server that `server install` installed, where nobody answers. */
  readonly serverStart: boolean;
}

/** Options of `createPalinodePlugin`: each beats its environment variable. */
export type PalinodeOptions = Partial<Config> & {
  /** A file that holds the token; `token` wins. */
  readonly tokenFile?: string;
};

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

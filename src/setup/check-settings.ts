// What the doctor says of settings: which are not at their defaults, what was not taken and where that is mended,
// whether they leave anything to do, and whether others can read the token.
import { entryAt } from "../base/files.ts";
import { quoted } from "../base/shell.ts";
import {
  isActive,
  type Problem,
  type ReadConfig,
  type SettingName,
  userFile,
  variableOf,
  workspaceFile,
} from "../settings/index.ts";
import { type Check, failure, ok, warning } from "./check.ts";
import { editing, setting, settingByHand, unsetting } from "./mend.ts";

const MIN_TIMEOUT_MS = 100;
const USUAL_TIMEOUT_MS = 4000;
const MAX_TIMEOUT_MS = 60_000;
/** What leads to the server. */
const CONNECTION: readonly (string | undefined)[] = ["apiUrl", "token", "tokenFile"];

/** Returns a line for all settings, and one for each trouble with them. `isCutOff`: the server cannot be used. */
export function checkSettings(read: ReadConfig, env: NodeJS.ProcessEnv, workspace: string, isCutOff: boolean): Check[] {
  return [
    ok("settings", summaryOf(read)),
    ...read.problems.map((problem) => lineFor(problem, isCutOff, env)),
    ...hasty(read, env, workspace),
    ...(isActive(read.config) ? [] : [allOff(read, env, workspace)]),
  ];
}

function summaryOf({ config, sources }: ReadConfig): string {
  const shown = Object.entries(config).flatMap(([key, value]) => {
    const source = sources[key as keyof typeof config];
    if (source === undefined || source === "profile") return [];
    return [`${key}${key === "token" ? "" : ` ${JSON.stringify(value)}`} (${source})`];
  });
  return shown.length === 0 ? "all at their defaults" : `not at their defaults: ${shown.join(", ")}`;
}

function lineFor(problem: Problem, isCutOff: boolean, env: NodeJS.ProcessEnv): Check {
  const isCause = isCutOff && !problem.isShadowed && mayCutOff(problem);
  return (isCause ? failure : warning)("settings", problem.text, mendOf(problem, env));
}

/** An address or a token that was not taken, or the whole file that may hold them. No workspace may set either. */
function mayCutOff({ setting, source }: Problem): boolean {
  return source !== "workspace file" && (setting === undefined || CONNECTION.includes(setting));
}

function mendOf({ setting, source, file }: Problem, env: NodeJS.ProcessEnv): string {
  if (file !== undefined) return editing(file);
  // Names that are no setting stand in files alone.
  const name = setting as SettingName;
  return name === "token" || name === "tokenFile" ? settingByHand(name, source, env) : unsetting(variableOf(name));
}

/** The variable is in seconds, the option in milliseconds: so few are meant as seconds. */
function hasty({ config, sources }: ReadConfig, env: NodeJS.ProcessEnv, workspace: string): Check[] {
  const { recallTimeoutMs: limitMs } = config;
  const source = sources.recallTimeoutMs;
  if (limitMs >= MIN_TIMEOUT_MS) return [];
  const message = `recallTimeoutMs (${source}) is ${limitMs} milliseconds, and no server answers in that time`;
  const meantMs = limitMs * 1000 <= MAX_TIMEOUT_MS ? limitMs * 1000 : USUAL_TIMEOUT_MS;
  return [warning("settings", message, setting("recallTimeoutMs", meantMs, source, env, workspace))];
}

/** Capture is the one channel that no profile but `off` stops. */
function allOff(read: ReadConfig, env: NodeJS.ProcessEnv, workspace: string): Check {
  const key = read.leftOutBy ?? (read.config.recallProfile === "off" ? "recallProfile" : "capture");
  const source = read.sources[key] ?? "user file";
  const message =
    read.leftOutBy === undefined
      ? `everything is switched off by ${variableOf(key)} (${source})`
      : `memory is off in this folder by ${variableOf(key)} (${source})`;
  if (source === "user file") return failure("settings", message, editing(userFile(env)));
  if (source === "workspace file") return failure("settings", message, editing(workspaceFile(workspace)));
  return failure("settings", message, unsetting(variableOf(key)));
}

/** A token that others on this machine can read is none of theirs. */
export function checkTokenFile({ config, tokenFile }: ReadConfig): Check[] {
  if (config.token === "" || tokenFile === undefined || process.platform === "win32") return [];
  const isOpen = ((entryAt(tokenFile)?.mode ?? 0) & 0o077) !== 0;
  return isOpen
    ? [warning("token", `others may read the token in ${tokenFile}`, `chmod 600 ${quoted(tokenFile)}`)]
    : [];
}

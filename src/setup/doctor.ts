// The verb `doctor`: looks at everything that memory needs, and names for each trouble the one command that mends it.
// What is looked at: this machine here and in hostcheck.ts, the server in servercheck.ts.
import { mkdtempSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, entryAt } from "../base/files.ts";
import { asRecord } from "../base/json.ts";
import { type Command, plainText, printJson, quoted, type Shell, styled, UsageError } from "../base/shell.ts";
import { openState } from "../base/store.ts";
import { VERSION } from "../base/version.ts";
import { pausedSince } from "../session/index.ts";
import {
  type Config,
  isActive,
  NOT_NEEDED,
  type ReadConfig,
  readConfig,
  SETTINGS,
  type Source,
  userFile,
} from "../settings/index.ts";
import { type Check, editing, failure, ok, setting, warning } from "./check.ts";
import { checkCline, checkCopies, checkHub, checkLog } from "./check-cline.ts";
import { checkServer, checkTokenFile } from "./check-server.ts";

const COLOURS = { ok: "green", warning: "yellow", failure: "red" } as const;
const NAME_WIDTH = 9;
/** A problem with what leads to the server. */
const CONNECTION = /(?:^|: )(?:PALINODE_API_(?:URL|TOKEN|TOKEN_FILE)|apiUrl|token|tokenFile)(?:: | is not usable)/;

export const doctorCommand: Command = {
  usage: "[--json]",
  help: "looks for what keeps memory from working, and names the command that mends it",
  options: { json: { type: "boolean" } },
  async run(shell, words, values) {
    if (words.length > 0) throw new UsageError(`unexpected argument "${words[0]}"`);
    const checks = (await examine(shell)).map((check) => ({
      ...check,
      message: plainText(check.message).replaceAll("\n", " "),
    }));
    if (values.json === true) printJson(shell, checks);
    else
      shell.out(
        `palinode.js ${VERSION}\n\n${checks.map((check) => lineOf(shell, check)).join("")}\n${verdict(checks)}\n`,
      );
    return checks.some(({ level }) => level === "failure") ? 1 : 0;
  },
};

async function examine(shell: Shell): Promise<Check[]> {
  const { env, cwd } = shell;
  const read = readConfig(undefined, env, cwd);
  const [cline, server] = await Promise.all([checkCline(env), checkServer(read, cwd, env)]);
  const isCutOff = server.some(({ level }) => level === "failure");
  return [
    cline,
    ...checkCopies(env, cwd),
    ...checkLog(env, cwd, read.config),
    checkState(read.config, read.sources.stateDir, env),
    ...checkPause(read.config, cwd),
    ...checkSettings(read, env, cwd, isCutOff),
    ...server,
    ...checkTokenFile(read, env),
    checkHub(env),
  ];
}

function lineOf(shell: Shell, { name, level, message, fix }: Check): string {
  const line = `${styled(shell, COLOURS[level], level.padEnd(8))} ${name.padEnd(NAME_WIDTH)} ${message}\n`;
  return fix === undefined ? line : `${line}${" ".repeat(NAME_WIDTH + 10)}→ ${plainText(fix)}\n`;
}

function verdict(checks: readonly Check[]): string {
  const failures = checks.filter(({ level }) => level === "failure");
  const warnings = checks.filter(({ level }) => level === "warning").length;
  if (failures.length === 0) return warnings === 0 ? "Memory works." : `Memory works; ${count(warnings, "warning")}.`;
  const first = failures.find(({ fix }) => fix !== undefined)?.fix;
  return `Memory cannot work yet: ${count(failures.length, "failure")}.${first === undefined ? "" : ` Start with: ${first}`}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** A folder that is not there yet is not made: another one is, beside it, to see that it can be. */
function checkState({ persist, stateDir }: Config, source: Source | undefined, env: NodeJS.ProcessEnv): Check {
  if (!persist) return ok("state", "nothing is kept on disk (persist is off)");
  const folder = nearest(stateDir);
  const elsewhere = setting("PALINODE_CLINE_STATE_DIR", "…", source, env);
  if (!folder.isFolder) return warning("state", `${folder.path} is no folder, so nothing can be kept there`, elsewhere);
  if (folder.path !== stateDir) {
    const refusal = refusalIn(folder.path);
    if (refusal !== undefined) return warning("state", `${stateDir} cannot be made (${refusal})`, elsewhere);
    return ok("state", `${stateDir} will be made when it is needed`);
  }
  let trouble = process.platform !== "win32" && (folder.mode & 0o077) !== 0 ? "others may look into it" : "";
  const probe = `doctor-${process.pid}.json`;
  const state = openState(stateDir, (what) => {
    trouble = what;
  });
  if (state.write(probe, {})) state.remove(probe);
  const fix = /others|EACCES/.test(trouble) ? `chmod 700 ${quoted(stateDir)}` : elsewhere;
  return trouble === "" ? ok("state", `${stateDir} is writable`) : warning("state", `${stateDir}: ${trouble}`, fix);
}

/** Returns why no folder can be made in `folder`, or undefined. Rights alone do not tell: a disk may be read-only, and root may do all. */
function refusalIn(folder: string): string | undefined {
  try {
    rmdirSync(mkdtempSync(join(folder, ".palinode-doctor-")));
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

/** Returns what stands at a path, or at the nearest place above where anything does. */
function nearest(path: string): { path: string; isFolder: boolean; mode: number } {
  const entry = entryAt(path);
  return entry === undefined && dirname(path) !== path
    ? nearest(dirname(path))
    : { path, isFolder: entry?.isDirectory() === true, mode: entry?.mode ?? 0 };
}

function checkPause({ persist, stateDir }: Config, cwd: string): Check[] {
  const since = persist ? pausedSince(openState(stateDir), cwd) : undefined;
  if (since === undefined) return [];
  // Of a time that no calendar has, `toISOString` would throw.
  return [
    warning(
      "paused",
      `memory is paused in this workspace since ${new Date(since).toJSON()}; to end it, type in Cline:`,
      "/palinode resume",
    ),
  ];
}

/** Where the server cannot be reached, an address or a token that was not usable is the likely reason: then it is a failure too. */
function checkSettings(
  { config, problems, sources }: ReadConfig,
  env: NodeJS.ProcessEnv,
  cwd: string,
  isCutOff: boolean,
): Check[] {
  const values = asRecord(config);
  const set = Object.entries(sources)
    .filter(([, source]) => source !== "profile")
    .map(([key, source]) => `${key}${key === "token" ? "" : ` ${JSON.stringify(values[key])}`} (${source})`);
  const files = { "user file": userFile(env), "workspace file": join(cwd, ".cline", "palinode.json") };
  const lineFor = (problem: string): Check => {
    const isCause =
      isCutOff &&
      !problem.includes(NOT_NEEDED) &&
      (CONNECTION.test(problem) || problem.startsWith(`${files["user file"]} `));
    const variable = /^PALINODE_\w+/.exec(problem)?.[0];
    const file = Object.values(files).find((path) => problem.startsWith(path));
    const fix = variable
      ? CONNECTION.test(problem)
        ? `export ${variable}=…`
        : `unset ${variable}`
      : file && editing(file);
    return (isCause ? failure : warning)("settings", problem, fix);
  };
  // Capture is the one channel that no profile but `off` stops.
  const key = config.recallProfile === "off" ? "recallProfile" : "capture";
  const [source, { variable }] = [sources[key], SETTINGS[key]];
  const back = source === "user file" || source === "workspace file" ? editing(files[source]) : `unset ${variable}`;
  return [
    ok("settings", set.length === 0 ? "all at their defaults" : `not at their defaults: ${set.join(", ")}`),
    ...problems.map(lineFor),
    ...(isActive(config) ? [] : [failure("settings", `everything is switched off by ${variable} (${source})`, back)]),
  ];
}

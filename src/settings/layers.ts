// The places that settings come from, nearest first: options, environment, the workspace's file, the user's file.
import { join } from "node:path";
import { realFolder } from "../base/files.ts";
import { clip, oneLine } from "../base/text.ts";
import { clineDir } from "../cline/index.ts";
import type { PalinodeOptions } from "./config.ts";
import { readJsonObject } from "./files.ts";
import { SETTING_NAMES, type SettingName, variableOf } from "./table.ts";

export type Source = "option" | "environment" | "workspace file" | "user file" | "profile";

/** Something that was not taken, and why. No value is ever named. */
export interface Problem {
  /** What it is about: an option's name, or a name that is no setting; undefined: the file as a whole. */
  readonly setting: string | undefined;
  readonly source: Source;
  /** The settings file that it stands in; undefined for options and the environment. */
  readonly file?: string;
  /** The whole of it in one line, for people. */
  readonly text: string;
  /** Whether another value counts in its place, so that nothing is missing. */
  readonly isShadowed: boolean;
}

/** One place that settings come from. */
export interface Layer {
  readonly source: Source;
  readonly file?: string;
  /** Raw values: options and files hold anything, the environment holds text. */
  readonly values: Readonly<Partial<Record<SettingName, unknown>>>;
  /** Returns a setting's name as problems with this place name it. */
  readonly labelOf: (name: SettingName) => string;
}

const ALL_NAMES: readonly SettingName[] = [...SETTING_NAMES, "tokenFile"];
/** What files may call a setting, and the setting. */
const NAMES: ReadonlyMap<string, SettingName> = new Map(
  ALL_NAMES.flatMap((name) => [
    [name, name],
    [variableOf(name), name],
  ]),
);
/** The name of a settings file: in Cline's folder the user's, in a workspace's `.cline` the workspace's. */
const FILE_NAME = "palinode.json";
const MAX_PROBLEMS = 10;
const MAX_NAME_CHARS = 80;
/**
 * A cloned repository must not be able to send prompts elsewhere, to read files, to loosen the token's guard, or to say
 * where memory is on.
 */
const NOT_FOR_WORKSPACES: ReadonlySet<string> = new Set([
  "apiUrl",
  "token",
  "tokenFile",
  "stateDir",
  "persist",
  "allowHttp",
  "onlyIn",
  "notIn",
]);

/** Returns the user's settings file. */
export function userFile(env: NodeJS.ProcessEnv): string {
  return join(realFolder(clineDir(env)), FILE_NAME);
}

/** Returns a workspace's settings file. */
export function workspaceFile(workspace: string): string {
  return join(realFolder(join(workspace, ".cline")), FILE_NAME);
}

/** Returns all places, nearest first. What is wrong with files as a whole, and with names in them, is added. */
export function readLayers(
  options: PalinodeOptions | null | undefined,
  env: NodeJS.ProcessEnv,
  workspace: string | undefined,
  problems: Problem[],
): Layer[] {
  const ofUser = userFile(env);
  const ofWorkspace = workspace === undefined ? ofUser : workspaceFile(workspace);
  return [
    { source: "option", values: { ...options }, labelOf: (name) => name },
    { source: "environment", values: fromEnvironment(env), labelOf: variableOf },
    // In the home folder the two are one.
    ...(ofWorkspace === ofUser ? [] : [readSettingsFile("workspace file", ofWorkspace, problems)]),
    readSettingsFile("user file", ofUser, problems),
  ];
}

function fromEnvironment(env: NodeJS.ProcessEnv): Layer["values"] {
  return Object.fromEntries(ALL_NAMES.map((name) => [name, env[variableOf(name)]]));
}

/** Keys are option names, or variables with values as a shell would have them. */
function readSettingsFile(source: "workspace file" | "user file", file: string, problems: Problem[]): Layer {
  const problemOf = (setting: string | undefined, text: string): Problem => {
    return { setting, source, file, text, isShadowed: false };
  };
  const complaints: string[] = [];
  const entries = Object.entries(readJsonObject(file, complaints));
  const wrong = entries.flatMap(([key]) => {
    const name = NAMES.get(key);
    const fault = faultOf(name, source);
    return fault === undefined
      ? []
      : [problemOf(name ?? key, `${file}: ${clip(oneLine(key), MAX_NAME_CHARS)} ${fault}`)];
  });
  problems.push(...complaints.map((text) => problemOf(undefined, text)), ...shortened(wrong));
  const taken = entries.flatMap(([key, raw]) => {
    const name = NAMES.get(key);
    // A variable's value is text; what is none, and no number either, is left for the reader to refuse.
    const value = name !== key && typeof raw === "number" ? String(raw) : raw;
    return name === undefined || faultOf(name, source) !== undefined || raw === null ? [] : [[name, value]];
  });
  return { source, file, values: Object.fromEntries(taken), labelOf: (name) => `${file}: ${name}` };
}

/** Returns why a file may not set something, or undefined. */
function faultOf(name: SettingName | undefined, source: Source): string | undefined {
  if (name === undefined) return "is no setting";
  const isForbidden = source === "workspace file" && NOT_FOR_WORKSPACES.has(name);
  return isForbidden ? "is not for a workspace to set; put it into the user file" : undefined;
}

/** Returns the first few problems, and one that stands for the others. */
function shortened(problems: readonly Problem[]): readonly Problem[] {
  const [next, ...others] = problems.slice(MAX_PROBLEMS);
  if (next === undefined) return problems;
  const text = `${next.file}: and ${others.length + 1} more of these`;
  return [...problems.slice(0, MAX_PROBLEMS), { ...next, text }];
}

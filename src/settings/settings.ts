// Puts the settings together: which place's value counts for each, and what was wrong with those that were not taken.
import { join } from "node:path";
import { clineDataDir } from "../cline/index.ts";
import type { Config, PalinodeOptions } from "./config.ts";
import { readTokenFile } from "./files.ts";
import { type Layer, type Problem, readLayers, type Source } from "./layers.ts";
import { type PlaceList, placeLeftOut } from "./only-in.ts";
import { fromProfile, profileValues } from "./profiles.ts";
import { asVariable, SETTING_NAMES, SETTINGS, variableOf } from "./table.ts";
import { hintFor } from "./values.ts";
import { turnDown } from "./workspace.ts";

/** Settings, and what was wrong with the values that were not taken. */
export interface ReadConfig {
  readonly config: Config;
  readonly problems: readonly Problem[];
  /** Where each setting comes from that is not at its default. */
  readonly sources: Sources;
  /** The file that the token stands in, or would; undefined where no file is named. */
  readonly tokenFile: string | undefined;
  /** The list of folders by which memory is off in this workspace. */
  readonly leftOutBy?: PlaceList;
}

type Sources = Partial<Record<keyof Config, Source>>;

/** One setting as it can be shown: a token only as being there. */
export interface SettingNote {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/** A value that counts, and where it comes from. */
interface Choice {
  readonly value: unknown;
  readonly source: Source;
}

const DEFAULTS = Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].fallback])) as unknown as Config;

/**
 * Returns the settings: options, environment, user file, profile, default, in this order; what a workspace's file may
 * turn down of them, it does. The one reader of the environment; reads the two files, and a token file when one is
 * named. Never throws: what cannot be used is left at its default and named in `problems`, without the value.
 */
export function readConfig(
  options?: PalinodeOptions | null,
  env: NodeJS.ProcessEnv = process.env,
  workspace?: string,
): ReadConfig {
  const problems: Problem[] = [];
  const layers = readLayers(options, env, workspace, problems);
  const { ofUser, ofWorkspace } = chooseAll(layers, problems);
  const ofProfile = fromProfile(ofUser.values);
  for (const name of keysOf(ofProfile)) ofUser.sources[name] = "profile";
  const users: Config = { ...DEFAULTS, ...ofUser.values, ...ofProfile };
  const turned = turnDown(users, ofWorkspace.values, fixedIn(ofUser.sources));
  problems.push(...turned.refused.map((name) => askedForMore(layers, name)));
  const config = { ...users, ...turned.values };
  config.stateDir ||= join(clineDataDir(env), "palinode");
  const sources: Sources = { ...ofUser.sources };
  for (const name of keysOf(turned.values)) sources[name] = ofWorkspace.sources[name] ?? "profile";
  const read = { config, problems, sources, tokenFile: fileOfToken(layers, sources.token) };
  return leftOut(read, placeLeftOut(config, problems, workspace, env));
}

/** What one side says, explicitly, and where each of it comes from. */
interface Choices {
  readonly values: Partial<Config>;
  readonly sources: Sources;
}

/** Returns the nearest value of each setting, the workspace's file apart from all that is the user's. */
function chooseAll(layers: readonly Layer[], problems: Problem[]): { ofUser: Choices; ofWorkspace: Choices } {
  const ofUser: Choices = { values: {}, sources: {} };
  const ofWorkspace: Choices = { values: {}, sources: {} };
  for (const name of SETTING_NAMES) {
    const choices = name === "token" ? chooseToken(layers, problems) : choose(layers, name, problems);
    // Farthest first, so that the nearest is what stays.
    for (const { value, source } of choices.toReversed()) {
      const side = source === "workspace file" ? ofWorkspace : ofUser;
      Object.assign(side.values, { [name]: value });
      side.sources[name] = source;
    }
  }
  return { ofUser, ofWorkspace };
}

function keysOf(values: Partial<Config>): (keyof Config)[] {
  return Object.keys(values) as (keyof Config)[];
}

/** Options and the environment are nearer than a workspace: it does not reach them. */
function fixedIn(sources: Sources): Set<keyof Config> {
  const isNearer = (name: keyof Config): boolean => ["option", "environment"].includes(String(sources[name]));
  return new Set(keysOf(sources as Partial<Config>).filter(isNearer));
}

function askedForMore(layers: readonly Layer[], name: keyof Config): Problem {
  const { source, file, labelOf } = layers.find((layer) => layer.source === "workspace file") as Layer;
  const text = `${labelOf(name)} asks for more than your own settings give; a workspace can only turn things down`;
  return { setting: name, source, file, text, isShadowed: true };
}

/** Returns the settings of a place where memory is off by the user's list of folders, or as they are. */
function leftOut(read: ReadConfig, list: PlaceList | undefined): ReadConfig {
  if (list === undefined) return { ...read, config: Object.freeze(read.config) };
  const off = { ...profileValues("off"), recallProfile: "off" as const };
  const source = read.sources[list] ?? "user file";
  const sources: Sources = { ...read.sources, ...Object.fromEntries(keysOf(off).map((name) => [name, "profile"])) };
  return {
    ...read,
    config: Object.freeze({ ...read.config, ...off }),
    sources: { ...sources, recallProfile: source },
    leftOutBy: list,
  };
}

/** Returns the settings that are not at their defaults, as they can be shown. */
export function settingNotes({ config, sources }: Pick<ReadConfig, "config" | "sources">): SettingNote[] {
  return Object.entries(sources).map(([key, source]) => {
    const name = key as keyof Config;
    return { name: variableOf(name), value: name === "token" ? "(set)" : asVariable(config[name]), source };
  });
}

/** Returns the values that make sense, nearest first. The others are named, also where one makes up for them. */
function choose(layers: readonly Layer[], name: keyof Config, problems: Problem[]): Choice[] {
  const { read, help } = SETTINGS[name];
  const choices: Choice[] = [];
  for (const { source, file, values, labelOf } of layers) {
    const raw = values[name];
    if (isUnset(raw)) continue;
    const value = read(raw);
    const isShadowed = choices.length > 0;
    const fault = isShadowed ? "is not usable, though not needed" : "is not usable";
    const text = `${labelOf(name)} ${fault} (${hintFor(name, raw) ?? help})`;
    // One that does not count is named all the same: it would count once the better one is gone.
    if (value === undefined) problems.push({ setting: name, source, file, text, isShadowed });
    else choices.push({ value, source });
  }
  return choices;
}

/** The nearer place wins, whichever of its two ways it names a token in. */
function chooseToken(layers: readonly Layer[], problems: Problem[]): Choice[] {
  for (const layer of layers) {
    const { source, file, values, labelOf } = layer;
    const complaints: string[] = [];
    const value =
      choose([layer], "token", problems)[0]?.value ?? readTokenFile(values.tokenFile, labelOf("tokenFile"), complaints);
    problems.push(...complaints.map((text) => ({ setting: "tokenFile", source, file, text, isShadowed: false })));
    if (value) return [{ value, source }];
  }
  return [];
}

/** Returns the file that the token was taken from; where there is no token, the one that it was looked for in. */
function fileOfToken(layers: readonly Layer[], source: Source | undefined): string | undefined {
  const named = ({ values: { tokenFile } }: Layer): string => (typeof tokenFile === "string" ? tokenFile.trim() : "");
  const layer = layers.find((each) => (source === undefined ? named(each) !== "" : each.source === source));
  if (layer === undefined) return undefined;
  const isDirect = SETTINGS.token.read(layer.values.token) !== undefined;
  return isDirect ? layer.file : named(layer);
}

function isUnset(raw: unknown): boolean {
  return raw === undefined || raw === null || (typeof raw === "string" && raw.trim() === "");
}

// Puts the settings together: which place's value counts for each, and what was wrong with those that were not taken.
import { join } from "node:path";
import { clineDataDir } from "../cline/index.ts";
import type { Config, PalinodeOptions } from "./config.ts";
import { readTokenFile } from "./files.ts";
import { type Layer, type Problem, readLayers, type Source } from "./layers.ts";
import { fromProfile } from "./profiles.ts";
import { asVariable, SETTING_NAMES, SETTINGS, variableOf } from "./table.ts";
import { hintFor } from "./values.ts";

/** Settings, and what was wrong with the values that were not taken. */
export interface ReadConfig {
  readonly config: Config;
  readonly problems: readonly Problem[];
  /** Where each setting comes from that is not at its default. */
  readonly sources: Sources;
  /** The file that the token stands in, or would; undefined where no file is named. */
  readonly tokenFile: string | undefined;
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
 * Returns the settings: options, environment, workspace file, user file, profile, default, in this order. The one
 * reader of the environment; reads the two files, and a token file when one is named. Never throws: what cannot be used
 * is left at its default and named in `problems`, without the value.
 */
export function readConfig(
  options?: PalinodeOptions | null,
  env: NodeJS.ProcessEnv = process.env,
  workspace?: string,
): ReadConfig {
  const problems: Problem[] = [];
  const layers = readLayers(options, env, workspace, problems);
  const explicit: Record<string, unknown> = {};
  const sources: Sources = {};
  for (const name of SETTING_NAMES) {
    const choice = name === "token" ? chooseToken(layers, problems) : choose(layers, name, problems);
    if (choice === undefined) continue;
    explicit[name] = choice.value;
    sources[name] = choice.source;
  }
  const ofProfile = fromProfile(explicit as Partial<Config>);
  for (const name of Object.keys(ofProfile) as (keyof Config)[]) sources[name] = "profile";
  const config = { ...DEFAULTS, ...explicit, ...ofProfile };
  config.stateDir ||= join(clineDataDir(env), "palinode");
  return { config: Object.freeze(config), problems, sources, tokenFile: fileOfToken(layers, sources.token) };
}

/** Returns the settings that are not at their defaults, as they can be shown. */
export function settingNotes({ config, sources }: Pick<ReadConfig, "config" | "sources">): SettingNote[] {
  return Object.entries(sources).map(([key, source]) => {
    const name = key as keyof Config;
    return { name: variableOf(name), value: name === "token" ? "(set)" : asVariable(config[name]), source };
  });
}

/** Returns the nearest value that makes sense. The others are named, also where that value makes up for them. */
function choose(layers: readonly Layer[], name: keyof Config, problems: Problem[]): Choice | undefined {
  const { read, help } = SETTINGS[name];
  let choice: Choice | undefined;
  for (const { source, file, values, labelOf } of layers) {
    const raw = values[name];
    if (isUnset(raw)) continue;
    const value = read(raw);
    const isShadowed = choice !== undefined;
    const fault = isShadowed ? "is not usable, though not needed" : "is not usable";
    const text = `${labelOf(name)} ${fault} (${hintFor(name, raw) ?? help})`;
    // One that does not count is named all the same: it would count once the better one is gone.
    if (value === undefined) problems.push({ setting: name, source, file, text, isShadowed });
    else choice ??= { value, source };
  }
  return choice;
}

/** The nearer place wins, whichever of its two ways it names a token in. */
function chooseToken(layers: readonly Layer[], problems: Problem[]): Choice | undefined {
  for (const layer of layers) {
    const { source, file, values, labelOf } = layer;
    const complaints: string[] = [];
    const value =
      choose([layer], "token", problems)?.value ?? readTokenFile(values.tokenFile, labelOf("tokenFile"), complaints);
    problems.push(...complaints.map((text) => ({ setting: "tokenFile", source, file, text, isShadowed: false })));
    if (value) return { value, source };
  }
  return undefined;
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

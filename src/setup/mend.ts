// The commands that mend a trouble, in the words of the user's shell: PowerShell's on Windows, else those of any POSIX
// shell. A setting is changed in the user's file, which each new session reads: an `export` dies with its terminal.
import { dirname } from "node:path";
import { entryAt, readSmallFile, realFolder } from "../base/files.ts";
import { asRecord, parseJson } from "../base/json.ts";
import { quoted } from "../base/shell.ts";
import { readConfig, type SettingName, type Source, userFile, variableOf, workspaceFile } from "../settings/index.ts";

type Platform = NodeJS.Platform;
const isWindows = (platform: Platform): boolean => platform === "win32";

/** Returns the command that opens a file to be changed. */
export function editing(path: string, platform: Platform = process.platform): string {
  return isWindows(platform) ? `notepad ${quoted(path, platform)}` : `\${EDITOR:-vi} ${quoted(path, platform)}`;
}

/** Returns the command that takes a variable out of this shell. */
export function unsetting(variable: string, platform: Platform = process.platform): string {
  return isWindows(platform) ? `Remove-Item Env:${variable}` : `unset ${variable}`;
}

/** Returns the line that starts a program with variables of its own; values are plain words. */
export function starting(
  program: string,
  variables: Readonly<Record<string, string>>,
  platform: Platform = process.platform,
): string {
  const words = Object.entries(variables).map(([name, value]) => {
    return isWindows(platform) ? `$env:${name} = '${value}'; ` : `${name}=${value} `;
  });
  return `${words.join("")}${program}`;
}

/** Returns the command that removes a file, or a folder with all in it. */
export function removing(path: string, isFolder: boolean, platform: Platform = process.platform): string {
  const [file, folder] = isWindows(platform) ? ["Remove-Item", "Remove-Item -Recurse"] : ["rm", "rm -r"];
  return `${isFolder ? folder : file} ${quoted(path, platform)}`;
}

/** Returns the command that gives a file or folder another name. */
export function renaming(path: string, to: string, platform: Platform = process.platform): string {
  return `${isWindows(platform) ? "Move-Item" : "mv"} ${quoted(path, platform)} ${quoted(to, platform)}`;
}

/** Returns the command that sets a variable of no setting of ours in each new shell. */
export function exporting(
  variable: string,
  value: string,
  env: NodeJS.ProcessEnv,
  platform: Platform = process.platform,
): string {
  if (isWindows(platform)) return `setx ${variable} ${value}`;
  return `echo 'export ${variable}=${value}' >> ${profileOf(env)}`;
}

/** Returns the command that makes programs in a folder found first in each new shell. */
export function findingIn(folder: string, env: NodeJS.ProcessEnv, platform: Platform = process.platform): string {
  if (!isWindows(platform)) return `echo 'export PATH="${folder}:$PATH"' >> ${profileOf(env)}`;
  const former = "[Environment]::GetEnvironmentVariable('Path', 'User')";
  return `[Environment]::SetEnvironmentVariable('Path', '${folder};' + ${former}, 'User')`;
}

function profileOf({ SHELL }: NodeJS.ProcessEnv): string {
  return SHELL?.endsWith("zsh") ? "~/.zprofile" : "~/.profile";
}

/** Returns the command that gets Palinode. Debian and others refuse `pip install` outside a venv. */
export function gettingPalinode(env: NodeJS.ProcessEnv, platform: Platform = process.platform): string {
  if (isWindows(platform)) return "pip install palinode";
  const venv = "python3 -m venv ~/.palinode-venv && ~/.palinode-venv/bin/pip install palinode";
  const link = "mkdir -p ~/.local/bin && ln -sf ~/.palinode-venv/bin/palinode* ~/.local/bin/";
  const isFound = (env.PATH ?? "").split(":").some((folder) => folder.endsWith("/.local/bin"));
  return `${venv} && ${link}${isFound ? "" : ` && ${findingIn("$HOME/.local/bin", env, platform)}`}`;
}

/**
 * Returns the command that gives a setting a value, where it comes from (`source`), and for good: in the user's file,
 * or the workspace's where that sets it. A variable wins over both, so it goes.
 */
export function setting(
  name: SettingName & keyof ReturnType<typeof readConfig>["config"],
  value: string | number | boolean,
  source: Source | undefined,
  env: NodeJS.ProcessEnv,
  workspace?: string,
): string {
  const isOfWorkspace = source === "workspace file" && workspace !== undefined;
  const file = isOfWorkspace ? workspaceFile(workspace) : userFile(env);
  const edit = (): string => changing(file, readSmallFile(file), name, value);
  if (source !== "environment") return edit();
  const unset = unsetting(variableOf(name));
  const without = readConfig(undefined, { ...env, [variableOf(name)]: undefined }).config[name];
  return without === value ? unset : `${unset}; ${edit()}`;
}

/** Returns the command that opens the user's file for a value that only the user knows. */
export function settingByHand(name: SettingName, source: Source | undefined, env: NodeJS.ProcessEnv): string {
  const edit = editing(userFile(env));
  return source === "environment" ? `${unsetting(variableOf(name))}; ${edit}` : edit;
}

/**
 * Returns the command that gives one option a value in a settings file that holds `text` (undefined: there is none).
 * What no single line can change for certain is opened to be changed by hand. Nothing of the file is shown.
 */
export function changing(
  file: string,
  text: string | undefined,
  name: string,
  value: string | number | boolean,
  platform: Platform = process.platform,
): string {
  const entry = `"${name}": ${JSON.stringify(value)}`;
  if (text === undefined || /^\s*(?:\{\s*\})?\s*$/.test(text)) return writing(file, `{ ${entry} }`, platform);
  const isThere = Object.hasOwn(asRecord(parseJson(text)), name);
  const pattern = isThere ? `"${name}" *: *("[^"]*"|[^,} ]*)` : "^\\{";
  const replacement = isThere ? entry : `{ ${entry},`;
  const changed = text.replace(new RegExp(pattern), () => replacement);
  const isSafe = asRecord(parseJson(changed))[name] === value && !/[#&$'\\\n]/.test(replacement);
  // What sed would do on each line of the file must be what was tried here.
  const isOnce = text.split(new RegExp(pattern, "m")).length <= (isThere ? 3 : 2);
  return isSafe && isOnce ? replacing(realFolder(file), pattern, replacement, platform) : editing(file, platform);
}

function writing(file: string, text: string, platform: Platform): string {
  const path = quoted(file, platform);
  if (isWindows(platform)) return `New-Item -Force ${path} -Value '${text}'`;
  const folder = dirname(file);
  const make = entryAt(folder) === undefined ? `mkdir -p ${quoted(folder, platform)} && ` : "";
  return `${make}echo '${text}' > ${path}`;
}

function replacing(file: string, pattern: string, replacement: string, platform: Platform): string {
  const path = quoted(file, platform);
  if (isWindows(platform))
    return `(Get-Content -Raw ${path}) -replace '${pattern}', '${replacement}' | Set-Content ${path}`;
  return `sed -E -i.bak '${pattern.startsWith("^") ? "1" : ""}s#${pattern}#${replacement}#' ${path}`;
}

// Every setting, where it comes from, and which project a folder belongs to.
export { projectOf, projectSlug, slugOf } from "./project.ts";
export {
  type Config,
  DEFAULT_API_URL,
  isActive,
  NOT_NEEDED,
  type PalinodeOptions,
  type Profile,
  primes,
  type ReadConfig,
  readConfig,
  recalls,
  repairs,
  SETTINGS,
  type SettingNote,
  type Source,
  settingNotes,
  TOKEN_FILE_VARIABLE,
  userFile,
} from "./settings.ts";
export { readToken, readUrl } from "./values.ts";

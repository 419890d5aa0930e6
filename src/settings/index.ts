// Every setting, where it comes from, and which project a folder belongs to.
export { type Config, isActive, type PalinodeOptions, type Profile, primes, recalls, repairs } from "./config.ts";
export { workspaceOf, workTreeAround } from "./git.ts";
export { type Problem, type Source, userFile, workspaceFile } from "./layers.ts";
export { pausedSince, pausesOf, setPaused } from "./pause.ts";
export { projectOf, projectSlug, slugOf } from "./project.ts";
export { type ReadConfig, readConfig, type SettingNote, settingNotes } from "./settings.ts";
export { DEFAULT_API_URL, type SettingName, settingRows, variableOf } from "./table.ts";
export { readUrl } from "./values.ts";

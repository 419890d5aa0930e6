// What Cline is to this plugin: its messages, what a person said in them, what its tools did, where it keeps things.
export {
  clineDataDir,
  clineDir,
  clineLogFile,
  clineSessionsDir,
  type ExtensionRoot,
  extensionRoots,
  globalSettingsFile,
  homeDir,
  hubRecordFile,
  mcpSettingsFile,
  pluginFolders,
  sessionEnv,
} from "./folders.ts";
export {
  createdAtOf,
  type HookCall,
  isToldNothing,
  type Message,
  modelOf,
  partsOf,
  readHookCall,
  readSetupContext,
  type SetupContext,
  type ToolResult,
  textsOf,
  toolCallsOf,
  toolName,
  toolResultsOf,
} from "./messages.ts";
export { gistOfPaste, isPaste } from "./paste.ts";
export {
  bareWords,
  fingerprint,
  INJECTED_KIND,
  isPrompt,
  keysOfPrompts,
  newestPrompt,
  newestPromptKeys,
  type Prompt,
  promptKey,
  promptKeys,
  promptsOf,
  withoutThinking,
  withoutTurns,
} from "./prompt.ts";
export { refusalOf } from "./refusals.ts";
export { openingOf, opensWith, type Sentence } from "./sentences.ts";
export { entriesOf, isFailed, type Outcome, workOf } from "./work.ts";

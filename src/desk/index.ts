// What people and the agent ask of memory by hand.
export {
  type DeskVerb,
  forgetVerb,
  pauseVerb,
  readVerb,
  restoreVerb,
  saveVerb,
  searchVerb,
  slashCommand,
  statusVerb,
  unpauseVerb,
  whyVerb,
} from "./commands.ts";
export { commandDescription } from "./notice.ts";
export { openCommand } from "./page.ts";
export { createTools, RULE, type Tool } from "./toolset.ts";

// What people and the agent ask of memory by hand.
export { deskCommands, slashCommand } from "./commands.ts";
export { createTools, RULE, type Tool } from "./tools.ts";

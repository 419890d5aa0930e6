// The sessions that Cline left on disk, and what a repository says.
export { handoff } from "./handoff.ts";
export { importCommand } from "./import.ts";
export { history } from "./list.ts";
export { resume } from "./resume.ts";

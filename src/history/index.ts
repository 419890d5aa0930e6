// The sessions that Cline left on disk.
export { importCommand } from "./import.ts";
export { history } from "./list.ts";
export { handoff, resume } from "./resume.ts";

// Whether everything works, and the file into Cline and out again.
export { doctorCommand } from "./doctor.ts";
export { installCommand, uninstallCommand } from "./install.ts";

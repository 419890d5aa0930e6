// Every verb, once: where it works and what does it, in the order in which help lists them. Its line of help, its
// options and the doing of it stand in its room.
import type { Command } from "./base/shell.ts";
import {
  type DeskVerb,
  forgetVerb,
  openCommand,
  pauseVerb,
  readVerb,
  restoreVerb,
  saveVerb,
  searchVerb,
  statusVerb,
  unpauseVerb,
  whyVerb,
} from "./desk/index.ts";
import { handoff, history, importCommand, resume } from "./history/index.ts";
import { serverCommand } from "./local/index.ts";
import { doctorCommand, installCommand, uninstallCommand } from "./setup/index.ts";

type Verb = (Command & { readonly where: "shell" }) | (DeskVerb & { readonly where: "shell and session" });

export const VERBS: Readonly<Record<string, Verb>> = {
  doctor: { where: "shell", ...doctorCommand },
  server: { where: "shell", ...serverCommand },
  install: { where: "shell", ...installCommand },
  uninstall: { where: "shell", ...uninstallCommand },
  status: { where: "shell and session", ...statusVerb },
  search: { where: "shell and session", ...searchVerb },
  read: { where: "shell and session", ...readVerb },
  save: { where: "shell and session", ...saveVerb },
  forget: { where: "shell and session", ...forgetVerb },
  restore: { where: "shell and session", ...restoreVerb },
  why: { where: "shell and session", ...whyVerb },
  pause: { where: "shell and session", ...pauseVerb },
  unpause: { where: "shell and session", ...unpauseVerb },
  open: { where: "shell", ...openCommand },
  history: { where: "shell", ...history },
  import: { where: "shell", ...importCommand },
  resume: { where: "shell", ...resume },
  handoff: { where: "shell", ...handoff },
};

/** The verbs that `/palinode` knows. */
export const SESSION_VERBS: Readonly<Record<string, DeskVerb>> = Object.fromEntries(
  Object.entries(VERBS).flatMap(([name, verb]) => (verb.where === "shell" ? [] : [[name, verb]])),
);

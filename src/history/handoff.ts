// `handoff`: a new session starts from what is known of the project.
import { realFolder } from "../base/files.ts";
import { safeLine, safeLines } from "../base/markup.ts";
import { type Command, plainText, type Shell } from "../base/shell.ts";
import { clipLines } from "../base/text.ts";
import { type Entry, renderBlock } from "../recall/index.ts";
import { createClient, primeSession, reasonOf } from "../server/index.ts";
import { readConfig } from "../settings/index.ts";
import { projectNamer } from "./choose.ts";
import { findSessions } from "./find.ts";
import { readSession } from "./read.ts";
import { bodyOf } from "./snapshot.ts";
import { startCline } from "./start.ts";
import { attempt, type Warn, warnOn } from "./warn.ts";

const MAX_HANDOFF_CHARS = 8000;
const MAX_SESSION_CHARS = 4000;
/** The lists of a prime, in the order in which they are shown. */
const SECTIONS = [
  ["snapshots", "### Recent sessions"],
  ["decisions", "### Decisions"],
  ["actionItems", "### Open action items"],
] as const;

export const handoff: Command = {
  usage: "[WORDS] [--print]",
  help: "start a session here from what is known of the project",
  options: { print: { type: "boolean" } },
  async run(shell, words, values) {
    const prompt = await handoffPrompt(shell, words.join(" ").trim());
    if (values.print !== true) return startCline(shell, [prompt], shell.cwd, "");
    shell.out(`${plainText(prompt)}\n`);
    return 0;
  },
};

/** The block is fenced as the plugin's own are, so that the new session does not capture it as somebody's words. */
async function handoffPrompt(shell: Shell, words: string): Promise<string> {
  const warn = warnOn(shell);
  const project = projectNamer(shell.env)({ cwd: shell.cwd, remoteUrls: [] });
  const entries = [...lastSession(shell, project, warn), ...(await memories(shell, project, warn))];
  const block = renderBlock("## Palinode handoff", entries, MAX_HANDOFF_CHARS);
  if (block === undefined) throw new Error("nothing to hand over: no session here, and no memory of the project");
  const request = words || `Continue the work on ${project || "this project"} where the last session stopped.`;
  return `${request}\n\n${block.text}`;
}

/** Returns the newest session of this folder or its project that can be read, or nothing. */
function lastSession(shell: Shell, project: string, warn: Warn): Entry[] {
  const projectFor = projectNamer(shell.env);
  for (const past of findSessions(shell.env, warn)) {
    if (past.cwd !== shell.cwd && (project === "" || projectFor(past) !== project)) continue;
    const session = readSession(past, warn);
    const body = session && attempt(past.file, warn, () => bodyOf(session));
    if (body === undefined) continue;
    return [{ heading: "### Last session here", lines: safeLines(clipLines(body, MAX_SESSION_CHARS)) }];
  }
  return [];
}

/** Returns what the server knows of the project, or nothing: then the reason is told. */
async function memories(shell: Shell, project: string, warn: Warn): Promise<Entry[]> {
  const { config } = readConfig(null, shell.env, shell.cwd);
  try {
    const prime = await primeSession(createClient(config), { cwd: realFolder(shell.cwd), project });
    return SECTIONS.flatMap(([section, heading]) =>
      prime[section].map(({ file, summary = "" }) => ({ heading, lines: [`- ${safeLine(`[${file}] ${summary}`)}`] })),
    );
  } catch (error) {
    warn(`nothing from ${config.apiUrl}: ${reasonOf(error)}`);
    return [];
  }
}

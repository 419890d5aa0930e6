// `handoff`: a new session starts from what is known of the project.
import { realFolder } from "../base/files.ts";
import { safeLine, safeLines } from "../base/markup.ts";
import { type Command, plainText, type Shell } from "../base/shell.ts";
import { clipLines, clipMarked } from "../base/text.ts";
import { doubtsOf, type Entry, gistOf, renderBlock } from "../recall/index.ts";
import { type Client, createClient, type Prime, primeSession, reasonOf } from "../server/index.ts";
import { readConfig } from "../settings/index.ts";
import { projectNamer } from "./choose.ts";
import { findSessions } from "./find.ts";
import { readSession } from "./read.ts";
import { bodyOf } from "./snapshot.ts";
import { startCline } from "./start.ts";
import { attempt, type Warn, warnOn } from "./warn.ts";

const MAX_HANDOFF_CHARS = 8000;
const MAX_SESSION_CHARS = 4000;
const MAX_LINE_CHARS = 240;
/** What the user waits for is ended by the user. */
const NEVER = new AbortController().signal;
/** The lists of a prime, in the order in which they are shown. */
const SECTIONS = [
  ["snapshots", "### Recent sessions"],
  ["decisions", "### Decisions"],
  ["actionItems", "### Open action items"],
] as const;

export const handoff: Command = {
  usage: "[WORDS] [--print]",
  help: "open Cline here with what is known of the project",
  options: { print: { type: "boolean" } },
  async run(shell, words, values) {
    const prompt = await handoffPrompt(shell, words.join(" ").trim());
    if (values.print !== true) return startCline(shell, ["-i", prompt], shell.cwd, "");
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
  const client = createClient(config);
  try {
    const prime = await primeSession(client, { cwd: realFolder(shell.cwd), project });
    const entries = SECTIONS.flatMap(([section, heading]) =>
      prime[section].map((memory) => entryOf(client, memory, heading)),
    );
    return (await Promise.all(entries)).flat();
  } catch (error) {
    warn(`nothing from ${config.apiUrl}: ${reasonOf(error)}`);
    return [];
  }
}

/** Returns no entry where nothing is known of a memory but the name of its file. */
async function entryOf(client: Client, memory: Prime["snapshots"][number], heading: string): Promise<Entry[]> {
  const { file, summary = "" } = memory;
  const gist = await gistOf({ client, signal: NEVER }, file, summary);
  return gist
    ? [{ heading, lines: [`- ${clipMarked(safeLine(`[${file}] ${doubtsOf(memory)}${gist}`), MAX_LINE_CHARS)}`] }]
    : [];
}

// `resume`: a past session goes on in its own folder.
import { existsSync } from "node:fs";
import { type Command, plainText, type Shell, UsageError } from "../base/shell.ts";
import { candidates, chosen, readChoice } from "./choose.ts";
import { folderOf, type PastSession, resumeLine } from "./sessions.ts";
import { startCline } from "./start.ts";

const MAX_LISTED = 10;
/** A shorter start of an id is a word. */
const MIN_ID_CHARS = 4;

export const resume: Command = {
  usage: "ID|QUERY [--print]",
  help: "go on with a past session in its own folder",
  options: { print: { type: "boolean" } },
  async run(shell, words, values) {
    const query = words.join(" ").trim();
    if (query === "") throw new UsageError("resume takes the id of a session, or words from it");
    const sessions = matches(shell, query);
    const [session] = sessions;
    if (session === undefined) throw new Error(`no session found for "${plainText(query)}"; \`history\` lists them`);
    if (sessions.length > 1) return refuseAmbiguous(shell, sessions);
    if (values.print !== true) return reopen(shell, session);
    shell.out(`${plainText(resumeLine(session))}\n`);
    return 0;
  },
};

/** Returns the sessions an id, the start of one, or words name; a title counts more than what was said. */
function matches(shell: Shell, query: string): readonly PastSession[] {
  const all = candidates(shell, readChoice([], {}, Infinity), () => undefined);
  const named = all.filter((session) => session.id === query);
  if (named.length > 0) return named;
  const started = all.filter((session) => session.id.startsWith(query));
  if (query.length >= MIN_ID_CHARS && started.length > 0) return started;
  return matchesOfWords(shell, query);
}

function matchesOfWords(shell: Shell, query: string): readonly PastSession[] {
  const sessions = [...chosen(shell, readChoice([query], {}, Infinity))];
  const titled = sessions.filter((session) => session.title.toLowerCase().includes(query.toLowerCase()));
  return titled.length === 1 ? titled : sessions;
}

function refuseAmbiguous(shell: Shell, sessions: readonly PastSession[]): number {
  shell.err("palinode: several sessions match; name one by its id:\n");
  for (const { id, title } of sessions.slice(0, MAX_LISTED)) shell.err(`  ${plainText(`${id}  ${title}`)}\n`);
  return 1;
}

/** Returns the exit code of `cline`. Throws where it cannot go on with the session, and says what would. */
async function reopen(shell: Shell, session: PastSession): Promise<number> {
  const line = plainText(resumeLine(session));
  if (session.source.kind === "extension") throw new Error(`this session is not the CLI's: ${line}`);
  const folder = folderOf(session);
  if (folder !== undefined && !existsSync(folder)) {
    const lineAnywhere = plainText(resumeLine({ ...session, cwd: undefined }));
    throw new Error(`its folder is gone (${plainText(folder)}); from any other: ${lineAnywhere}`);
  }
  return startCline(shell, ["--id", session.id], folder ?? shell.cwd, line);
}

// `history`: the list of past sessions.
import { type Command, plainText, printJson, type Shell, styled } from "../base/shell.ts";
import { oneLine } from "../base/text.ts";
import { isoTime, localTime } from "../base/time.ts";
import { CHOICE, chosen, projectNamer, readChoice } from "./choose.ts";
import { placesLine } from "./find.ts";
import { type ListedSession, lastAt, promptCount, resumeLine } from "./sessions.ts";

/** A screenful; what reads a pipe wants them all. */
const SCREEN_LIMIT = 20;

export const history: Command = {
  usage: "[QUERY] [--project SLUG] [--since 7d] [--limit N] [--json]",
  help: "list Cline's past sessions, newest first",
  options: CHOICE,
  async run(shell, words, values) {
    const isJson = values.json === true;
    const choice = readChoice(words, values, shell.isTerminal && !isJson ? SCREEN_LIMIT : Infinity);
    const projectFor = projectNamer(shell.env);
    const rows: unknown[] = [];
    let count = 0;
    for (const session of chosen(shell, choice)) {
      count += 1;
      if (isJson) rows.push(rowOf(session, projectFor(session)));
      else shell.out(textOf(shell, session, projectFor(session)));
    }
    if (isJson) printJson(shell, rows);
    else if (count === 0) shell.err(`palinode: no session found\n${plainText(placesLine(shell.env))}\n`);
    else shell.out(styled(shell, "dim", `${plainText(oneLine(placesLine(shell.env)))}\n`));
    if (!isJson && count === choice.limit) shell.err(`The newest ${count}; --limit N shows more.\n`);
    return 0;
  },
};

function rowOf(session: ListedSession, project: string) {
  const { id, title, outline, cwd, model, startedAt, endedAt, source, file } = session;
  return {
    id,
    title,
    project,
    prompts: outline.promptKeys.length,
    when: isoTime(lastAt(session)),
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
    cwd,
    model,
    source: source.kind === "cli" ? "cline" : source.editor,
    resume: resumeLine(session),
    file,
  };
}

function textOf(shell: Shell, session: ListedSession, project: string): string {
  const title = styled(shell, "bold", plainText(session.title));
  const heading = [
    localTime(lastAt(session)),
    project || "-",
    title,
    promptCount(session.outline.promptKeys.length),
  ].join("  ");
  const resumed = styled(shell, "dim", plainText(oneLine(resumeLine(session))));
  return `${heading}\n  ${plainText(oneLine(session.id))}  ${resumed}\n`;
}

// `history`: the list of past sessions.
import { type Command, plainText, printJson, type Shell, styled, type Values } from "../base/shell.ts";
import { oneLine } from "../base/text.ts";
import { isoTime, localTime } from "../base/time.ts";
import { CHOICE, chosen, type Fits, projectNamer, readChoice, stateOf } from "./choose.ts";
import { placesLine } from "./find.ts";
import { openKept } from "./kept.ts";
import { readSession } from "./read.ts";
import { type ListedSession, lastAt, promptCount, resumeLine } from "./sessions.ts";
import { editedFile, mayHold, readLine, WRITTEN, wroteLine } from "./written.ts";

/** A screenful; what reads a pipe wants them all. */
const SCREEN_LIMIT = 20;

export const history: Command = {
  usage: "[QUERY] [--file PATH] [--line TEXT] [--failed] [--project SLUG] [--since 7d] [--limit N] [--json]",
  help: "list Cline's past sessions, newest first: all, or those that edited a file, wrote a line, had a command fail",
  options: { ...CHOICE, file: { type: "string" }, line: { type: "string" }, failed: { type: "boolean" } },
  async run(shell, words, values) {
    const isJson = values.json === true;
    const choice = readChoice(words, values, shell.isTerminal && !isJson ? SCREEN_LIMIT : Infinity);
    const { fits, save } = filterOf(shell, values);
    const wantsFailed = values.failed === true;
    const projectFor = projectNamer(shell.env);
    const rows: unknown[] = [];
    let count = 0;
    for (const session of chosen(shell, choice, fits)) {
      count += 1;
      const failed = wantsFailed ? session.outline.failed : [];
      if (isJson) rows.push({ ...rowOf(session, projectFor(session)), ...(wantsFailed ? { failed } : {}) });
      else shell.out(textOf(shell, session, projectFor(session)) + failed.map(failedLine).join(""));
    }
    save();
    if (isJson) printJson(shell, rows);
    else if (count === 0) shell.err(`palinode: no session found\n${plainText(placesLine(shell.env))}\n`);
    else shell.out(styled(shell, "dim", `${oneLine(plainText(placesLine(shell.env)))}\n`));
    if (!isJson && count === choice.limit) shell.err(`The newest ${count}; --limit N shows more.\n`);
    return 0;
  },
};

/** Returns which sessions the options ask for. Throws `UsageError`. */
function filterOf(shell: Shell, { file, line, failed }: Values): { readonly fits: Fits; save(): void } {
  const hasFile = file === undefined ? () => true : editedFile(shell, String(file));
  const wanted = line === undefined ? undefined : readLine(String(line));
  const lines =
    wanted === undefined
      ? undefined
      : openKept(
          stateOf(shell, () => undefined),
          WRITTEN,
        );
  const hasLine: Fits = (session, warn) => {
    if (wanted === undefined || lines === undefined) return true;
    // The warnings of a file that cannot be read were given with its outline.
    if (!mayHold(lines.of(session, () => undefined) ?? "", wanted)) return false;
    const read = readSession(session, warn);
    return read !== undefined && wroteLine(read, wanted);
  };
  return {
    fits: (session, warn) =>
      hasFile(session) && (failed !== true || session.outline.failed.length > 0) && hasLine(session, warn),
    save: () => lines?.save(),
  };
}

function failedLine(command: string): string {
  return `  ${plainText(command)}\n`;
}

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
  const resumed = styled(shell, "dim", oneLine(plainText(resumeLine(session))));
  const below = `  ${oneLine(plainText(session.id))}  ${resumed}`;
  return `${heading}\n${below}\n`;
}

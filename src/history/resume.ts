// `resume` and `handoff`: a past session goes on, or a new one starts from what is known. Both start `cline`.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { realFolder } from "../base/files.ts";
import { asRecord, asText } from "../base/json.ts";
import { safeLine, safeLines } from "../base/markup.ts";
import { type Command, plainText, type Shell, UsageError } from "../base/shell.ts";
import { clipLines } from "../base/text.ts";
import { type Entry, renderBlock } from "../recall/index.ts";
import { createClient, reasonOf } from "../server/index.ts";
import { readConfig } from "../settings/index.ts";
import { candidates, chosen, projectNamer, readChoice, warner } from "./list.ts";
import { attempt, findSessions, folderOf, type PastSession, readSession, resumeLine } from "./sessions.ts";
import { bodyOf } from "./snapshot.ts";

const MAX_CANDIDATES = 10;
/** A shorter start of an id is a word. */
const MIN_ID_CHARS = 4;
const MAX_HANDOFF_CHARS = 8000;
const MAX_SESSION_CHARS = 4000;
const PRIME = {
  recent_snapshots: "### Recent sessions",
  recent_decisions: "### Decisions",
  open_action_items: "### Open action items",
};

export const resume: Command = {
  usage: "ID|QUERY [--print]",
  help: "go on with a past session in its own folder",
  options: { print: { type: "boolean" } },
  async run(shell, words, values) {
    const query = words.join(" ").trim();
    if (query === "") throw new UsageError("resume takes the id of a session, or words from it");
    const [session, ...others] = matches(shell, query);
    if (session === undefined) throw new Error(`no session found for "${plainText(query)}"; \`history\` lists them`);
    if (others.length > 0) {
      shell.err(`palinode: several sessions match; name one by its id:\n`);
      for (const each of [session, ...others].slice(0, MAX_CANDIDATES))
        shell.err(`  ${plainText(`${each.id}  ${each.title}`)}\n`);
      return 1;
    }
    const line = plainText(resumeLine(session));
    if (values.print === true) {
      shell.out(`${line}\n`);
      return 0;
    }
    if (session.editor !== undefined) throw new Error(`this session is not the CLI's: ${line}`);
    const folder = folderOf(session);
    if (folder !== undefined && !existsSync(folder))
      throw new Error(
        `its folder is gone (${plainText(folder)}); from any other: ${plainText(resumeLine({ ...session, cwd: undefined }))}`,
      );
    return runCline(shell, ["--id", session.id], folder ?? shell.cwd, line);
  },
};

export const handoff: Command = {
  usage: "[WORDS] [--print]",
  help: "start a session here from what is known of the project",
  options: { print: { type: "boolean" } },
  async run(shell, words, values) {
    const prompt = await handoffPrompt(shell, words.join(" ").trim());
    if (values.print !== true) return runCline(shell, [prompt], shell.cwd, "");
    shell.out(`${plainText(prompt)}\n`);
    return 0;
  },
};

/** The block is fenced as the plugin's own are, so that the new session does not capture it as somebody's words. */
async function handoffPrompt(shell: Shell, words: string): Promise<string> {
  const { config } = readConfig(null, shell.env, shell.cwd);
  const projectFor = projectNamer(shell.env);
  const project = projectFor({ cwd: shell.cwd, remoteUrls: [] });
  const warn = warner(shell);
  const entries: Entry[] = [];
  for (const session of findSessions(shell.env, warn)) {
    if (session.cwd !== shell.cwd && (project === "" || projectFor(session) !== project)) continue;
    const read = readSession(session, warn);
    const body = read && attempt(session.file, warn, () => bodyOf(read));
    if (body === undefined) continue;
    entries.push({ heading: "### Last session here", lines: safeLines(clipLines(body, MAX_SESSION_CHARS)) });
    break;
  }
  try {
    const known = asRecord(
      await createClient(config).post("/context/prime", { cwd: realFolder(shell.cwd), project: project || undefined }),
    );
    for (const [key, heading] of Object.entries(PRIME)) {
      const rows = known[key];
      for (const row of Array.isArray(rows) ? rows.map(asRecord) : []) {
        entries.push({
          heading,
          lines: [`- ${safeLine(`[${asText(row.file) ?? "?"}] ${asText(row.summary) ?? ""}`)}`],
        });
      }
    }
  } catch (error) {
    warn(`nothing from ${config.apiUrl}: ${reasonOf(error)}`);
  }
  const block = renderBlock("## Palinode handoff", entries, MAX_HANDOFF_CHARS);
  if (block === undefined) throw new Error("nothing to hand over: no session here, and no memory of the project");
  return `${words || `Continue the work on ${project || "this project"} where the last session stopped.`}\n\n${block.text}`;
}

/** Returns the sessions an id, the start of one, or words name; a title counts more than what was said. */
function matches(shell: Shell, query: string): readonly PastSession[] {
  const choice = readChoice([], {}, Infinity);
  const all = candidates(shell, choice, () => undefined);
  const named = all.filter((session) => session.id === query);
  if (named.length > 0) return named;
  const started = query.length < MIN_ID_CHARS ? [] : all.filter((session) => session.id.startsWith(query));
  if (started.length > 0) return started;
  const found = [...chosen(shell, readChoice([query], {}, Infinity))].map(
    ({ messages: _, prompts: __, ...session }) => session,
  );
  const titled = found.filter((session) => session.title.toLowerCase().includes(query.toLowerCase()));
  return titled.length === 1 ? titled : found;
}

/** Returns the exit code of `cline`, or 1 when it could not be started. */
function runCline(shell: Shell, args: string[], cwd: string, line: string): Promise<number> {
  const isWindows = process.platform === "win32";
  return new Promise((resolve) => {
    // There `cline` is a script that only a shell can start, and a shell reads more into words than it should.
    const child = spawn("cline", isWindows ? args.map((word) => `"${word.replace(/["%!^&|<>\r\n]+/g, " ")}"`) : args, {
      cwd,
      env: shell.env,
      stdio: "inherit",
      shell: isWindows,
    });
    child.on("error", () => {
      shell.err(`palinode: cline could not be started; is it in PATH?${line && ` Otherwise: ${line}`}\n`);
      resolve(1);
    });
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

// What a person can say to memory: the same verbs after `/palinode` in a session and after `palinode.js` in a shell. They
// work from the state folder, the latest session of this workspace, and the server.
import { type Command, plainText, printJson, UsageError } from "../base/shell.ts";
import { clip, oneLine } from "../base/text.ts";
import { readSetupContext } from "../cline/index.ts";
import { MemoryError } from "../server/index.ts";
import { createSession, newSurroundings, type Session, setPaused } from "../session/index.ts";
import { type ReadConfig, readConfig } from "../settings/index.ts";
import { MEMORY_TYPES, read, save, search } from "./memory.ts";
import { type Reply, status, why } from "./status.ts";

/** Where a verb works. */
interface Desk {
  readonly session: Session;
  readonly read: ReadConfig;
}

interface Verb {
  readonly usage: string;
  readonly help: string;
  readonly options?: NonNullable<Command["options"]>;
  /** Returns what to say. Throws `UsageError` and `MemoryError`, both with words for the user. */
  run(
    desk: Desk,
    words: string,
    values: Readonly<Record<string, string | boolean | undefined>>,
  ): Promise<Reply> | Reply;
}

const VERBS: Readonly<Record<string, Verb>> = {
  status: {
    usage: "",
    help: "how server, settings and channels are",
    run: ({ session, read }) => status(session, read),
  },
  search: {
    usage: "WORDS",
    help: "searches memory",
    options: { limit: { type: "string" } },
    async run({ session }, words, { limit = "5" }) {
      if (!/^[1-9]\d?$/.test(String(limit))) throw new UsageError("--limit is a number from 1 to 99");
      const hits = await search(session, needed(words, "search WORDS"), Number(limit));
      const data = hits.map(({ path, score, gist }) => ({ path, score, text: clip(oneLine(gist), 300) }));
      return { data, text: hits.map((hit) => hit.entry.lines.join("\n")).join("\n") || "No memory matches." };
    },
  },
  read: {
    usage: "FILE",
    help: "shows one memory file",
    async run({ session }, path) {
      const text = await read(session, needed(path, "read FILE"));
      return { data: { path, text }, text };
    },
  },
  save: {
    usage: "TEXT",
    help: "saves a memory",
    options: { type: { type: "string" }, title: { type: "string" }, core: { type: "boolean" } },
    async run({ session }, content, { type, title, core }) {
      if (type !== undefined && !(MEMORY_TYPES as readonly unknown[]).includes(type))
        throw new UsageError(`--type is one of ${MEMORY_TYPES.join(", ")}`);
      const saved = await save(session, {
        content: needed(content, "save TEXT"),
        ...(typeof type === "string" ? { type } : {}),
        ...(typeof title === "string" ? { title } : {}),
        ...(core === true ? { core: true } : {}),
      });
      return { data: saved, text: [`Saved as ${saved.path}.`, ...saved.notes].join(" ") };
    },
  },
  why: {
    usage: "",
    help: "what the last prompts were given from memory, and why not more",
    run: ({ session }) => why(session),
  },
  pause: {
    usage: "",
    help: "mutes recall and capture in this workspace",
    run: ({ session }) => pause(session, session.now()),
  },
  resume: { usage: "", help: "ends the pause", run: ({ session }) => pause(session, undefined) },
};

/** Returns the verbs as commands of the command line. */
export function deskCommands(names: readonly string[]): Record<string, Command> {
  return Object.fromEntries(names.map((name) => [name, toCommand(VERBS[name] as Verb)]));
}

/** Returns what `/palinode` answers to the words behind it. Never rejects. */
export async function slashCommand(desk: () => Desk, input: unknown): Promise<string> {
  const [, name = "help", words = ""] = /^\s*(\S+)\s*([\s\S]*)$/.exec(typeof input === "string" ? input : "") ?? [];
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb === undefined) return slashHelp();
  try {
    return plainText((await verb.run(desk(), words.trim(), {})).text);
  } catch (error) {
    return error instanceof MemoryError || error instanceof UsageError
      ? plainText(error.message)
      : "That failed. See: node palinode.js doctor";
  }
}

function toCommand({ run, usage, help, options }: Verb): Command {
  return {
    usage: `${usage}${Object.keys(options ?? {})
      .map((name) => ` [--${name}${options?.[name]?.type === "string" ? ` ${name.toUpperCase()}` : ""}]`)
      .join("")} [--json]`.trim(),
    help,
    options: { ...options, json: { type: "boolean" } },
    async run(shell, words, values) {
      if (usage === "" && words.length > 0) throw new UsageError("this takes no words");
      const context = readSetupContext({ cwd: shell.cwd });
      const settings = readConfig({}, shell.env, shell.cwd);
      const session = createSession(settings.config, context, newSurroundings());
      const reply = await run({ session, read: settings }, words.join(" ").trim(), values);
      if (values.json === true) printJson(shell, reply.data);
      else shell.out(`${plainText(reply.text)}\n`);
      return 0;
    },
  };
}

function pause(session: Session, since: number | undefined): Reply {
  const { cwd = "", state } = session;
  if (!setPaused(state, cwd, since))
    throw new MemoryError("That could not be noted: the state folder is not writable, or PALINODE_CLINE_PERSIST is 0.");
  const text =
    since === undefined
      ? "Memory is on in this workspace."
      : "Memory is paused in this workspace: no recall, no capture, until resume.";
  return { data: { isPaused: since !== undefined, workspace: cwd }, text };
}

function needed(words: string, usage: string): string {
  if (words === "") throw new UsageError(`usage: ${usage}`);
  return words;
}

function slashHelp(): string {
  const rows = Object.entries(VERBS).map(
    ([name, { usage, help }]) => `/palinode ${`${name} ${usage}`.trim()}: ${help}`,
  );
  return ["Palinode, long-term memory for Cline.", ...rows, "/palinode help: this text"].join("\n");
}

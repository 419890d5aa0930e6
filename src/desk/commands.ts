// What a person can say to memory: the same verbs after `/palinode` in a session and after `palinode.js` in a shell.
// They work from the state folder, the latest session of this workspace, and the server.
import { type Command, plainText, printJson, type Shell, UsageError, type Values } from "../base/shell.ts";
import { clip, oneLine } from "../base/text.ts";
import { holding } from "../base/time.ts";
import { readSetupContext } from "../cline/index.ts";
import { MemoryError } from "../server/index.ts";
import { createSession, newSurroundings, type Session } from "../session/index.ts";
import { type ReadConfig, readConfig, setPaused, workspaceOf } from "../settings/index.ts";
import { archive, restore } from "./archive.ts";
import { read, search } from "./memory.ts";
import { MEMORY_TYPES, save } from "./save.ts";
import { type Reply, status, why } from "./status.ts";

/** Where a verb works. */
interface Desk {
  readonly session: Session;
  readonly read: ReadConfig;
}

/** A verb for a shell and for a session. */
export interface DeskVerb extends Command {
  /** What it wants to be told, as `WORDS`; "" for nothing. */
  readonly takes: string;
  /** A name that it had once; in a session it still answers to it. */
  readonly formerName?: string;
  /** Returns what to say. Throws `UsageError` and `MemoryError`, both with words for the user. */
  answer(desk: Desk, words: string, values: Values): Promise<Reply> | Reply;
}

export const statusVerb = deskVerb({
  help: "how server, settings and channels are",
  answer: ({ session, read }) => status(session, read),
});

export const searchVerb = deskVerb({
  takes: "WORDS",
  help: "searches memory",
  options: { limit: { type: "string" }, "all-projects": { type: "boolean" } },
  async answer({ session }, words, { limit = "5", "all-projects": isForAll = false }) {
    if (!/^[1-9]\d?$/.test(String(limit))) throw new UsageError("--limit is a number from 1 to 99");
    const query = needed(words, "search WORDS");
    const hits = await search(session, { query, limit: Number(limit), isForAll: isForAll === true });
    const data = hits.map(({ path, score, gist }) => ({ path, score, text: clip(oneLine(gist), 300) }));
    return { data, text: hits.map((hit) => hit.entry.lines.join("\n")).join("\n") || "No memory matches." };
  },
});

export const readVerb = deskVerb({
  takes: "FILE",
  help: "shows one memory file",
  async answer({ session }, path) {
    const text = await read(session, needed(path, "read FILE"));
    return { data: { path, text }, text };
  },
});

export const saveVerb = deskVerb({
  takes: "TEXT",
  help: "saves a memory",
  options: { type: { type: "string" }, title: { type: "string" }, core: { type: "boolean" } },
  async answer({ session }, content, { type, title, core }) {
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
});

export const forgetVerb = deskVerb({
  takes: "FILE [WHY]",
  help: "archives a memory: no new prompt gets it",
  async answer({ session }, words) {
    const [, path = words, reason] = /^(.+?\.md)\s+([\s\S]+)$/.exec(words) ?? [];
    const data = await archive(session, needed(path, "forget FILE [WHY]"), { reason });
    return { data, text: data.text };
  },
});

export const restoreVerb = deskVerb({
  takes: "FILE",
  help: "takes an archived memory back",
  async answer({ session }, path) {
    const data = await restore(session, needed(path, "restore FILE"));
    return { data, text: data.text };
  },
});

export const whyVerb = deskVerb({
  help: "what the last prompts were given from memory, and why not more",
  answer: ({ session }) => why(session),
});

export const pauseVerb = deskVerb({
  help: "mutes recall, capture and tools in this workspace",
  answer({ session }) {
    const text = "Memory is paused in this workspace: no recall, no capture, until unpause.";
    return pause(session, session.now(), text);
  },
});

export const unpauseVerb = deskVerb({
  help: "ends the pause",
  // In a shell `resume` goes on with an old session.
  formerName: "resume",
  answer: ({ session }) => pause(session, undefined, "Memory is on in this workspace."),
});

/** Returns what `/palinode` answers to the words behind it. Never rejects. */
export async function slashCommand(
  verbs: Readonly<Record<string, DeskVerb>>,
  openDesk: () => Desk,
  input: unknown,
): Promise<string> {
  const [, name = "help", words = ""] = /^\s*(\S+)\s*([\s\S]*)$/.exec(typeof input === "string" ? input : "") ?? [];
  const verb = verbCalled(verbs, name);
  if (verb === undefined) return slashHelp(verbs);
  try {
    return plainText((await holding(verb.answer(openDesk(), words.trim(), {}))).text);
  } catch (error) {
    return error instanceof MemoryError || error instanceof UsageError
      ? plainText(error.message)
      : "That failed. See: node palinode.js doctor";
  }
}

function verbCalled(verbs: Readonly<Record<string, DeskVerb>>, name: string): DeskVerb | undefined {
  return Object.hasOwn(verbs, name) ? verbs[name] : Object.values(verbs).find(({ formerName }) => formerName === name);
}

function slashHelp(verbs: Readonly<Record<string, DeskVerb>>): string {
  const rows = Object.entries(verbs).map(([name, { takes, help, formerName }]) => {
    const former = formerName === undefined ? "" : `, as /palinode ${formerName} does too`;
    return `/palinode ${`${name} ${takes}`.trim()}: ${help}${former}`;
  });
  return ["Palinode, long-term memory for Cline.", ...rows, "/palinode help: this text"].join("\n");
}

type Draft = Pick<DeskVerb, "help" | "answer"> & Partial<Pick<DeskVerb, "takes" | "options" | "formerName">>;

function deskVerb({ takes = "", options = {}, ...draft }: Draft): DeskVerb {
  return {
    ...draft,
    takes,
    usage: [takes, ...Object.entries(options).map(optionUsage), "[--json]"].join(" ").trim(),
    options: { ...options, json: { type: "boolean" } },
    async run(shell, words, values) {
      if (takes === "" && words.length > 0) throw new UsageError("this takes no words");
      const reply = await draft.answer(openDesk(shell), words.join(" ").trim(), values);
      if (values.json === true) printJson(shell, reply.data);
      else shell.out(`${plainText(reply.text)}\n`);
      return 0;
    },
  };
}

function optionUsage([name, { type }]: [string, NonNullable<Command["options"]>[string]]): string {
  return `[--${name}${type === "string" ? ` ${name.toUpperCase()}` : ""}]`;
}

function openDesk(shell: Shell): Desk {
  const cwd = workspaceOf(shell.cwd);
  const settings = readConfig({}, shell.env, cwd);
  return { session: createSession(settings.config, readSetupContext({ cwd }), newSurroundings()), read: settings };
}

function pause(session: Session, since: number | undefined, text: string): Reply {
  const { cwd = "", pauses } = session;
  if (!setPaused(pauses, cwd, since))
    throw new MemoryError("That could not be noted: the state folder is not writable.");
  return { data: { isPaused: since !== undefined, workspace: cwd }, text };
}

function needed(words: string, usage: string): string {
  if (words === "") throw new UsageError(`usage: ${usage}`);
  return words;
}

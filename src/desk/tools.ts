// The tools: what the model is told of each, what it may be given, and what it does.
import { safeLine, safeLines } from "../base/markup.ts";
import { clip } from "../base/text.ts";
import { renderBlock } from "../recall/index.ts";
import type { Session } from "../session/index.ts";
import { archive } from "./archive.ts";
import { endSession, read, search, setTrigger } from "./memory.ts";
import { MEMORY_TYPES, save, update } from "./save.ts";

/** What a tool is, before it is tied to a session. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  /** JSON schemas of what it is given, by name. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** Returns Markdown. Rejects with `MemoryError`, and with a `TypeError` that says what is wrong with the input. */
  run(session: Session, input: Record<string, unknown>): Promise<string>;
}

const MAX_ANSWER_CHARS = 4000;
const MAX_HITS = 20;
const DEFAULT_HITS = 5;
const MAX_PATH_CHARS = 200;

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;

const SEARCH: Draft = {
  name: "palinode_search",
  description:
    "Search the user's long-term memory, when earlier decisions, fixes, preferences or open work may bear on the task.",
  properties: {
    query: { ...TEXT, description: "What to look for, in plain words" },
    limit: { type: "integer", minimum: 1, maximum: MAX_HITS, description: "5 when absent" },
    all_projects: { type: "boolean", description: "Also memories of other projects" },
  },
  required: ["query"],
  async run(session, input) {
    const isCount = typeof input.limit === "number" && input.limit >= 1;
    const limit = isCount ? Math.min(MAX_HITS, Math.floor(Number(input.limit))) : DEFAULT_HITS;
    const isForAll = input.all_projects === true;
    const hits = await search(session, { query: textOf(input, "query"), limit, isForAll });
    const entries = hits.map((hit) => hit.entry.lines);
    return fenced("## Palinode search", entries) ?? "No memory matches.";
  },
};

const READ: Draft = {
  name: "palinode_read",
  description: "Read one memory file as a whole, by a path that recall or palinode_search has named.",
  properties: {
    file_path: { ...TEXT, description: "The path in brackets, such as decisions/use-pnpm.md" },
  },
  required: ["file_path"],
  async run(session, input) {
    const path = textOf(input, "file_path");
    const lines = safeLines(await read(session, path));
    return fenced("## Palinode file", [[`### ${safeLine(path)}`, ...lines]]) ?? "The file is empty.";
  },
};

const SAVE: Draft = {
  name: "palinode_save",
  description:
    "Save one lasting thing to the user's memory: " +
    "a decision and its reason, a hard-won fix, a preference. No progress notes, no secrets.",
  properties: {
    content: { ...TEXT, description: "What to remember, complete in itself" },
    type: { type: "string", enum: MEMORY_TYPES, description: "Insight when absent" },
    title: { ...TEXT, description: "A short name" },
    core: { type: "boolean", description: "True only when every session should start with it" },
  },
  required: ["content"],
  async run(session, input) {
    const [type, title] = [optional(input, "type"), optional(input, "title")];
    if (type !== undefined && !(MEMORY_TYPES as readonly string[]).includes(type))
      throw new TypeError(`type is one of ${MEMORY_TYPES.join(", ")}`);
    const saved = await save(session, {
      content: textOf(input, "content"),
      ...(type === undefined ? {} : { type }),
      ...(title === undefined ? {} : { title }),
      ...(typeof input.core === "boolean" ? { core: input.core } : {}),
    });
    return [`Saved as ${saved.path}.`, ...saved.notes].join(" ");
  },
};

const UPDATE: Draft = {
  name: "palinode_update",
  description: "Correct a memory that is wrong or out of date: its whole new text takes the place of the old one.",
  properties: {
    file_path: { ...TEXT, description: "The path of the memory" },
    content: { ...TEXT, description: "The corrected text, complete in itself" },
  },
  required: ["file_path", "content"],
  async run(session, input) {
    const saved = await update(session, textOf(input, "file_path"), textOf(input, "content"));
    return [`Saved as ${saved.path}.`, ...saved.notes].join(" ");
  },
};

const ARCHIVE: Draft = {
  name: "palinode_archive",
  description: "Put away a memory that is wrong or no longer wanted, when the user says so. It can be restored.",
  properties: {
    file_path: { ...TEXT, description: "The path of the memory" },
    reason: { ...TEXT, description: "Why, in one sentence" },
  },
  required: ["file_path", "reason"],
  async run(session, input) {
    const reason = textOf(input, "reason");
    return (await archive(session, textOf(input, "file_path"), { reason })).text;
  },
};

const SESSION_END: Draft = {
  name: "palinode_session_end",
  description: "Record what this session came to, once, when a longer piece of work is done or handed over.",
  properties: {
    summary: { ...TEXT, description: "What was done and how it stands" },
    decisions: { ...TEXTS, description: "Decisions, each with its reason" },
    blockers: { ...TEXTS, description: "What is open or in the way" },
  },
  required: ["summary"],
  async run(session, input) {
    const [summary, decisions, blockers] = [
      textOf(input, "summary"),
      textsOf(input, "decisions"),
      textsOf(input, "blockers"),
    ];
    await endSession(session, { summary, decisions, blockers });
    return "The session is recorded.";
  },
};

const TRIGGER: Draft = {
  name: "palinode_trigger",
  description:
    "Have a memory file shown whenever a later prompt is about a subject, " +
    'as when the user says "remind me when we touch billing".',
  properties: {
    description: { ...TEXT, description: "The subject, in plain words" },
    memory_file: { ...TEXT, description: "The memory file to show; save it first" },
  },
  required: ["description", "memory_file"],
  async run(session, input) {
    const path = textOf(input, "memory_file");
    await setTrigger(session, textOf(input, "description"), path);
    return `The trigger is set: ${safeLine(clip(path, MAX_PATH_CHARS))} is shown when a prompt is about it.`;
  },
};

export const DRAFTS: readonly Draft[] = [SEARCH, READ, SAVE, SESSION_END, TRIGGER, UPDATE, ARCHIVE];

/** Returns memory as a block that marks it as data, or undefined when there is none. */
function fenced(title: string, entries: readonly (readonly string[])[]): string | undefined {
  const block = renderBlock(
    title,
    entries.map((lines) => ({ lines })),
    MAX_ANSWER_CHARS,
  );
  return block?.text;
}

function textOf(input: Record<string, unknown>, name: string): string {
  const text = optional(input, name);
  if (text === undefined) throw new TypeError(`${name} is missing: give it as text`);
  return text;
}

function optional(input: Record<string, unknown>, name: string): string | undefined {
  const value = input[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function textsOf(input: Record<string, unknown>, name: string): string[] {
  const value = input[name];
  const list = Array.isArray(value) ? value : [value];
  return list.filter((text) => typeof text === "string" && text.trim() !== "");
}

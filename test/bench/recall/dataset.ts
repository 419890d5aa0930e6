// The memories and prompts that recall is measured with: 492 memory files of twelve invented projects, and prompts as
// people type them, each with the memories of which one should be shown.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { createChat, type Payload } from "../../helpers/chat.ts";

declare const REPOSITORY: string;

/** A memory file; `path` is relative to the server's memory folder. */
export type Memory = { readonly path: string; readonly text: string };

/** A prompt before the one that is asked about, and the files that tool calls named after it. */
type Earlier = { readonly parts: readonly string[]; readonly touched: readonly string[] };

export type Prompt = {
  readonly id: string;
  /** One of `CLASSES`. */
  readonly class: string;
  /** The slug of the project it is typed in. */
  readonly project: string;
  /** Paths of which one should be shown; none: nothing should. */
  readonly gold: readonly string[];
  /** Oldest first. */
  readonly before: readonly Earlier[];
  /** The text parts of the newest user message, as Cline sends it. */
  readonly parts: readonly string[];
};

export type Dataset = {
  /** The name of the file with the prompts. */
  readonly name: string;
  readonly memories: readonly Memory[];
  readonly prompts: readonly Prompt[];
};

export const OWN_PROMPTS = "prompts-dev.json";

export const CLASSES: Readonly<Record<string, string>> = {
  Q: "plain question",
  T: "task",
  F: "a file is mentioned and attached",
  PB: "paste with the question before it",
  PA: "paste with the question after it",
  PN: "paste without a question",
  C: "mostly code",
  Y: "typos",
  U: "follow-up that needs the prompt before it",
  V: "follow-up about another thing in the same way",
  DE: "German, against English memories",
  ES: "Spanish",
  ZH: "Chinese",
  JA: "Japanese",
  MX: "two languages in one prompt",
  X: "another project's memory looks nearer",
  O: "another project is named",
  G: "people, the user's own preferences",
  S: "small talk",
  N: "ordinary work that no memory is about",
  XN: "only other projects know something alike, and it does not hold here",
};

/**
 * Returns the data set: the repository's own, or with the prompts of a file, or of the one `prompts*.json` of a folder.
 * A folder may bring a `memories.json` of its own. Throws when there is none, or when it is not a list of prompts.
 */
export function readDataset(place?: string): Dataset {
  const own = join(REPOSITORY, "test/bench/recall");
  const isFolder = place !== undefined && statSync(place).isDirectory();
  const files = isFolder ? readdirSync(place) : [];
  const named = files.filter((file) => /^prompts.*\.json$/.test(file));
  if (isFolder && named.length !== 1)
    throw new Error(`${place} holds ${named.length} files named prompts*.json, not one`);
  const promptFile = isFolder ? join(place, named[0]!) : (place ?? join(own, OWN_PROMPTS));
  const memoryFile = join(files.includes("memories.json") ? place! : own, "memories.json");
  const prompts = JSON.parse(readFileSync(promptFile, "utf8")) as Prompt[];
  const isWhole = ({ id, gold, parts }: Prompt): boolean =>
    typeof id === "string" && [gold, parts].every(Array.isArray);
  if (!Array.isArray(prompts) || !prompts.every(isWhole)) throw new Error(`${promptFile} is no list of prompts`);
  return { name: basename(promptFile), prompts, memories: JSON.parse(readFileSync(memoryFile, "utf8")) as Memory[] };
}

/** Returns the slugs of the projects that a memory is of; none: it is everybody's. */
export function projectsOf({ text }: Memory): string[] {
  const entities = /^entities: \[(.*)\]$/m.exec(text)?.[1] ?? "";
  return [...entities.matchAll(/project\/([\w-]+)/g)].map(([, slug]) => slug!);
}

/** Returns what the hook is called with: a session in which the prompt is the newest message. */
export function payloadOf({ id, before, parts }: Prompt): Payload {
  const chat = createChat({ conversationId: `recall-${id}` });
  for (const earlier of before) {
    chat.add({ content: textParts(earlier.parts) });
    for (const path of earlier.touched)
      chat.tool("read_files", { files: [{ path }] }, [{ query: path, result: "…", success: true }]);
    chat.answer("Done.");
  }
  chat.add({ content: textParts(parts) });
  return chat.beforeModel();
}

function textParts(parts: readonly string[]): unknown {
  return parts.map((text) => ({ type: "text", text }));
}

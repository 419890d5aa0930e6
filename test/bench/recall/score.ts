// Counts what was shown against what should have been.
import { type Memory, type Prompt, projectsOf } from "./dataset.ts";

/** What a prompt was given. */
export type Shown = {
  /** Of the memories, the first first. */
  readonly paths: readonly string[];
  /** Of all that was put into the request. */
  readonly chars: number;
  /** To the server. */
  readonly requests: number;
};

/** Sums over prompts. */
export type Score = {
  readonly prompts: number;
  /** Of the prompts that have a right memory: how many there are, with one in view, and with one in the first place. */
  readonly askable: number;
  readonly inView: number;
  readonly first: number;
  /** Prompts that anything was injected for. */
  readonly injecting: number;
  /** Memories that are of other projects only, where the prompt is not about one of those. */
  readonly foreign: number;
  readonly chars: number;
  readonly requests: number;
};

/** Only so many are looked at, as a reader of the first lines does. */
const IN_VIEW = 3;

/** Returns the paths of memories in the text of our blocks, one a line at most, in their order. */
export function pathsIn(text: string, memories: readonly Memory[]): string[] {
  const known = new Set(memories.map(({ path }) => path));
  const entries = text.split("\n").filter((line) => /^(?:- |### )/.test(line));
  const named = entries.flatMap((line) => line.match(/[\w./-]+\.md/g)?.find((path) => known.has(path)) ?? []);
  return [...new Set(named)];
}

/** Returns the sums over the prompts, `shown` by their ids. */
export function scoreOf(
  prompts: readonly Prompt[],
  shown: ReadonlyMap<string, Shown>,
  memories: readonly Memory[],
): Score {
  const projects = new Map(memories.map((memory) => [memory.path, projectsOf(memory)]));
  const rows = prompts.map((prompt) => ({ prompt, ...(shown.get(prompt.id) ?? { paths: [], chars: 0, requests: 0 }) }));
  const askable = rows.filter(({ prompt }) => prompt.gold.length > 0);
  const sum = (count: (row: (typeof rows)[number]) => number): number =>
    rows.reduce((total, row) => total + count(row), 0);
  return {
    prompts: rows.length,
    askable: askable.length,
    inView: askable.filter(({ prompt, paths }) => paths.slice(0, IN_VIEW).some((path) => prompt.gold.includes(path)))
      .length,
    first: askable.filter(({ prompt, paths }) => paths.length > 0 && prompt.gold.includes(paths[0]!)).length,
    injecting: rows.filter(({ chars }) => chars > 0).length,
    foreign: sum(({ prompt, paths }) => paths.filter((path) => isForeign(path, prompt, projects)).length),
    chars: sum(({ chars }) => chars),
    requests: sum(({ requests }) => requests),
  };
}

/** What the prompt should be given says which other project it names. */
function isForeign(path: string, prompt: Prompt, projects: ReadonlyMap<string, readonly string[]>): boolean {
  const of = projects.get(path) ?? [];
  const meant = [prompt.project, ...prompt.gold.flatMap((gold) => projects.get(gold) ?? [])];
  return of.length > 0 && !of.some((project) => meant.includes(project));
}

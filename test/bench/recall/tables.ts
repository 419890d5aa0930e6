// The figures of recall as a report: as a whole, and by class of prompt for each embedder.
import { VERSIONS } from "../../e2e/install.ts";
import type { Report, Row, Table } from "../report.ts";
import { CLIENTS } from "./clients.ts";
import { CLASSES, type Dataset, OWN_PROMPTS } from "./dataset.ts";
import { type Score, type Shown, scoreOf } from "./score.ts";
import type { Mode } from "./server.ts";

/** What each prompt was given, by its id. */
export type Answers = ReadonlyMap<string, Shown>;
/** What each client was given in a mode, by its name; or why there is nothing to say of the mode. */
export type Measured = {
  readonly mode: Mode;
  readonly answers: ReadonlyMap<string, Answers>;
  readonly missing?: string;
};

export const MODES: Readonly<Record<Mode, string>> = {
  lexical: "no embedder",
  minilm: "small English",
  duo: "multilingual, as bge-m3",
  e5: "multilingual, all near",
};

const OURS = "palinode.js";
/** Classes of prompts that nothing should be shown for. */
const QUIET = ["S", "N", "XN"] as const;

type Scorer = (client: string, ...classes: readonly string[]) => Score;
type Scored = Measured & { readonly score: Scorer };

/** Returns the report; `isPart` when not all modes were measured. */
export function reportOf(data: Dataset, measured: readonly Measured[], isPart: boolean): Report {
  const scored = measured.map((each): Scored => ({ ...each, score: scorer(data, each.answers) }));
  const shown = scored.filter(({ missing }) => missing === undefined);
  const bars = shown.flatMap(({ mode, score }) =>
    CLIENTS.map((client) => {
      const { inView, askable } = score(client);
      const value = (100 * inView) / Math.max(1, askable);
      return { label: `${mode}: ${client}`, value, text: `${Math.round(value)} %`, isOurs: client === OURS };
    }),
  );
  const caption = "Percent of the prompts that have one, among the first three shown";
  return {
    // Other prompts than the repository's own are no reason to lose the figures of those.
    name: data.name === OWN_PROMPTS ? "recall" : `recall-${data.name.replace(/\.json$/, "").replace(/[^\w-]+/g, "-")}`,
    command: "recall",
    isPart,
    title: "Whether the right memory is in view",
    tables: [wholeTable(data, scored), ...shown.map((each) => classTable(data, each))],
    chart: { title: "A right memory is in view", caption, bars },
  };
}

/** Returns sums by client, over all prompts or those of some classes. */
function scorer({ prompts, memories }: Dataset, answers: ReadonlyMap<string, Answers>): Scorer {
  return (client, ...classes) => {
    const some = classes.length === 0 ? prompts : prompts.filter((prompt) => classes.includes(prompt.class));
    return scoreOf(some, answers.get(client) ?? new Map(), memories);
  };
}

function wholeTable(data: Dataset, scored: readonly Scored[]): Table {
  const columns = [
    ...["Embedder", "Asked by", "In view, %", "First, %", "Small talk injects, %", "Nothing in memory injects, %"],
    ...["Only others know injects, %", "Others' hits per 100 prompts", "Characters a prompt", "Requests a prompt"],
  ];
  const rows = scored.flatMap(({ mode, score, missing }): Row[] => {
    const embedder = `${mode} (${MODES[mode]})`;
    const absent = [embedder, `not measured: ${missing}`, ...columns.slice(2).map(() => "")];
    if (missing !== undefined) return [{ source: "real server", cells: absent }];
    return CLIENTS.map((client) => ({ source: "real server", cells: [embedder, client, ...figuresOf(client, score)] }));
  });
  return { title: "As a whole", columns, rows, notes: notesOf(data) };
}

function notesOf({ name, prompts, memories }: Dataset): string[] {
  const askable = prompts.filter(({ gold }) => gold.length > 0).length;
  return [
    `palinode ${VERSIONS.palinode}, ${memories.length} memories of twelve projects. ${prompts.length} prompts of ` +
      `\`${name}\`, each the newest message of a fresh session, ${askable} with a right memory. *In view*: a right ` +
      "one is among the first three shown; *first*: it is the first. The digest of a session's start is left out.",
    "*Raw message*: a search for the message's text as it is, 3 hits over 0.5. *Bare words*: the same for what the " +
      "person said, attachments taken off, from 12 characters on. *palinode.js*: the shipped file; what is counted " +
      "is read from the messages that its hook returns.",
    "*minilm* is all-MiniLM-L6-v2, *e5* multilingual-e5-small in 4 bits (all its cosines lie between 0.7 and 0.9), " +
      "*duo* both joined on the scale of the cosines of bge-m3, the server's default. Without an embedder, triggers " +
      "are off.",
  ];
}

function figuresOf(client: string, score: Scorer): string[] {
  const all = score(client);
  const mean = (sum: number): number => sum / Math.max(1, all.prompts);
  return [
    percent(all.inView, all.askable),
    percent(all.first, all.askable),
    ...QUIET.map((name) => score(client, name)).map(({ injecting, prompts }) => percent(injecting, prompts)),
    mean(100 * all.foreign).toFixed(0),
    mean(all.chars).toFixed(0),
    mean(all.requests).toFixed(2),
  ];
}

function classTable({ prompts }: Dataset, { mode, score }: Scored): Table {
  const classes = Object.keys(CLASSES).filter((name) => prompts.some((prompt) => prompt.class === name));
  const rows = classes.map((name): Row => {
    const ours = score(OURS, name);
    const mean = (sum: number): string => (sum / ours.prompts).toFixed(0);
    const cells = CLIENTS.map((client) => classCell(score(client, name)));
    const ofOurs = [mean(100 * ours.foreign), mean(ours.chars)];
    return {
      source: "real server",
      cells: [`${name}: ${CLASSES[name]}`, String(ours.prompts), ...cells, ...ofOurs],
    };
  });
  return {
    title: `By class: ${mode}`,
    columns: ["Class", "Prompts", ...CLIENTS, `Others' hits per 100, ${OURS}`, `Characters, ${OURS}`],
    rows,
    notes: ["In view, and first in brackets, in percent; where nothing should be shown, how often something is."],
  };
}

function classCell({ askable, inView, first, injecting, prompts }: Score): string {
  if (askable === 0) return `injects ${percent(injecting, prompts)}`;
  return `${percent(inView, askable)} (${percent(first, askable)})`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "–" : String(Math.round((100 * part) / whole));
}

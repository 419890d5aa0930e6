// What a benchmark hands over, and how it is written down: Markdown whose every row names where its figures are from
// and the command that makes them again, and a chart beside it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { barChart, type Chart } from "./svg.ts";

declare const REPOSITORY: string;

/**
 * The harness: recorded shapes and a stand-in server. The real CLI: what Cline sent to a scripted model. The real
 * server: recorded shapes, and what palinode-api answered.
 */
export type Source = "harness" | "real CLI" | "real server";

export type Row = { cells: readonly string[]; source: Source };

export type Table = {
  title: string;
  /** Headings of the cells; source and command are added. */
  columns: readonly string[];
  rows: readonly Row[];
  /** What the reader must know to judge the rows, one paragraph each. */
  notes?: readonly string[];
};

export type Report = {
  /** The name of the files. */
  name: string;
  /** The word after `npm run bench`. @default the name */
  command?: string;
  /** Whether it is of part of a measurement only, which is no result to keep. @default false */
  isPart?: boolean;
  title: string;
  tables: readonly Table[];
  chart: Chart;
};

/** Writes `NAME.md` and `NAME.svg` into the results folder, unless it is of a part only, and returns the Markdown. */
export function writeReport(report: Report): string {
  const folder = join(REPOSITORY, "test/bench/results");
  const text = markdownOf(report);
  if (report.isPart) return text;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${report.name}.md`), text);
  writeFileSync(join(folder, `${report.name}.svg`), barChart(report.chart));
  return text;
}

export function markdownOf({ name, command = name, title, tables, chart }: Report): string {
  const head = [`# ${title}`, "", `![${chart.title}](${name}.svg)`];
  return `${[...head, ...tables.flatMap((table) => ["", ...linesOf(table, command)])].join("\n")}\n`;
}

/** Returns the lines of one table of the report that `npm run bench NAME` makes. */
export function linesOf({ title, columns, rows, notes = [] }: Table, name: string): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const head = [`## ${title}`, ...notes.flatMap((note) => ["", note])];
  if (rows.length === 0) return head;
  return [
    ...head,
    "",
    line([...columns, "From", "Command"]),
    line(new Array<string>(columns.length + 2).fill("---")),
    ...rows.map(({ cells, source }) => line([...cells, source, `\`npm run bench ${name}\``])),
  ];
}

/** Returns a whole number with commas, the same in every locale. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Returns a time that can be read at a glance. */
export function milliseconds(value: number): string {
  if (value < 1) return `${value.toFixed(3)} ms`;
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
}

/** Returns "met", or by how much a limit was missed. */
export function verdict(value: number, limit: number): string {
  return value <= limit ? `${limit}: met` : `${limit}: missed`;
}

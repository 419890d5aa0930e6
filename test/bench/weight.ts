// What the file weighs: its size, what importing it takes against an empty module and against the parts of Node that it
// needs, and what it leaves on the heap. Each figure comes from processes of their own, so that nothing is warm.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { milliseconds, type Report, type Row } from "./report.ts";
import { medianOf } from "./timing.ts";

declare const REPOSITORY: string;

const ROUNDS = 21;
/** The budget of an import beside the parts of Node that it needs, and of the file (build.mjs). */
const LIMITS = { importMs: 20, fileKilobytes: 480 };

/** Runs in the fresh process: imports a file and prints what that took, in processor time. */
const PROBE = `
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  const start = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(start);
  globalThis.gc();
  console.log(JSON.stringify({ importMs: (user + system) / 1000, heapBytes: process.memoryUsage().heapUsed - before }));
`;

type Weight = { readonly importMs: number; readonly heapBytes: number };

export async function measureWeight(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-bench-"));
  const ours = join(REPOSITORY, "dist/palinode.js");
  const bytes = readFileSync(ours);
  const [empty, parts] = [join(folder, "empty.mjs"), join(folder, "parts.mjs")];
  writeFileSync(empty, "export {};\n");
  writeFileSync(parts, nodeImports(bytes.toString("utf8")));
  try {
    const rounds = Array.from({ length: ROUNDS }, () => [weigh(empty), weigh(parts), weigh(ours)] as const);
    const [nothing, node, plugin] = [
      median(rounds.map(([of]) => of)),
      median(rounds.map(([, of]) => of)),
      median(rounds.map(([, , of]) => of)),
    ];
    const isMet = plugin.importMs - node.importMs <= LIMITS.importMs;
    const row = (...cells: string[]): Row => ({ source: "harness", cells });
    return {
      name: "weight",
      title: "What the file weighs",
      tables: [
        {
          title: "One file, no dependencies",
          columns: ["What", "palinode.js", "What it imports of Node, alone", "An empty module", "Target"],
          rows: [
            row(
              "file",
              `${kilobytes(bytes.length)} (${kilobytes(gzipSync(bytes).length)} with gzip)`,
              "",
              "",
              `${LIMITS.fileKilobytes} KB: ${bytes.length <= LIMITS.fileKilobytes * 1024 ? "met" : "missed"}`,
            ),
            row(
              "import, processor time",
              milliseconds(plugin.importMs),
              milliseconds(node.importMs),
              milliseconds(nothing.importMs),
              `${LIMITS.importMs} ms beside Node: ${isMet ? "met" : "missed"}`,
            ),
            row(
              "heap after the import",
              kilobytes(plugin.heapBytes),
              kilobytes(node.heapBytes),
              kilobytes(nothing.heapBytes),
              "",
            ),
          ],
          notes: [
            `Medians of ${ROUNDS} fresh processes each, in turn, on the Node that ran this (${process.version}). ` +
              "A host has most of Node's own parts loaded already, and those are most of the time.",
          ],
        },
      ],
      chart: {
        title: "What the import takes",
        caption: "Milliseconds of processor time in a fresh process, median",
        bars: [
          { label: "an empty module", value: nothing.importMs, text: milliseconds(nothing.importMs) },
          { label: "Node's own parts of it", value: node.importMs, text: milliseconds(node.importMs) },
          { label: "palinode.js", value: plugin.importMs, text: milliseconds(plugin.importMs), isOurs: true },
        ],
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a module that imports the same parts of Node, and does nothing. */
function nodeImports(source: string): string {
  const names = new Set([...source.matchAll(/\bfrom\s*("node:[\w/]+")/g)].map(([, name]) => name));
  return [...names].map((name) => `import ${name};\n`).join("");
}

function weigh(file: string): Weight {
  const args = ["--expose-gc", "--input-type=module", "--eval", PROBE, pathToFileURL(file).href];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Weight;
}

function median(weights: readonly Weight[]): Weight {
  return {
    importMs: medianOf(weights.map((each) => each.importMs)),
    heapBytes: medianOf(weights.map((each) => each.heapBytes)),
  };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KB`;
}

// Whether the memory that helps is in view: prompts as people type them, against the real server, with and without
// embedders. The plugin itself is driven, beside a search for the raw message and one for the person's bare words.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { install, type Parts } from "../../e2e/install.ts";
import { say } from "../../e2e/packages.ts";
import type { Report } from "../report.ts";
import { bareWordsOnly, type Client, plainSearch, rawMessage, shippedPlugin } from "./clients.ts";
import { type Dataset, type Prompt, readDataset } from "./dataset.ts";
import type { Shown } from "./score.ts";
import { type Mode, startServer } from "./server.ts";
import { type Answers, type Measured, MODES, reportOf } from "./tables.ts";
import { CACHE } from "./wheels.ts";

const MAX_REASON_CHARS = 200;

/**
 * Measures recall. Words: modes (all when there are none), and a file or folder with other prompts, maybe after
 * `--prompts`. Only a run of all modes is a whole report. Throws when a word is neither.
 */
export async function measureRecall(words: readonly string[]): Promise<Report> {
  const rest = words.filter((word) => word !== "--prompts" && !Object.hasOwn(MODES, word));
  const [place, ...more] = rest.map((word) => word.replace(/^--prompts=/, ""));
  if (more.length > 0 || (place !== undefined && !existsSync(place)))
    throw new Error(
      `"${rest.at(-1)}" is no mode of recall (${Object.keys(MODES).join(", ")}), and no file or folder with prompts.`,
    );
  const data = readDataset(place);
  const named = words.filter((word): word is Mode => Object.hasOwn(MODES, word));
  const modes = named.length > 0 ? named : (Object.keys(MODES) as Mode[]);
  const { parts, skip } = await install();
  const measured: Measured[] = [];
  for (const mode of modes) {
    const measure = parts ? measureMode(mode, data, parts) : Promise.reject(new Error(skip));
    measured.push(await measure.catch((error: unknown) => missing(mode, error)));
  }
  return reportOf(data, measured, named.length > 0);
}

async function measureMode(mode: Mode, data: Dataset, parts: Parts): Promise<Measured> {
  const started = Date.now();
  const server = await startServer(mode, data.memories, parts);
  const before = { ...process.env };
  const settings = mkdtempSync(join(tmpdir(), "palinode-bench-"));
  forgetSettings(settings);
  try {
    const plugin = await shippedPlugin(server.url, data.memories, { hasTriggers: mode !== "lexical" });
    const answers = new Map<string, Answers>();
    const search = plainSearch(server);
    for (const client of [rawMessage(search), bareWordsOnly(search), plugin])
      answers.set(client.name, await ask(client, data.prompts));
    writeDetails(mode, data, answers);
    say(`${mode}: ${data.prompts.length} prompts, three ways, in ${Math.round((Date.now() - started) / 1000)} s`);
    return { mode, answers };
  } finally {
    delete process.env.CLINE_DIR;
    Object.assign(process.env, before);
    rmSync(settings, { recursive: true, force: true });
    await server.stop();
  }
}

/** An embedder that cannot be had is no reason to say nothing of the others. */
function missing(mode: Mode, error: unknown): Measured {
  const why = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").trim();
  say(`${mode}: ${why}`);
  return { mode, answers: new Map(), missing: why.slice(0, MAX_REASON_CHARS) };
}

async function ask(client: Client, prompts: readonly Prompt[]): Promise<Answers> {
  const answers = new Map<string, Shown>();
  for (const prompt of prompts) answers.set(prompt.id, await client.ask(prompt));
  return answers;
}

/** What is measured is the plugin as it comes, not as somebody has set it here. */
function forgetSettings(folder: string): void {
  for (const name of Object.keys(process.env).filter((name) => name.startsWith("PALINODE_"))) delete process.env[name];
  process.env.CLINE_DIR = folder;
}

/** One line a prompt, for whoever wants to know which. */
function writeDetails(mode: Mode, { prompts }: Dataset, answers: ReadonlyMap<string, Answers>): void {
  const lines = prompts.map(({ id, project, gold }) => {
    const shown = [...answers].map(([name, each]) => [name, each.get(id)?.paths]);
    return JSON.stringify({ id, project, gold, ...Object.fromEntries(shown) });
  });
  writeFileSync(join(CACHE, `last-${mode}.jsonl`), `${lines.join("\n")}\n`);
}

// The table of verbs, and what is made of it: help in a shell and in a session, and what the README says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runCli } from "../src/cli.ts";
import { createPalinodePlugin } from "../src/plugin.ts";
import { SESSION_VERBS, VERBS } from "../src/verbs.ts";
import { createApiCapture } from "./helpers/host-inprocess.ts";

declare const REPOSITORY: string;

const HELP_COLUMNS = 80;

/** Runs the command line in this process, with an empty environment. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: "", err: "" };
  const code = await runCli(args, {
    out: (text) => {
      texts.out += text;
    },
    err: (text) => {
      texts.err += text;
    },
    env: {},
    cwd: REPOSITORY,
    isTerminal: false,
  });
  return { code, ...texts };
}

test("help names each verb once, with what it takes and what it is for, and fits 80 columns", async () => {
  const { code, out, err } = await run("--help");
  assert.deepEqual([code, err], [0, ""]);
  const named = out.split("\n").map((line) => /^ {2}([a-z]+)\b/.exec(line)?.[1]);
  assert.deepEqual(named.filter(Boolean), Object.keys(VERBS));
  const words = out.replace(/\s+/g, " ");
  for (const [name, { usage, help }] of Object.entries(VERBS))
    assert.ok(words.includes(`${name} ${usage} ${help}`), name);
  assert.deepEqual(
    out.split("\n").filter((line) => line.length > HELP_COLUMNS),
    [],
  );
  assert.doesNotMatch(out, /\[--[\w-]+$/m, "an option and its value stand in one line");
});

test("each verb explains itself in 80 columns, and refuses an option that it does not have", async () => {
  for (const [name, { help }] of Object.entries(VERBS)) {
    const { code, out } = await run(name, "--help");
    assert.equal(code, 0, name);
    assert.ok(out.startsWith(`Usage: node palinode.js ${name}`) && out.replace(/\s+/g, " ").includes(help), name);
    assert.ok(
      out.split("\n").every((line) => line.length <= HELP_COLUMNS && line === line.trimEnd()),
      name,
    );
    assert.equal((await run(name, "--bogus")).code, 2, name);
  }
  assert.equal((await run("toString")).code, 2);
});

test("the verbs for a session are those that /palinode and the command's description name", async () => {
  const { api, commands } = createApiCapture();
  createPalinodePlugin({ persist: false, apiUrl: "http://127.0.0.1:1" }).setup(api, {});
  const names = Object.keys(SESSION_VERBS);
  assert.deepEqual(names, ["status", "search", "read", "save", "forget", "restore", "why", "pause", "unpause"]);
  assert.equal(commands[0]?.description, `Long-term memory: ${names.join(", ")}`);
  const help = String(await commands[0]?.handler?.("help"));
  const listed = help.split("\n").map((line) => /^\/palinode ([a-z]+)/.exec(line)?.[1]);
  assert.deepEqual(listed.filter(Boolean), [...names, "help"]);
  for (const name of ["doctor", "server", "install", "open", "import", "history"])
    assert.equal(await commands[0]?.handler?.(name), help, `${name} is for a shell alone`);
});

test("the README tells of every verb", () => {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  for (const name of Object.keys(VERBS)) assert.match(readme, new RegExp(`\`[^\`\n]*\\b${name}\\b[^\`\n]*\``), name);
});

// The plugin's types, as they ship, against the host's real ones, as a program that imports both would be checked.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./process.ts";
import { e2e } from "./scene.ts";

declare const REPOSITORY: string;

/** Lies beside the cache's node_modules, so that `@cline/sdk` is the installed one. */
const PROGRAM = `
import type { Agent, AgentPlugin } from "@cline/sdk";
import palinode, { createPalinodePlugin, plugin } from "../../dist/palinode.js";

type AgentOptions = ConstructorParameters<typeof Agent>[0];
type AgentRuntimePlugin = NonNullable<AgentOptions["plugins"]>[number];
type Hooks = NonNullable<AgentPlugin["hooks"]>;
type BeforeModelResult = NonNullable<Awaited<ReturnType<NonNullable<Hooks["beforeModel"]>>>>;

// Core hosts: config.extensions and the plugin loader.
export const forCore: AgentPlugin[] = [palinode, plugin, createPalinodePlugin({})];
// Bare agents: new Agent({ plugins }).
export const forAgents: AgentRuntimePlugin[] = [palinode, plugin, createPalinodePlugin({})];

// Memory cannot go into the system prompt even by mistake: the result has no place for one.
export const withMessages: BeforeModelResult = { messages: [] };
// @ts-expect-error
export const withSystemPrompt: BeforeModelResult = { messages: [], systemPrompt: "memory" };
`;

e2e("the plugin fits the host's AgentPlugin and AgentRuntimePlugin types", async (_t, { cache }) => {
  const program = join(cache, "plugin-types.ts");
  const project = join(cache, "tsconfig.json");
  writeFileSync(program, PROGRAM);
  const compilerOptions = { typeRoots: [join(REPOSITORY, "node_modules/@types")], types: ["node"] };
  writeFileSync(project, JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: [program] }));
  const tsc = join(REPOSITORY, "node_modules/typescript/bin/tsc");
  const { code, stdout, stderr } = await run(process.execPath, [tsc, "-p", project], { cwd: cache });
  assert.equal(code, 0, stdout + stderr);
});

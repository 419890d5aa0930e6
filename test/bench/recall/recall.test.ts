// The figures of `npm run bench recall` count what they say they count, and its data is what it says it is.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bareWords, newestPrompt } from "../../../src/cline/index.ts";
import { CLASSES, type Memory, type Prompt, payloadOf, projectsOf, readDataset } from "./dataset.ts";
import { pathsIn, type Shown, scoreOf } from "./score.ts";

const memory = (path: string, ...entities: string[]): Memory => ({
  path,
  text: `---\ntitle: "T"\nentities: [${entities.join(", ")}]\n---\nBody.\n`,
});
const MEMORIES = [
  memory("decisions/shop-a.md", "project/shop"),
  memory("decisions/shop-b.md", "project/shop", "person/ann"),
  memory("decisions/bank-a.md", "project/bank"),
  memory("people/me.md", "person/me"),
];
const prompt = (id: string, ...gold: string[]): Prompt => ({
  id,
  class: "Q",
  project: "shop",
  gold,
  before: [],
  parts: [],
});
const shown = (chars: number, ...paths: string[]): Shown => ({ paths, chars, requests: 1 });

test("each prompt is of a known class, and what it should be given exists, in its project where it has one", () => {
  const { memories, prompts } = readDataset();
  const projects = new Map(memories.map((each) => [each.path, projectsOf(each)]));
  assert.equal(memories.length, 492);
  assert.equal(prompts.length, 167);
  for (const { id, class: name, project, gold } of prompts) {
    assert.ok(Object.hasOwn(CLASSES, name), id);
    assert.equal(gold.length === 0, ["S", "N", "XN"].includes(name), id);
    for (const path of gold) assert.ok(name === "O" || [project, undefined].includes(projects.get(path)?.[0]), id);
  }
});

test("the newest message of a payload is the prompt, and what came before it stands before it", () => {
  const before = [{ parts: ['<user_input mode="act">first</user_input>'], touched: ["src/a.ts"] }];
  const parts = ['<user_input mode="act">second</user_input>', '<file_content path="b.ts">b</file_content>'];
  const { snapshot, request } = payloadOf({ ...prompt("Q1"), before, parts });
  const messages = snapshot.messages as { role: string; content: unknown }[];
  assert.deepEqual(messages, request?.messages);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "tool", "assistant", "user"],
  );
  assert.match(JSON.stringify(messages[1]), /read_files.*src\/a\.ts/);
  assert.equal(bareWords(newestPrompt(messages)!.message), "second");
});

test("a block names its memories in order, one a line, whatever else stands there", () => {
  const text = [
    "<palinode-memory>",
    "## Palinode recall (this prompt)",
    "### Trigger fired: people/me.md",
    "Says more in decisions/bank-a.md.",
    "### Related memories",
    "- [decisions/shop-b.md] (54% match) see decisions/bank-a.md and [docs/none.md]",
    "- Title of one (decisions/shop-a.md)",
    "- [decisions/shop-b.md] (keyword match) again",
    "- [notes/unknown.md] (keyword match) no memory of the data set",
    "</palinode-memory>",
  ].join("\n");
  assert.deepEqual(pathsIn(text, MEMORIES), ["people/me.md", "decisions/shop-b.md", "decisions/shop-a.md"]);
});

test("a right memory counts in the first three places, another project's as foreign, a block as injected", () => {
  const prompts = [
    prompt("first", "decisions/shop-a.md"),
    prompt("third", "decisions/shop-a.md", "decisions/shop-b.md"),
    prompt("fourth", "decisions/shop-a.md"),
    prompt("named", "decisions/bank-a.md"),
    prompt("quiet"),
    prompt("noisy"),
  ];
  const answers = new Map([
    ["first", shown(100, "decisions/shop-a.md", "decisions/bank-a.md")],
    ["third", shown(100, "people/me.md", "decisions/bank-a.md", "decisions/shop-b.md")],
    ["fourth", shown(100, "people/me.md", "decisions/shop-b.md", "decisions/bank-a.md", "decisions/shop-a.md")],
    ["named", shown(100, "decisions/bank-a.md")],
    ["noisy", shown(50)],
  ]);
  assert.deepEqual(scoreOf(prompts, answers, MEMORIES), {
    prompts: 6,
    askable: 4,
    inView: 3,
    first: 2,
    injecting: 5,
    foreign: 3,
    chars: 450,
    requests: 5,
  });
});

test("prompts come from a file or a folder of one's own, memories too where the folder has them", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palinode-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "prompts-kept.json"), JSON.stringify([prompt("one")]));
  assert.equal(readDataset(join(folder, "prompts-kept.json")).name, "prompts-kept.json");
  assert.equal(readDataset(folder).memories.length, 492);
  writeFileSync(join(folder, "memories.json"), JSON.stringify(MEMORIES));
  assert.deepEqual(readDataset(folder), { name: "prompts-kept.json", prompts: [prompt("one")], memories: MEMORIES });
  mkdirSync(join(folder, "empty"));
  assert.throws(() => readDataset(join(folder, "empty")), /holds 0 files named prompts\*\.json/);
  assert.throws(() => readDataset(join(folder, "memories.json")), /no list of prompts/);
});

// What no longer holds, or is contested, is not told as settled: in recall, in the agent's search, in the digest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openScene, ROLLBACK, ROLLBACK_PROMPT, type SceneOptions } from "../helpers/scene.ts";

const OTHER = {
  file: "decisions/rollback-by-hand.md",
  body: "Never use the command: switch the load balancer by hand",
};
const CONTESTED = { ...ROLLBACK, frontmatter: { contradicts: ["decisions/rollback-by-hand"] } };
const RETIRED = { ...ROLLBACK, frontmatter: { superseded_by: "decisions/rollback-by-hand" } };
/** Nothing else is core, so that what a prompt recalls is all there is. */
const NO_DIGEST = { PALINODE_HOOK_INJECT_MAX_FILES: "0" };

async function recalled(t: Parameters<typeof openScene>[0], server: SceneOptions["server"], env = {}) {
  const scene = await openScene(t, { server: server ?? {}, env: { ...NO_DIGEST, ...env } });
  scene.chat.say(ROLLBACK_PROMPT);
  const blocks = await scene.memory();
  const lines = blocks.join("\n").split("\n");
  return { lines, text: blocks.join("\n"), reads: scene.server.calls("/read"), server: scene.server };
}

test("a contested memory is marked, and the other side is read and shown with it", async (t) => {
  const { lines, reads } = await recalled(t, { memories: [CONTESTED, OTHER] });
  const index = lines.findIndex((line) => line.startsWith(`- [${ROLLBACK.file}]`));
  assert.match(lines[index] ?? "", /\(\d+% match, contested\) To roll back/);
  assert.equal(lines[index + 1], `  Against it [${OTHER.file}]: ${OTHER.body}`);
  assert.deepEqual(
    reads.map(({ query }) => query),
    [{ file_path: OTHER.file, project: "shop", automatic: "true" }],
  );
});

test("another side that was found as well is not read, and told once", async (t) => {
  const body = `${ROLLBACK.body}, but only by hand and never on a Friday evening`;
  const { text, reads } = await recalled(t, { memories: [CONTESTED, { ...OTHER, body }] });
  assert.equal(reads.length, 0);
  assert.match(text, new RegExp(`Against it \\[${OTHER.file}\\]: ${body}`));
  assert.equal(text.split(OTHER.file).length - 1, 1);
});

test("of several contested memories one other side is read, the rest are named", async (t) => {
  const contested = ["one", "two"].map((name) => ({
    file: `insights/${name}.md`,
    body: `To roll back a deploy of the api the ${name} way, restart it`,
    frontmatter: { contradicts: [`decisions/against-${name}`] },
  }));
  const sides = ["one", "two"].map((name) => ({ file: `decisions/against-${name}.md`, body: `Never the way ${name}` }));
  const { lines, reads } = await recalled(t, { memories: [...contested, ...sides] });
  assert.equal(reads.length, 1);
  const against = lines.filter((line) => line.startsWith("  Against it"));
  assert.deepEqual(against.map((line) => /: \(not read\)$/.test(line)).sort(), [false, true]);
});

test("another side that is gone, or another project's, is named and not shown", async (t) => {
  const elsewhere = { ...OTHER, entities: ["project/billing"] };
  for (const memories of [[CONTESTED], [CONTESTED, elsewhere]]) {
    const { lines } = await recalled(t, { memories });
    assert.ok(lines.includes(`  Against it [${OTHER.file}]: (not read)`));
  }
});

test("half of a conflict is never shown where there is no room for both", async (t) => {
  const { text } = await recalled(t, { memories: [CONTESTED, OTHER] }, { PALINODE_HOOK_RECALL_MAX_CHARS: "330" });
  assert.equal(text, "");
  const whole = await recalled(t, { memories: [CONTESTED, OTHER] }, { PALINODE_HOOK_RECALL_MAX_CHARS: "500" });
  assert.match(whole.text, /contested\) To roll back[^\n]*\n {2}Against it [^\n]*by hand\n/);
});

test("a retired memory is left out where another answers, and else says what replaced it", async (t) => {
  // From 0.23 on a search that nobody asked for has none.
  const version = "0.22.0";
  const standing = { file: "insights/rollback-now.md", body: "To roll back a deploy of the api press the red button" };
  const both = await recalled(t, { version, memories: [RETIRED, standing] });
  assert.match(both.text, /red button/);
  assert.doesNotMatch(both.text, /deploy rollback and restart/);
  const { lines } = await recalled(t, { version, memories: [RETIRED, OTHER] });
  const index = lines.findIndex((line) => line.startsWith(`- [${ROLLBACK.file}]`));
  assert.match(lines[index] ?? "", /\(\d+% match, replaced\) To roll back/);
  assert.equal(lines[index + 1], `  Replaced by [${OTHER.file}]: ${OTHER.body}`);
  const expired = { ...ROLLBACK, frontmatter: { status: "deprecated" } };
  assert.match((await recalled(t, { version, memories: [expired] })).text, /% match, retired: status:deprecated\) To/);
});

test("servers before 0.20 say nothing of it, and nothing is made up", async (t) => {
  const { text, reads } = await recalled(t, { version: "0.19.0", memories: [CONTESTED, OTHER] });
  assert.match(text, /% match\) To roll back/);
  assert.equal(reads.length, 0);
});

test("the agent's search tells both sides, and what is retired only where nothing else answers", async (t) => {
  const search = async (memories: NonNullable<SceneOptions["server"]>["memories"]): Promise<string> => {
    const { host } = await openScene(t, { server: { memories: memories ?? [] } });
    await host.start();
    return String(await host.callTool("palinode_search", { query: ROLLBACK_PROMPT }));
  };
  assert.match(await search([CONTESTED, OTHER]), /contested\) To roll back[^\n]*\n {2}Against it [^\n]*by hand/);
  assert.match(await search([RETIRED, OTHER]), /replaced\) To roll back[^\n]*\n {2}Replaced by [^\n]*by hand/);
  const standing = { file: "insights/rollback-now.md", body: "To roll back a deploy of the api press the red button" };
  const found = await search([RETIRED, standing]);
  assert.ok(found.includes("red button") && !found.includes("restart the api"), found);
});

test("the digest says what is contested, and what rests on what was retired", async (t) => {
  const entities = ["project/shop"];
  const { chat, memory } = await openScene(t, {
    server: {
      memories: [
        {
          file: "decisions/core.md",
          core: true,
          summary: "the rule",
          frontmatter: { contradicts: ["decisions/other", "decisions/third"] },
        },
        {
          file: "decisions/rests.md",
          type: "Decision",
          title: "Rests on it",
          entities,
          frontmatter: { stale_backing: [{ ref: "research/old" }] },
        },
        { file: "decisions/plain.md", type: "Decision", title: "Stands", entities },
      ],
    },
  });
  chat.say("hi");
  const [digest = ""] = await memory();
  assert.match(
    digest,
    /\[decisions\/core\.md\] \(contested by decisions\/other\.md, decisions\/third\.md\) core — the rule/,
  );
  assert.match(digest, /\(decision\) \(rests on what was retired: research\/old\.md\) Rests on it/);
  assert.match(digest, /\[decisions\/plain\.md\] \(decision\) Stands/);
});

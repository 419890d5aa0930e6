// A context window too small for the conversation, on the real SDK, with both of the host's strategies.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { PLUGIN } from "./cline.ts";
import type { Parts } from "./install.ts";
import type { Recorded } from "./model-server.ts";
import { assertExtends, assertRemembered, count, DIGEST, hostMessages } from "./requests.ts";
import { arrange, CORE, e2e, MEMORIES, memory } from "./scene.ts";

/** Ten questions with few words in common, each with one memory that answers it. */
const TOPICS = [
  "Which queue carries the invoice events?",
  "Who approves a schema migration on Fridays?",
  "What colour is the maintenance banner?",
  "When does the nightly backup finish?",
  "How many replicas does search keep?",
  "Why was the carousel widget removed?",
  "Where are feature flags documented?",
  "Does checkout support gift cards abroad?",
  "Can partners download raw access logs?",
  "Should thumbnails use lossless compression?",
];
const tokenOf = (index: number): string => `answer-${1000 + index * 37}`;

const RULE = "From now on answer in short sentences.";
const NOTES = "## Palinode notes";

/** Room for about three of these answers, in tokens as the host estimates them. */
const CONTEXT_WINDOW = 9000;
const PADDING = 6000;

async function converse(t: TestContext, parts: Parts, compaction: string): Promise<Recorded[]> {
  const answers = TOPICS.map((topic, index) => [
    `insights/topic-${index}.md`,
    memory(`Topic ${index}`, `${topic} ${tokenOf(index)}`),
  ]);
  const scene = await arrange(t, parts, { ...MEMORIES, ...Object.fromEntries(answers) });
  const prompts = TOPICS.map((topic, index) => `${index === 0 ? `${RULE} ` : ""}${topic} ⟦pad ${PADDING}⟧`);
  const job = {
    how: "extensions",
    plugin: PLUGIN,
    model: scene.model.url,
    prompts,
    compaction,
    contextWindow: CONTEXT_WINDOW,
  };
  const requests = await scene.during(() => scene.sandbox.drive(job));
  assert.equal(requests.length, TOPICS.length);
  return requests;
}

/** Whether the host's own part of `next` still begins with its part of `previous`. */
function hostKeptPrefix(previous: Recorded, next: Recorded): boolean {
  const after = hostMessages(next);
  return hostMessages(previous).every((message, index) => message === after[index]);
}

for (const strategy of ["basic", "agentic"]) {
  e2e(
    `around ${strategy} compaction prompts are recalled, nothing stands twice, our prefix holds where the host's does`,
    async (t, parts) => {
      const requests = await converse(t, parts, strategy);
      let rewritten = 0;
      for (const [index, request] of requests.entries()) {
        assertRemembered(request, CORE);
        assertRemembered(request, tokenOf(index));
        assert.equal(count(request, DIGEST), 1, `request ${index}`);
        for (const topic of TOPICS.keys())
          assert.ok(count(request, tokenOf(topic)) <= 1, `request ${index}, topic ${topic}`);
        const previous = requests[index - 1];
        if (previous && hostKeptPrefix(previous, request)) assertExtends(previous, request, `request ${index}:`);
        else if (previous) rewritten++;
        assert.equal(count(request, NOTES), rewritten > 0 ? 1 : 0, `request ${index}`);
        if (rewritten > 0) assertRemembered(request, RULE);
      }
      assert.ok(rewritten > 0, "the host never compacted");
    },
  );
}

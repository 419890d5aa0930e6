// The prefix promise on random conversations: if the host's request N+1 starts with all of request N, so does ours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createChat, injected, type Message, sharedPrefix, textOf, wire } from "./helpers/chat.ts";
import { createRandom, seedOfRun } from "./helpers/random.ts";
import { openScene } from "./helpers/scene.ts";

const TOPICS = [
  "roll back a deploy of the api",
  "retry policy of the payment client",
  "lint warnings in the shop",
  "reindex step and its ordering",
];
const MEMORIES = [
  { file: "decisions/core.md", core: true, summary: "always", body: "Core." },
  ...TOPICS.map((topic, index) => ({
    file: `m/topic-${index}.md`,
    body: `About ${topic}: this is what we know of ${topic}.`,
  })),
];

for (const [round, withIds] of [true, true, true, false].entries()) {
  const seed = seedOfRun() + round;
  test(`a random conversation keeps its prefix (SEED=${seed}, ${withIds ? "with" : "without"} ids)`, async (t) => {
    const random = createRandom(seed);
    const { model, restart, host } = await openScene(t, {
      server: {
        memories: MEMORIES,
        triggers: [{ description: TOPICS[0] ?? "", memory_file: "m/topic-0.md", threshold: 0.6 }],
      },
    });
    const chat = createChat({ withIds });
    let current = host;
    let hostBefore: Message[] = [];
    let sentBefore: Message[] = [];
    for (let step = 0; step < 60; step += 1) {
      if (random.chance(0.05)) current = restart();
      const dice = random.below(10);
      if (dice < 4 || chat.messages.length === 0)
        chat.say(random.chance(0.3) ? "continue" : `Question ${random.below(5)} about the ${random.pick(TOPICS)}`);
      else if (dice < 7)
        chat.tool("run_commands", { commands: ["ls"] }, [
          { query: "ls", result: "x".repeat(random.below(50)), success: random.chance(0.8) },
        ]);
      else if (dice < 8) chat.answer(`Answer ${step}`);
      else if (dice < 9)
        chat.add({ content: [{ type: "text", text: `[SYSTEM] reminder ${step}` }], metadata: { userRunSpan: 0 } });
      // else: the same request once more, as after a provider's error
      const sentNow = await model(chat, current);
      assert.deepEqual(wire(sentNow.filter((message) => injected([message]).length === 0)), wire(chat.messages));
      if (sharedPrefix(hostBefore, chat.messages) === hostBefore.length) {
        assert.equal(sharedPrefix(sentBefore, sentNow), sentBefore.length, `step ${step}`);
      }
      const blocks = injected(sentNow).map(textOf);
      assert.equal(blocks.filter((text) => text.includes("(session start)")).length, 1);
      assert.equal(
        new Set(blocks.flatMap((text) => text.match(/^- \[m\/[^\]]+\].*$/gm) ?? [])).size,
        blocks.flatMap((text) => text.match(/^- \[m\/[^\]]+\].*$/gm) ?? []).length,
        "no memory twice in view",
      );
      hostBefore = structuredClone(chat.messages) as Message[];
      sentBefore = sentNow;
    }
  });
}

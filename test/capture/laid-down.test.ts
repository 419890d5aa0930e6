// What a person laid down is told from what they say by the way, in six languages.
import assert from "node:assert/strict";
import test from "node:test";
import { laidDownIn, openQuestionIn } from "../../src/capture/laid-down.ts";
import { LAID_DOWN, SAID_BY_THE_WAY } from "./sayings.ts";

const isCaught = (sentence: string): boolean => laidDownIn(sentence).length > 0;

test("of two hundred sentences that lay something down nineteen in twenty are caught", () => {
  assert.ok(LAID_DOWN.length >= 200, `${LAID_DOWN.length} sentences`);
  const missed = LAID_DOWN.filter((sentence) => !isCaught(sentence));
  assert.ok(missed.length <= LAID_DOWN.length / 20, missed.join("\n"));
});

test("of two hundred remarks, orders and questions hardly one is taken for a rule", () => {
  assert.ok(SAID_BY_THE_WAY.length >= 200, `${SAID_BY_THE_WAY.length} sentences`);
  const taken = SAID_BY_THE_WAY.filter(isCaught);
  assert.ok(taken.length <= SAID_BY_THE_WAY.length / 100, taken.join("\n"));
});

test("a rule is told in the person's words, of a text each, and no longer than 200 characters", () => {
  const words = `Fix it.\n- Never push to main.\n2. We decided to keep Postgres! ${"Why? ".repeat(3)}`;
  assert.deepEqual(laidDownIn(words), ["Never push to main.", "We decided to keep Postgres!"]);
  const [long = ""] = laidDownIn(`Always use ${"x ".repeat(180)}`);
  assert.ok(long.length <= 200 && long.endsWith("[cut]"), long);
  assert.deepEqual(laidDownIn(`Always ${"x ".repeat(300)}`), []);
  assert.deepEqual(laidDownIn(""), []);
});

test("an answer that ends in a question leaves it open, one that has it further up does not", () => {
  assert.equal(openQuestionIn("Done. Shall I push it?"), "Shall I push it?");
  assert.equal(openQuestionIn("完成了。要推送吗？"), "要推送吗？");
  assert.equal(openQuestionIn("Why? Because."), undefined);
  assert.equal(openQuestionIn(""), undefined);
});

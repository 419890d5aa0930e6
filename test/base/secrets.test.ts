// Secrets by kind: all of a corpus that holds one go, none of a corpus that holds none is touched.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { redact } from "../../src/base/redact.ts";
import { readDataset } from "../bench/recall/dataset.ts";
import { NEGATIVES, POSITIVES } from "./secrets.ts";

declare const REPOSITORY: string;

/** So much of a secret in one piece is too much of it. */
const MOST_CHARS = 12;

/** Returns the lines of a secret that are told, in whole or in good part. */
function leaks(text: string): string[] {
  const told = redact(text.replace(/[\u27E6\u27E7]/g, ""));
  const secrets = [...text.matchAll(/\u27E6([\s\S]*?)\u27E7/g)].flatMap(([, secret = ""]) => secret.split("\n"));
  return secrets.filter((secret) => {
    // What an address opens with is no secret.
    const part = secret.replace(/^https?:.*[/]/, "");
    return told.includes(part) || (part.length > MOST_CHARS && told.includes(part.slice(-MOST_CHARS)));
  });
}

test("of more than 600 texts that hold a secret each is told without it", () => {
  assert.ok(POSITIVES.length > 600, `${POSITIVES.length}`);
  assert.deepEqual(
    POSITIVES.filter((text) => leaks(text).length > 0),
    [],
  );
});

test("what is redacted once is not redacted again", () => {
  const texts = POSITIVES.map((text) => redact(text.replace(/[\u27E6\u27E7]/g, "")));
  assert.deepEqual(texts.map(redact), texts);
});

test("of more than 700 texts that hold no secret none is touched", () => {
  const { memories, prompts } = readDataset();
  const documents = ["README.md", "CHANGELOG.md"].flatMap((name) =>
    readFileSync(join(REPOSITORY, name), "utf8").split(/\n{2,}/),
  );
  const texts = [
    ...NEGATIVES,
    ...memories.map(({ text }) => text),
    ...prompts.flatMap(({ parts }) => parts),
    ...documents,
  ];
  assert.ok(texts.length > 700, `${texts.length}`);
  assert.deepEqual(
    texts.filter((text) => redact(text) !== text),
    [],
  );
});

test("half a secret at the 113 characters of a fork's title goes too", () => {
  for (const token of [`${"gl"}pat-Zq7XvK2mWp9RtB4nYs6L`, `${"gh"}p_Zq7XvK2mWp9RtB4nYs6LdF8hJ3cG5kVbT1xM`]) {
    for (let kept = 12; kept < token.length; kept += 1) {
      const title = `${"x".repeat(112 - kept)} ${token.slice(0, kept)}`;
      assert.ok(!redact(title).includes(token.slice(0, 10)), `${kept} characters`);
    }
  }
});

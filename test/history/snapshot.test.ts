// What the server counts in a text before it takes it, held against what an imported session says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findSessions } from "../../src/history/find.ts";
import { readSession } from "../../src/history/read.ts";
import { bodyOf } from "../../src/history/snapshot.ts";
import { openHome } from "../helpers/past.ts";
import { startPalinode } from "../palinode/server.ts";

/** Of a text, the share of characters other than these may be 0.4 at most (palinode-api.md, 2.9). */
const SIGNS = /[^\p{L}\p{N} .,!?\-_\n#:()[\]{}'"]/gu;

const KINDS = { ascii: "|=/*&%$+^@~", emoji: "🙂🚀🔥🎉" };

/** Returns 100 characters, `percent` of them signs, no two of a kind beside each other. */
function noisy(percent: number, signs: readonly string[]): string {
  const chars = Array.from({ length: 100 }, (_, index) => {
    const isSign = Math.floor(((index + 1) * percent) / 100) > Math.floor((index * percent) / 100);
    return isSign ? (signs[index % signs.length] ?? "") : "letters"[index % 7];
  });
  return chars.join("");
}

test("no imported session has more signs than the server takes, whatever share of it is signs", async (t) => {
  const home = openHome(t);
  const server = await startPalinode({ rateLimits: { write: 1000 } });
  t.after(() => server.close());
  const shares = Array.from({ length: 14 }, (_, index) => 35 + 5 * index);
  for (const [kind, signs] of Object.entries(KINDS)) {
    for (const percent of shares) {
      const lines = (count: number): string =>
        Array.from({ length: count }, () => noisy(percent, [...signs])).join("\n");
      home.session(`${kind}-${percent}`, [lines(2), "ok", `${lines(2)} again`, lines(11)]);
    }
  }
  const { code, out, err } = await home.run(["import"], { env: { PALINODE_API_URL: server.url } });
  assert.equal(code, 0, out + err);
  assert.equal(server.saved.length, 2 * shares.length, out + err);
  for (const { slug, content } of server.saved as { slug: string; content: string }[]) {
    const share = (content.match(SIGNS)?.length ?? 0) / [...content].length;
    assert.ok(share <= 0.4, `${slug}: ${share}`);
  }
});

test("of many failures the newest twenty are told, and an error beside a result is one", (t) => {
  const home = openHome(t);
  const messages: Record<string, unknown>[] = [{ role: "user", content: "one" }];
  for (let index = 0; index < 25; index += 1) {
    const call = { type: "tool_use", id: `c${index}`, name: "fetch_page", input: { url: `u${index}` } };
    const result = { type: "tool_result", tool_use_id: `c${index}`, name: "fetch_page", content: "in part" };
    messages.push(
      { role: "assistant", content: [call] },
      { role: "user", content: [{ ...result, error: `broken ${index}`, is_error: true }] },
    );
  }
  home.write(".cline/data/sessions/s/s.messages.json", { messages });
  const [past] = findSessions(home.env, assert.fail);
  const errors = bodyOf(readSession(past!, assert.fail)!).match(/^- error: .*$/gm);
  assert.deepEqual(
    errors,
    Array.from({ length: 20 }, (_, index) => `- error: broken ${index + 5}`),
  );
});

// What the server counts in a text before it takes it, held against what an imported session says.
import assert from "node:assert/strict";
import { test } from "node:test";
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

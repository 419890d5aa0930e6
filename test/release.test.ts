// The release line of the README does what it says, and refuses a file that is not the one that was released.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { checksumOf, runInstallLine } from "./release/download.ts";

declare const REPOSITORY: string;

const BUNDLE = readFileSync(join(REPOSITORY, "dist/palinode.js"));
const CHECKSUM = Buffer.from(checksumOf(BUNDLE, "palinode.js"));

function emptyHome(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), "palinode-release-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

test("the README's release line puts the released file into the plugins folder", async (t) => {
  const home = emptyHome(t);
  const { code, stderr } = await runInstallLine(home, { "palinode.js": BUNDLE, "palinode.js.sha256": CHECKSUM });
  assert.equal(code, 0, stderr);
  assert.deepEqual(readFileSync(join(home, ".cline/plugins/palinode.js")), BUNDLE);
});

test("the README's release line installs nothing when file and checksum differ, or one is missing", async (t) => {
  const changed = Buffer.concat([BUNDLE, Buffer.from("\n")]);
  for (const files of [
    { "palinode.js": changed, "palinode.js.sha256": CHECKSUM },
    { "palinode.js": BUNDLE },
    { "palinode.js.sha256": CHECKSUM },
  ] as Record<string, Buffer>[]) {
    const home = emptyHome(t);
    assert.notEqual((await runInstallLine(home, files)).code, 0);
    assert.ok(!existsSync(join(home, ".cline")));
  }
});

test("the file leaves node:fs/promises alone: in a worker that is being ended, Node 20 goes down with it", () => {
  assert.doesNotMatch(BUNDLE.toString("utf8"), /fs\/promises/);
});

// A smoke of the end-to-end suite on the newest CLI, which users have before this project pins it.
import assert from "node:assert/strict";
import { VERSIONS } from "../e2e/install.ts";
import { assertChain, assertRemembered } from "../e2e/requests.ts";
import { arrange, CORE, e2e, PROMPTS, ROLLBACK } from "../e2e/scene.ts";
import { installNewestCli } from "./parts.ts";

e2e("the newest CLI loads the shipped file, and its model is told what memory says", async (t, parts) => {
  const newest = await installNewestCli();
  if (newest === undefined) return t.skip(`the newest CLI is the pinned one, ${VERSIONS.cline}`);
  const scene = await arrange(t, { ...parts, cline: newest.cline });
  assert.ok((await scene.sandbox.cline("--version")).stdout.includes(newest.version));
  scene.sandbox.dropIn();
  const requests = await scene.during(() => scene.sandbox.cline(PROMPTS.rollback));
  assert.equal(requests.length, 3);
  assertChain(requests);
  for (const request of requests) for (const token of [CORE, ROLLBACK]) assertRemembered(request, token);
});

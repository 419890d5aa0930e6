// The contract that the stand-in server passes, on the real palinode-api: the oldest that is supported, and the newest.
// What fails here is a difference between the two: the server is right, and the stand-in has to follow.
import { test } from "node:test";
import { startPalinode } from "../e2e/palinode-server.ts";
import { contractChecks } from "../palinode/contract.ts";
import { installServers } from "./parts.ts";

const TOKEN = "a token";
/** The checks save more in a minute than one client may. */
const ENVIRONMENT = {
  PALINODE_API_TOKEN: TOKEN,
  PALINODE_RATE_LIMIT_WRITE: "10000",
  PALINODE_RATE_LIMIT_SEARCH: "10000",
};

test("the real servers keep the contract that the stand-in keeps", async (t) => {
  for (const part of await installServers()) {
    const { version } = part;
    const server = await startPalinode(part, {}, ENVIRONMENT);
    t.after(server.stop);
    for (const { title, run } of contractChecks(version)) {
      await t.test(`palinode-api ${version}: ${title}`, () => run(server.url, { version, token: TOKEN }));
    }
  }
});

// Facts about a Palinode server that the plugin relies on, as checks over its HTTP address. The stand-in must pass
// them, and so must the real server: where they disagree, the server is right and the stand-in is wrong.
// Each check brings its own memories, with words nobody else uses, so they can run again and again on one server. A run
// saves some 25 times: to repeat it within a minute, start the server with a higher PALINODE_RATE_LIMIT_WRITE.
import { CAPTURE_CHECKS } from "./contract-capture.ts";
import type { ContractContext } from "./contract-client.ts";
import { connect } from "./contract-client.ts";
import { GENERAL_CHECKS } from "./contract-general.ts";
import { RECALL_CHECKS } from "./contract-recall.ts";
import { since } from "./store.ts";

export type { ContractContext } from "./contract-client.ts";
export type ContractCheck = { title: string; run(baseUrl: string, ctx: ContractContext): Promise<void> };

/** Returns the checks that hold for a version of the server. */
export function contractChecks(version: string): ContractCheck[] {
  return [...GENERAL_CHECKS, ...RECALL_CHECKS, ...CAPTURE_CHECKS]
    .filter((check) => check.since === undefined || since({ version }, check.since))
    .filter((check) => check.until === undefined || !since({ version }, check.until))
    .map(({ title, run }) => ({ title, run: (baseUrl, ctx) => run(connect(baseUrl, ctx), ctx) }));
}

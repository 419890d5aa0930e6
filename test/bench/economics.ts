// What memory costs at the model's provider: how many characters of a session lie outside what a prompt cache holds,
// for no plugin, for palinode.js, and for models of other ways to place memory.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { injected, sent, wire } from "../helpers/chat.ts";
import { createWorkerHost } from "../helpers/worker-host.ts";
import { type Palinode, startPalinode } from "../palinode/server.ts";
import { type Cost, costOf, partsOf, type Request } from "./cache.ts";
import { measureCli } from "./cli.ts";
import { recallAfresh } from "./forgetful.ts";
import { count, type Report, type Row, type Source, type Table } from "./report.ts";
import { headOf, MEMORIES, playSession, TRIGGERS, TURNS } from "./session.ts";
import { type Memory, STRATEGIES } from "./strategies.ts";

/** An assumption: English text and code have about so many characters a token. */
const CHARS_PER_TOKEN = 4;
/** An assumption: a token read from the cache costs a tenth of one that is not, as with several large providers. */
const CACHED_WEIGHT = 0.1;

const OURS = "palinode.js";

/** What one way to place memory costs, and the least it could: what no plugin costs, and each block once. */
export type Case = {
  readonly name: string;
  readonly source: Source;
  readonly cost: Cost;
  readonly floor: number;
  readonly plain: Cost;
};

/** One model call: what the host built, what palinode.js made of it, and what memory had to say. */
type Call = { readonly host: Request; readonly ours: Request; readonly memory: Memory };

const COLUMNS = [
  "Memory",
  "Characters not in the cache",
  "of them sent again",
  "Ratio to the least possible",
  "Tokens not cached",
  "Tokens cached",
  "Cost in full tokens",
  "Cost to no plugin",
];

const NOTES = [
  "*Characters not in the cache*: all that lies outside the longest beginning shared with any earlier request of the " +
    "session, summed over its requests. The least possible is what no plugin sends, plus each injected block once; " +
    "what is beyond that was *sent again*, since something before it moved.",
  `Tokens: ${CHARS_PER_TOKEN} characters each (assumed). *Cost*: tokens that are not cached count whole, ` +
    `cached ones ${CACHED_WEIGHT} (assumed; providers differ); no price is meant.`,
];

/** Returns the report, with the real CLI where that is installed. Throws when palinode.js sends anything again. */
export async function measureEconomics(): Promise<Report> {
  const harness = await measureHarness();
  const real = await measureCli();
  [...harness, ...(real.cases ?? [])].filter(({ name }) => name.startsWith(OURS)).forEach(mustSendNothingAgain);
  const realTable: Table = {
    title: "The real CLI",
    columns: COLUMNS,
    rows: (real.cases ?? []).map(rowOf),
    notes: [real.note],
  };
  return {
    name: "economics",
    title: "What memory costs at the provider",
    tables: [harnessTable(harness), realTable],
    chart: {
      title: "What a session with memory sends that no cache holds",
      caption: `Characters of a ${TURNS}-turn coding session with tool loops, against the least possible (1.00)`,
      bars: harness.map((each) => ({
        label: each.name,
        value: ratio(each),
        text: ratio(each).toFixed(2),
        isOurs: each.name === OURS,
      })),
    },
  };
}

/** Returns the table of the harness's rows. */
export function harnessTable(cases: readonly Case[]): Table {
  const about =
    `A session of ${TURNS} turns with tool loops, in the shapes of the recordings, sizes seeded. ` +
    "The rows below palinode.js are models (`test/bench/strategies.ts`): for each prompt they place what palinode.js " +
    "would say if it had said nothing before, since what they said before is gone.";
  return { title: "The harness", columns: COLUMNS, rows: cases.map(rowOf), notes: [about, ...NOTES] };
}

/** Returns what each way costs in the seeded session. The same on every run. */
export async function measureHarness(): Promise<Case[]> {
  const calls = await playCalls();
  const plain = costOfRequests(calls.map(({ host }) => host));
  const floor =
    plain.uncached + wire(injected(calls.at(-1)?.ours.messages ?? [])).reduce((sum, block) => sum + block.length, 0);
  const of = (name: string, requests: readonly Request[], least = floor): Case => ({
    name,
    source: "harness",
    cost: costOfRequests(requests),
    floor: least,
    plain,
  });
  return [
    of(
      "no plugin",
      calls.map(({ host }) => host),
      plain.uncached,
    ),
    of(
      OURS,
      calls.map(({ ours }) => ours),
    ),
    ...STRATEGIES.map(({ name, send }) =>
      of(
        name,
        calls.map(({ host, memory }) => send(host, memory)),
      ),
    ),
  ];
}

/** Plays the session with the shipped file in the worker host. */
async function playCalls(): Promise<Call[]> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-bench-"));
  const [server, other] = [await startMemory(), await startMemory()];
  const host = createWorkerHost({
    // The widest deadline: on a busy machine late memory would stand elsewhere.
    env: {
      HOME: folder,
      PALINODE_API_URL: server.url,
      PALINODE_CLINE_STATE_DIR: join(folder, "state"),
      PALINODE_CLINE_HOOK_DEADLINE_MS: "2700",
    },
    context: {
      session: { sessionId: "1796000000000_bench" },
      workspaceInfo: { rootPath: folder, associatedRemoteUrls: ["origin: https://example.com/acme/shop.git"] },
    },
  });
  const system = headOf();
  const calls: Call[] = [];
  let memory: Memory = { digest: "", recall: "" };
  try {
    await playSession({
      async request(chat) {
        const newest = chat.messages.at(-1);
        // A model of a client that leaves no block behind has to tell again what this prompt needs.
        if (newest?.role === "user") memory = await recallAfresh(other.url, newest);
        const payload = chat.beforeModel();
        const messages = sent(payload, (await host.beforeModel(payload)).result);
        calls.push({ host: { system, messages: [...chat.messages] }, ours: { system, messages }, memory });
      },
      runEnd: async (chat) => void (await host.afterRun(chat.afterRun())),
    });
    if (host.failures.length > 0) throw new Error(`the plugin failed in its host: ${JSON.stringify(host.failures)}`);
    return calls;
  } finally {
    await host.kill();
    await Promise.all([server.close(), other.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A server of its own for each client: the cooldown of a trigger holds for all that ask. */
function startMemory(): Promise<Palinode> {
  return startPalinode({
    memories: [...MEMORIES],
    triggers: [...TRIGGERS],
    rateLimits: { search: 1e6 },
    now: () => 1_796_000_000_000,
  });
}

function costOfRequests(requests: readonly Request[]): Cost {
  return costOf(requests.map(partsOf));
}

function mustSendNothingAgain({ name, source, cost, floor }: Case): void {
  if (cost.uncached === floor) return;
  throw new Error(
    `${name} (${source}) sends ${count(cost.uncached)} characters outside the cache; ` +
      `the least possible is ${count(floor)}`,
  );
}

function rowOf(each: Case): Row {
  const { name, source, cost, floor, plain } = each;
  const tokens = (chars: number): string => count(chars / CHARS_PER_TOKEN);
  const cells = [
    name,
    count(cost.uncached),
    count(cost.uncached - floor),
    ratio(each).toFixed(2),
    tokens(cost.uncached),
    tokens(cost.cached),
    tokens(weighted(cost)),
    `${(weighted(cost) / weighted(plain)).toFixed(2)} ×`,
  ];
  return { cells, source };
}

function weighted({ cached, uncached }: Cost): number {
  return uncached + CACHED_WEIGHT * cached;
}

function ratio({ cost, floor }: Case): number {
  return cost.uncached / floor;
}

// What `status` and `why` know: how the server is, which settings hold and where they come from, how each channel fared
// in the latest session here, and what was injected, or not and why. How that is put into words is status-text.ts.
import { VERSION } from "../base/version.ts";
import { checkHealth, checkStatus, explain, PULL_MODEL, type Reason, reasonOf } from "../server/index.ts";
import { type ChannelNews, type LatestSession, latestSession, type Session } from "../session/index.ts";
import {
  type Config,
  pausedSince,
  primes,
  type ReadConfig,
  recalls,
  repairs,
  type SettingNote,
  settingNotes,
} from "../settings/index.ts";
import { askForPage, pageAddress } from "./page.ts";
import { accountText, statusText } from "./status-text.ts";

const TIMEOUT_MS = 3000;
/** What `why` tells is on disk; nobody is to wait for the rest. */
const PAGE_TIMEOUT_MS = 1000;
/** Settings whose difference between two processes of one user means nothing. */
const LOCAL: ReadonlySet<string> = new Set(["PALINODE_PROJECT"]);

/** What the server says of its embedder, in words. */
const EMBEDDERS = { ready: "ready", none: "off (lexical), so no triggers", failing: "not ready" } as const;

/** What a command has to say: words for people, data for programs. */
export interface Reply {
  readonly text: string;
  readonly data: unknown;
}

/** Everything that `status` tells. Times are ISO 8601. */
export interface Status {
  readonly version: string;
  readonly server: Health & { readonly url: string };
  readonly workspace: string | undefined;
  readonly project: string;
  readonly pausedSince: string | null;
  readonly queue: { readonly waiting: number; readonly refused: number };
  /** Settings that are not at their defaults: of the latest session's process, where there is one. */
  readonly settings: readonly SettingNote[];
  /** Variables of which that process has other values than this one. */
  readonly differing: readonly string[];
  readonly problems: readonly string[];
  /** The session that worked here last. `leftOut`: memories that found no room. */
  readonly session: { readonly id: string; readonly at: string; readonly leftOut: number } | null;
  readonly channels: Readonly<Record<string, ChannelStatus>>;
}

/** How the server is. */
interface Health {
  readonly version?: string | undefined;
  readonly status: string;
  readonly embedder?: string;
  /** What mends it, where something is wrong. */
  readonly fix?: string;
  /** The address of its web page, where it has one that a browser can show. */
  readonly page?: string;
}

/** How one channel fared in the latest session. */
export interface ChannelStatus {
  readonly isOn: boolean;
  readonly lastSuccess: string | null;
  readonly lastSilence: Reason | null;
  /** When it was last used, or left alone. */
  readonly lastAt: string | null;
  /** The trouble that stands behind a silence that cost no question. */
  readonly cause?: Reason;
  readonly calls: number;
  readonly medianMs: number | null;
}

/** Returns the state of everything. Asks the server how it is; never rejects. */
export async function status(session: Session, read: ReadConfig): Promise<Reply> {
  const data = await readStatus(session, read);
  return { data, text: statusText(data, session.now()) };
}

/** Returns what was injected for the last prompts, and for the silent ones the reason. Never rejects. */
export async function why(session: Session): Promise<Reply> {
  const accounts = latestSession(session.state, session.cwd)?.record.accounts ?? [];
  if (accounts.length === 0) return { data: accounts, text: "No prompt of this workspace is on record yet." };
  const page = await askForPage(session.config, PAGE_TIMEOUT_MS).catch(() => undefined);
  const lines = accounts.map((account) => accountText(account, session.now()));
  const text = [...lines, ...(page === undefined ? [] : [`The memories themselves: ${page}`])].join("\n");
  return { data: accounts, text };
}

async function readStatus(session: Session, read: ReadConfig): Promise<Status> {
  const { state, pauses, cwd, config } = session;
  const latest = latestSession(state, cwd);
  const since = pausedSince(pauses, cwd);
  const problems = [...read.problems.map(({ text }) => text), ...(latest?.record.problems ?? [])];
  return {
    version: VERSION,
    server: { url: config.apiUrl, ...(await serverHealth(session)) },
    workspace: cwd,
    project: session.project,
    pausedSince: since === undefined ? null : isoOf(since),
    queue: {
      waiting: state.list("queue").filter((name) => !name.endsWith(".bad")).length,
      refused: state.list("refused").length,
    },
    ...settingsOf(latest, read),
    problems: [...new Set(problems)],
    session: latest === undefined ? null : sessionOf(latest),
    channels: channelsOf(config, latest),
  };
}

function settingsOf(latest: LatestSession | undefined, read: ReadConfig): Pick<Status, "settings" | "differing"> {
  const here = settingNotes(read);
  const there = latest?.record.settings ?? [];
  return there.length === 0
    ? { settings: here, differing: [] }
    : { settings: there, differing: differences(there, here) };
}

function sessionOf({ id, at, record }: LatestSession): Status["session"] {
  return { id, at: isoOf(at), leftOut: record.leftOut };
}

/** `/health` is open to all and says whether the server lives; `/status` wants the token and knows the embedder. */
async function serverHealth(session: Session): Promise<Health> {
  const limits = { timeoutMs: TIMEOUT_MS };
  const [health, inner] = await Promise.allSettled([
    checkHealth(session.client, limits),
    checkStatus(session.client, limits),
  ]);
  if (health.status === "rejected") return { status: reasonOf(health.reason), fix: explain(health.reason, session) };
  const { version, status: word } = health.value;
  if (inner.status === "rejected")
    return { version, status: reasonOf(inner.reason), fix: explain(inner.reason, session) };
  const { embedder } = inner.value;
  const page = pageAddress(session.config, version);
  return {
    version,
    status: word ?? "bad-response",
    embedder: embedder === undefined ? "unknown" : EMBEDDERS[embedder],
    ...(page === undefined ? {} : { page }),
    ...(embedder === "failing" ? { fix: `Search and triggers need the embedder: ${PULL_MODEL}` } : {}),
  };
}

function channelsOf(config: Config, latest: LatestSession | undefined): Status["channels"] {
  const isOn = {
    prime: primes(config),
    triggers: recalls(config) && config.recallTriggers,
    search: recalls(config) && config.recallMaxResults > 0,
    repair: repairs(config),
    capture: config.capture,
  };
  const news = latest?.record.channels ?? {};
  return Object.fromEntries(Object.entries(isOn).map(([name, on]) => [name, channelStatus(on, news[name])]));
}

function channelStatus(isOn: boolean, news: ChannelNews | undefined): ChannelStatus {
  const times = (news?.recentMs ?? []).toSorted((a, b) => a - b);
  return {
    isOn,
    lastSuccess: news?.okAt === undefined ? null : isoOf(news.okAt),
    lastSilence: news?.reason ?? null,
    lastAt: news === undefined ? null : isoOf(news.at),
    ...(news?.cause === undefined ? {} : { cause: news.cause }),
    calls: news?.calls ?? 0,
    medianMs: times[Math.floor(times.length / 2)] ?? null,
  };
}

/** What the session's process has otherwise than this one: a hub keeps the environment of the shell that started it. */
function differences(there: readonly SettingNote[], here: readonly SettingNote[]): string[] {
  const valueIn = (notes: readonly SettingNote[], name: string) => notes.find((note) => note.name === name)?.value;
  const names = new Set([...there, ...here].map(({ name }) => name));
  return [...names].filter((name) => !LOCAL.has(name) && valueIn(there, name) !== valueIn(here, name));
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

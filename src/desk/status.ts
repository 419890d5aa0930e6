// What `status` and `why` tell: how the server is, which settings hold and where they come from, how each channel fared in
// the latest session here, and what was injected, or not and why.
import { asRecord, asText } from "../base/json.ts";
import { VERSION } from "../base/version.ts";
import { explain, type Reason, reasonOf } from "../server/index.ts";
import {
  type Account,
  type ChannelNews,
  type LatestSession,
  latestSession,
  pausedSince,
  type Session,
} from "../session/index.ts";
import { primes, type ReadConfig, recalls, repairs, settingNotes } from "../settings/index.ts";

const TIMEOUT_MS = 3000;
/** Settings whose difference between two processes of one user means nothing. */
const LOCAL: ReadonlySet<string> = new Set(["PALINODE_PROJECT"]);

/** What a command has to say: words for people, data for programs. */
export interface Reply {
  readonly text: string;
  readonly data: unknown;
}

/** Returns the state of everything. Asks the server how it is; never rejects. */
export async function status(session: Session, read: ReadConfig): Promise<Reply> {
  const { state, cwd, config } = session;
  const latest = latestSession(state, cwd);
  const here = settingNotes(read);
  const settings = latest !== undefined && latest.record.settings.length > 0 ? latest.record.settings : here;
  const differing = settings === here ? [] : differences(settings, here);
  const since = pausedSince(state, cwd);
  const data = {
    version: VERSION,
    server: { url: config.apiUrl, ...(await serverHealth(session)) },
    workspace: cwd,
    project: session.project,
    pausedSince: since === undefined ? null : new Date(since).toISOString(),
    queue: {
      waiting: state.list("queue").filter((name) => !name.endsWith(".bad")).length,
      refused: state.list("refused").length,
    },
    settings,
    differing,
    problems: [...new Set([...read.problems.map(({ text }) => text), ...(latest?.record.problems ?? [])])],
    session:
      latest === undefined
        ? null
        : { id: latest.id, at: new Date(latest.at).toISOString(), leftOut: latest.record.leftOut },
    channels: Object.fromEntries(
      channelsOf(session).map(([name, isOn]) => [name, channelData(isOn, latest?.record.channels[name])]),
    ),
  };
  return { data, text: statusText(session, data, latest) };
}

/** Returns what was injected for the last prompts, and for the silent ones the reason. */
export function why(session: Session): Reply {
  const accounts = latestSession(session.state, session.cwd)?.record.accounts ?? [];
  const text = accounts.map((account) => accountText(account, session.now())).join("\n");
  return { data: accounts, text: text === "" ? "No prompt of this workspace is on record yet." : text };
}

type Health = { version?: string | undefined; status: string; embedder?: string; fix?: string };
type StatusData = {
  server: Health & { url: string };
  queue: { waiting: number; refused: number };
  pausedSince: string | null;
  differing: string[];
  settings: readonly { name: string; value: string; source: string }[];
  problems: string[];
};

/** `/health` is open to all and says whether the server lives; `/status` wants the token and knows the embedder. */
async function serverHealth(session: Session): Promise<Health> {
  const limits = { timeoutMs: TIMEOUT_MS };
  const [health, inner] = await Promise.allSettled([
    session.client.get("/health", {}, limits),
    session.client.get("/status", {}, limits),
  ]);
  if (health.status === "rejected") return { status: reasonOf(health.reason), fix: explain(health.reason, session) };
  const { version, status: word } = asRecord(health.value);
  if (inner.status === "rejected")
    return { version: asText(version), status: reasonOf(inner.reason), fix: explain(inner.reason, session) };
  const works = asRecord(inner.value).embed_functional;
  return {
    version: asText(version),
    status: asText(word) ?? "bad-response",
    embedder: works === true ? "ready" : works === null ? "off (lexical)" : works === false ? "not ready" : "unknown",
    ...(works === false ? { fix: "Search and triggers need the embedder: ollama pull bge-m3" } : {}),
  };
}

function channelsOf({ config }: Session): [string, boolean][] {
  return [
    ["prime", primes(config)],
    ["triggers", recalls(config) && config.recallTriggers],
    ["search", recalls(config) && config.recallMaxResults > 0],
    ["repair", repairs(config)],
    ["capture", config.capture],
  ];
}

function channelData(isOn: boolean, news: ChannelNews | undefined) {
  const times = (news?.recentMs ?? []).toSorted((a, b) => a - b);
  return {
    isOn,
    lastSuccess: news?.okAt === undefined ? null : new Date(news.okAt).toISOString(),
    lastSilence: news?.reason ?? null,
    lastAt: news === undefined ? null : new Date(news.at).toISOString(),
    ...(news?.cause === undefined ? {} : { cause: news.cause }),
    calls: news?.calls ?? 0,
    medianMs: times[Math.floor(times.length / 2)] ?? null,
  };
}

/** What the session's process has otherwise than this one: a hub keeps the environment of the shell that started it. */
function differences(
  there: readonly { name: string; value: string }[],
  here: readonly { name: string; value: string }[],
): string[] {
  const [a, b] = [there, here].map((notes) => new Map(notes.map(({ name, value }) => [name, value]))) as [
    Map<string, string>,
    Map<string, string>,
  ];
  return [...new Set([...a.keys(), ...b.keys()])].filter((name) => !LOCAL.has(name) && a.get(name) !== b.get(name));
}

function statusText(session: Session, data: StatusData, latest: LatestSession | undefined): string {
  const { server } = data;
  const now = session.now();
  const rows: [string, string][] = [
    [
      "server",
      `${server.url}: ${[server.version, server.status, server.embedder && `embedder ${server.embedder}`].filter(Boolean).join(", ")}`,
    ],
    ...(server.fix === undefined ? [] : [["", server.fix] as [string, string]]),
    ["project", session.project || "none"],
    ["paused", data.pausedSince === null ? "no" : `since ${data.pausedSince}; to end it: /palinode resume`],
    ["queue", `${data.queue.waiting} waiting, ${data.queue.refused} refused`],
    [
      "session",
      latest === undefined
        ? "none in this workspace yet"
        : `${latest.id}, ${ago(now - latest.at)}${latest.record.leftOut > 0 ? `, ${latest.record.leftOut} memories left out for space` : ""}`,
    ],
    ...data.settings.map(({ name, value, source }, index): [string, string] => [
      index === 0 ? "settings" : "",
      `${name} = ${value} (${source})`,
    ]),
    ...data.problems.map((problem): [string, string] => ["problem", problem]),
    ...(data.differing.length === 0
      ? []
      : [
          [
            "differs",
            `Cline's hub has other values than this shell for ${data.differing.join(", ")}; to mend it: cline hub stop`,
          ] as [string, string],
        ]),
  ];
  const news = channelsOf(session).map(([name, isOn]) => channelRow(name, isOn, latest?.record.channels[name], now));
  return `palinode.js ${VERSION}\n${columns(rows)}\n\n${columns([["channel", "last success", "last silence", "calls", "median"], ...news])}`;
}

function channelRow(name: string, isOn: boolean, news: ChannelNews | undefined, now: number): string[] {
  if (!isOn) return [name, "off", "", "", ""];
  const { medianMs, calls } = channelData(isOn, news);
  const silence = news?.reason === undefined ? "–" : `${reasonText(news.reason, news.cause)}, ${ago(now - news.at)}`;
  return [
    name,
    news?.okAt === undefined ? "never" : ago(now - news.okAt),
    silence,
    String(calls),
    medianMs === null ? "–" : `${Math.round(medianMs)} ms`,
  ];
}

function accountText({ at, about, shown, chars, silent }: Account, now: number): string {
  const what =
    shown.length === 0
      ? "nothing"
      : `${shown.length} ${shown.length === 1 ? "memory" : "memories"}, ${chars} characters`;
  const rows = shown.map(
    (row) =>
      `  ${row.kind} ${row.path || "(resolved)"}${row.score === null ? "" : ` ${Math.round(row.score * 100)}%`}, ${row.chars} characters`,
  );
  const reasons = Object.entries(silent).map(([channel, reason]) => `  ${channel}: ${reasonText(reason)}`);
  return [`${ago(now - at)}, "${about}": ${what}`, ...rows, ...reasons].join("\n");
}

function reasonText(reason: Reason, cause?: Reason): string {
  return cause === undefined ? reason : `${reason} (${cause})`;
}

function ago(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "just now";
  return minutes < 120
    ? `${minutes} min ago`
    : minutes < 2880
      ? `${Math.round(minutes / 60)} h ago`
      : `${Math.round(minutes / 1440)} days ago`;
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

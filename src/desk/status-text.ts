// `status` and `why` in words, in columns: nothing is looked up here.
import type { Reason } from "../server/index.ts";
import type { Account } from "../session/index.ts";
import type { ChannelStatus, Status } from "./status.ts";

type Row = readonly string[];

/** Returns the status in words. Times are told as of `nowMs`, epoch milliseconds. */
export function statusText(status: Status, nowMs: number): string {
  const { version, project, settings, problems, channels } = status;
  const rows: Row[] = [
    ...serverRows(status),
    ["project", project || "none"],
    ["paused", pauseText(status)],
    ["queue", `${status.queue.waiting} waiting, ${status.queue.refused} refused`],
    ["session", sessionText(status, nowMs)],
    ...settings.map(({ name, value, source }, index) => [
      index === 0 ? "settings" : "",
      `${name} = ${value} (${source})`,
    ]),
    ...problems.map((problem) => ["problem", problem]),
    ...differenceRows(status),
  ];
  const news = Object.entries(channels).map(([name, channel]) => channelRow(name, channel, nowMs));
  const table = columns([["channel", "last success", "last silence", "calls", "median"], ...news]);
  return `palinode.js ${version}\n${columns(rows)}\n\n${table}`;
}

/** Returns what one prompt was given from memory, and why not more. */
export function accountText({ at, about, shown, chars, silent }: Account, nowMs: number): string {
  const count = `${shown.length} ${shown.length === 1 ? "memory" : "memories"}`;
  const given = shown.length === 0 ? "nothing" : `${count}, ${chars} characters`;
  const rows = shown.map(({ kind, path, score, chars: size }) => {
    const match = score === null ? "" : ` ${Math.round(score * 100)}%`;
    return `  ${kind} ${path || "(resolved)"}${match}, ${size} characters`;
  });
  const reasons = Object.entries(silent).map(([channel, reason]) => `  ${channel}: ${reasonText(reason)}`);
  return [`${ago(nowMs - at)}, "${about}": ${given}`, ...rows, ...reasons].join("\n");
}

function serverRows({ server }: Status): Row[] {
  const { url, version, status, embedder, fix, page } = server;
  const parts = [version, status, embedder && `embedder ${embedder}`].filter(Boolean);
  const row = ["server", `${url}: ${parts.join(", ")}`];
  return [row, ...(fix === undefined ? [] : [["", fix]]), ...(page === undefined ? [] : [["page", page]])];
}

function pauseText({ pausedSince }: Status): string {
  return pausedSince === null ? "no" : `since ${pausedSince}; to end it: /palinode unpause`;
}

function sessionText({ session }: Status, nowMs: number): string {
  if (session === null) return "none in this workspace yet";
  const { id, at, leftOut } = session;
  const rest = leftOut > 0 ? `, ${leftOut} memories left out for space` : "";
  return `${id}, ${ago(nowMs - Date.parse(at))}${rest}`;
}

function differenceRows({ differing }: Status): Row[] {
  const names = differing.join(", ");
  const text = `Cline's hub has other values than this shell for ${names}; to mend it: cline hub stop`;
  return differing.length === 0 ? [] : [["differs", text]];
}

function channelRow(name: string, channel: ChannelStatus, nowMs: number): Row {
  const { isOn, lastSuccess, lastSilence, lastAt, cause, calls, medianMs } = channel;
  if (!isOn) return [name, "off", "", "", ""];
  const success = lastSuccess === null ? "never" : ago(nowMs - Date.parse(lastSuccess));
  const isSilent = lastSilence !== null && lastAt !== null;
  const silence = isSilent ? `${reasonText(lastSilence, cause)}, ${ago(nowMs - Date.parse(lastAt))}` : "–";
  return [name, success, silence, String(calls), medianMs === null ? "–" : `${Math.round(medianMs)} ms`];
}

function reasonText(reason: Reason, cause?: Reason): string {
  return cause === undefined ? reason : `${reason} (${cause})`;
}

function ago(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 2 * 60) return `${minutes} min ago`;
  if (minutes < 2 * 24 * 60) return `${Math.round(minutes / 60)} h ago`;
  return `${Math.round(minutes / (24 * 60))} days ago`;
}

function columns(rows: readonly Row[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (row: Row): string[] => {
    return row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
  };
  return rows.map((row) => padded(row).join("  ").trimEnd()).join("\n");
}

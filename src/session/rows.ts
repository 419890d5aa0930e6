// The rows of a record on disk, read with suspicion: what is whole comes back as a list of one, anything else as none.
// What earlier versions kept otherwise is derived.
import { asRecord, asText } from "../base/json.ts";
import { defuse } from "../base/markup.ts";
import { isTime } from "../base/time.ts";
import {
  type Anchor,
  ENTRY_KINDS,
  entryId,
  type LedgerEntry,
  type Memory,
  type Repaired,
  type ShownMemory,
  type Snippet,
  triggerHeading,
} from "../recall/index.ts";
import type { Reason } from "../server/index.ts";
import type { SettingNote } from "../settings/index.ts";
import type { Account, ChannelNews } from "./news.ts";

/** How 0.1.0, which kept no snippets, wrote them into its blocks; those of a digest have no score. */
const SNIPPET_LINES = {
  digest: /^- \[(.+?)\] (.*)$/gm,
  scored: /^- \[(.+?)\] \((?:\d{1,3}% match|keyword match)\) ?(.*)$/gm,
};

/** Returns what `read` makes of the rows of a list; of anything else nothing. */
export function listOf<T>(raw: unknown, read: (row: unknown) => T[]): T[] {
  return Array.isArray(raw) ? raw.flatMap(read) : [];
}

export function readText(raw: unknown): string[] {
  return typeof raw === "string" ? [raw] : [];
}

export function readCount(raw: unknown): number {
  return typeof raw === "number" && Number.isInteger(raw) && raw > 0 ? raw : 0;
}

/** A text that was spoilt is no block any more, and would reach the model as it is: its id tells. */
export function readEntry(raw: unknown): LedgerEntry[] {
  const { kind, atEnd, prompt, text, seen, snippets, id, createdAt, anchor } = asRecord(raw);
  const place = anchor === null ? null : readAnchor(anchor);
  if (!isKind(kind) || place === undefined) return [];
  if (typeof prompt !== "string" || typeof text !== "string" || typeof createdAt !== "number") return [];
  if (id !== entryId(kind, prompt, text) || !isTexts(seen)) return [];
  return [
    {
      kind,
      atEnd: atEnd === true,
      prompt,
      text,
      seen,
      snippets: Array.isArray(snippets) ? listOf(snippets, readSnippet) : snippetsIn(text, kind, seen),
      id,
      createdAt,
      anchor: place,
    },
  ];
}

function snippetsIn(text: string, kind: LedgerEntry["kind"], seen: readonly string[]): Snippet[] {
  const lines = text.matchAll(kind === "digest" ? SNIPPET_LINES.digest : SNIPPET_LINES.scored);
  const snippets = [...lines].map(([, path = "", words = ""]) => ({ path, words }));
  if (kind === "digest") return snippets;
  // Hits stand last: what reads like one before them is the text of a trigger.
  const hits = seen.filter((key) => key.startsWith("hit ")).length;
  return snippets.slice(Math.max(0, snippets.length - hits));
}

function readSnippet(raw: unknown): Snippet[] {
  const { path, words } = asRecord(raw);
  return typeof path === "string" && typeof words === "string" ? [{ path, words }] : [];
}

function readAnchor(raw: unknown): Anchor | undefined {
  const { id, print, ordinal } = asRecord(raw);
  if (id !== null && typeof id !== "string") return undefined;
  return typeof print === "string" && typeof ordinal === "number" ? { id, print, ordinal } : undefined;
}

/** Made safe once more: a file may have been spoilt, and what is safe already stays as it is. */
export function readCarried(raw: unknown): Memory[] {
  const { keys, path, gist, entry } = asRecord(raw);
  const { lines } = asRecord(entry);
  if (!isTexts(keys) || !isTexts(lines) || typeof path !== "string" || typeof gist !== "string") return [];
  const safe = [triggerHeading(path), ...lines.slice(1).map(defuse)];
  return [{ source: "trigger", keys, path, gist, score: null, entry: { lines: safe } }];
}

/** 0.1.0 kept the two as one text. */
export function readRepaired(raw: unknown): Repaired[] {
  const pair = typeof raw === "string" ? raw.split(" ") : [];
  const { prompt = pair[0], signature = pair[1] } = asRecord(raw);
  return typeof prompt === "string" && typeof signature === "string" ? [{ prompt, signature }] : [];
}

export function readNews([channel, raw]: [string, unknown]): [string, ChannelNews][] {
  const { okAt, reason, cause, at, ms, calls, recentMs } = asRecord(raw);
  if (!isTime(at) || typeof ms !== "number") return [];
  const news: ChannelNews = {
    at,
    ms,
    calls: readCount(calls),
    recentMs: listOf(recentMs, (time) => (typeof time === "number" ? [time] : [])),
    okAt: isTime(okAt) ? okAt : undefined,
    reason: asText(reason) as Reason | undefined,
    cause: asText(cause) as Reason | undefined,
  };
  return [[channel, news]];
}

export function readAccount(raw: unknown): Account[] {
  const { at, about, shown, chars, silent } = asRecord(raw);
  if (!isTime(at) || typeof about !== "string" || !Array.isArray(shown)) return [];
  const reasons = Object.entries(asRecord(silent)).filter(([, reason]) => typeof reason === "string");
  return [
    {
      at,
      about,
      shown: listOf(shown, readShown),
      chars: readCount(chars),
      silent: Object.fromEntries(reasons) as Record<string, Reason>,
    },
  ];
}

function readShown(raw: unknown): ShownMemory[] {
  const { kind, path, score, chars } = asRecord(raw);
  if (!isKind(kind) || typeof path !== "string") return [];
  return [{ kind, path, score: typeof score === "number" ? score : null, chars: readCount(chars) }];
}

export function readSetting(raw: unknown): SettingNote[] {
  const { name, value, source } = asRecord(raw);
  if (typeof name !== "string" || typeof value !== "string" || typeof source !== "string") return [];
  return [{ name, value, source }];
}

function isKind(kind: unknown): kind is LedgerEntry["kind"] {
  return ENTRY_KINDS.some((each) => each === kind);
}

function isTexts(list: unknown): list is string[] {
  return Array.isArray(list) && list.every((text) => typeof text === "string");
}

// Reads single values of settings. Each reader returns the value, or undefined for nonsense: variables arrive as text,
// options and files hold anything.
import { isAbsolute } from "node:path";

/** Reads an http or https address; returns it without credentials, query and trailing slash. */
export function readUrl(raw: unknown): string | undefined {
  const url = typeof raw === "string" && URL.canParse(raw.trim()) ? new URL(raw.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  // `fetch` refuses a URL with credentials, and a query belongs to no base address.
  return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, "");
}

/** Reads a token: visible ASCII, at most 4,096 characters. */
export function readToken(raw: unknown): string | undefined {
  const token = typeof raw === "string" ? raw.trim() : "";
  return /^[\x21-\x7e]{1,4096}$/.test(token) ? token : undefined;
}

/** Returns what is mostly wrong with an address or a token, the settings that everything hangs on. */
export function hintFor(key: string, raw: unknown): string | undefined {
  if (key === "apiUrl" && typeof raw === "string" && !/^\s*https?:\/\//i.test(raw))
    return "http:// or https:// is missing";
  return key === "token" ? "the token alone, without Bearer" : undefined;
}

/** Reads one of a few words. */
export function word<T extends string>(words: readonly T[]) {
  return (raw: unknown): T | undefined => {
    const text = typeof raw === "string" ? raw.trim().toLowerCase() : "";
    return words.find((each) => each === text);
  };
}

/** Reads at most 200 characters. */
export function readLine(raw: unknown): string | undefined {
  return typeof raw === "string" && raw.length <= 200 ? raw.trim() : undefined;
}

/** A relative folder would land in whatever repository is open. */
export function readFolder(raw: unknown): string | undefined {
  const path = typeof raw === "string" ? raw.trim() : "";
  return isAbsolute(path) && !/[\u0000-\u001f]/.test(path) ? path : undefined;
}

/** Reads a switch: 1, true, yes, on, or their opposites. */
export function readFlag(raw: unknown): boolean | undefined {
  if (typeof raw === "boolean") return raw;
  const word = typeof raw === "string" || typeof raw === "number" ? String(raw).trim().toLowerCase() : "";
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : undefined;
}

function readNumber(raw: unknown): number {
  if (typeof raw === "number") return raw;
  return typeof raw === "string" && /^\s*(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})\s*$/.test(raw) ? Number(raw) : NaN;
}

/** Reads a number within limits. */
export function number(min: number, max: number) {
  return (raw: unknown): number | undefined => {
    const value = readNumber(raw);
    return value >= min && value <= max ? value : undefined;
  };
}

/** Reads a whole number within limits. */
export function whole(min: number, max: number) {
  const inRange = number(min, max);
  return (raw: unknown): number | undefined => {
    const value = inRange(raw);
    return value !== undefined && Number.isInteger(value) ? value : undefined;
  };
}

/** Reads a number and brings it within limits. */
export function clamped(min: number, max: number) {
  return (raw: unknown): number | undefined => {
    const value = readNumber(raw);
    return Number.isFinite(value) && value >= 0 ? Math.round(Math.min(max, Math.max(min, value))) : undefined;
  };
}

/**
 * The variable is in seconds, the option in milliseconds: text is seconds, a number milliseconds. Timers take whole
 * ones.
 */
export function milliseconds(min: number, max: number) {
  const inRange = number(min, max);
  return (raw: unknown): number | undefined =>
    inRange(Math.round(typeof raw === "number" ? raw : readNumber(raw) * 1000));
}

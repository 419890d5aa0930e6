// What is wrong with the server, in words that lead to what mends it: for tools and commands, for the doctor, for an
// import. Nowhere else is a server's trouble put into words.
import { safeLine } from "../base/markup.ts";
import type { Config } from "../settings/index.ts";
import { mayCarryToken } from "./client.ts";
import { PalinodeError, type Reason, reasonOf } from "./failure.ts";

/** Something that was asked for by hand and cannot be done; the message says what would mend it. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
}

/** One trouble, in two parts that begin in lower case. Names no token and no text of memory. */
export interface Trouble {
  /** What is wrong, as a sentence without its full stop. */
  readonly what: string;
  /** What mends it, as sentences; "" where nothing does. */
  readonly mend: string;
}

type Server = Pick<Config, "apiUrl" | "token" | "allowHttp">;

/** What gets the server's embedder its model. */
export const PULL_MODEL = "ollama pull bge-m3";
/** What starts a server that searches by words alone. */
export const START_LEXICAL = "PALINODE_RETRIEVAL_MODE=lexical palinode-api";
const SEE_DOCTOR = "see: node palinode.js doctor";
/** In a file, since an `export` would die with its terminal. */
const IN_SETTINGS =
  'as "token" into your settings file, or into PALINODE_API_TOKEN; node palinode.js doctor names the file';

/** Returns what is wrong and what the user can do about it, in whole sentences. */
export function explain(error: unknown, { config }: { readonly config: Config }): string {
  const { what, mend } = troubleOf(error, config);
  return mend === "" ? capitalized(what) : `${capitalized(what)}. ${capitalized(mend)}`;
}

/** Returns what is wrong with the server of these settings, and what mends it, by anything that a route threw. */
export function troubleOf(error: unknown, server: Server): Trouble {
  const at = `the Palinode server at ${server.apiUrl}`;
  switch (reasonOf(error)) {
    case "refused":
      return {
        what: `nothing listens at ${server.apiUrl}, so Palinode does not answer`,
        mend: "start it with: palinode-api (to get it: node palinode.js server install)",
      };
    case "dns":
      return {
        what: `${at} cannot be found: there is no host ${new URL(server.apiUrl).hostname}`,
        mend: "check PALINODE_API_URL",
      };
    case "tls":
      return {
        what: `${at} speaks no https that can be trusted`,
        mend:
          "for a certificate of your own, name its file in NODE_EXTRA_CA_CERTS where Cline starts; " +
          "for a server without https, let PALINODE_API_URL begin with http:",
      };
    case "unreachable":
      return {
        what: `no whole answer came from ${server.apiUrl}: the connection broke, or a proxy did not let it through`,
        mend: `try again; look at the server's log, and at HTTPS_PROXY and NO_PROXY. ${capitalized(SEE_DOCTOR)}`,
      };
    case "timeout":
      return { what: `${at} does not answer in time`, mend: `its embedder may be loading; ${SEE_DOCTOR}` };
    case "unauthorized":
      return tokenTrouble(at, server);
    case "denied":
      return { what: `${at} does not allow this (${policyOf(error)})`, mend: "see: palinode controls" };
    case "rate-limited":
      return { what: `${at} wants quiet (rate limit)`, mend: "try again in a minute" };
    default:
      return refusal(at, server.apiUrl, error);
  }
}

/** Why a token stays here, which is no server's doing. */
export const UNSENT_TOKEN: Trouble = {
  what: "the token is not sent over plain http to a public address",
  mend: 'use https. Where the way is safe, put "allowHttp": true into your settings file, or set PALINODE_ALLOW_HTTP=1',
};

function tokenTrouble(at: string, server: Server): Trouble {
  if (server.token === "") return { what: `${at} wants a token, and none is set`, mend: `put one ${IN_SETTINGS}` };
  if (mayCarryToken(server)) return { what: `${at} refused the token`, mend: `put the right one ${IN_SETTINGS}` };
  return { what: `${at} wants a token, and ${UNSENT_TOKEN.what}`, mend: UNSENT_TOKEN.mend };
}

function policyOf(error: unknown): string {
  return (error instanceof PalinodeError ? error.detail : undefined) ?? "its policy";
}

/** An answer that is none, or that takes no exception to who asks but to what is asked. */
function refusal(at: string, apiUrl: string, error: unknown): Trouble {
  const { status, serverWords } = error instanceof PalinodeError ? error : {};
  const http = status === undefined ? "" : ` (HTTP ${status})`;
  if (status === 413) return { what: `${at} takes no text of that size`, mend: "" };
  if (status === 503) {
    const mend = `get its model with: ${PULL_MODEL}. Without one it can still search: ${START_LEXICAL}`;
    return { what: `${at} has no working embedder`, mend };
  }
  if (status === 502 || status === 504) {
    const mend = "start palinode-api behind it, or look at the address that it passes requests to";
    return { what: `a gateway at ${apiUrl} gets no answer from the server behind it${http}`, mend };
  }
  if (status === 400 || status === 422)
    return { what: `${at} refused it${serverWords === undefined ? http : `: ${safeLine(serverWords)}`}`, mend: "" };
  return { what: `${at} gave no usable answer${http}`, mend: `is that palinode-api? ${capitalized(SEE_DOCTOR)}` };
}

/** Returns the same in a few words, for a line that tells the reason code too. */
export function adviceFor(reason: Reason): string {
  return ADVICE[reason] ?? "the server does not answer as it should";
}

const ADVICE: Partial<Record<Reason, string>> = {
  refused: "start palinode-api, or set PALINODE_API_URL",
  dns: "look at PALINODE_API_URL",
  unreachable: "the connection broke; look at the server's log, HTTPS_PROXY and NO_PROXY",
  tls: "look at NODE_EXTRA_CA_CERTS, or at the scheme of PALINODE_API_URL",
  unauthorized: "look at PALINODE_API_TOKEN",
  denied: "the server's policy forbids it",
  "rate-limited": "the server wants quiet; try again later",
};

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

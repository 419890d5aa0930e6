// What the contract checks talk to a server with, and the words and memories they bring.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

export type ContractContext = {
  version: string;
  /** The token the server was started with, if any. */
  token?: string;
};

/** One check, for servers from `since` on and before `until`. */
export type Check = {
  title: string;
  since?: string;
  until?: string;
  run(api: Api, ctx: ContractContext): Promise<void>;
};
export type Fields = Record<string, unknown>;
export type Reply = { status: number; headers: Headers; body: unknown };
export type Api = {
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  /** A body that is a text goes out as it is. */
  post(path: string, body: unknown): Promise<Reply>;
  delete(path: string): Promise<Reply>;
};

export function connect(baseUrl: string, { token }: ContractContext): Api {
  const authorization = token === undefined ? "" : `Bearer ${token}`;
  const call = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Reply> => {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(baseUrl + path, { method, body: text, headers: { authorization, ...headers } });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    get: (path, headers = {}) => call("GET", path, headers),
    post: (path, body) => call("POST", path, { "content-type": "application/json" }, body),
    delete: (path) => call("DELETE", path, {}),
  };
}

/** Saves a memory under a slug of its own; returns its relative path. */
export async function saved(api: Api, memory: Fields): Promise<string> {
  const { status, body } = await api.post("/save", { content: `text about ${unique()}`, slug: unique(), ...memory });
  assert.equal(status, 200, JSON.stringify(body));
  return String(fields(body).rel_path);
}

/** A word that nothing else contains. */
export function unique(): string {
  return `q${randomBytes(6).toString("hex")}`;
}

/** Enough such words that the text is far from all others, whatever the server puts around it. */
export function text(): string {
  return Array.from({ length: 25 }, unique).join(" ");
}

export function brief({ status, body }: Reply): { status: number; body: unknown } {
  return { status, body };
}

export function stemOf(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.md$/, "");
}

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function rows(value: unknown): Fields[] {
  assert.ok(Array.isArray(value), `no array: ${JSON.stringify(value)}`);
  return value.map(fields);
}

// A deterministic stand-in for the embedding model behind palinode-api: each lower-case word adds one to one of 64
// buckets and the vector is scaled to unit length, so texts that share words are near and the same text is the same.
import { createServer, type ServerResponse } from "node:http";
import { listen, readBody } from "./loopback.ts";

export const DIMENSIONS = 64;

export async function startEmbedder(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    if (request.method === "GET") return send(response, 200, { status: "up" });
    const body = JSON.parse((await readBody(request)) || "{}") as { input?: string | string[]; prompt?: string };
    if (path === "/api/embed") return send(response, 200, { embeddings: [body.input ?? ""].flat().map(embed) });
    if (path === "/api/embeddings") return send(response, 200, { embedding: embed(body.prompt ?? "") });
    send(response, 404, { error: "not here" });
  });
  const { port, stop } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** Unit length matters: the server computes cosines from distances and trusts the vectors. */
function embed(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["nothing"]) {
    vector[bucket(word)]! += 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** FNV-1a, because it needs four lines and spreads short words well. */
function bucket(word: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(word)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % DIMENSIONS;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

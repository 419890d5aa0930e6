// A deterministic stand-in for the embedding model behind palinode-api: it embeds as the stand-in server of the other
// tests does, so the two can be held against each other.
import { createServer, type ServerResponse } from "node:http";
import { embed } from "../palinode/embedding.ts";
import { listen, readBody } from "./loopback.ts";

export async function startEmbedder(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    if (request.method === "GET") return send(response, 200, { status: "up" });
    const body = JSON.parse((await readBody(request)) || "{}") as { input?: string | string[]; prompt?: string };
    if (path === "/api/embed")
      return send(response, 200, { embeddings: [body.input ?? ""].flat().map((text) => embed(text)) });
    if (path === "/api/embeddings") return send(response, 200, { embedding: embed(body.prompt ?? "") });
    send(response, 404, { error: "not here" });
  });
  const { port, stop } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, stop };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

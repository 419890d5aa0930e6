// The two things every server here needs: a free port on loopback, and the body of a request.
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** Listens on a free port; `stop` also drops connections that clients keep alive, which would hold the process. */
export async function listen(server: Server): Promise<{ port: number; stop(): Promise<void> }> {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      // Also when it is closed already: then the callback gets an error, which is no news.
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, stop };
}

/** A port nobody listens on just now, for a program that must be told its port. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

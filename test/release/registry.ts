// A package registry on loopback with one package in it: what a stranger's `npm install` meets once it is published.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { listen } from "../e2e/loopback.ts";

export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly shasum: string;
  /** Where the tarball is. */
  readonly file: string;
}

/** Serves a packed tarball under its package's name. The manifest is the one in the tarball's folder. */
export async function startRegistry(packed: Packed, manifest: object): Promise<{ url: string; stop(): Promise<void> }> {
  const { name, version, integrity, shasum, file } = packed;
  const server = createServer((request, response) => {
    const tarball = `http://${request.headers.host}/${name}.tgz`;
    const versions = { [version]: { ...manifest, dist: { tarball, integrity, shasum } } };
    if (request.url === `/${name}`)
      return void response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    if (request.url === `/${name}.tgz`) return void response.end(readFileSync(file));
    response.writeHead(404).end("{}");
  });
  const { port, stop } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, stop };
}

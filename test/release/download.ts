// The release line of the README, run as a stranger would: against a server on loopback in place of the release page.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { listen } from "../e2e/loopback.ts";
import { type Result, run } from "../e2e/process.ts";

declare const REPOSITORY: string;

/** Where releases are downloaded from. */
const RELEASES = /https:\/\/github\.com\/[\w.-]+\/[\w.-]+\/releases\/latest\/download\//g;

/** Returns the text that `sha256sum -c` reads: digest, two spaces, name. */
export function checksumOf(bytes: Uint8Array, name: string): string {
  return `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`;
}

/** Returns the shell line that the README gives for installing a release. */
function installLine(): string {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const line = /^\| Release \| `(curl [^`]+)` \|$/m.exec(readme)?.[1];
  if (line === undefined) throw new Error("README.md has no release line that downloads with curl");
  return line;
}

/** Runs that line in an empty folder and home, with the release page's files as given by name. */
export async function runInstallLine(home: string, files: Readonly<Record<string, Uint8Array>>): Promise<Result> {
  const server = createServer((request, response) => {
    const file = files[(request.url ?? "").slice(1)];
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  const { port, stop } = await listen(server);
  try {
    const line = installLine().replaceAll(RELEASES, `http://127.0.0.1:${port}/`);
    return await run("sh", ["-c", line], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, NO_PROXY: "127.0.0.1" },
    });
  } finally {
    await stop();
  }
}

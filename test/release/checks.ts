// What has to hold of a release. Each check returns a word on what it found, or throws what to change.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, PROVIDER } from "../e2e/cline.ts";
import { cloneInto } from "../e2e/clone.ts";
import { install } from "../e2e/install.ts";
import { startModelServer } from "../e2e/model-server.ts";
import { run } from "../e2e/process.ts";
import { memoryMessages } from "../e2e/requests.ts";
import { startPalinode } from "../palinode/server.ts";
import { checksumOf, runInstallLine } from "./download.ts";
import { type Packed, startRegistry } from "./registry.ts";

declare const REPOSITORY: string;

const DIST = join(REPOSITORY, "dist");
const BUNDLE = join(DIST, "palinode.js");
const MAX_BUNDLE_BYTES = 480 * 1024;

/** What a package may hold, and what it has to: a name that ends in `/` stands for all that is below it. */
const PACKED = {
  needed: ["LICENSE", "README.md", "dist/palinode.d.ts", "dist/palinode.js", "package.json"],
  allowed: ["CHANGELOG.md", "dist/package.json", "dist/skills/"],
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly homepage: string;
  readonly dependencies?: object;
}

const manifest = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as Manifest;

/** Builds in a clone in another folder and compares every byte with what the build here made. */
export async function isReproducible(): Promise<string> {
  return inFolder(async (folder) => {
    cloneInto(folder);
    symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
    const { code, stderr } = await run(process.execPath, ["build.mjs"], { cwd: folder });
    assert.equal(code, 0, `the second build failed: ${stderr}`);
    const files = filesBelow(join(folder, "dist"));
    assert.deepEqual(filesBelow(DIST), files, "the builds hold different files: remove dist/ and build again");
    for (const file of files)
      assert.ok(
        readFileSync(join(DIST, file)).equals(readFileSync(join(folder, "dist", file))),
        `${file} differs from one build to the next`,
      );
    return `${files.length} ${files.length === 1 ? "file" : "files"}, equal in two builds`;
  });
}

/** Writes the checksum that goes beside the file on the release page. */
export async function hasChecksum(): Promise<string> {
  const text = checksumOf(readFileSync(BUNDLE), "palinode.js");
  writeFileSync(`${BUNDLE}.sha256`, text);
  return text.slice(0, 16);
}

/** The version is the changelog's newest, and what the file says of itself. */
export async function hasOneVersion(): Promise<string> {
  const { version } = manifest;
  const heading = /^## \[?([^\]\s]+)/m.exec(readFileSync(join(REPOSITORY, "CHANGELOG.md"), "utf8"))?.[1];
  const { stdout } = await run(process.execPath, [BUNDLE, "--version"], { cwd: REPOSITORY });
  assert.equal(stdout.trim(), `palinode.js ${version}`, "the built file has another version than package.json");
  assert.equal(
    heading,
    version,
    `CHANGELOG.md begins with "${heading}", package.json has ${version}: give the newest heading the version`,
  );
  return version;
}

export async function isSmall(): Promise<string> {
  const { size } = statSync(BUNDLE);
  assert.ok(size <= MAX_BUNDLE_BYTES, `${size} bytes; the limit is ${MAX_BUNDLE_BYTES}`);
  return `${(size / 1024).toFixed(1)} of ${MAX_BUNDLE_BYTES / 1024} KB`;
}

export async function hasLicence(): Promise<string> {
  const { name, version, license, homepage } = manifest;
  const [banner] = readFileSync(BUNDLE, "utf8").split("\n", 1);
  assert.equal(banner, `/*! ${name} ${version} | ${license} licence | ${homepage}`);
  assert.match(readFileSync(join(REPOSITORY, "LICENSE"), "utf8"), new RegExp(`^${license} License\\n`));
  return license;
}

/** `npm pack` takes what it should, and the package depends on nothing. */
export async function packsOnlyWhatItShould(): Promise<string> {
  const { files } = await pack(["--dry-run"], REPOSITORY);
  const names = files.map(({ path }) => path);
  const isAllowed = (name: string): boolean =>
    [...PACKED.needed, ...PACKED.allowed].some(
      (each) => name === each || (each.endsWith("/") && name.startsWith(each)),
    );
  const none = (found: readonly string[], what: string): void =>
    assert.ok(found.length === 0, `${what}: ${found.join(", ")}`);
  none(
    names.filter((name) => !isAllowed(name)),
    "packed, but not for users (see `files` in package.json)",
  );
  none(
    PACKED.needed.filter((name) => !names.includes(name)),
    "missing from the package",
  );
  none(Object.keys(manifest.dependencies ?? {}), "the package depends on");
  return names.join(", ");
}

/** The README's release line installs the file as it is served from the release page. */
export async function installsAsReadmeSays(): Promise<string> {
  return inFolder(async (home) => {
    const files = Object.fromEntries(
      ["palinode.js", "palinode.js.sha256"].map((name) => [name, readFileSync(join(DIST, name))]),
    );
    const { code, stderr } = await run("sh", ["-c", "command -v curl sha256sum"], { cwd: home });
    assert.equal(code, 0, `curl or sha256sum is missing on this machine ${stderr}`);
    const result = await runInstallLine(home, files);
    assert.equal(result.code, 0, result.stderr);
    assert.ok(readFileSync(join(home, ".cline/plugins/palinode.js")).equals(readFileSync(BUNDLE)));
    return "curl, sha256sum";
  });
}

/** The packed tarball, from a registry on loopback: `cline plugin install` takes it, and a session is told memory. */
export async function installsInCline(): Promise<string> {
  const { parts, skip } = await install();
  if (parts === undefined) throw new Error(skip);
  return inFolder(async (folder) => {
    const packed = await pack(["--pack-destination", folder], REPOSITORY);
    const registry = await startRegistry({ ...packed, file: join(folder, packed.filename) }, manifest);
    const model = await startModelServer();
    const palinode = await startPalinode({
      memories: [{ file: "decisions/mascot.md", core: true, summary: "zq-quokka", body: "The mascot." }],
    });
    const sandbox = await createSandbox(parts, { model: model.url, palinode: palinode.url });
    try {
      Object.assign(sandbox.env, { npm_config_registry: registry.url, npm_config_cache: join(folder, "npm") });
      const installed = await sandbox.cline("plugin", "install", "--npm", manifest.name, "--json");
      assert.equal(installed.code, 0, installed.stderr);
      const session = await sandbox.cline("What is our mascot?");
      assert.equal(session.code, 0, session.stderr);
      const told = model.agentRequests().flatMap(memoryMessages);
      assert.ok(
        told.some((text) => text.includes("zq-quokka")),
        `no request of ${PROVIDER.id} held the memory`,
      );
      return (await sandbox.cline("--version")).stdout.trim();
    } finally {
      await sandbox.stop();
      await Promise.all([palinode.close(), model.stop(), registry.stop()]);
    }
  });
}

type PackReport = Packed & { readonly filename: string; readonly files: readonly { readonly path: string }[] };

async function pack(flags: string[], cwd: string): Promise<Omit<PackReport, "file">> {
  const { code, stdout, stderr } = await run("npm", ["pack", "--json", ...flags], { cwd });
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as [PackReport])[0];
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-release-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a build makes; the checksum is made here. */
function filesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return names.filter((name) => !name.endsWith(".sha256")).sort();
}

// Builds the package in dist/, and builds and runs the TypeScript programs under test/.
//   node build.mjs                 the bundle, and beside it the skill and the manifest that makes the folder a plugin
//   node build.mjs readable        the same program, neither shortened nor limited in size: to read what is shipped
//   node build.mjs types           type-check
//   node build.mjs test DIR [...]  the *.test.ts files directly in DIR (further words go to `node --test`)
//   node build.mjs run FILE [...]  one TypeScript program, with its arguments
// What is missing (node_modules) is installed first, so every script works on a fresh clone.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const DIST = join(ROOT, "dist");
const BUNDLE = join(DIST, "palinode.js");
const PROGRAMS = join(ROOT, ".cache/build");
const MAX_BUNDLE_BYTES = 128 * 1024;

process.chdir(ROOT);
const [task = "bundle", ...words] = process.argv.slice(2);
if (!existsSync("node_modules/esbuild") || !existsSync("node_modules/typescript")) {
  run("npm", ["ci", "--include=dev", "--ignore-scripts"], { shell: process.platform === "win32", stdio: ["ignore", 2, 2] });
}
const esbuild = await import("esbuild");
const pkg = JSON.parse(readFileSync("package.json", "utf8"));

if (task === "bundle") {
  await bundle();
} else if (task === "readable") {
  await bundle({ isReadable: true });
} else if (task === "types") {
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"]);
} else if (task === "test") {
  await bundle();
  await programs();
  const [dir = "test", ...rest] = words;
  const files = readdirSync(dir).filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(PROGRAMS, dir, name.replace(/\.ts$/, ".js")));
  process.exitCode = test(files, rest);
} else if (task === "run") {
  await bundle();
  await programs();
  const [file, ...rest] = words;
  run(process.execPath, ["--enable-source-maps", join(PROGRAMS, file.replace(/\.ts$/, ".js")), ...rest]);
} else {
  console.error(`Unknown task "${task}": use one of readable, types, test, run, or none for the bundle.`);
  process.exit(2);
}

/**
 * Builds the shipped file and fails when it is too large or imports anything outside `node:`. Spaces and names are
 * shortened, in lines of a page's width: the command line alone is as large as the plugin, and Cline transforms a
 * dropped-in file when it loads it. `readable` writes the same program as a person would.
 */
async function bundle({ isReadable = false } = {}) {
  const result = await esbuild.build({
    entryPoints: ["src/index.ts"],
    outfile: BUNDLE,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    charset: "utf8",
    minify: !isReadable,
    lineLimit: isReadable ? 0 : 120,
    metafile: true,
    logLevel: "warning",
    define: { PLUGIN_VERSION: JSON.stringify(pkg.version), PLUGIN_HOMEPAGE: JSON.stringify(pkg.homepage) },
    banner: { js: `/*! ${pkg.name} ${pkg.version} | ${pkg.license} licence | ${pkg.homepage} */` },
  });
  const [output] = Object.values(result.metafile.outputs);
  const foreign = output.imports.filter((entry) => !entry.path.startsWith("node:"));
  if (foreign.length > 0) fail(`imports outside node: ${foreign.map((entry) => entry.path).join(", ")}`);
  if (output.bytes > MAX_BUNDLE_BYTES && !isReadable) fail(`${output.bytes} bytes; the limit is ${MAX_BUNDLE_BYTES}`);
  console.error(`dist/palinode.js ${(output.bytes / 1024).toFixed(1)} KB`);
  folder();
}

/**
 * Writes what makes of dist/ a plugin folder with a skill. Cline's search for plugins reads only the `paths` form of
 * `cline.plugins`; `cline plugin install` takes it as well. The bundle alone works without any of it.
 */
function folder() {
  const { name, version, description, license, homepage } = pkg;
  const manifest = { name, version, description, license, homepage, type: "module", cline: { plugins: [{ paths: ["./palinode.js"] }] } };
  writeFileSync(join(DIST, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  mkdirSync(join(DIST, "skills/palinode"), { recursive: true });
  copyFileSync("src/skill.md", join(DIST, "skills/palinode/SKILL.md"));
}

/** Builds everything under test/ so that Node 20, which refuses .ts files, can run it too. */
async function programs() {
  rmSync(PROGRAMS, { recursive: true, force: true });
  mkdirSync(PROGRAMS, { recursive: true });
  await esbuild.build({
    entryPoints: ["test/**/*.ts"],
    outdir: join(PROGRAMS, "test"),
    outbase: "test",
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
    define: {
      PLUGIN_VERSION: JSON.stringify(pkg.version),
      PLUGIN_HOMEPAGE: JSON.stringify(pkg.homepage),
      // Built programs live elsewhere; fixtures are found from the repository.
      REPOSITORY: JSON.stringify(ROOT),
    },
  });
}

/**
 * Runs test files. Where nothing failed but Node itself crashed under a file (20.20 does so now and then when worker
 * threads are ended by the hundred), that file runs once more; a failed test never does.
 */
function test(files, options) {
  const report = join(ROOT, ".cache/test.tap");
  const reporters = [process.stdout.isTTY ? "spec" : "tap", "tap"].flatMap((name, index) => [`--test-reporter=${name}`, `--test-reporter-destination=${index === 0 ? "stdout" : report}`]);
  const start = (some) => spawnSync(process.execPath, ["--enable-source-maps", "--test", ...reporters, ...options, ...some], { stdio: "inherit" }).status ?? 1;
  const status = start(files);
  if (status === 0) return 0;
  const text = readFileSync(report, "utf8");
  const crashed = [...text.matchAll(/^not ok \d+ - (.+\.test\.js)\n(?: .*\n)*?  signal: 'SIG(?:SEGV|ABRT|BUS|ILL)'/gm)].map(([, file]) => file);
  if (crashed.length === 0 || !text.includes(`\n# fail ${crashed.length}\n`)) return status;
  console.error(`build: Node crashed under ${crashed.join(", ")}; once more`);
  return start(crashed);
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: "inherit", ...options });
  if (result.error) fail(`${command}: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status ?? 1);
}

function fail(message) {
  console.error(`build: ${message}`);
  process.exit(1);
}

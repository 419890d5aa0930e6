// Builds the package in dist/, and builds and runs the TypeScript programs under test/.
//   node build.mjs                 the bundle, and beside it its types, the skill and the manifest of a plugin folder
//   node build.mjs types           type-check
//   node build.mjs lint [--write]  format and lint: say what is off, or mend what can be mended
//   node build.mjs test [PATH ...] the *.test.ts files below test/ or the paths (options go to `node --test`)
//   node build.mjs run FILE [...]  one TypeScript program, with its arguments
//   node build.mjs prepare         what npm asks for: the bundle, also where npm was told to leave the tools out
// What is missing (node_modules) is installed first, so every script works on a fresh clone.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const DIST = join(ROOT, "dist");
const ENTRY = "src/index.ts";
const BUNDLE = join(DIST, "palinode.js");
const TYPES = join(DIST, "palinode.d.ts");
const TSC = "node_modules/typescript/bin/tsc";
const TOOLS = ["esbuild", "typescript", "@biomejs/biome"];
const PROGRAMS = join(ROOT, ".cache/build");
/** A figure to notice growth by, not to squeeze code for. */
const MAX_BUNDLE_BYTES = 480 * 1024;
/** Suites that need real parts; `npm test` leaves them out. */
const REAL_PARTS = ["e2e", "matrix"];
/** Programs that others start in a thread, by the path of what was built. */
const THREADS = ["test/helpers/worker.ts", "test/bench/server.ts"];
/** By this Cline's loader (jiti 2.7) takes a source for an ES module, even where it stands in a comment or a string. */
const LOOKS_LIKE_MODULE =
  /(?:[\s;]|^)(?:import[\s\w*,{}]*from|import\s*["'*{]|export\b\s*(?:[*{]|default|class|type|function|const|var|let|async function)|import\.meta\b)/m;
/** One declaration at the top of a file of types, with its comment, and its name. */
const DECLARATION =
  /(?:^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^(?:export |declare )*(?:interface|type|const|function) (\w+)[\s\S]*?\n(?![\s}])/gm;
/** A Node that cannot read the file prints the line that it stumbled over, the first import, and so these words. */
const NEEDS = 'needs Node 20.19, 22.7 or newer, and no package.json above that says "commonjs"';

process.chdir(ROOT);
const pkg = JSON.parse(readFileSync("package.json", "utf8"));
const [task = "bundle", ...words] = process.argv.slice(2);
const hasTools = TOOLS.every((name) => existsSync(`node_modules/${name}`));
if (!hasTools && !installTools()) {
  const missing = `${TOOLS.join(", ")} are needed to build, and npm could not install them`;
  if (task !== "prepare" || !existsSync(BUNDLE))
    fail(`${missing}; ${pkg.homepage}/releases has the file as it is built`);
  console.error(`build: ${missing}; dist/ stays as it is`);
  process.exit(0);
}
const esbuild = await import("esbuild");

if (task === "bundle") {
  await bundle();
} else if (task === "prepare") {
  await bundle();
  // Whoever left the tools out does not want them.
  if (!hasTools) rmSync("node_modules", { recursive: true, force: true });
} else if (task === "types") {
  run(process.execPath, [TSC, "-p", "tsconfig.json"]);
} else if (task === "lint") {
  run(process.execPath, ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", ...words]);
} else if (task === "test") {
  await bundle();
  const options = words.filter((word) => word.startsWith("-"));
  const paths = words.filter((word) => !options.includes(word));
  await programs(paths);
  process.exitCode = test(testFiles(paths), ["--test-concurrency=3", ...options]);
} else if (task === "run") {
  await bundle();
  const [file, ...rest] = words;
  await programs([file]);
  run(process.execPath, ["--enable-source-maps", join(PROGRAMS, file.replace(/\.ts$/, ".js")), ...rest]);
} else {
  console.error(`Unknown task "${task}": use one of types, lint, test, run, prepare, or none for the bundle.`);
  process.exit(2);
}

/**
 * Installs the tools as the lock file has them and returns whether that worked. Without scripts: `prepare` is one. npm
 * hands its own settings down to it, and Cline's say to leave out what is for development, and the lock file.
 */
function installTools() {
  const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const args = ["ci", "--include=dev", "--package-lock", "--ignore-scripts", ...patience];
  return spawnSync("npm", args, { shell: process.platform === "win32", stdio: ["ignore", 2, 2] }).status === 0;
}

/** Builds the shipped file, in the words that it was written in; fails when it imports anything outside `node:`. */
async function bundle() {
  const result = await esbuild.build({
    entryPoints: [ENTRY],
    outfile: BUNDLE,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    charset: "utf8",
    legalComments: "inline",
    metafile: true,
    write: false,
    logLevel: "warning",
    plugins: [{ name: "comments", setup: keepComments }],
    define: { PLUGIN_VERSION: JSON.stringify(pkg.version), PLUGIN_HOMEPAGE: JSON.stringify(pkg.homepage) },
  });
  const [output] = Object.values(result.metafile.outputs);
  const foreign = output.imports.filter((entry) => !entry.path.startsWith("node:"));
  if (foreign.length > 0) fail(`imports outside node: ${foreign.map((entry) => entry.path).join(", ")}`);
  const code = await withTabs(withPlainComments(result.outputFiles[0].text));
  const text = leftToNode(banner(Object.keys(output.inputs)) + code);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BUNDLE_BYTES) fail(`${bytes} bytes; the limit is ${MAX_BUNDLE_BYTES}`);
  const typesText = `${head()} */\n${types()}`;
  mkdirSync(DIST, { recursive: true });
  writeFileSync(BUNDLE, text);
  writeFileSync(TYPES, typesText);
  console.error(`dist/palinode.js ${(bytes / 1024).toFixed(1)} KB`);
  folder();
}

/**
 * Has esbuild keep how each file says what it is: it keeps what looks like a licence. The other comments are for
 * whoever changes the code, and are read where it is changed.
 */
function keepComments({ onLoad }) {
  onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
    loader: "ts",
    contents: readFileSync(path, "utf8").replace(/^(?:\/\/ .*\n)+/, (head) => `//! ${firstSentence(head)}\n`),
  }));
}

function firstSentence(head) {
  const [sentence] = /^.*?[.:;](?= |$)/.exec(head.replace(/\n?^\/\/ ?/gm, " ").trim()) ?? [""];
  return sentence.replace(/[:;]$/, ".");
}

function withPlainComments(text) {
  return text.replace(/^( *)\/\/! /gm, "$1// ");
}

/** Returns the text indented with tabs, which is 8 KB less. Fails where that changes what a text in it says. */
async function withTabs(text) {
  const tabbed = text.replace(/^(?: {2})+/gm, (blanks) => "\t".repeat(blanks.length / 2));
  const options = { format: "esm", charset: "utf8", supported: { "template-literal": false } };
  const [before, after] = await Promise.all([text, tabbed].map((code) => esbuild.transform(code, options)));
  const lines = after.code.split("\n");
  const changed = before.code.split("\n").find((line, index) => line !== lines[index]);
  if (changed !== undefined) fail(`a text in backticks has a line that begins with two blanks: ${changed.trim()}`);
  return tabbed;
}

/**
 * Returns the text with its imports and exports written so that it does not look like an ES module to Cline's loader:
 * it leaves the file to Node then, which knows one when it sees one. What looks like one goes through Babel first, and
 * on a busy machine that alone takes longer than the four seconds that a plugin has. Fails, naming the line, where
 * anything else looks like one.
 */
function leftToNode(text) {
  const written = text.replace(/^(import|export) \{/gm, "$1/**/{").replace(/^import\/\*\*\/\{.*/m, `$& // ${NEEDS}`);
  const found = LOOKS_LIKE_MODULE.exec(written);
  if (found) {
    const [line] = written.slice(written.lastIndexOf("\n", found.index) + 1).split("\n", 1);
    fail(`Cline's loader would send the file to Babel for this line; word it otherwise: ${line.trim()}`);
  }
  return written;
}

/** Returns what the file opens with: what it is, and what stands in it, by room, in the words of each room's door. */
function banner(paths) {
  const names = [...new Set(paths.map((path) => dirname(path)))].sort();
  const rooms = names.map((name) => {
    const files = paths.filter(
      (path) => (dirname(path) === name && basename(path) !== "index.ts") || (path === ENTRY && name === "src"),
    );
    const door = existsSync(`${name}/index.ts`)
      ? /^\/\/ (.+)/.exec(readFileSync(`${name}/index.ts`, "utf8"))[1]
      : "What every room uses.";
    return `${name}/  ${door}\n    ${files
      .map((path) => basename(path, ".ts"))
      .sort()
      .join(" ")}`;
  });
  const lines = [
    pkg.description,
    "",
    "Contents; each part opens with a line such as `// src/recall/replay.ts`:",
    "",
    ...rooms,
  ];
  return `${head()}\n${lines.join("\n").replace(/^/gm, " * ").replace(/ +$/gm, "")}\n */\n`;
}

/** `install` and `doctor` read name and version from this first line, also of copies that were built long ago. */
function head() {
  return `/*! ${pkg.name} ${pkg.version} | ${pkg.license} licence | ${pkg.homepage}`;
}

/**
 * Returns the types of all that the entry exports, as one text that imports nothing: tsc's declarations of that, and of
 * what these name in turn. They are found by their names; where one is declared twice the build fails.
 */
function types() {
  const files = declarationFiles();
  const declared = new Map();
  for (const text of files.values())
    for (const [declaration, name] of text.matchAll(DECLARATION))
      declared.set(name, declared.has(name) ? undefined : declaration.replace(/^export /m, ""));
  const entry = files.get(basename(ENTRY, ".ts"));
  const lists = [...entry.matchAll(/^export (?:type )?\{ (.+) \}/gm)].flatMap(([, list]) => list.split(", "));
  const exported = [...lists, ...[...entry.matchAll(/^export declare \w+ (\w+)/gm)].map(([, name]) => name)].sort();
  const wanted = new Set(exported);
  // A set goes on to what is added to it on the way.
  for (const name of wanted) {
    const code = declared.get(name)?.replace(/\/\*\*[\s\S]*?\*\//g, "");
    if (code === undefined) fail(`the types need one declaration of ${name} in src/; there is none, or there are two`);
    for (const [word] of code.matchAll(/\b[A-Z]\w*/g)) if (declared.has(word)) wanted.add(word);
  }
  const texts = [...wanted].sort().map((name) => declared.get(name));
  return `${texts.join("")}export { ${exported.join(", ")}, plugin as default };\n`;
}

/** Returns what tsc writes of the entry and of all that it imports, by path below src/ without the ending. */
function declarationFiles() {
  const folder = join(ROOT, ".cache/types");
  const compilerOptions = { noEmit: false, noCheck: true, declaration: true, emitDeclarationOnly: true };
  const project = { extends: "../tsconfig.json", include: [`../${ENTRY}`], compilerOptions };
  Object.assign(compilerOptions, { rootDir: "../src", outDir: folder });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  writeFileSync(`${folder}.json`, JSON.stringify(project));
  run(process.execPath, [TSC, "-p", `${folder}.json`]);
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".d.ts"));
  return new Map(names.map((name) => [name.slice(0, -".d.ts".length), readFileSync(join(folder, name), "utf8")]));
}

/**
 * Writes what makes of dist/ a plugin folder with a skill. Cline's search for plugins reads only the `paths` form of
 * `cline.plugins`; `cline plugin install` takes it as well. The bundle alone works without any of it.
 */
function folder() {
  const { name, version, description, license, homepage } = pkg;
  const manifest = {
    name,
    version,
    description,
    license,
    homepage,
    type: "module",
    cline: { plugins: [{ paths: ["./palinode.js"] }] },
  };
  writeFileSync(join(DIST, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  mkdirSync(join(DIST, "skills/palinode"), { recursive: true });
  copyFileSync("src/skill.md", join(DIST, "skills/palinode/SKILL.md"));
}

/** Returns the built test files of `paths` (files, or folders with all below them); by default all but `REAL_PARTS`. */
function testFiles(paths) {
  const below = (path) => readdirSync(path, { recursive: true }).map((name) => join(path, name));
  const all =
    paths.length > 0
      ? paths.flatMap((path) => (path.endsWith(".ts") ? [path] : below(path)))
      : below("test").filter((path) => !REAL_PARTS.includes(path.split(sep)[1]));
  const files = all.filter((path) => path.endsWith(".test.ts"));
  if (files.length === 0) fail(`no test file in ${paths.join(", ")}`);
  return files.map((path) => join(PROGRAMS, path.replace(/\.ts$/, ".js")));
}

/**
 * Builds what is under test/ so that Node 20, which refuses .ts files, can run it too: all of it, or the named files and
 * what runs in threads beside them.
 */
async function programs(files = []) {
  const isWhole = files.length === 0 || files.some((path) => !path.endsWith(".ts"));
  rmSync(PROGRAMS, { recursive: true, force: true });
  mkdirSync(PROGRAMS, { recursive: true });
  await esbuild.build({
    entryPoints: isWhole ? ["test/**/*.ts"] : [...files, ...THREADS],
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
  const reporters = [process.stdout.isTTY ? "spec" : "tap", "tap"].flatMap((name, index) => [
    `--test-reporter=${name}`,
    `--test-reporter-destination=${index === 0 ? "stdout" : report}`,
  ]);
  const start = (some) =>
    spawnSync(process.execPath, ["--enable-source-maps", "--test", ...reporters, ...options, ...some], {
      stdio: "inherit",
    }).status ?? 1;
  const status = start(files);
  if (status === 0) return 0;
  const text = readFileSync(report, "utf8");
  const crashed = [
    ...text.matchAll(/^not ok \d+ - (.+\.test\.js)\n(?: .*\n)*? {2}signal: 'SIG(?:SEGV|ABRT|BUS|ILL)'/gm),
  ].map(([, file]) => file);
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

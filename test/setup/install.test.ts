// `install` and `uninstall` of the shipped file, as a person runs them, and what they leave in Cline's folders.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { quoted } from "../../src/base/shell.ts";
import { BYTES, called, createHome, FILE, type Home, runFile, VERSION } from "../helpers/command-line.ts";

const ENTRY = { command: "palinode-mcp", args: [], timeout: 60 };

test("install copies the file itself, and a second time changes nothing", async (t) => {
  const home = createHome(t);
  const { code, stdout, stderr } = await home.run("install");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.ok(stdout.includes(VERSION) && stdout.includes(home.target));
  assert.deepEqual(readFileSync(home.target), BYTES);
  assert.deepEqual(readdirSync(dirname(home.target)), ["palinode.js"]);
  const before = statSync(home.target).mtimeMs;
  const again = await home.run("install");
  assert.equal(again.code, 0);
  assert.match(again.stdout, /Already up to date/);
  assert.equal(statSync(home.target).mtimeMs, before);
});

test("what is installed is a command line that installs itself elsewhere", async (t) => {
  const [home, other] = [createHome(t), createHome(t)];
  await home.run("install");
  assert.equal((await runFile(home.target, ["install"], other.workspace, other.env)).code, 0);
  assert.deepEqual(readFileSync(other.target), BYTES);
  assert.match((await runFile(other.target, ["install"], other.workspace, other.env)).stdout, /Already up to date/);
});

test("install goes where CLINE_DIR says, and with --project into the project", async (t) => {
  const home = createHome(t);
  home.env.CLINE_DIR = join(home.home, "my cline");
  assert.equal((await home.run("install")).code, 0);
  assert.deepEqual(readFileSync(join(home.home, "my cline/plugins/palinode.js")), BYTES);
  for (const project of [".", home.workspace, "../workspace"]) {
    const { code, stdout } = await home.run("install", "--project", project, "--json");
    assert.equal(code, 0);
    assert.equal((JSON.parse(stdout) as { path: string }).path, join(home.workspace, ".cline/plugins/palinode.js"));
  }
  assert.deepEqual(readFileSync(join(home.workspace, ".cline/plugins/palinode.js")), BYTES);
});

test("below a repository's root install goes to the root, where Cline looks, and uninstall finds it", async (t) => {
  const home = createHome(t);
  home.write("workspace/.git/HEAD", "ref: refs/heads/main\n");
  const below = dirname(home.write("workspace/packages/api/a.ts", ""));
  const target = join(home.workspace, ".cline/plugins/palinode.js");
  for (const [cwd, project] of [
    [below, "."],
    [home.workspace, "packages/api"],
  ] as const) {
    const { code, stdout } = await runFile(FILE, ["install", "--project", project], cwd, home.env);
    assert.deepEqual([code, stdout.split("\n")[0]], [0, `Installed ${VERSION}: ${target}`]);
    assert.deepEqual(readdirSync(below), ["a.ts"]);
    const other = await runFile(FILE, ["install"], below, home.env);
    assert.ok(other.stdout.includes(`Another copy, ${VERSION}, is at ${target}.`), other.stdout);
    assert.equal((await runFile(FILE, ["uninstall"], below, home.env)).code, 0);
    const gone = await runFile(FILE, ["uninstall", "--project", project], cwd, home.env);
    assert.deepEqual([gone.code, gone.stdout], [0, `Removed ${VERSION}: ${target}\n`]);
  }
});

test("install says what it replaced, and names the other copies with what takes them out", async (t) => {
  const home = createHome(t);
  home.write(".cline/plugins/palinode.js", called("0.0.9"));
  const installed = home.write(".cline/plugins/_installed/local/palinode.js-0123456789ab/palinode.js", called("0.0.8"));
  const vendored = home.write("workspace/.cline/plugins/palinode.js", called("0.0.7"));
  const first = await home.run("install");
  assert.equal(first.code, 0);
  assert.ok(first.stdout.includes(`0.0.9 → ${VERSION}`), first.stdout);
  assert.ok(
    first.stdout.includes(`cline plugin uninstall ${dirname(installed)}\n`) && first.stdout.includes(`rm ${vendored}`),
    first.stdout,
  );
  home.write(".cline/plugins/palinode.js", called("0.0.9"));
  assert.deepEqual((await home.run("install", "--json")).json(), {
    action: "replaced",
    path: home.target,
    previous: "0.0.9",
    version: VERSION,
    others: [
      { path: vendored, version: "0.0.7" },
      { path: installed, version: "0.0.8" },
    ],
  });
});

test("install leaves a newer version and a foreign file alone unless it is forced", async (t) => {
  for (const [text, word] of [
    [called("99.0.0"), "99.0.0"],
    ["export default {};", "no palinode.js"],
    ["", "no palinode.js"],
  ] as const) {
    const home = createHome(t);
    home.write(".cline/plugins/palinode.js", text);
    const { code, stdout, stderr } = await home.run("install");
    assert.deepEqual([code, stdout], [1, ""]);
    assert.ok(stderr.includes(word) && stderr.includes("--force"), stderr);
    assert.equal(readFileSync(home.target, "utf8"), text);
    assert.equal((await home.run("install", "--force")).code, 0);
    assert.deepEqual(readFileSync(home.target), BYTES);
  }
});

test("which version is newer goes by numbers, and a release is newer than its pre-releases", async (t) => {
  const home = createHome(t);
  const [major, minor] = VERSION.split(".").map(Number) as [number, number];
  for (const [version, code] of [
    [`${major}.${minor}.10`, 1],
    [`${major}.${minor + 10}.0`, 1],
    [`${VERSION}-rc.1`, 0],
    [`${major}.0.99`, 0],
    [VERSION, 0],
  ] as const) {
    home.write(".cline/plugins/palinode.js", `${called(version)}\n`);
    assert.equal((await home.run("install")).code, code, version);
  }
});

test("install replaces a link, and never what it leads to", async (t) => {
  const home = createHome(t);
  const repository = home.write("repository/palinode.js", called("0.0.1"));
  mkdirSync(dirname(home.target), { recursive: true });
  for (const target of [repository, FILE, join(home.home, "nowhere")]) {
    rmSync(home.target, { force: true });
    symlinkSync(target, home.target);
    const { code, stdout } = await home.run("install");
    assert.equal(code, 0);
    assert.match(stdout, /Replaced a link/);
    assert.ok(lstatSync(home.target).isFile());
    assert.deepEqual(readFileSync(home.target), BYTES);
  }
  assert.equal(readFileSync(repository, "utf8"), called("0.0.1"));
});

test("where the file cannot be written, one plain sentence says why and nothing is left behind", async (t) => {
  const home = createHome(t);
  mkdirSync(home.target, { recursive: true });
  const folder = await home.run("install");
  assert.equal(folder.code, 1);
  assert.match(folder.stderr, /^palinode: .*is a folder.*\n$/);
  assert.deepEqual(readdirSync(dirname(home.target)), ["palinode.js"]);

  home.env.CLINE_DIR = home.write("file", "");
  const inFile = await home.run("install");
  assert.equal(inFile.code, 1);
  assert.match(inFile.stderr, /^palinode: cannot write .*\n$/);
  if (existsSync("/proc/self")) {
    home.env.CLINE_DIR = "/proc/nothing-here";
    assert.equal((await home.run("install")).code, 1);
  }
});

test("a wrong call is told and does nothing", async (t) => {
  const home = createHome(t);
  for (const [args, code] of [
    [["install", "there"], 2],
    [["install", "--forse"], 2],
    [["install", "--project"], 2],
    [["uninstall", "--force"], 2],
    [["install", "--project", "nowhere"], 1],
  ] as const) {
    const outcome = await home.run(...args);
    assert.deepEqual([outcome.code, outcome.stdout], [code, ""], args.join(" "));
    assert.match(outcome.stderr, /^palinode: /);
  }
  assert.ok(!existsSync(home.clineDir) && !existsSync(join(home.workspace, ".cline")));
});

const MANIFEST = { type: "module", cline: { plugins: [{ paths: ["./palinode.js"] }] } };

test("where the nearest package.json above does not say module, install makes a folder of its own", async (t) => {
  for (const [manifest, isFolder] of [
    ['{ "name": "shop", "type": "commonjs" }', true],
    ['{ "name": "shop" }', true],
    ["{", true],
    ['{ "type": "module" }', false],
  ] as const) {
    const home = createHome(t);
    home.write("package.json", '{ "type": "commonjs" }');
    home.write("workspace/package.json", manifest);
    const plugins = join(home.workspace, ".cline/plugins");
    const path = join(plugins, isFolder ? "palinode/palinode.js" : "palinode.js");
    const first = await home.run("install", "--project", ".");
    assert.deepEqual([first.code, first.stdout.split("\n")[0]], [0, `Installed ${VERSION}: ${path}`]);
    assert.deepEqual(filesIn(plugins), [path, ...(isFolder ? [join(dirname(path), "package.json")] : [])].sort());
    assert.deepEqual(readFileSync(path), BYTES);
    if (isFolder) assert.deepEqual(JSON.parse(readFileSync(join(dirname(path), "package.json"), "utf8")), MANIFEST);
    assert.equal((await home.run("install", "--project", ".")).stdout, `Already up to date: ${path} is ${VERSION}\n`);
    const gone = await home.run("uninstall", "--project", ".");
    assert.deepEqual([gone.code, gone.stdout], [0, `Removed ${VERSION}: ${path}\n`]);
    assert.deepEqual(readdirSync(plugins), []);
  }
});

test("install over either layout leaves one copy, and uninstall takes out both", async (t) => {
  const own = ["palinode/package.json", "palinode/palinode.js"];
  for (const [manifest, before, after] of [
    ["{}", ["palinode.js"], own],
    ["{}", own, own],
    ["{}", ["palinode.js", ...own], own],
    // Without a manifest that makes it a module, the folder is no better than the bare file.
    ["{}", ["palinode/palinode.js"], own],
    ['{ "type": "module" }', ["palinode/palinode.js"], ["palinode.js"]],
    ['{ "type": "module" }', ["palinode.js", "palinode/palinode.js"], ["palinode.js"]],
    ['{ "type": "module" }', ["palinode.js"], ["palinode.js"]],
    // One that stands loads everywhere.
    ['{ "type": "module" }', own, own],
    ['{ "type": "module" }', ["palinode.js", ...own], own],
  ] as const) {
    const home = createHome(t);
    home.write("workspace/package.json", manifest);
    const plugins = join(home.workspace, ".cline/plugins");
    const fill = (): void => {
      for (const name of before)
        home.write(
          `workspace/.cline/plugins/${name}`,
          name.endsWith("json") ? JSON.stringify(MANIFEST) : called("0.0.9"),
        );
    };
    fill();
    const { code, stdout } = await home.run("install", "--project", ".");
    assert.equal(code, 0);
    assert.ok(stdout.startsWith(`Replaced 0.0.9 → ${VERSION}: `) && !stdout.includes("Another copy"), stdout);
    assert.deepEqual(filesIn(plugins), after.map((name) => join(plugins, name)).sort(), `${manifest} ${before}`);
    assert.deepEqual(readFileSync(join(plugins, after.at(-1)!)), BYTES);
    fill();
    assert.equal((await home.run("uninstall", "--project", ".")).code, 0);
    assert.deepEqual(readdirSync(plugins), []);
  }
});

test("a newer copy in the other layout, and a folder of somebody else's, stay unless forced", async (t) => {
  const home = createHome(t);
  home.write("workspace/package.json", "{}");
  const plugins = join(home.workspace, ".cline/plugins");
  const bare = home.write("workspace/.cline/plugins/palinode.js", called("99.0.0"));
  const newer = await home.run("install", "--project", ".");
  assert.deepEqual([newer.code, filesIn(plugins)], [1, [bare]]);
  assert.ok(newer.stderr.includes(`${bare} is 99.0.0, newer`), newer.stderr);
  rmSync(bare);
  const foreign = home.write("workspace/.cline/plugins/palinode/package.json", '{ "name": "mine" }');
  const refused = await home.run("install", "--project", ".");
  assert.deepEqual(
    [refused.code, filesIn(plugins), readFileSync(foreign, "utf8")],
    [1, [foreign], '{ "name": "mine" }'],
  );
  assert.match(refused.stderr, /is not as install writes it; .*install --force\n$/);
  assert.equal((await home.run("install", "--project", ".", "--force")).code, 0);
  assert.deepEqual(JSON.parse(readFileSync(foreign, "utf8")), MANIFEST);
  const note = home.write("workspace/.cline/plugins/palinode/NOTES.md", "mine");
  assert.equal((await home.run("uninstall", "--project", ".")).code, 0);
  assert.deepEqual(filesIn(plugins), [note]);
});

test("a folder that is a link is replaced, and never what it leads to", async (t) => {
  const home = createHome(t);
  home.write("workspace/package.json", "{}");
  const repository = home.write("repository/palinode.js", called("0.0.1"));
  const plugins = join(home.workspace, ".cline/plugins");
  mkdirSync(plugins, { recursive: true });
  symlinkSync(dirname(repository), join(plugins, "palinode"));
  assert.equal((await home.run("install", "--project", ".")).code, 0);
  assert.ok(lstatSync(join(plugins, "palinode")).isDirectory());
  assert.deepEqual(readdirSync(dirname(repository)), ["palinode.js"]);
  assert.equal(readFileSync(repository, "utf8"), called("0.0.1"));
});

test("uninstall takes out what install put in, and a second time says that there is nothing", async (t) => {
  const home = createHome(t);
  const neighbour = home.write(".cline/plugins/other.js", "export default {};");
  for (const project of [[], ["--project", "."]]) {
    await home.run("install", ...project);
    const { code, stdout } = await home.run("uninstall", ...project);
    assert.equal(code, 0);
    assert.match(stdout, /^Removed /);
    const again = await home.run("uninstall", ...project);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /Nothing to take out/);
  }
  assert.ok(!existsSync(home.target) && existsSync(neighbour));
});

test("uninstall with a copy elsewhere says that memory stays loaded, and what takes that one out", async (t) => {
  const home = createHome(t);
  const folder = "my cline/plugins/_installed/local/palinode.js-0123456789ab";
  home.env.CLINE_DIR = join(home.home, "my cline");
  const installed = home.write(`${folder}/package/palinode.js`, called("0.0.8"));
  const only = await home.run("uninstall");
  assert.equal(only.code, 1);
  assert.ok(
    only.stdout.includes(
      `Memory stays loaded from ${installed} (0.0.8); ` +
        `to take that one out: cline plugin uninstall '${join(home.home, folder)}'\n`,
    ),
    only.stdout,
  );
  assert.ok(!only.stdout.includes("one only"));
  await home.run("install");
  const both = await home.run("uninstall");
  assert.deepEqual([both.code, both.stdout.split("\n").length], [0, 3]);
  assert.match(both.stdout, /^Removed .*\nMemory stays loaded from /);
  rmSync(dirname(installed), { recursive: true });
  mkdirSync(join(home.home, "my cline/plugins"), { recursive: true });
  symlinkSync(FILE, join(home.home, "my cline/plugins/other.js"));
  const passedOver = await home.run("uninstall");
  assert.equal(passedOver.code, 0);
  assert.match(passedOver.stdout, /Not loaded \(a link\) is .*other\.js/);
});

test("uninstall leaves alone what is no palinode.js, and says so", async (t) => {
  const home = createHome(t);
  home.write(".cline/plugins/palinode.js", "export default {};");
  const { code, stdout } = await home.run("uninstall");
  assert.equal(code, 0);
  assert.match(stdout, /Left alone/);
  assert.ok(existsSync(home.target));
  assert.deepEqual((await home.run("uninstall", "--json")).json(), {
    action: "none",
    path: home.target,
    version: VERSION,
    others: [],
  });
});

test("--mcp adds one entry and leaves all else as it is", async (t) => {
  const home = createHome(t);
  const before = {
    $schema: "x",
    mcpServers: {
      other: { type: "sse", url: "https://x/y", headers: { Authorization: "keep" }, unknown: [1, { a: null }] },
      fs: { transport: { type: "stdio", command: "npx" }, disabled: true },
    },
    later: { deep: true },
  };
  const path = settings(home, `${JSON.stringify(before, null, 2)}\n`, 0o640);
  const { code, stdout } = await home.run("install", "--mcp");
  assert.equal(code, 0);
  assert.ok(stdout.includes(`Added palinode in ${path}`) && stdout.includes("pip install palinode"), stdout);
  const after = { ...before, mcpServers: { ...before.mcpServers, palinode: ENTRY } };
  assert.equal(readFileSync(path, "utf8"), `${JSON.stringify(after, null, 2)}\n`);
  assert.equal(statSync(path).mode & 0o777, 0o640);
  assert.match((await home.run("install", "--mcp")).stdout, /Already there/);

  assert.equal((await home.run("uninstall", "--mcp")).code, 0);
  assert.equal(readFileSync(path, "utf8"), `${JSON.stringify(before, null, 2)}\n`);
  assert.deepEqual(readdirSync(dirname(path)), ["cline_mcp_settings.json"]);
  assert.ok(!existsSync(home.target));
});

test("--mcp leaves numbers of other entries as they are written", async (t) => {
  const home = createHome(t);
  const before = String.raw`{
  "mcpServers": {
    "other": {
      "price": 1.50,
      "id": 9007199254740993,
      "list": [
        -0,
        1E+400,
        0
      ],
      "text": "a \"7\" \\ 1.50"
    }
  },
  "later": 2.0
}
`;
  const path = settings(home, before);
  assert.equal((await home.run("install", "--mcp")).code, 0);
  const entry = JSON.stringify({ palinode: ENTRY }, null, 2)
    .split("\n")
    .slice(1, -1)
    .map((line) => `  ${line}`)
    .join("\n");
  assert.equal(readFileSync(path, "utf8"), before.replace("\n    }\n", `\n    },\n${entry}\n`));
  assert.match((await home.run("install", "--mcp")).stdout, /Already there/);
  assert.equal((await home.run("uninstall", "--mcp")).code, 0);
  assert.equal(readFileSync(path, "utf8"), before);
});

test("--mcp makes the file where there is none, at the place that Cline reads", async (t) => {
  for (const [variable, at] of [
    ["HOME", ".cline/data/settings/cline_mcp_settings.json"],
    ["CLINE_DATA_DIR", "settings/cline_mcp_settings.json"],
    ["CLINE_MCP_SETTINGS_PATH", ""],
  ] as const) {
    const home = createHome(t);
    home.program("palinode-mcp", "exit 0");
    if (variable !== "HOME") home.env[variable] = join(home.home, "elsewhere");
    const { code, stdout } = await home.run("install", "--mcp", "--json");
    assert.equal(code, 0);
    const { mcp } = JSON.parse(stdout) as { mcp: { action: string; path: string; messages: string[] } };
    assert.deepEqual([mcp.action, mcp.path, mcp.messages.length], ["added", join(home.env[variable]!, at), 1]);
    assert.deepEqual(JSON.parse(readFileSync(mcp.path, "utf8")), { mcpServers: { palinode: ENTRY } });
  }
});

test("the entry says where the server is when that is not the default, and never the token", async (t) => {
  const home = createHome(t, { PALINODE_API_URL: "http://10.0.0.5:7000", PALINODE_API_TOKEN: "s3cret-token" });
  const { stdout } = await home.run("install", "--mcp");
  const path = join(home.clineDir, "data/settings/cline_mcp_settings.json");
  const text = readFileSync(path, "utf8");
  assert.deepEqual((JSON.parse(text) as { mcpServers: unknown }).mcpServers, {
    palinode: {
      ...ENTRY,
      env: { PALINODE_API_URL: "http://10.0.0.5:7000", PALINODE_API_HOST: "10.0.0.5", PALINODE_API_PORT: "7000" },
    },
  });
  assert.ok(!(text + stdout).includes("s3cret"));
  // Taken out from a shell with another address, and with a switch that Cline has set in it.
  writeFileSync(path, text.replace('"args": []', '"args": [], "disabled": true'));
  delete home.env.PALINODE_API_URL;
  assert.equal((await home.run("uninstall", "--mcp")).code, 0);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { mcpServers: {} });
});

test("--mcp keeps a copy of a file that is no JSON, and of each one anew", async (t) => {
  const home = createHome(t);
  for (const [index, text] of ["{ broken", "[]", "null", '{"mcpServers": []}', "nonsense"].entries()) {
    const path = settings(home, text);
    const { code, stdout } = await home.run("install", "--mcp", "--json");
    assert.equal(code, 0);
    const { mcp } = JSON.parse(stdout) as { mcp: { backup: string } };
    assert.equal(readFileSync(mcp.backup, "utf8"), text);
    assert.equal(dirname(mcp.backup), dirname(path));
    assert.equal(readdirSync(dirname(path)).length, index + 2);
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { mcpServers: { palinode: ENTRY } });
  }
  settings(home, "{ broken");
  assert.match(
    (await home.run("install", "--mcp")).stdout,
    /other servers are no longer in the file, they are in its backup .*cline_mcp_settings\.json\.6\.bak\n/,
  );
  const path = settings(home, "{ broken");
  const { code, stdout, stderr } = await home.run("uninstall", "--mcp");
  assert.equal(code, 1);
  assert.match(stdout, /^Removed /);
  assert.match(stderr, /left alone/);
  assert.equal(readFileSync(path, "utf8"), "{ broken");
});

test("an empty file of MCP settings holds nothing to keep a copy of", async (t) => {
  const home = createHome(t);
  for (const text of ["", " \n"]) {
    const path = settings(home, text);
    const { mcp } = JSON.parse((await home.run("install", "--mcp", "--json")).stdout) as {
      mcp: { action: string; backup?: string };
    };
    assert.deepEqual(
      [mcp.action, mcp.backup, readdirSync(dirname(path))],
      ["added", undefined, ["cline_mcp_settings.json"]],
    );
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { mcpServers: { palinode: ENTRY } });
  }
});

test("--mcp leaves another palinode entry alone unless it is forced, and takes out none but its own", async (t) => {
  const home = createHome(t);
  const own = { mcpServers: { palinode: { command: "uvx", args: ["palinode-mcp"], env: { A: "1" } } } };
  const path = settings(home, JSON.stringify(own));
  for (const verb of ["install", "uninstall"]) {
    const { code, stdout } = await home.run(verb, "--mcp");
    assert.equal(code, 0);
    assert.match(stdout, /Left alone: palinode in/);
    assert.equal(readFileSync(path, "utf8"), JSON.stringify(own));
  }
  assert.equal((await home.run("install", "--mcp", "--force")).code, 0);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { mcpServers: { palinode: ENTRY } });
});

test("settings that are a link stay one", async (t) => {
  const home = createHome(t);
  const real = home.write("dotfiles/mcp.json", "{}");
  mkdirSync(join(home.clineDir, "data/settings"), { recursive: true });
  const link = join(home.clineDir, "data/settings/cline_mcp_settings.json");
  symlinkSync(real, link);
  assert.equal((await home.run("install", "--mcp")).code, 0);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.deepEqual(JSON.parse(readFileSync(real, "utf8")), { mcpServers: { palinode: ENTRY } });
});

test("settings that cannot be read or written stop --mcp after the file is in place", async (t) => {
  const home = createHome(t);
  mkdirSync(join(home.clineDir, "data/settings/cline_mcp_settings.json"), { recursive: true });
  const { code, stdout, stderr } = await home.run("install", "--mcp");
  assert.equal(code, 1);
  assert.match(stdout, /^Installed /);
  assert.match(stderr, /^palinode: .*cline_mcp_settings\.json is no file\n$/);
});

function settings(home: Home, text: string, mode = 0o600): string {
  const path = home.write(".cline/data/settings/cline_mcp_settings.json", text);
  chmodSync(path, mode);
  return path;
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

test("a link in a project that leads out of it is not written through, and one inside is", async (t) => {
  const home = createHome(t);
  const elsewhere = join(home.home, "elsewhere");
  mkdirSync(elsewhere);
  for (const link of [".cline", ".cline/plugins"]) {
    const at = join(home.workspace, link);
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(elsewhere, at);
    const { code, stderr } = await home.run("install", "--project", ".");
    assert.equal(code, 1, link);
    assert.match(stderr, /leads out of the project.*take the link away first/);
    rmSync(join(home.workspace, ".cline"), { recursive: true });
  }
  assert.deepEqual(readdirSync(elsewhere), []);
  mkdirSync(join(home.workspace, "tools/plugins"), { recursive: true });
  symlinkSync(join(home.workspace, "tools"), join(home.workspace, ".cline"));
  assert.equal((await home.run("install", "--project", ".")).code, 0);
});

test("a working folder that is gone, and a user without a home, get a sentence", async (t) => {
  const home = createHome(t);
  const gone = join(home.home, "gone");
  mkdirSync(gone);
  const status = `${quoted(process.execPath)} ${quoted(FILE)} status`;
  const script = `cd ${quoted(gone)} && rmdir ${quoted(gone)} && exec ${status}`;
  const away = spawnSync("sh", ["-c", script], { env: { ...home.env, PATH: process.env.PATH }, encoding: "utf8" });
  assert.deepEqual([away.status, away.stdout], [1, ""]);
  assert.equal(away.stderr, "palinode: the working folder is gone; change to one that is there\n");
  const nameless = await runFile(FILE, ["status"], home.workspace, { ...home.env, HOME: "" });
  assert.deepEqual([nameless.code, nameless.stderr], [1, "palinode: this user has no home folder; name one in HOME\n"]);
  // Only root can become a user whom the system does not know.
  if (process.getuid?.() !== 0) return;
  const file = join(mkdtempSync(join(tmpdir(), "palinode-home-")), "palinode.js");
  t.after(() => rmSync(dirname(file), { recursive: true }));
  copyFileSync(FILE, file);
  chmodSync(dirname(file), 0o755);
  const unknown = spawnSync(process.execPath, [file, "status"], {
    uid: 54_321,
    gid: 54_321,
    cwd: "/",
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  assert.equal(unknown.status, 1);
  assert.equal(unknown.stderr, "palinode: this user has no home folder; name one in HOME\n");
});

// Where Cline keeps things, by the host's own precedence.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { clineDataDir, clineDir, clineSessionsDir, extensionRoots, pluginFolders } from "../../src/cline/index.ts";

test("the home is HOME, else USERPROFILE, else drive and path, else the system's", () => {
  const all = { HOME: "/h", USERPROFILE: "/u", HOMEDRIVE: "C:", HOMEPATH: "\\Users\\bob" };
  assert.equal(clineDir(all), join("/h", ".cline"));
  assert.equal(clineDir({ ...all, HOME: " " }), join("/u", ".cline"));
  assert.equal(clineDir({ ...all, HOME: "", USERPROFILE: "" }), join("C:\\Users\\bob", ".cline"));
  for (const env of [{}, { HOMEDRIVE: "C:" }, { HOMEPATH: "\\Users\\bob" }])
    assert.equal(clineDir(env), join(homedir(), ".cline"));
});

test("each folder is where its own variable says, else below the one around it", () => {
  const env = { HOME: "/h", CLINE_DIR: "/c", CLINE_DATA_DIR: "/d", CLINE_SESSION_DATA_DIR: "/s" };
  assert.deepEqual([clineDir(env), clineDataDir(env), clineSessionsDir(env)], ["/c", "/d", "/s"]);
  assert.equal(clineSessionsDir({ ...env, PALINODE_CLINE_ROOT: "/p" }), "/p");
  assert.equal(clineSessionsDir({ ...env, CLINE_SESSION_DATA_DIR: "" }), join("/d", "sessions"));
  assert.equal(clineDataDir({ HOME: "/h", CLINE_DIR: "/c" }), join("/c", "data"));
  assert.equal(clineSessionsDir({ HOME: "/h" }), join("/h", ".cline", "data", "sessions"));
});

test("named roots of the extension belong to the editor that their path names most closely", (t) => {
  const folder = temporary(t);
  mkdirSync(join(folder, "Cursor/saoudrizwan.claude-dev/tasks"), { recursive: true });
  const named = ["/x/Code - Insiders/y", "/x/Code/y", "/x/elsewhere", " ", join(folder, "Cursor")];
  assert.deepEqual(extensionRoots({ PALINODE_CLINE_ROOTS: named.join(delimiter) }), [
    { editor: "Code - Insiders", path: "/x/Code - Insiders/y" },
    { editor: "Code", path: "/x/Code/y" },
    { editor: "Code", path: "/x/elsewhere" },
    { editor: "Cursor", path: join(folder, "Cursor/saoudrizwan.claude-dev") },
  ]);
});

test("without a list the extension is looked for in each editor of each system, and on remote machines", () => {
  const roots = extensionRoots({ HOME: "/h", APPDATA: "/roaming" }).map(({ editor, path }) => `${editor}: ${path}`);
  const below = join("User", "globalStorage", "saoudrizwan.claude-dev");
  for (const root of [
    `Code: ${join("/h/.config/Code", below)}`,
    `Cursor: ${join("/h/Library/Application Support/Cursor", below)}`,
    `Windsurf: ${join("/roaming/Windsurf", below)}`,
    `VSCodium: ${join("/h/.vscodium-server/data", below)}`,
  ])
    assert.ok(roots.includes(root), `${root} in ${roots.join("\n")}`);
  assert.equal(new Set(roots).size, roots.length);
});

test("plugins come from the workspace, Cline's folder and the documents; a folder reached twice is one", (t) => {
  const folder = temporary(t);
  const [workspace, own] = [join(folder, "shop"), join(folder, ".cline")];
  const env = { HOME: folder };
  const documents = join(folder, "Documents", "Cline", "Plugins");
  assert.deepEqual(pluginFolders(env, workspace), [
    join(workspace, ".cline", "plugins"),
    join(own, "plugins"),
    documents,
  ]);
  mkdirSync(join(own, "plugins"), { recursive: true });
  mkdirSync(workspace);
  symlinkSync(own, join(workspace, ".cline"), "dir");
  assert.deepEqual(pluginFolders(env, workspace), [join(workspace, ".cline", "plugins"), documents]);
  assert.deepEqual(pluginFolders(env, folder), [join(own, "plugins"), documents]);
});

function temporary(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "palinode-folders-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

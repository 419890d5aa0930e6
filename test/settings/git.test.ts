// Which folder Cline makes its workspace of: asked of git as the CLI does, and read from git's files as we do.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { realFolder } from "../../src/base/files.ts";
import { workspaceOf } from "../../src/settings/git.ts";

const ENV = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", HOME: "/nowhere", GIT_CEILING_DIRECTORIES: tmpdir() };
const HAS_GIT = spawnSync("git", ["--version"]).status === 0;

function folder(t: TestContext): string {
  const root = realFolder(mkdtempSync(join(tmpdir(), "palinode-git-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

function git(cwd: string, ...args: string[]): void {
  const who = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...who, ...args], { cwd, env: ENV, stdio: "ignore" });
}

/** As the CLI 3.0.65 finds its workspace. */
function askedOfGit(cwd: string): string {
  const { status, stdout } = spawnSync("git", ["-C", cwd, "rev-parse", "--show-toplevel"], {
    encoding: "utf8",
    env: ENV,
  });
  return (status === 0 && stdout.trim()) || cwd;
}

test("the workspace is what git calls the top, in repositories, work trees and submodules, else the folder", {
  skip: !HAS_GIT,
}, (t) => {
  const root = folder(t);
  for (const name of ["shop", "library", "plain/src"]) mkdirSync(join(root, name), { recursive: true });
  for (const name of ["shop", "library"]) {
    git(join(root, name), "init", "--quiet");
    git(join(root, name), "commit", "--quiet", "--allow-empty", "--message", "x");
  }
  git(join(root, "shop"), "worktree", "add", "--quiet", "../tree");
  git(join(root, "shop"), "submodule", "--quiet", "add", join(root, "library"), "vendor/library");
  for (const name of ["shop/packages/api", "tree/packages/api", "shop/vendor/library/src"])
    mkdirSync(join(root, name), { recursive: true });
  symlinkSync(join(root, "shop/packages"), join(root, "link"));
  const expected = {
    shop: "shop",
    "shop/packages/api": "shop",
    "link/api": "shop",
    "tree/packages/api": "tree",
    "shop/vendor": "shop",
    "shop/vendor/library": "shop/vendor/library",
    "shop/vendor/library/src": "shop/vendor/library",
    plain: "plain",
    "plain/src": "plain/src",
  };
  const found = Object.keys(expected).map((name) => [name, workspaceOf(join(root, name)).slice(root.length + 1)]);
  assert.deepEqual(Object.fromEntries(found), expected);
  for (const name of Object.keys(expected)) assert.equal(workspaceOf(join(root, name)), askedOfGit(join(root, name)));
});

test("a folder far below the root is in the workspace too", (t) => {
  const root = folder(t);
  mkdirSync(join(root, ".git"));
  const deep = join(root, ...Array.from({ length: 40 }, (_, index) => `d${index}`));
  mkdirSync(deep, { recursive: true });
  assert.equal(workspaceOf(deep), root);
});

test("a file that is called .git and names no folder makes no workspace, nor does a folder that is gone", (t) => {
  const root = folder(t);
  mkdirSync(join(root, "shop/src"), { recursive: true });
  for (const text of ["", "gitdir:", "gitdir: \n", "hello"]) {
    writeFileSync(join(root, "shop/.git"), text);
    assert.equal(workspaceOf(join(root, "shop/src")), join(root, "shop/src"), JSON.stringify(text));
  }
  assert.equal(workspaceOf("/gone/below"), "/gone/below");
});

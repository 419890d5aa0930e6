// Which project a workspace belongs to, on folders laid out as git lays them out; git itself is never run.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { type TestContext } from "node:test";
import { realFolder } from "../../src/base/files.ts";
import { projectOf, slugOf } from "../../src/settings/project.ts";

const ORIGIN = [
  "[core]",
  "\tbare = false",
  '[remote "origin"]',
  "\turl = https://example.com/acme/Web-Shop.git",
  "\tfetch = +refs/heads/*:refs/remotes/origin/*",
  '[branch "main"]',
  "\tremote = origin",
  "",
].join("\n");

test("the setting wins over everything, with or without its prefix", () => {
  assert.deepEqual(
    ["my-app", "My App", "project/my-app", "  my-app "].map((setting) =>
      projectOf(setting, "/w/other", ["origin: https://x/y.git"]),
    ),
    Array(4).fill("my-app"),
  );
});

test("a setting that names nothing falls back to what git says", () => {
  assert.deepEqual(
    ["", "   ", "///", "日本", "project/", "project/日本"].map((setting) =>
      projectOf(setting, undefined, ["origin: https://x/shop.git"]),
    ),
    Array(6).fill("shop"),
  );
});

test("the host's origin remote names the project", () => {
  const remotes: Record<string, string> = {
    "origin: https://example.com/acme/shop.git": "shop",
    "origin: git@github.com:acme/Shop.git": "shop",
    "origin: ssh://git@host:22/acme/shop": "shop",
    "origin: https://example.com/acme/shop/": "shop",
    "origin: https://u:p@example.com/acme/shop.git?x=1#y": "shop",
    "origin: C:\\repos\\shop.git": "shop",
    "origin: /srv/git/shop.git/": "shop",
    "origin: file:///srv/shop.git": "shop",
    "origin: host:shop.git": "shop",
    "origin: https://dev.azure.com/acme/p/_git/My%20Shop": "my-20shop",
    "origin: https://example.com/acme/.github": "github",
  };
  assert.deepEqual(
    Object.keys(remotes).map((remote) => projectOf("", "/w/none", ["upstream: https://x/other.git", remote])),
    Object.values(remotes),
  );
});

test("remotes of other names, and an origin without a name, do not count", () => {
  assert.deepEqual(
    [
      ["upstream: https://x/other.git"],
      ["origin: "],
      ["origin:"],
      ["origins: https://x/y.git"],
      ["origin: https:///.git"],
      [],
    ].map((remotes) => projectOf("", "/w/none", remotes)),
    Array(6).fill("none"),
  );
});

test("the origin in git's configuration names the project, from any folder below", (t) => {
  const root = tree(t, { "shop-copy/.git/config": ORIGIN, "shop-copy/src/deep/a.ts": "" });
  assert.equal(projectOf("", join(root, "shop-copy")), "web-shop");
  assert.equal(projectOf("", join(root, "shop-copy/src/deep")), "web-shop");
  assert.equal(projectOf("", join(root, "shop-copy/src/deep/")), "web-shop");
});

test("git's configuration is read as git reads it", (t) => {
  const configs: Record<string, string> = {
    crlf: ORIGIN.replaceAll("\n", "\r\n"),
    spaces: '  [remote "origin"]  \n    url=https://x/web-shop.git   \n',
    last: '[remote "fork"]\nurl = https://x/fork.git\n[remote "origin"]\nurl = https://x/web-shop',
    push: '[remote "origin"]\npushurl = https://x/push.git\nurl = https://x/web-shop.git\n',
    submodule:
      '[submodule "x"]\nurl = https://x/other.git\n[remote "origin"]\nfetch = +a:b\nurl = https://x/web-shop.git\n',
    caps: '[Remote "origin"]\n\tURL = https://x/web-shop.git\n',
    quoted: '[remote "origin"]\n\turl = "https://x/web-shop.git"\n',
    comment: '[remote "origin"] ; ours\n\turl = https://x/web-shop.git\n',
    byte: `\ufeff[core]\n${ORIGIN}`,
  };
  const root = tree(
    t,
    Object.fromEntries(Object.entries(configs).map(([name, text]) => [`${name}/.git/config`, text])),
  );
  assert.deepEqual(
    Object.fromEntries(Object.keys(configs).map((name) => [name, projectOf("", join(root, name))])),
    Object.fromEntries(Object.keys(configs).map((name) => [name, "web-shop"])),
  );
});

test("another remote's address is not the origin's", (t) => {
  const root = tree(t, {
    "shop/.git/config": '[remote "origin"]\n\tfetch = +a:b\n[remote "fork"]\n\turl = https://x/fork.git\n',
    "other/.git/config": '# [remote "origin"]\n[branch "url"]\n\turl = https://x/no.git\n',
  });
  assert.equal(projectOf("", join(root, "shop")), "shop");
  assert.equal(projectOf("", join(root, "other")), "other");
});

test("linked worktrees belong to the project of the main one", (t) => {
  const root = tree(t, {
    "shop/.git/HEAD": "ref: refs/heads/main\n",
    "shop/.git/config": "[core]\n",
    "shop/.git/worktrees/a/commondir": "../..\n",
    "shop/.git/worktrees/b/commondir": "../..\n",
    "a/.git": "gitdir: ROOT/shop/.git/worktrees/a\n",
    "elsewhere/b/.git": "gitdir: ../../shop/.git/worktrees/b\r\n",
    "elsewhere/b/src/x.ts": "",
  });
  assert.deepEqual(
    ["shop", "a", "elsewhere/b", "elsewhere/b/src"].map((folder) => projectOf("", join(root, folder))),
    Array(4).fill("shop"),
  );
});

test("linked worktrees take the origin of the shared configuration", (t) => {
  const root = tree(t, {
    "shop/.git/config": ORIGIN,
    "shop/.git/worktrees/a/commondir": "ROOT/shop/.git\n",
    "a/.git": "gitdir: ROOT/shop/.git/worktrees/a",
  });
  assert.equal(projectOf("", join(root, "a")), "web-shop");
});

test("a bare folder and its worktrees are one project, named by the folder that holds them", (t) => {
  const root = tree(t, {
    "shop/.bare/config": "[core]\n\tbare = true\n",
    "shop/.git": "gitdir: ./.bare\n",
    "shop/.bare/worktrees/main/commondir": "../..\n",
    "shop/.bare/worktrees/fix/commondir": "../..\n",
    "shop/main/.git": "gitdir: ROOT/shop/.bare/worktrees/main\n",
    "shop/fix/.git": "gitdir: ../.bare/worktrees/fix\n",
    "shop/main/src/a.ts": "",
  });
  assert.deepEqual(
    ["shop", "shop/main", "shop/fix", "shop/main/src", "shop/.bare"].map((folder) => projectOf("", join(root, folder))),
    Array(5).fill("shop"),
  );
});

test("worktrees of a bare repository take its name", (t) => {
  const root = tree(t, {
    "shop.git/config": "[core]\n\tbare = true\n",
    "shop.git/worktrees/main/commondir": "../..\n",
    "trees/main/.git": "gitdir: ROOT/shop.git/worktrees/main\n",
  });
  assert.equal(projectOf("", join(root, "trees/main")), "shop");
});

test("a submodule is a project of its own", (t) => {
  const root = tree(t, {
    "shop/.git/config": "[core]\n",
    "shop/.git/modules/libs/pay/config": "[core]\n\tworktree = ../../../../libs/pay\n",
    "shop/libs/pay/.git": "gitdir: ../../.git/modules/libs/pay\n",
    "shop/.git/modules/libs/tax/config": ORIGIN,
    "shop/libs/tax/.git": "gitdir: ../../.git/modules/libs/tax\n",
  });
  assert.deepEqual(
    ["shop", "shop/libs/pay", "shop/libs/tax"].map((folder) => projectOf("", join(root, folder))),
    ["shop", "pay", "web-shop"],
  );
});

test("without git the workspace folder names the project", (t) => {
  const root = tree(t, { "My App/a.ts": "", "日本/a.ts": "" });
  assert.equal(projectOf("", join(root, "My App")), "my-app");
  assert.equal(projectOf("", join(root, "日本")), projectOf("", "/w/日本"));
  assert.equal(projectOf("", "/gone/Some Where"), "some-where");
  assert.equal(projectOf("", undefined), "");
  assert.equal(projectOf("", "/"), "");
});

test("a Windows path names the project by its last folder", () => {
  assert.deepEqual(
    ["D:\\a b", "C:\\Users\\Ann Lee\\My App", "C:\\work\\shop\\", "\\\\server\\share\\shop"].map((cwd) =>
      projectOf("", cwd),
    ),
    ["a-b", "my-app", "shop", "shop"],
  );
});

test("broken git files lead back to the folder, and never throw", (t) => {
  const root = tree(t, {
    "empty/.git": "",
    "prose/.git": "not a pointer\n",
    "gone/.git": "gitdir: /nowhere/at/all\n",
    "nul/.git": "gitdir: a\0b\n",
    "self/.git": "gitdir: .\n",
    "dir/.git/config/x": "",
    "loop/.git": "gitdir: ./g\n",
    "loop/g/commondir": "/nowhere\0\n",
    "big/.git": `gitdir: ${"x".repeat(1 << 21)}`,
  });
  symlinkSync("link", join(root, "link"));
  for (const folder of ["empty", "prose", "gone", "nul", "self", "dir", "big"])
    assert.equal(projectOf("", join(root, folder)), folder);
  for (const cwd of [
    join(root, "loop"),
    join(root, "link"),
    "\0",
    "",
    "x".repeat(1 << 16),
    "\ud800",
    `/${"a/".repeat(5000)}`,
  ])
    assert.match(projectOf("", cwd), /^[a-z0-9_-]*$/);
});

test("slugOf makes what every route of the server takes", () => {
  const slugs: Record<string, string> = {
    "Web Shop": "web-shop",
    "a.b.c": "a-b-c",
    "--x--": "x",
    __x_y: "x_y",
    "Ünïcode Straße": "unicode-strasse",
    "SMØRREBRØD Ærø Łódź": "smorrebrod-aero-lodz",
    "-": "",
    "": "",
    日本: "",
    Ａｐｐ: "app",
    İstanbul: "istanbul",
    "a/../b": "a-b",
    "x\0y\n": "x-y",
  };
  assert.deepEqual(Object.keys(slugs).map(slugOf), Object.values(slugs));
});

test("a folder in a script without Latin letters is a project of its own, the same each time", () => {
  const projects = ["/w/日本", "/w/中国", "/w/проект-2", "/w/тест-2", "/w/भारत"].map((cwd) => projectOf("", cwd));
  assert.equal(new Set(projects).size, projects.length);
  for (const project of projects) assert.match(project, /^(?:2-)?[0-9a-f]{8}$/);
  assert.equal(projectOf("", "/x/日本"), projects[0]);
  assert.equal(projectOf("", "/w/e\u0301日".normalize("NFC")), projectOf("", "/w/e\u0301日"));
  // What else names the project is better than a digest.
  assert.equal(projectOf("", "/w/日本", ["origin: https://example.com/acme/shop.git"]), "shop");
  assert.equal(projectOf("", "/w/日本", ["origin: https://example.com/acme/日本.git"]), projects[0]);
  assert.deepEqual(
    ["/w/2024", "/w/😀"].map((cwd) => projectOf("", cwd)),
    ["2024", ""],
  );
});

test("slugOf gives a slug or nothing for any text", () => {
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  for (let round = 0; round < 5000; round += 1) {
    const text = Array.from(
      { length: Math.floor(random() * 120) },
      () => "aZ09-_./ \n\0é日😀\ud800"[Math.floor(random() * 19)],
    ).join("");
    assert.match(slugOf(text), /^(?:[a-z0-9](?:[a-z0-9_-]*[a-z0-9_])?)?$/, JSON.stringify(text));
    assert.ok(slugOf(text).length <= 80);
    assert.equal(slugOf(slugOf(text)), slugOf(text));
  }
});

test("realFolder resolves links and gives back what cannot be resolved", (t) => {
  const root = tree(t, { "shop/a.ts": "" });
  symlinkSync(join(root, "shop"), join(root, "link"));
  assert.equal(realFolder(join(root, "link")), join(root, "shop"));
  assert.deepEqual(["/gone/x", "\0", ""].map(realFolder).slice(0, 2), ["/gone/x", "\0"]);
});

test("projectOf takes time in proportion to hostile git files", (t) => {
  const root = tree(t, { "shop/.git/config": "", "tree/.git": "" });
  const files: Record<string, (size: number) => void> = {
    "empty lines": (size) => writeFileSync(join(root, "shop/.git/config"), "\n".repeat(size)),
    "empty lines of the remote": (size) =>
      writeFileSync(join(root, "shop/.git/config"), `[remote "origin"]\n${"\n".repeat(size)}x`),
    "indented sections": (size) =>
      writeFileSync(join(root, "shop/.git/config"), `[remote "origin"]\n${" [".repeat(size / 2)}`),
    "spaces in an address": (size) =>
      writeFileSync(join(root, "shop/.git/config"), `[remote "origin"]\nurl = a${" ".repeat(size)}b`),
    "slashes in an address": (size) =>
      writeFileSync(join(root, "shop/.git/config"), `[remote "origin"]\nurl = a${"/".repeat(size)}b`),
    "spaces before an address": (size) =>
      writeFileSync(join(root, "shop/.git/config"), `[remote "origin"]\nurl${" ".repeat(size)}`),
    "spaces in a pointer": (size) => writeFileSync(join(root, "tree/.git"), `gitdir: a${" ".repeat(size)}b`),
    "lines of a pointer": (size) => writeFileSync(join(root, "tree/.git"), `gitdir:${"\n".repeat(size)}`),
  };
  const slow = Object.entries(files).filter(([, write]) =>
    isSlow((size) => {
      write(size);
      const start = performance.now();
      projectOf("", join(root, "shop"));
      projectOf("", join(root, "tree"));
      return performance.now() - start;
    }),
  );
  assert.deepEqual(
    slow.map(([name]) => name),
    [],
  );
});

/** Grows the input from 4 KB to 1 MB: four times as much may take nine times as long, and a pause of the machine. */
function isSlow(measure: (size: number) => number): boolean {
  for (let size = 4000, before = Infinity; size < 1 << 20; size *= 4) {
    const limit = before * 9 + 150;
    let spent = measure(size);
    if (spent > limit) spent = Math.min(spent, measure(size));
    if (spent > limit) return true;
    before = spent;
  }
  return false;
}

/** Writes files into a new folder; ROOT in a text is that folder. */
function tree(t: TestContext, files: Record<string, string>): string {
  const root = realFolder(mkdtempSync(join(tmpdir(), "palinode-project-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text.replaceAll("ROOT", root));
  }
  return root;
}

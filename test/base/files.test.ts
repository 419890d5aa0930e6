// The one way to read a small file, and the one way to write one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import {
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
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { codeOf, readJson, readRecord, readSmallFile, readText, replaceFile } from "../../src/base/files.ts";
import { openState } from "../../src/base/store.ts";
import { readJsonObject, readTokenFile } from "../../src/settings/files.ts";

test("a file of exactly the cap is read, one byte more is not", (t) => {
  const path = join(folderFor(t), "file.json");
  const write = (bytes: number): void => writeFileSync(path, `"${"x".repeat(bytes - 2)}"`);
  write(100);
  assert.equal(String(readJson(path, 100)).length, 98);
  assert.equal(readSmallFile(path, 100)?.length, 100);
  write(101);
  assert.throws(() => readText(path, 100), RangeError);
  assert.throws(() => readJson(path, 100), RangeError);
  assert.equal(readSmallFile(path, 100), undefined);
  write(1024 * 1024);
  assert.equal(readText(path).length, 1024 * 1024);
  write(1.5 * 1024 * 1024);
  assert.throws(() => readText(path), { name: "RangeError", message: "has 1.5 MB, more than 1 MB" });
});

test("what is missing, no file or no JSON is told apart, and is no record", (t) => {
  const folder = folderFor(t);
  const path = join(folder, "file.json");
  assert.throws(
    () => readJson(path),
    (error) => codeOf(error) === "ENOENT",
  );
  assert.throws(() => readJson(folder), { name: "RangeError", message: "is no file" });
  writeFileSync(path, '{"a": 1');
  assert.throws(() => readJson(path), SyntaxError);
  for (const odd of [path, folder, join(folder, "missing")]) assert.deepEqual(readRecord(odd), {});
  writeFileSync(path, '\ufeff{"a": 1}');
  assert.deepEqual([readJson(path), readRecord(path)], [{ a: 1 }, { a: 1 }]);
});

test("a pipe is not waited for", { skip: process.platform === "win32" }, (t) => {
  const pipe = join(folderFor(t), "pipe");
  assert.equal(spawnSync("mkfifo", [pipe]).status, 0);
  assert.throws(() => readText(pipe), { name: "RangeError", message: "is no file" });
  const problems: string[] = [];
  assert.deepEqual([readJsonObject(pipe, problems), readTokenFile(pipe, "tokenFile", problems)], [{}, ""]);
  assert.deepEqual(problems, [
    `${pipe} is not a JSON object`,
    "tokenFile: the file holds no token (the token alone, without Bearer)",
  ]);
});

test("settings over 64 KB and state over 256 KB are none", (t) => {
  const folder = folderFor(t);
  const path = join(folder, "file.json");
  const problems: string[] = [];
  const write = (bytes: number): void => writeFileSync(path, `{"a":"${"x".repeat(bytes - 8)}"}`);
  write(64 * 1024);
  assert.equal(Object.keys(readJsonObject(path, problems)).length, 1);
  write(64 * 1024 + 1);
  assert.deepEqual([readJsonObject(path, problems), problems], [{}, [`${path} is not a JSON object`]]);

  const troubles: string[] = [];
  const state = openState(folder, (trouble) => troubles.push(trouble));
  write(256 * 1024);
  assert.notEqual(state.read("file.json"), undefined);
  write(256 * 1024 + 1);
  assert.equal(state.read("file.json"), undefined);
  assert.deepEqual(troubles, ["file.json could not be read and was set aside as file.json.bad"]);
  assert.ok(existsSync(`${path}.bad`) && !existsSync(path));
  assert.equal(state.write("big.json", "x".repeat(256 * 1024)), false);
  assert.equal(troubles.at(-1), "big.json could not be written (too large)");
});

test("a file is replaced as a whole, with its mode, its folders made, and nothing left beside it", (t) => {
  const folder = folderFor(t);
  const path = join(folder, "a", "b", "file");
  replaceFile(path, "one", 0o600, 0o700);
  const first = statSync(path).ino;
  replaceFile(path, Buffer.from("two"), 0o600, 0o700);
  assert.equal(readFileSync(path, "utf8"), "two");
  assert.notEqual(statSync(path).ino, first, "an open reader keeps the file that it opened");
  assert.deepEqual(readdirSync(join(folder, "a", "b")), ["file"]);
  if (process.platform === "win32") return;
  assert.deepEqual(
    [path, join(folder, "a", "b"), join(folder, "a")].map((each) => (statSync(each).mode & 0o777).toString(8)),
    ["600", "700", "700"],
  );
});

test("a link is replaced and what it leads to stays", { skip: process.platform === "win32" }, (t) => {
  const folder = folderFor(t);
  const [target, link] = [join(folder, "target"), join(folder, "link")];
  writeFileSync(target, "theirs");
  symlinkSync(target, link);
  replaceFile(link, "ours", 0o600);
  assert.ok(!lstatSync(link).isSymbolicLink());
  assert.deepEqual([readFileSync(target, "utf8"), readFileSync(link, "utf8")], ["theirs", "ours"]);
});

test("what cannot be written says so, leaves the old file and no other", (t) => {
  const folder = folderFor(t);
  mkdirSync(join(folder, "taken", "full"), { recursive: true });
  assert.throws(() => replaceFile(join(folder, "taken"), "text", 0o600), /^Error: cannot write .*taken \(E\w+\): /);
  assert.deepEqual(readdirSync(folder), ["taken"]);
  writeFileSync(join(folder, "file"), "x");
  assert.throws(
    () => replaceFile(join(folder, "file", "below"), "text", 0o600),
    (error) => error instanceof Error && /^E[A-Z]+$/.test(codeOf(error)) && error.message.includes(codeOf(error)),
  );
  assert.equal(openState(join(folder, "file")).write("x.json", {}), false);
  assert.equal(readFileSync(join(folder, "file"), "utf8"), "x");
});

test("two writers of one name never share a temporary file", { skip: process.platform === "win32" }, (t) => {
  const folder = folderFor(t);
  const path = join(folder, "file");
  // A thread of the same process has the same id.
  writeFileSync(`${path}.${process.pid}.tmp`, "another writer's");
  replaceFile(path, "mine", 0o600);
  assert.equal(readFileSync(`${path}.${process.pid}.tmp`, "utf8"), "another writer's");
});

test("a link planted under the temporary name is not written through", { skip: process.platform === "win32" }, (t) => {
  const folder = folderFor(t);
  const [path, target] = [join(folder, "file"), join(folder, "target")];
  writeFileSync(target, "theirs");
  t.mock.method(crypto, "randomUUID", () => "known");
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  symlinkSync(target, `${path}.${process.pid}-known.tmp`);
  assert.throws(() => replaceFile(path, "ours", 0o600), /^Error: cannot write .* \(EEXIST\): /);
  assert.deepEqual([readFileSync(target, "utf8"), existsSync(path)], ["theirs", false]);
});

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "palinode-files-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// What a session wrote, by every tool and spelling, and the lists of sessions that edited a file, wrote a line, failed.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { editsOf } from "../../src/history/edits.ts";
import { legacyMessages } from "../../src/history/stored.ts";
import { EXTENSION, type Home, openHome } from "../helpers/past.ts";

const PATCH =
  "*** Begin Patch\n*** Add File: new.ts\n+one\n+two\n*** Update File: old.ts\n*** Move to: moved.ts\n@@\n context\n" +
  "-gone\n+come\n*** Delete File: dead.ts\n*** End Patch";

test("an edit's two sides, a patch's lines and the blocks of either spelling are told apart", () => {
  const one = (name: string, input: unknown) => editsOf(used(name, input));
  assert.deepEqual(one("editor", { path: "a", old_text: "x\nsame", new_text: "same\r\ny" }), [
    { path: "a", added: ["y"], removed: ["x"] },
  ]);
  assert.deepEqual(one("write_to_file", { path: "a", content: "x" }), [{ path: "a", added: ["x"], removed: [] }]);
  for (const input of [PATCH, { input: PATCH }, { patch: PATCH }])
    assert.deepEqual(one("apply_patch", input), [
      { path: "new.ts", added: ["one", "two"], removed: [] },
      { path: "moved.ts", added: ["come"], removed: ["gone"] },
      { path: "dead.ts", added: [], removed: [] },
    ]);
  for (const [search, replace] of [
    ["------- SEARCH", "+++++++ REPLACE"],
    ["<<<<<<< SEARCH", ">>>>>>> REPLACE"],
  ] as const) {
    const block = (before: string, after: string) => [search, before, "=======", after, replace].join("\n");
    const diff = `${block("a\nkept", "kept\n======= no end")}\nbetween\n${block("b", "c")}`;
    assert.deepEqual(one("replace_in_file", { path: "f", diff }), [
      { path: "f", added: ["======= no end", "c"], removed: ["a", "b"] },
    ]);
  }
  assert.deepEqual([one("read_files", { path: "a" }), one("editor", null), one("apply_patch", 7)], [[], [], []]);
  assert.deepEqual(editsOf(used("editor", { path: "a", new_text: "x" }, { error: "no", success: false })), []);
  assert.deepEqual(editsOf(used("editor", { path: "a", new_text: "x" }).slice(0, 1)), []);
});

test("an edit that stands as XML keeps what it writes, also where that holds the closing tag", () => {
  const messages = legacyMessages([
    { role: "user", content: "<task>x</task>" },
    {
      role: "assistant",
      content: "<write_to_file>\n<path>a.md</path>\n<content>\nsay </content>\nand more\n</content>\n</write_to_file>",
    },
    { role: "user", content: "[write_to_file for 'a.md'] Result:\nThe content was successfully saved to a.md." },
  ]);
  assert.deepEqual(editsOf(messages), [{ path: "a.md", added: ["say </content>", "and more"], removed: [] }]);
});

test("the sessions that edited a file are found by either form of its path, and either slash", async (t) => {
  const home = openHome(t);
  const shop = join(home.folder, "shop");
  mkdirSync(shop);
  edited(home, "whole", { cwd: shop }, { path: join(shop, "src/a.ts"), new_text: "const answer = 42;" });
  edited(home, "part", { cwd: shop }, { path: "src/a.ts", new_text: "let other = 1;" });
  edited(home, "elsewhere", { cwd: "/w/other" }, { path: "/w/other/lib/src/a.ts", new_text: "x" });
  edited(home, "windows", { cwd: "C:\\w\\shop" }, { path: "c:\\w\\shop\\src\\b.ts", new_text: "x" });
  const idsFor = idsIn(home);
  assert.deepEqual(await idsFor("--file", "src/a.ts"), ["part", "whole"]);
  assert.deepEqual(await idsFor("--file", "./src/a.ts"), ["part", "whole"]);
  assert.deepEqual(await idsFor("--file", "src\\a.ts"), ["part", "whole"]);
  assert.deepEqual(await idsFor("--file", join(shop, "src/a.ts")), ["part", "whole"]);
  assert.deepEqual(await idsFor("--file", "shop/src/a.ts"), ["part", "whole"]);
  assert.deepEqual(await idsFor("--file", "/w/other/lib/src/a.ts"), ["elsewhere"]);
  assert.deepEqual(await idsFor("--file", "C:/w/shop/src/b.ts"), ["windows"]);
  assert.deepEqual(await idsFor("--file", "src/b.ts"), ["windows"]);
  assert.deepEqual(await idsFor("--file", "a.ts"), []);
  assert.deepEqual(await idsFor("--file", "src/a.ts", "--limit", "1"), ["part"]);
  assert.equal((await home.run(["history", "--file", ""])).code, 2);
  const { out } = await home.run(["history", "--file", "src/a.ts"]);
  assert.match(out, new RegExp(`cd ${shop} && cline --id whole\n`));
});

test("the session that wrote a line is found, also when nothing is read again", async (t) => {
  const home = openHome(t);
  edited(
    home,
    "writer",
    {},
    { path: "a.ts", old_text: "was there = 0;", new_text: "was there = 0;\n  const  answer = 42;" },
  );
  edited(home, "reader", {}, { path: "b.ts", old_text: "const answer = 42;", new_text: "const answer = 43;" });
  const idsFor = idsIn(home);
  for (const _ of [1, 2]) {
    assert.deepEqual(await idsFor("--line", "const answer = 42;"), ["writer"]);
    assert.deepEqual(await idsFor("--line", "was there = 0;"), []);
    assert.deepEqual(await idsFor("--line", "answer = 42;"), []);
  }
  // Only hashes are kept of what was written, and one that fits by chance is not believed.
  const path = join(home.folder, ".cline/data/palinode/history-lines.json");
  const kept = JSON.parse(readFileSync(path, "utf8"));
  assert.doesNotMatch(JSON.stringify(kept), /answer/);
  const hashes = Object.values(kept.rows as Record<string, [string, string]>).map(([, value]) => value);
  const all = Buffer.concat(hashes.map((value) => Buffer.from(value, "base64"))).toString("base64");
  for (const row of Object.values(kept.rows as Record<string, string[]>)) row[1] = all;
  writeFileSync(path, JSON.stringify(kept));
  assert.deepEqual(await idsFor("--line", "const answer = 42;"), ["writer"]);
  for (const wrong of ["", "}", " ab ", "two\nlines"])
    assert.equal((await home.run(["history", "--line", wrong])).code, 2, wrong);
});

test("commands that failed are listed with their exit codes and how the session is reopened", async (t) => {
  const home = openHome(t);
  const entries = [
    { query: "npm test", result: "", error: "Command exited with code 1", success: false },
    { query: "export TOKEN=ghp_Zq7XvK2mWp9RtB4nYs6LZq7XvK2mWp9RtB4nYs6L", result: "", error: "gone", success: false },
    { query: "ls", result: "", success: true },
  ];
  saved(home, "bad", {}, "run_commands", { commands: entries.map(({ query }) => query) }, entries);
  saved(home, "good", {}, "run_commands", { commands: ["ls"] }, entries.slice(2));
  const { out } = await home.run(["history", "--failed"]);
  assert.match(out, /bad .*cline --id bad\n {2}`npm test` \(exit 1\)\n {2}`export TOKEN=[^\n]*` \(failed\)\nLooked in/);
  assert.doesNotMatch(out, /good|`ls`|Zq7X/);
  const [row] = JSON.parse((await home.run(["history", "--failed", "--json"])).out);
  assert.deepEqual([row.id, row.failed[0]], ["bad", "`npm test` (exit 1)"]);
  assert.equal("failed" in JSON.parse((await home.run(["history", "--json"])).out)[0], false);
});

test("a task of the extension is found by what it wrote and by what failed", async (t) => {
  const home = openHome(t);
  const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
  const diff = "<<<<<<< SEARCH\nold line here\n=======\nnew line here\n>>>>>>> REPLACE";
  home.task(`.config/Code/${EXTENSION}`, "1767225600000", [
    user("<task>x</task>"),
    { role: "assistant", content: `<replace_in_file><path>src/x.ts</path><diff>${diff}</diff></replace_in_file>` },
    user("[replace_in_file for 'src/x.ts'] Result:\nThe content was successfully saved to src/x.ts."),
    { role: "assistant", content: "<execute_command><command>make</command></execute_command>" },
    user("[execute_command for 'make'] Result:\nCommand failed with exit code 2."),
  ]);
  const idsFor = idsIn(home);
  for (const words of [["--line", "new line here"], ["--file", "src/x.ts"], ["--failed"]])
    assert.deepEqual(await idsFor(...words), ["1767225600000"], words.join(" "));
  assert.deepEqual(await idsFor("--line", "old line here"), []);
});

function used(name: string, input: unknown, output: unknown = "ok") {
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: name, input }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: name, output }] },
  ];
}

function saved(home: Home, id: string, manifest: object, name: string, input: unknown, content: unknown): void {
  home.write(`.cline/data/sessions/${id}/${id}.json`, { ended_at: "2026-01-02T04:00:00Z", ...manifest });
  home.write(`.cline/data/sessions/${id}/${id}.messages.json`, {
    messages: [
      { role: "user", content: "do it" },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name, input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c", name, content }] },
    ],
  });
}

function edited(home: Home, id: string, manifest: object, input: unknown): void {
  saved(home, id, manifest, "editor", input, [{ query: "edit", result: "done", success: true }]);
}

function idsIn(home: Home): (...words: string[]) => Promise<string[]> {
  return async (...words) =>
    (JSON.parse((await home.run(["history", "--json", ...words])).out) as { id: string }[]).map(({ id }) => id);
}

// The rooms of src/ and who may look into whom: downwards only, and through the door, which is a room's index.ts.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { test } from "node:test";

declare const REPOSITORY: string;

/** Each may use those before it; rooms that stand together know nothing of each other. */
const FLOORS = [
  ["base"],
  ["cline"],
  ["settings"],
  ["server"],
  ["recall", "capture", "local"],
  ["session", "history"],
  ["desk", "setup"],
  ["."],
];
/** What every room may use is open; it has no door. */
const OPEN = "base";
const MAX_COLUMNS = 120;

function floorOf(file: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(dirname(file)));
}

/** Returns what is wrong with one file of src/ using another, or undefined. Paths are relative to src/. */
function complaint(file: string, used: string): string | undefined {
  if (dirname(file) === dirname(used)) return undefined;
  if (floorOf(used) >= floorOf(file)) return `looks up, into ${used}`;
  const isDoor = posix.basename(used) === "index.ts" || dirname(used) === OPEN;
  return isDoor ? undefined : `reaches past the door of ${dirname(used)}: ${used}`;
}

/** Type-only imports count too, so the strings are read: the bundler's metafile drops them. */
function complaintsAbout(file: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const path = /(?:\bfrom|\bimport\s*\(?)\s*["'](\.[^"']+)["']/.exec(line)?.[1];
    const wrong = path && complaint(file, posix.join(dirname(file), path));
    return wrong ? [`src/${file}:${index + 1} ${wrong}`] : [];
  });
}

function filesBelow(folder: string): string[] {
  const names = readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => name.replaceAll("\\", "/"));
}

test("a room uses only rooms below it, and of those only what their index.ts lists", () => {
  const files = filesBelow("src");
  assert.deepEqual(
    files.filter((file) => floorOf(file) < 0),
    [],
    "a file stands in no room",
  );
  const wrong = files.flatMap((file) => complaintsAbout(file, readFileSync(join(REPOSITORY, "src", file), "utf8")));
  assert.deepEqual(wrong, []);
});

test("the rule names the line that breaks it", () => {
  const text = 'import { clip } from "../base/text.ts";\nimport type { Session } from "../session/index.ts";\n';
  assert.deepEqual(complaintsAbout("recall/block.ts", text), ["src/recall/block.ts:2 looks up, into session/index.ts"]);
  assert.deepEqual(complaintsAbout("desk/tools.ts", '} from "../server/client.ts";'), [
    "src/desk/tools.ts:1 reaches past the door of server: server/client.ts",
  ]);
  assert.deepEqual(complaintsAbout("recall/a.ts", 'import "../capture/index.ts";'), [
    "src/recall/a.ts:1 looks up, into capture/index.ts",
  ]);
});

test("no line is wider than a page", () => {
  const wide = ["src", "test"].flatMap((folder) =>
    filesBelow(folder).flatMap((file) => {
      const lines = readFileSync(join(REPOSITORY, folder, file), "utf8").split("\n");
      return lines.flatMap((line, index) => (line.length > MAX_COLUMNS ? [`${folder}/${file}:${index + 1}`] : []));
    }),
  );
  assert.deepEqual(wide, []);
});

// A clone of this repository as the work tree stands, without what git ignores.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

declare const REPOSITORY: string;

/** Copies every file that a clone would hold into a folder, which is made. */
export function cloneInto(folder: string): void {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const names = execFileSync("git", args, { cwd: REPOSITORY, encoding: "utf8" }).split("\0").filter(Boolean);
  // A file that was deleted and not committed yet is in the index still.
  for (const name of names.filter((each) => existsSync(join(REPOSITORY, each)))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(REPOSITORY, name), join(folder, name));
  }
}

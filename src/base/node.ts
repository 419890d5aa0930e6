// What runs this file, and how. `index.ts` imports it first, so that a Node that is too old says so before anything is
// called that it lacks. What it does not export must not be imported by name anywhere: that fails before any code runs.
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

// The first that knows an ES module without a `package.json` to tell it. Cline's own plugin process needs that as well.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  const message = `palinode.js needs Node 20.19 or newer, and this is ${process.versions.node}`;
  if (!isRunDirectly()) throw new Error(message);
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/**
 * Returns whether the file is run as a program. Only under its own name: bundled into somebody's program, this code is
 * that program's main file. The file system is only asked where the names agree, which they never do in a host.
 */
export function isRunDirectly(): boolean {
  const script = process.argv[1];
  if (!isMainThread || script === undefined || !import.meta.url.startsWith("file:")) return false;
  const file = fileURLToPath(import.meta.url);
  if (!basename(file).startsWith("palinode") || basename(script) !== basename(file)) return false;
  try {
    return realpathSync(script) === realpathSync(file);
  } catch {
    return false;
  }
}

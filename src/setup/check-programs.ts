// What the doctor asks about programs that others start: the Node that Cline runs plugins with, and the MCP server.

import { dirname, isAbsolute } from "node:path";
import { entryAt } from "../base/files.ts";
import { findProgram } from "../base/programs.ts";
import { type Check, failure, ok, warning } from "./check.ts";
import { isNewer } from "./copies.ts";
import { mcpProgram } from "./mcp.ts";
import { findingIn, gettingPalinode } from "./mend.ts";
import { printedVersion } from "./programs.ts";

const NEEDED = "20.19.0";
/** From here on, and in 20.19 and newer of 20, Node knows an ES module when it sees one. */
const NATIVE = "22.7.0";
const VERSION_TIMEOUT_MS = 5000;

/** Cline starts plugins with the `node` in PATH, whatever it runs on itself. Source: the real CLI 3.0.65. */
export async function checkNode(env: NodeJS.ProcessEnv): Promise<Check> {
  const path = findProgram("node", env);
  if (path === undefined) return wrongNode("node is not in PATH, and without it Cline loads no plugin", env);
  const version = await printedVersion(path, env, VERSION_TIMEOUT_MS);
  if (version !== undefined && isNewer(NEEDED, version))
    return wrongNode(`${path} is ${version}, and palinode.js needs 20.19 or newer`, env);
  if (version !== undefined && isNewer(version, "21") && isNewer(NATIVE, version))
    return warning(
      "node",
      `${path} is ${version}: only from 22.7 on does it load the file without Cline's help, in time`,
    );
  return ok("node", `${path}, ${version ?? "which did not tell its version"}`);
}

/** The Node that runs this is one that can do it, where it is new enough. */
function wrongNode(message: string, env: NodeJS.ProcessEnv): Check {
  if (isNewer(NEEDED, process.versions.node))
    return failure("node", `${message}; get it: https://nodejs.org/en/download`);
  const found = `${process.versions.node} is at ${process.execPath}`;
  return failure("node", `${message}; ${found}. For new shells:`, findingIn(dirname(process.execPath), env));
}

/** Returns a line where Cline's settings have Palinode's MCP server. */
export function checkMcp(env: NodeJS.ProcessEnv): Check[] {
  const program = mcpProgram(env);
  if (program === undefined) return [];
  const path = isAbsolute(program) && entryAt(program)?.isFile() ? program : findProgram(program, env);
  if (path !== undefined) return [ok("mcp", `Cline's MCP entry starts ${path}`)];
  return [warning("mcp", `Cline's MCP entry starts ${program}, which is not in PATH`, gettingPalinode(env))];
}

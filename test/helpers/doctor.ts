// A home that the doctor examines, and its mends typed into a shell as printed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import type { TestContext } from "node:test";
import { type Palinode, type PalinodeOptions, startPalinode } from "../palinode/server.ts";
import { BYTES, createHome, type Home } from "./command-line.ts";

export interface Check {
  name: string;
  level: "ok" | "warning" | "failure";
  message: string;
  fix?: string;
}

/** A home with Cline and the plugin, and a server. */
export async function arrange(
  t: TestContext,
  options: PalinodeOptions = {},
): Promise<{ home: Home; server: Palinode }> {
  const server = await startPalinode(options);
  t.after(() => server.close());
  const home = createHome(t, { PALINODE_API_URL: server.url });
  home.program("cline", "echo 3.0.65");
  home.write(".cline/plugins/palinode.js", BYTES);
  return { home, server };
}

export async function examine(home: Home): Promise<{ code: number; checks: Check[]; text: string }> {
  const { code, stdout, stderr } = await home.run("doctor", "--json");
  assert.equal(stderr, "");
  return { code, checks: JSON.parse(stdout) as Check[], text: stdout };
}

/** Types a mend into a shell, as printed, and sees it done. */
export async function mend(
  home: Home,
  fix: string | undefined,
  uid?: number,
  path = `${home.env.PATH}:${dirname(process.execPath)}:/usr/bin:/bin`,
): Promise<{ code: number; output: string }> {
  assert.ok(fix);
  const env = { ...home.env, PATH: path };
  const child = spawn("/bin/sh", ["-c", fix], { cwd: home.workspace, env, uid });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const [code] = (await once(child, "close")) as [number];
  assert.equal(code, 0, `${fix}\n${output}`);
  return { code, output };
}

export function find(checks: readonly Check[], name: string): Check {
  const check = checks.find((entry) => entry.name === name);
  assert.ok(check, `no line "${name}": ${JSON.stringify(checks)}`);
  return check;
}

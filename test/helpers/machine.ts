// A machine as `server` meets it: a Python whose packages are scripts, and a server that says only how it is. What the
// real ones do is shown end to end.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "../e2e/loopback.ts";
import { createHome, type Home } from "./command-line.ts";

export interface Machine extends Home {
  url: string;
  /** The folder of what `server` installed. */
  place: string;
  memoryDir: string;
  /** The names in that folder that begin so. */
  named(beginning: string): string[];
  /** How often the server was started, and with which environment, oldest first. */
  starts(): Record<string, string>[];
  /** How often pip was called. */
  installs(): number;
  /** The process of the server, as `server status` tells it. */
  pid(): Promise<number | null>;
}

/** What the probe of a Python prints; `loads` is about extensions of SQLite. */
export const GOOD_PYTHON = { version: [3, 12], loads: true, venv: true };

/** The server: it notes with what it was started, and tells its version. */
const API = `#!/usr/bin/env node
const { appendFileSync } = require("node:fs");
const { join } = require("node:path");
appendFileSync(join(process.env.PALINODE_DIR, "starts.jsonl"), JSON.stringify(process.env) + "\\n");
require("node:http").createServer((request, answer) => {
  answer.setHeader("content-type", "application/json");
  answer.end(JSON.stringify(request.url === "/health" ? { version: "VERSION", status: "ok" } : {}));
}).listen(Number(process.env.PALINODE_API_PORT), process.env.PALINODE_API_HOST).on("error", () => process.exit(1));
`;

/** As `python3 -m venv FOLDER` does it, and the pip in it. */
function pythonScript(probe: unknown, pip: string): string {
  return `
if [ "$1" = -c ]; then echo '${JSON.stringify(probe)}'; exit 0; fi
/bin/mkdir -p "$3/bin"
/bin/cat > "$3/bin/python" <<'END'
#!/bin/sh
echo x >> "$HOME/pip-calls"
for word in "$@"; do case "$word" in palinode==*) version="\${word#palinode==}";; esac; done
echo "Collecting palinode"
${pip}
/bin/cat > "\${0%/*}/palinode-api" <<'API'
${API}
API
/bin/sed -i "s/VERSION/$version/" "\${0%/*}/palinode-api"
/bin/chmod 755 "\${0%/*}/palinode-api"
END
/bin/chmod 755 "$3/bin/python"`;
}

/** A home with such a Python; its server is ended with the test. `pip`: what it does before it has installed. */
export async function createMachine(
  t: TestContext,
  { probe = GOOD_PYTHON, pip = "" }: { probe?: unknown; pip?: string } = {},
): Promise<Machine> {
  const url = `http://127.0.0.1:${await freePort()}`;
  let machine: Machine | undefined;
  // Ahead of the home, which goes with what is registered after this.
  t.after(async () => {
    const pid = await machine?.pid();
    if (typeof pid === "number") process.kill(pid, "SIGKILL");
  });
  const home = createHome(t, { PALINODE_API_URL: url, OLLAMA_URL: `http://127.0.0.1:${await freePort()}` });
  usePython(home, probe, pip);
  const place = join(home.clineDir, "data/palinode/local-server");
  const memoryDir = join(home.home, "palinode");
  const linesOf = (path: string): string[] =>
    existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  machine = {
    ...home,
    url,
    place,
    memoryDir,
    named: (beginning) => (existsSync(place) ? readdirSync(place).filter((name) => name.startsWith(beginning)) : []),
    starts: () => linesOf(join(memoryDir, "starts.jsonl")).map((line) => JSON.parse(line) as Record<string, string>),
    installs: () => linesOf(join(home.home, "pip-calls")).length,
    pid: async () => ((await home.run("server", "status", "--json")).json() as { pid: number | null }).pid,
  };
  return machine;
}

/** Puts another Python in the place of the one in `PATH`. */
export function usePython(home: Home, probe: unknown, pip = ""): void {
  home.program("python3", pythonScript(probe, pip));
}

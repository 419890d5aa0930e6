// The shipped file as a command line, beside the real Cline CLI, its hub and the real palinode-api.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { PLUGIN } from "./cline.ts";
import { run } from "./process.ts";
import { assertRemembered, memoryMessages } from "./requests.ts";
import { arrange, CORE, e2e, type Scene, visit } from "./scene.ts";

interface Check {
  name: string;
  level: string;
  message: string;
  fix?: string;
}

async function verb(scene: Scene, ...args: string[]): Promise<{ code: number; stdout: string }> {
  const { sandbox, parts } = scene;
  const { code, stdout, stderr } = await run(parts.node, [PLUGIN, ...args], {
    cwd: sandbox.workspace,
    env: sandbox.env,
    timeoutMs: 60_000,
  });
  assert.equal(stderr, "");
  return { code, stdout };
}

/** Both programs as a person has them, in the search path. */
function useInstalled({ sandbox, parts }: Scene): void {
  sandbox.env.PATH = [join(parts.modules, ".bin"), dirname(parts.palinodeApi), sandbox.env.PATH].join(delimiter);
}

e2e(
  "what install puts in is loaded, with Palinode's own tools by MCP, and uninstall leaves neither",
  async (t, parts) => {
    const scene = await visit(t, parts);
    useInstalled(scene);
    assert.equal((await verb(scene, "install", "--mcp")).code, 0);
    const [request] = await scene.during(() => scene.sandbox.cline("What is the house rule?"));
    assertRemembered(request!, CORE);
    const names = request!.json.tools!.map((tool) => tool.function.name);
    assert.ok(
      names.some((name) => /^palinode__palinode_search$/.test(name)),
      names.join(" "),
    );
    // It asks this server, not the default one.
    const asked = await scene.during(() =>
      scene.sandbox.cline('Search. ⟦palinode__palinode_search {"query":"house rule"}⟧'),
    );
    assert.match(JSON.stringify(asked.at(-1)!.json.messages.filter(({ role }) => role === "tool")), new RegExp(CORE));

    assert.equal((await verb(scene, "uninstall", "--mcp")).code, 0);
    assert.deepEqual(
      JSON.parse(readFileSync(join(scene.sandbox.clineDir, "data/settings/cline_mcp_settings.json"), "utf8")),
      { mcpServers: {} },
    );
    const [plain] = await scene.during(() => scene.sandbox.cline("What is the house rule?"));
    assert.deepEqual(memoryMessages(plain!), []);
    assert.ok(!plain!.json.tools!.some((tool) => tool.function.name.includes("palinode")));
  },
);

e2e(
  "the doctor is content with the real parts, sees a hub of another shell, and a server that went away",
  async (t, parts) => {
    const scene = await arrange(t, parts);
    useInstalled(scene);
    const examine = async (): Promise<{ code: number; checks: Check[] }> => {
      const { code, stdout } = await verb(scene, "doctor", "--json");
      return { code, checks: JSON.parse(stdout) as Check[] };
    };
    await verb(scene, "install");
    assert.equal((await scene.sandbox.cline("hub", "start")).code, 0);
    const well = await examine();
    assert.deepEqual([well.code, well.checks.filter(({ level }) => level !== "ok")], [0, []]);
    assert.ok(well.checks.some(({ name, message }) => name === "cline" && message.endsWith("3.0.65")));

    scene.sandbox.env.PALINODE_HOOK_RECALL_MAX_RESULTS = "5";
    const stale = (await examine()).checks.find(({ name }) => name === "hub");
    assert.deepEqual([stale?.level, stale?.fix], ["warning", "cline hub stop"]);
    assert.match(stale!.message, /PALINODE_HOOK_RECALL_MAX_RESULTS$/);
    assert.equal((await scene.sandbox.cline("hub", "stop")).code, 0);
    await scene.palinode.stop();
    const { code, checks } = await examine();
    assert.deepEqual([code, checks.filter(({ level }) => level !== "ok").map(({ name }) => name)], [1, ["server"]]);
  },
);

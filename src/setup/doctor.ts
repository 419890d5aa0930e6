// The verb `doctor`: looks at everything that memory needs, and names for each trouble the one command that mends it.
// What is looked at is the work of the check-*.ts files.
import { type Command, plainText, printJson, type Shell, styled, UsageError } from "../base/shell.ts";
import { VERSION } from "../base/version.ts";
import { readConfig, workspaceOf } from "../settings/index.ts";
import type { Check } from "./check.ts";
import { checkCline, checkCopies, checkHub, checkLog } from "./check-cline.ts";
import { checkMcp, checkNode } from "./check-programs.ts";
import { checkServer } from "./check-server.ts";
import { checkSettings, checkTokenFile } from "./check-settings.ts";
import { checkPause, checkState } from "./check-state.ts";

const COLOURS = { ok: "green", warning: "yellow", failure: "red" } as const;
const NAME_WIDTH = 9;
export const doctorCommand: Command = {
  usage: "[--json]",
  help: "looks for what keeps memory from working, and names the command that mends it",
  options: { json: { type: "boolean" } },
  async run(shell, words, values) {
    if (words.length > 0) throw new UsageError(`unexpected argument "${words[0]}"`);
    const checks = (await examine(shell)).map((check) => ({
      ...check,
      message: plainText(check.message).replaceAll("\n", " "),
    }));
    if (values.json === true) printJson(shell, checks);
    else
      shell.out(
        `palinode.js ${VERSION}\n\n${checks.map((check) => lineOf(shell, check)).join("")}\n${verdict(checks)}\n`,
      );
    return checks.some(({ level }) => level === "failure") ? 1 : 0;
  },
};

async function examine(shell: Shell): Promise<Check[]> {
  const { env } = shell;
  const workspace = workspaceOf(shell.cwd);
  const read = readConfig(undefined, env, workspace);
  const asked = [checkCline(env), checkNode(env), checkServer(read, workspace, env)] as const;
  const [cline, node, server] = await Promise.all(asked);
  const isCutOff = server.some(({ level }) => level === "failure");
  return [
    cline,
    node,
    ...checkCopies(env, workspace),
    ...checkLog(env, workspace, read.config),
    checkState(read, env),
    ...checkPause(read, workspace),
    ...checkSettings(read, env, workspace, isCutOff),
    ...server,
    ...checkTokenFile(read),
    ...checkMcp(env),
    checkHub(env),
  ];
}

function lineOf(shell: Shell, { name, level, message, fix }: Check): string {
  const line = `${styled(shell, COLOURS[level], level.padEnd(8))} ${name.padEnd(NAME_WIDTH)} ${message}\n`;
  return fix === undefined ? line : `${line}${" ".repeat(NAME_WIDTH + 10)}→ ${plainText(fix)}\n`;
}

function verdict(checks: readonly Check[]): string {
  const failures = checks.filter(({ level }) => level === "failure");
  const warnings = checks.filter(({ level }) => level === "warning").length;
  if (failures.length === 0) return warnings === 0 ? "Memory works." : `Memory works; ${count(warnings, "warning")}.`;
  const first = failures.find(({ fix }) => fix !== undefined)?.fix;
  const start = first === undefined ? "" : ` Start with: ${first}`;
  return `Memory cannot work yet: ${count(failures.length, "failure")}.${start}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

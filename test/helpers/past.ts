// A home folder with sessions of both generations in it, and the built command line run there.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

declare const REPOSITORY: string;

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Home {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** Runs `node dist/palinode.js WORDS` with nothing but this home around it. */
  run(
    words: readonly string[],
    options?: {
      cwd?: string;
      env?: Record<string, string>;
      interruptWhen?: (err: string) => boolean;
      closeAfterFirst?: boolean;
    },
  ): Promise<Ran>;
  write(file: string, content: unknown): string;
  /** Adds a session of the CLI: prompts and answers in turn. */
  session(id: string, talk: readonly string[], manifest?: Record<string, unknown>): string;
  /** Adds a task of the extension under a root. */
  task(root: string, id: string, messages: unknown, entry?: Record<string, unknown>): string;
  /** Copies the recorded sessions here. */
  recordings(): void;
}

export const EXTENSION = "User/globalStorage/saoudrizwan.claude-dev";

export function openHome(t: TestContext): Home {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "palinode-home-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const env = { HOME: folder, PATH: join(folder, "bin") };
  const entries = new Map<string, unknown[]>();

  function write(file: string, content: unknown): string {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content));
    return path;
  }

  return {
    folder,
    env,
    write,
    async run(words, { cwd = folder, env: more = {}, interruptWhen, closeAfterFirst = false } = {}) {
      const child = spawn(process.execPath, [join(REPOSITORY, "dist/palinode.js"), ...words], {
        cwd,
        env: { ...env, ...more },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [out, err] = ["", ""];
      let isInterrupted = false;
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out += text;
        if (closeAfterFirst) child.stdout.destroy();
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        err += text;
        // Once, as a person does: a second one would end it the hard way.
        if (!isInterrupted && interruptWhen?.(err)) isInterrupted = child.kill("SIGINT");
      });
      const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
      return { code, out, err };
    },
    session(id, talk, manifest = {}) {
      const messages = talk.map((text, index) => ({
        id: `${id}-${index}`,
        role: index % 2 === 0 ? "user" : "assistant",
        ts: 1_700_000_000_000 + index,
        content: [{ type: "text", text: index % 2 === 0 ? `<user_input mode="act">${text}</user_input>` : text }],
      }));
      write(`.cline/data/sessions/${id}/${id}.json`, {
        version: 1,
        session_id: id,
        cwd: join(folder, "shop"),
        model: "m",
        started_at: "2026-01-02T03:04:05.000Z",
        ended_at: "2026-01-02T04:00:00.000Z",
        ...manifest,
      });
      return write(`.cline/data/sessions/${id}/${id}.messages.json`, {
        version: 1,
        agent: "lead",
        sessionId: id,
        messages,
      });
    },
    task(root, id, messages, entry) {
      if (entry) entries.set(root, [...(entries.get(root) ?? []), { id, ...entry }]);
      if (entry) write(`${root}/state/taskHistory.json`, entries.get(root));
      return write(`${root}/tasks/${id}/api_conversation_history.json`, messages);
    },
    recordings: () =>
      cpSync(join(REPOSITORY, "test/recordings/sessions"), join(folder, ".cline/data/sessions"), { recursive: true }),
  };
}

function lines(...each: string[]): string {
  return each.join("\n");
}

/** A task to the letter of the extension's format, with every tool of its own in it. */
export const LEGACY_TASK = [
  {
    role: "user",
    content: [
      { type: "text", text: "<task>\nFix the flaky login test\n</task>" },
      {
        type: "text",
        text: lines(
          "<environment_details>",
          "# Current Working Directory (/w/old-shop) Files",
          "secret-file.ts",
          "</environment_details>",
        ),
      },
    ],
  },
  {
    role: "assistant",
    content: [
      {
        type: "text",
        text: lines(
          "<thinking>PONDERED</thinking>",
          "I run the tests.",
          "",
          "<execute_command>",
          "<command>npm test</command>",
          "<requires_approval>false</requires_approval>",
          "</execute_command>",
        ),
      },
    ],
  },
  {
    role: "user",
    content: [
      { type: "text", text: "[execute_command for 'npm test'] Result:" },
      { type: "text", text: "Command failed with exit code 7.\nOutput:\nLOGIN PRINTED" },
      { type: "text", text: "<environment_details>\nx\n</environment_details>" },
    ],
  },
  { role: "assistant", content: "<read_file>\n<path>src/login.ts</path>\n</read_file>" },
  { role: "user", content: "[read_file for 'src/login.ts'] Result:\nthe <answer>NOBODY SAID</answer> of a file" },
  {
    role: "assistant",
    content: lines(
      "<replace_in_file>",
      "<path>src/login.ts</path>",
      "<diff>",
      "------- SEARCH",
      "old",
      "=======",
      "REPLACED TEXT",
      "+++++++ REPLACE",
      "</diff>",
      "</replace_in_file>",
    ),
  },
  {
    role: "user",
    content: [
      { type: "text", text: "[replace_in_file for 'src/login.ts'] Result:" },
      { type: "text", text: "The content was successfully saved to src/login.ts." },
    ],
  },
  {
    role: "assistant",
    content: "<write_to_file>\n<path>src/denied.ts</path>\n<content>\nx\n</content>\n</write_to_file>",
  },
  {
    role: "user",
    content: [
      { type: "text", text: "[write_to_file for 'src/denied.ts'] Result:" },
      {
        type: "text",
        text: lines(
          "The user denied this operation and provided the following feedback:",
          "<feedback>",
          "Leave that file alone",
          "</feedback>",
        ),
      },
    ],
  },
  {
    role: "assistant",
    content: lines(
      "Decision: retry the login once.",
      "<attempt_completion>",
      "<result>",
      "The login test is stable now.",
      "</result>",
      "</attempt_completion>",
    ),
  },
];

// Fuzzes the files that a session left on disk: records to replay, captures on their way, the health of the server.
// What Cline itself keeps of sessions is fuzzed in `past`.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createChat } from "../helpers/chat.ts";
import type { Random } from "../helpers/random.ts";
import type { Fuzzer } from "./driver.ts";
import { checkRequests, checkResult, DEFAULT_CAPS } from "./promises.ts";
import { API_URL, answerFrom, openStage, responseOf, type Stage } from "./stage.ts";
import { mutated, SECRETS, someText, someValue, spoilt } from "./values.ts";

type Files = ReadonlyMap<string, string>;

export async function openFileFuzzer(): Promise<Fuzzer> {
  const stage = await openStage();
  const whole = await wholeFiles(stage);
  return { run: (random) => runCase(stage, whole, random), close: stage.close };
}

/** What a real session leaves: two prompts in, its third on the way to a server that went away. */
async function wholeFiles(stage: Stage): Promise<Files> {
  const stateDir = stage.newFolder();
  await resume(stage, stateDir, 2);
  // A trigger that finds no room is kept for the next prompt.
  await resume(stage, stateDir, 3, 150);
  const names = readdirSync(stateDir, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(stateDir, name)).isFile(),
  );
  return new Map(names.map((name) => [name, readFileSync(join(stateDir, name), "utf8")]));
}

/** A process of the session: `prompts` prompts in its transcript. Captures are refused, so they stay on disk. */
async function resume(
  stage: Stage,
  stateDir: string,
  prompts: number,
  recallMaxChars = DEFAULT_CAPS.recallMaxChars,
): Promise<void> {
  const { network } = stage;
  const store = stage.newStore();
  network.forget();
  network.answer = (request) =>
    request.path === "/session-end" ? new Response("{}", { status: 503 }) : responseOf(answerFrom(store, request));
  const plugin = stage.load({ apiUrl: API_URL, stateDir, minMessages: 1, recallThreshold: 0, recallMaxChars });
  const chat = createChat();
  for (let count = 1; count <= prompts; count += 1) {
    chat.say(`How do we roll back the deploy, and why, for the ${count}. time? key: ${SECRETS[0]}`);
    const payload = chat.beforeModel();
    checkResult(payload.request?.messages as unknown[], await plugin.hooks.beforeModel(payload), DEFAULT_CAPS);
    chat.answer(`Like this, ${count}.`);
    await plugin.hooks.afterRun(chat.afterRun());
  }
  // What goes on behind a hook: captures of other sessions.
  await new Promise((resolve) => setImmediate(resolve));
  checkRequests(network.requests);
  network.check();
}

async function runCase(stage: Stage, whole: Files, random: Random): Promise<void> {
  const stateDir = stage.newFolder();
  for (const [name, text] of whole) write(stateDir, name, random.chance(0.4) ? spoiltFile(random, text) : text);
  if (random.chance(0.3))
    write(
      stateDir,
      random.pick([
        "queue/1-x.json",
        "queue/x",
        "tails/x.json",
        "queue/9999999999999-x.json.1-a.claim",
        "sessions/x.json",
      ]),
      spoiltFile(random, random.pick([...whole.values()])),
    );
  await resume(stage, stateDir, random.below(3) + 2);
  rmSync(stateDir, { recursive: true, force: true });
}

function spoiltFile(random: Random, text: string): string | Buffer {
  if (random.chance(0.3)) return spoilt(random, text);
  if (random.chance(0.1)) return JSON.stringify(someValue(random)) ?? someText(random);
  let value: unknown = JSON.parse(text);
  for (let count = random.below(3) + 1; count > 0; count -= 1) value = mutated(random, value);
  return JSON.stringify(value) ?? "";
}

function write(folder: string, name: string, content: string | Buffer): void {
  const path = join(folder, name);
  if (!existsSync(join(path, ".."))) mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
}

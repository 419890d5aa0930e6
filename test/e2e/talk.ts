// A person at the terminal: resumes a session, says something, waits for the answer, says the next thing.
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "./scene.ts";
import type { Terminal } from "./terminal.ts";

/** The hint in an empty input line: the program listens. */
const READY = "Ask anything";
const ENTER = "\r";
/** An input line takes a burst of keys for a paste, and Enter in it for a line break; Enter comes well after. */
const PASTE_MS = 300;
/** What the host still does after an answer is on disk (hooks of the run's end) before it listens again. */
const SETTLE_MS = 500;
/** How long an answered key may take; a second Enter in an empty line does nothing. */
const HEARD_MS = 5000;
const PRESSES = 8;

/** Says each prompt in turn in one `cline -i --id ID`, and leaves. */
export async function converse(scene: Scene, id: string, prompts: string[]): Promise<void> {
  const terminal = scene.sandbox.terminal("-i", "--id", id);
  await terminal.until(
    "the resumed conversation",
    () => terminal.shown().includes(READY) && terminal.shown().includes("Done:"),
  );
  for (const prompt of prompts) await say(scene, id, terminal, prompt);
  await terminal.close();
}

/** Says a prompt in a session that listens, and waits for its answer. */
export async function say(scene: Scene, id: string, terminal: Terminal, prompt: string): Promise<void> {
  const arrived = (): boolean => scene.model.agentRequests().at(-1)?.body.includes(prompt) ?? false;
  await sleep(SETTLE_MS);
  terminal.type(prompt);
  for (let press = 1; !arrived(); press++) {
    await sleep(PASTE_MS);
    terminal.type(ENTER);
    const heard = terminal.until(`the request for "${prompt}"`, arrived, HEARD_MS);
    await (press < PRESSES ? heard.catch(() => {}) : heard);
  }
  await terminal.until(`the answer to "${prompt}"`, () => scene.sandbox.transcript(id).includes(`Done: ${prompt}`));
}

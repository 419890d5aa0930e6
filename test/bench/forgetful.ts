// A client that keeps nothing of what it told the model, and so tells it again: palinode.js itself, made to start
// afresh at every prompt.
import { createPalinodePlugin } from "../../src/plugin.ts";
import { createChat, injected, type Message, sent, textOf } from "../helpers/chat.ts";
import { createApiCapture } from "../helpers/host-inprocess.ts";
import type { Memory } from "./strategies.ts";

/** Returns what there is to say to a prompt when nothing was said before. */
export async function recallAfresh(apiUrl: string, prompt: Message): Promise<Memory> {
  const plugin = createPalinodePlugin({ apiUrl, persist: false, hookDeadlineMs: 2700 });
  plugin.setup(createApiCapture().api, { session: { sessionId: `afresh-${prompt.id}` } });
  const chat = createChat();
  chat.add(prompt);
  const payload = chat.beforeModel();
  const blocks = injected(sent(payload, await plugin.hooks.beforeModel(payload))).map(textOf);
  const isDigest = (text: string): boolean => text.includes("(session start)");
  return { digest: blocks.find(isDigest) ?? "", recall: blocks.filter((text) => !isDigest(text)).join("\n") };
}

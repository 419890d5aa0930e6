// How plugins in the field hand memory to a model, each as a plain function of the request the host built and of what
// there is to say. They are models: they get the memory that palinode.js found, so that only the place differs. None
// keeps anything of earlier requests, which is what sets them apart.
import type { Message } from "../helpers/chat.ts";
import type { Request } from "./cache.ts";

/** What there is to say: standing memory, and what was recalled for the newest prompt; each may be empty. */
export type Memory = { readonly digest: string; readonly recall: string };

export type Strategy = { readonly name: string; readonly send: (request: Request, memory: Memory) => Request };

export const STRATEGIES: readonly Strategy[] = [
  // A message builder that adds to the newest prompt. It is modelled kindly: during a tool loop it still finds that
  // prompt, where some take the newest message for it and lose the block as soon as a tool was called.
  {
    name: "newest prompt only",
    send: ({ system, messages }, memory) => ({ system, messages: afterNewestPrompt(messages, blockOf(memory)) }),
  },
  // One block in front of everything that was said, with what matters now.
  {
    name: "ahead of the oldest message",
    send: ({ system, messages }, memory) => ({ system, messages: [blockOf(memory), ...messages] }),
  },
  // The same in the system prompt. A provider reads tools and system prompt first, so nothing stays behind it.
  {
    name: "system prompt",
    send: ({ system, messages }, memory) => ({ system: `${system}\n${textOf(memory)}`, messages }),
  },
  // A message at the end of every request, gone from there in the next one.
  {
    name: "tail message, rebuilt",
    send: ({ system, messages }, memory) => ({ system, messages: [...messages, blockOf(memory)] }),
  },
];

/** One call of a memory server. */
export type Ask = (method: "GET" | "POST", route: string, body?: Record<string, unknown>) => Promise<unknown>;

/** A client that asks one thing after the other: what triggers fired, the files of two of them, then search. */
export async function askInTurn(ask: Ask, query: string): Promise<void> {
  await ask("POST", "/check-triggers", { query });
  await ask("GET", "/read?file_path=m/1.md");
  await ask("GET", "/read?file_path=m/2.md");
  await ask("POST", "/search", { query });
}

/** The same at its first prompt, where it primes the session before it recalls. */
export async function askInTurnAtStart(ask: Ask, query: string): Promise<void> {
  await ask("POST", "/context/prime", {});
  await ask("GET", "/list?core_only=true");
  await askInTurn(ask, query);
}

function textOf({ digest, recall }: Memory): string {
  return [digest, recall].filter((text) => text !== "").join("\n");
}

function blockOf(memory: Memory): Message {
  return { role: "user", content: [{ type: "text", text: textOf(memory) }] };
}

function afterNewestPrompt(messages: readonly Message[], block: Message): Message[] {
  const at = messages.findLastIndex((message) => message.role === "user");
  return messages.toSpliced(at + 1, 0, block);
}

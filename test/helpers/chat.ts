// A conversation as Cline keeps it: prompts, answers, tool calls and results, as the payloads that hooks receive.
// Shapes follow test/recordings/hooks.

export type Message = {
  id?: string;
  role: string;
  content: unknown;
  createdAt?: number;
  metadata?: Record<string, unknown>;
  modelInfo?: { id: string; provider: string };
};
export type Payload = {
  snapshot: Record<string, unknown>;
  request?: Record<string, unknown>;
  result?: Record<string, unknown>;
};

export type Chat = {
  readonly messages: Message[];
  /** Adds a prompt that a person wrote and returns it. */
  say(words: string, extra?: Partial<Message>): Message;
  /** Adds the model's answer. */
  answer(text: string): Message;
  /** Adds a tool call and its result. */
  tool(name: string, input: unknown, output: unknown, isError?: boolean): Message;
  /** Adds any message. */
  add(message: Partial<Message>): Message;
  /** Fresh copies, as a host hands them over; `request` defaults to the transcript. */
  beforeModel(request?: readonly Message[]): Payload;
  afterRun(status?: string): Payload;
};

/** Returns an empty conversation. Ids and times follow from a count, so equal scripts give equal bytes. */
export function createChat(
  options: { conversationId?: string; agentId?: string; parentAgentId?: string; withIds?: boolean } = {},
): Chat {
  const { conversationId = "conv_1", agentId = "agent_1", parentAgentId, withIds = true } = options;
  const messages: Message[] = [];
  let count = 0;

  function add(message: Partial<Message>): Message {
    count += 1;
    const added: Message = {
      ...(withIds ? { id: `${conversationId}-m${count}` } : {}),
      role: "user",
      content: [],
      createdAt: 1_796_000_000_000 + count * 1000,
      ...message,
    };
    messages.push(added);
    return added;
  }

  function snapshot(): Record<string, unknown> {
    return {
      agentId,
      ...(parentAgentId === undefined ? {} : { parentAgentId }),
      conversationId,
      runId: `run_${count}`,
      status: "running",
      iteration: 1,
      messages: copy(messages),
      pendingToolCalls: [],
    };
  }

  return {
    messages,
    add,
    say: (words, extra) =>
      add({
        role: "user",
        content: [{ type: "text", text: `<user_input mode="act">${words}</user_input>` }],
        ...extra,
      }),
    answer: (text) =>
      add({
        role: "assistant",
        content: [{ type: "text", text }],
        modelInfo: { id: "fake", provider: "openai-compatible" },
      }),
    tool(name, input, output, isError) {
      const toolCallId = `call_${count}`;
      add({ role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: name, input }] });
      return add({
        role: "tool",
        content: [
          { type: "tool-result", toolCallId, toolName: name, output, ...(isError === undefined ? {} : { isError }) },
        ],
      });
    },
    beforeModel: (request = messages) => ({
      snapshot: snapshot(),
      request: { systemPrompt: "You are Cline.", messages: copy(request), tools: [], options: {} },
    }),
    afterRun: (status = "completed") => ({
      snapshot: { ...snapshot(), status },
      result: { status, messages: copy(messages) },
    }),
  };
}

/** Returns the output of `run_commands` for one command. */
export function commandOutput(command: string, text: string, exitCode = 0): unknown {
  if (exitCode === 0) return [{ query: command, result: text, success: true }];
  return [
    {
      query: command,
      result: `[Command exited with code ${exitCode}]\n${text}`,
      error: `Command exited with code ${exitCode}`,
      success: false,
    },
  ];
}

/** Returns the messages that a request carries after a hook answered: its own, or the hook's. */
export function sent(payload: Payload, result: unknown): Message[] {
  const changed = (result as { messages?: Message[] } | undefined)?.messages;
  return changed ?? (payload.request?.messages as Message[]);
}

/** Returns the messages among them that the plugin added. */
export function injected(messages: readonly Message[]): Message[] {
  return messages.filter((message) => message.metadata?.kind === "palinode-recall");
}

/** Returns the text of a message. */
export function textOf(message: Message | undefined): string {
  const content = message?.content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

/** What a provider's cache compares: role and content. Other members never reach it. */
export function wire(messages: readonly Message[]): string[] {
  return messages.map(({ role, content }) => JSON.stringify([role, content]));
}

/** Returns how many messages two requests share from the start. */
export function sharedPrefix(previous: readonly Message[], next: readonly Message[]): number {
  const [before, after] = [wire(previous), wire(next)];
  const differs = before.findIndex((text, index) => text !== after[index]);
  return differs === -1 ? before.length : differs;
}

function copy<T>(value: T): T {
  return structuredClone(value);
}

// A scripted model behind the OpenAI chat-completions protocol. It knows nothing of memory or plugins: it reads the
// newest prompt a person wrote, makes the tool calls that prompt asks for, and records every request it receives.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen, readBody } from "./loopback.ts";

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content?: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: { function: { name: string } }[];
  stream?: boolean;
}

/** One request as it arrived: `body` is the text, untouched; `json` is the same text parsed. */
export interface Recorded {
  body: string;
  json: ChatRequest;
}

export interface ModelServer {
  /** Base URL as providers want it, with `/v1`. */
  url: string;
  /** Everything received, oldest first. */
  requests: Recorded[];
  /** The requests of agent runs, which offer tools; what a host asks besides (titles, summaries) offers none. */
  agentRequests(): Recorded[];
  stop(): Promise<void>;
}

/** What a prompt may ask of the script: `⟦tool {json}⟧`, one tool call for each, in order. */
const DIRECTIVE = /⟦(\w+) (.*?)⟧/gsu;
/** Not a tool: `⟦pad 4000⟧` makes the answer that many characters longer, to fill a context window. */
const PAD = "pad";
/** User messages that no person wrote. */
const NOT_A_PROMPT = /^\s*(?:<palinode-memory|<hook_context|\[SYSTEM\])/;
/** The host's compaction asks for its summary in these words. */
const SUMMARY_REQUEST = /^Summarize (?:this|the provided)/;

export async function startModelServer(): Promise<ModelServer> {
  const requests: Recorded[] = [];
  let calls = 0;
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    if (!isChat(request)) return sendModels(response);
    const json = JSON.parse(body) as ChatRequest;
    requests.push({ body, json });
    sendAnswer(response, json, answer(json), `call_${++calls}`);
  });
  const { port, stop } = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    agentRequests: () => requests.filter(({ json }) => (json.tools?.length ?? 0) > 0),
    stop,
  };
}

/** The texts of one message, one for each part. */
export function texts(message: ChatMessage): string[] {
  if (typeof message.content === "string") return [message.content];
  return (message.content ?? []).flatMap((part) => (typeof part.text === "string" ? [part.text] : []));
}

type Answer = { text: string } | { tool: string; input: string };

/** Stateless on purpose: the same request always gets the same answer, whichever session or process sent it. */
function answer({ messages }: ChatRequest): Answer {
  const at = messages.findLastIndex(isPrompt);
  const prompt = at < 0 ? "" : (texts(messages[at]!).at(-1) ?? "");
  if (SUMMARY_REQUEST.test(prompt)) {
    return { text: "Summary of the earlier conversation: work went on as asked." };
  }
  const directives = [...prompt.matchAll(DIRECTIVE)].filter(([, tool]) => tool !== PAD);
  const made = messages.slice(at + 1).filter((message) => message.tool_calls?.length).length;
  const next = directives[made];
  if (next) return { tool: next[1]!, input: next[2]! };
  const pad = [...prompt.matchAll(DIRECTIVE)].find(([, tool]) => tool === PAD)?.[2];
  return { text: `Done: ${bare(prompt)}${" and so on".repeat(Number(pad ?? 0) / 10)}` };
}

function isPrompt(message: ChatMessage): boolean {
  return message.role === "user" && !NOT_A_PROMPT.test(texts(message).join("\n"));
}

function bare(prompt: string): string {
  return prompt
    .replace(DIRECTIVE, "")
    .replace(/<\/?user_input[^>]*>/g, "")
    .trim();
}

function isChat(request: IncomingMessage): boolean {
  return request.method === "POST" && (request.url ?? "").includes("/chat/completions");
}

function sendModels(response: ServerResponse): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model", owned_by: "test" }] }));
}

function sendAnswer(response: ServerResponse, request: ChatRequest, what: Answer, callId: string): void {
  const promptTokens = Math.ceil(JSON.stringify(request.messages).length / 4);
  const usage = { prompt_tokens: promptTokens, completion_tokens: 20, total_tokens: promptTokens + 20 };
  const call =
    "tool" in what
      ? [{ index: 0, id: callId, type: "function", function: { name: what.tool, arguments: what.input } }]
      : undefined;
  const message = "text" in what ? { role: "assistant", content: what.text } : { role: "assistant", tool_calls: call };
  const finish = call ? "tool_calls" : "stop";
  const base = { id: `chat_${callId}`, created: 1, model: request.model };
  if (!request.stream) {
    response.setHeader("content-type", "application/json");
    const choices = [{ index: 0, message, finish_reason: finish }];
    response.end(JSON.stringify({ ...base, object: "chat.completion", choices, usage }));
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  const chunk = (choices: unknown[], rest: object = {}): void => {
    response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, ...rest })}\n\n`);
  };
  chunk([{ index: 0, delta: message, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason: finish }]);
  chunk([], { usage });
  response.end("data: [DONE]\n\n");
}

// The shapes of Cline that the plugin reads, and nothing else of them. Everything from the host is `unknown` until one
// of these functions has looked at it: payloads come from other versions, other plugins and other processes. Source:
// @cline/shared 0.0.86 (agent.d.ts, agents/types.d.ts), and the recordings under test/recordings.
import { asRecord, asText, parseJson, textOf } from "../base/json.ts";
import { isTime } from "../base/time.ts";

/** A message as the host hands it over. Members are unknown: read them through the functions below. */
export interface Message {
  readonly id?: unknown;
  readonly role?: unknown;
  readonly content?: unknown;
  readonly createdAt?: unknown;
  readonly metadata?: unknown;
  readonly modelInfo?: unknown;
}

/** What one hook call is about. */
export interface HookCall {
  /** The conversation's own id, else the agent's. */
  readonly conversationId: string;
  readonly agentId: string | undefined;
  /** The session that the host names: before each model call of its Core, nowhere else. */
  readonly sessionId: string | undefined;
  /** False for sub-agents and teammates, which share the plugin instance; after a run teammates cannot be told. */
  readonly isRoot: boolean;
  /** The whole transcript. */
  readonly transcript: readonly Message[];
  /** What will be sent: the transcript, or a compacted projection of it. Absent outside `beforeModel`. */
  readonly request?: readonly Message[];
  /** The tools that the model is offered; none outside `beforeModel`. */
  readonly tools: readonly unknown[];
}

interface Logger {
  debug?: (message: string) => void;
  log?: (message: string) => void;
}

/** What `setup` learns about a session; parts may be missing (the CLI's sandbox gives no logger, cwd or onDispose). */
export interface SetupContext {
  readonly sessionId: string | undefined;
  readonly cwd: string | undefined;
  readonly remoteUrls: readonly string[];
  readonly logger: Logger | undefined;
  readonly onDispose: ((cleanUp: () => unknown) => void) | undefined;
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly output: unknown;
  readonly isError: boolean;
}

/** Returns what a hook call is about, or undefined when the payload holds no messages to work on. */
export function readHookCall(payload: unknown): HookCall | undefined {
  const { snapshot, request, result } = asRecord(payload);
  const { conversationId, agentId, parentAgentId, messages } = asRecord(snapshot);
  const { messages: sent, options, tools: offered } = asRecord(request);
  const tools = Array.isArray(offered) ? offered : [];
  const lists = [messages, sent, asRecord(result).messages].filter(Array.isArray);
  const transcript = lists.find((list) => list.length > 0) ?? lists[0];
  if (!transcript) return undefined;
  return {
    conversationId: asText(conversationId) ?? asText(agentId) ?? "",
    agentId: asText(agentId),
    sessionId: asText(asRecord(asRecord(options).metadata).sessionId),
    isRoot: [undefined, null, ""].includes(parentAgentId as string) && !isTeammate(tools),
    transcript,
    ...(Array.isArray(sent) ? { request: sent } : {}),
    tools,
  };
}

/** Returns the name of a tool that a model is offered; "" where it has none. */
export function toolName(tool: unknown): string {
  return textOf(asRecord(tool).name);
}

/**
 * A teammate has no parent, and the session of its lead. It has the team's tools but the one that only a lead has.
 * Source: the real CLI 3.0.65 and SDK 0.0.86 (`includeSpawnTool: false`).
 */
function isTeammate(tools: readonly unknown[]): boolean {
  const names = tools.map(toolName).filter((name) => name.startsWith("team_"));
  return names.length > 0 && !names.includes("team_spawn_teammate");
}

/**
 * Returns whether `setup` is for an agent that another one started, or for a process that runs commands alone: those
 * are told of no session, under the keys that a session has. Source: the real CLI 3.0.65 and SDK 0.0.86.
 */
export function isToldNothing(ctx: unknown): boolean {
  const context = asRecord(ctx);
  return Object.hasOwn(context, "session") && Object.values(context).every((value) => value === undefined);
}

/** Returns what `setup` was told. `workspaceInfo.associatedRemoteUrls` entries read `origin: URL`. */
export function readSetupContext(ctx: unknown): SetupContext {
  const { session, cwd, workspaceInfo, logger, onDispose } = asRecord(ctx);
  const { rootPath, associatedRemoteUrls } = asRecord(workspaceInfo);
  return {
    sessionId: asText(asRecord(session).sessionId),
    cwd: asText(rootPath) ?? asText(cwd),
    remoteUrls: Array.isArray(associatedRemoteUrls)
      ? associatedRemoteUrls.filter((url) => typeof url === "string")
      : [],
    logger: typeof logger === "object" && logger !== null ? (logger as Logger) : undefined,
    onDispose:
      typeof onDispose === "function"
        ? (cleanUp) => void Promise.resolve(Reflect.apply(onDispose, ctx, [cleanUp])).catch(() => undefined)
        : undefined,
  };
}

/** Returns the content parts of a message; a bare string (older codecs) is one text part. */
export function partsOf(message: Message): readonly Record<string, unknown>[] {
  const { content } = asRecord(message);
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(asRecord) : [];
}

/** Returns the text parts of a message. */
export function textsOf(message: Message): string[] {
  return partsOf(message).flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : []));
}

/** Returns the tool calls of a message. */
export function toolCallsOf(message: Message): ToolCall[] {
  return partsOf(message).flatMap((part) =>
    part.type === "tool-call" ? [{ id: textOf(part.toolCallId), name: textOf(part.toolName), input: part.input }] : [],
  );
}

/** Returns the tool results of a message. The host stores some outputs as JSON text after a turn: those are parsed. */
export function toolResultsOf(message: Message): ToolResult[] {
  return partsOf(message).flatMap((part) =>
    part.type === "tool-result"
      ? [
          {
            id: textOf(part.toolCallId),
            name: textOf(part.toolName),
            output: parsed(part.output),
            isError: part.isError === true,
          },
        ]
      : [],
  );
}

/** Returns the id of the model that wrote the newest assistant message. */
export function modelOf(transcript: readonly Message[]): string | undefined {
  const message = transcript.findLast((entry) => asText(asRecord(asRecord(entry).modelInfo).id) !== undefined);
  return asText(asRecord(message?.modelInfo).id);
}

/** Returns the host's time stamp of a message in milliseconds, or undefined. */
export function createdAtOf(message: Message | undefined): number | undefined {
  const at = asRecord(message).createdAt;
  return isTime(at) ? at : undefined;
}

function parsed(output: unknown): unknown {
  return typeof output === "string" && /^\s*[[{]/.test(output) ? (parseJson(output) ?? output) : output;
}

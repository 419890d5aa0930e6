// The plugin object: what a host loads. Stands between the host and everything that could go wrong: no hook throws,
// rejects, or outlives its deadline.
import { asRecord, asText } from "./base/json.ts";
import { within } from "./base/time.ts";
import { type HookCall, isToldNothing, readHookCall, sessionEnv, toolName } from "./cline/index.ts";
import { commandDescription, createTools, RULE, slashCommand, type Tool } from "./desk/index.ts";
import { Roster, type Session } from "./session/index.ts";
import { isActive, type PalinodeOptions, readConfig } from "./settings/index.ts";
import { SESSION_VERBS } from "./verbs.ts";

/** The slice of Cline's `AgentPlugin` and `AgentRuntimePlugin` that this plugin is. */
export interface PalinodePlugin {
  readonly name: string;
  readonly manifest: { readonly capabilities: ["hooks", "tools", "commands", "rules"] };
  readonly hooks: PalinodeHooks;
  /** For Core: contributes to the API. Core takes the hooks from `hooks`. */
  setup(api: unknown, ctx: unknown): undefined;
  /** For `new Agent`, which gives a context alone and uses only what is returned; undefined when there is nothing. */
  setup(context: unknown): AgentParts | undefined;
}

interface AgentParts {
  readonly hooks: PalinodeHooks;
  readonly tools: Tool[];
}

export interface PalinodeHooks {
  /**
   * Returns the request's messages with memory among them; for sub-agents and teammates the request's tools without
   * ours; or undefined. Nothing else is ever returned.
   */
  beforeModel<Message, Tool>(context: BeforeModelContext<Message, Tool>): Promise<Change<Message, Tool> | undefined>;
  afterRun(context: unknown): Promise<void>;
}

/** The slice of the host's context that says of which kind what is returned is. It is not trusted to be like that. */
interface BeforeModelContext<Message, Tool> {
  readonly request?: { readonly messages?: readonly Message[]; readonly tools?: readonly Tool[] };
}

interface Change<Message, Tool> {
  readonly messages?: Message[];
  readonly tools?: Tool[];
}

/**
 * Returns the plugin. Options win over the environment, which is read when a session starts, not before. Creating it
 * does no I/O.
 */
export function createPalinodePlugin(options: PalinodeOptions = {}): PalinodePlugin {
  const roster = new Roster(options);
  const hooks: PalinodeHooks = {
    beforeModel: (payload) => addMemory(roster, payload).catch(() => undefined),
    // A session that cannot be read cannot be captured; the run is not hurt by that.
    afterRun: (payload) => capture(roster, payload).catch(() => undefined),
  };
  function setup(api: unknown, ctx: unknown): undefined;
  function setup(context: unknown): AgentParts | undefined;
  function setup(api: unknown, ctx?: unknown): AgentParts | undefined {
    try {
      const takesTools = typeof asRecord(api).registerTool === "function";
      if (ctx === undefined && !takesTools) {
        const session = roster.startSession({}, asText(asRecord(api).agentId));
        return { hooks, tools: toolsOf(session) };
      }
      const session = roster.startSession(ctx, undefined, takesTools && !isToldNothing(ctx));
      const openDesk = () => ({ session, read: readConfig(options, sessionEnv(), session.cwd) });
      contribute(asRecord(api), toolsOf(session), {
        description: commandDescription(session, Object.keys(SESSION_VERBS)),
        handler: (input) => slashCommand(SESSION_VERBS, openDesk, input),
      });
    } catch {
      // A session that cannot be set up goes on without memory.
    }
    return undefined;
  }
  return { name: "palinode", manifest: { capabilities: ["hooks", "tools", "commands", "rules"] }, hooks, setup };
}

function toolsOf(session: Session): Tool[] {
  return session.config.tools ? createTools(session) : [];
}

async function addMemory<Message, Tool>(
  roster: Roster,
  payload: BeforeModelContext<Message, Tool>,
): Promise<Change<Message, Tool> | undefined> {
  const call = readHookCall(payload);
  if (!call?.request) return undefined;
  const conversation = roster.conversationFor(call);
  if (!call.isRoot) return withoutOurTools(call) as Change<Message, Tool> | undefined;
  if (conversation === undefined) return undefined;
  conversation.session.failures.inRow = 0;
  if (!isActive(conversation.session.config)) return undefined;
  const messages = await conversation.beforeModel(call);
  // What was added has the shape of what was there.
  return messages === undefined ? undefined : { messages: messages as Message[] };
}

/** The host hands a session's tools to its sub-agents and teammates too: what they do is no business of memory. */
function withoutOurTools({ tools }: HookCall): { tools: unknown[] } | undefined {
  const others = tools.filter((tool) => !toolName(tool).startsWith("palinode_"));
  return others.length < tools.length ? { tools: others } : undefined;
}

async function capture(roster: Roster, payload: unknown): Promise<void> {
  const call = readHookCall(payload);
  if (!call) return;
  const conversation = roster.conversationFor(call);
  if (conversation === undefined) return;
  // What it does on the disk comes first, and counts.
  const deadline = Date.now() + conversation.session.config.hookDeadlineMs;
  const captured = conversation.afterRun(call);
  await within(captured, Math.max(0, deadline - Date.now()));
}

/** Registers what the host takes; hosts of other versions may lack a kind. */
function contribute(
  api: Record<string, unknown>,
  tools: readonly Tool[],
  command: { readonly description: string; readonly handler: (input: unknown) => Promise<string> },
): void {
  const register = (kind: string, what: unknown): void => {
    if (typeof api[kind] === "function") Reflect.apply(api[kind], api, [what]);
  };
  for (const tool of tools) register("registerTool", tool);
  if (tools.length > 0) register("registerRule", RULE);
  register("registerCommand", { name: "palinode", ...command });
}

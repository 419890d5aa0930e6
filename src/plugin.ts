// The plugin object: what a host loads. Tells conversations apart, and stands between the host and everything that could
// go wrong: no hook throws, rejects, or outlives its deadline.
import { asRecord, asText, type HookCall, readHookCall, readSetupContext } from "./cline.ts";
import { slashCommand } from "./commands.ts";
import { isActive, type PalinodeOptions, readConfig, settingNotes } from "./config.ts";
import { Conversation } from "./conversation.ts";
import { promptKeys } from "./prompt.ts";
import { createSession, prefetch, type Session, type Surroundings } from "./session.ts";
import { within } from "./time.ts";
import { createTools, RULE, type Tool } from "./tools.ts";

/** The slice of Cline's `AgentPlugin` and `AgentRuntimePlugin` that this plugin is. */
export interface PalinodePlugin {
  readonly name: string;
  readonly manifest: { readonly capabilities: ["hooks", "tools", "commands", "rules"] };
  /** Called by Core with an API and a context, by `new Agent` with a context alone: then it returns the hooks. */
  setup(api: unknown, ctx?: unknown): any;
  readonly hooks: PalinodeHooks;
}

export interface PalinodeHooks {
  /** Returns the request's messages with memory among them, or undefined. Nothing else is ever returned. */
  beforeModel(context: any): Promise<{ messages: any[] } | undefined>;
  afterRun(context: any): Promise<void>;
}

const MAX_CONVERSATIONS = 64;
const MAX_SESSIONS = 64;

/**
 * Returns the plugin. Options win over the environment, which is read when a session starts, not before. Creating it
 * does no I/O.
 */
export function createPalinodePlugin(options: PalinodeOptions = {}): PalinodePlugin {
  const conversations = new Map<string, Conversation>();
  const sessions: Session[] = [];
  const surroundings: Surroundings = { now: () => Date.now(), breakers: new Map() };

  function startSession(ctx: unknown, agentId?: string): Session {
    const context = readSetupContext(ctx);
    const read = readConfig(options, process.env, context.cwd ?? process.cwd());
    const { config, problems } = read;
    const session = createSession(config, context, surroundings, agentId);
    const former = sessions.findIndex((each) => each.id !== undefined && each.id === session.id);
    // Set up again: the same session, in a fresh object. What was not kept on disk is handed on.
    if (former !== -1) session.record = config.persist ? session.record : (sessions[former]?.record ?? session.record);
    if (former !== -1) sessions.splice(former, 1);
    if (problems.length > 0) session.log(`settings left at their defaults: ${problems.join("; ")}`);
    session.record.settings = settingNotes(read);
    session.record.problems = problems;
    sessions.push(session);
    if (sessions.length > MAX_SESSIONS) sessions.shift();
    if (!isActive(config)) return session;
    if (session.id !== undefined) prefetch(session);
    context.onDispose?.(() => endSession(session));
    return session;
  }

  async function endSession(session: Session): Promise<void> {
    session.abort.abort();
    sessions.splice(sessions.indexOf(session), sessions.includes(session) ? 1 : 0);
    const ending = [...conversations.values()].filter((conversation) => conversation.session === session);
    ending.forEach((conversation) => conversations.delete(conversation.id));
    await Promise.allSettled(ending.map((conversation) => conversation.dispose()));
  }

  /**
   * Hooks are not told their session. It is the one that was set up for this agent, else the newest that has no
   * conversation yet (a host sets a session up just before its first run), else the one that knows these prompts.
   */
  function startConversation({ conversationId, agentId, transcript }: HookCall): Conversation {
    const keys = promptKeys(transcript);
    const knows = (session: Session): boolean => session.record.asked.some((key) => keys.has(key));
    const isFree = (session: Session): boolean => session.agentId === undefined && !session.isClaimed;
    const session = sessions.find((each) => each.agentId !== undefined && each.agentId === agentId)
      ?? sessions.findLast((each) => isFree(each) && each.id !== undefined)
      ?? sessions.findLast(knows)
      ?? sessions.findLast(isFree)
      ?? sessions.at(-1) ?? startSession({});
    // A conversation that shares nothing with its session's record must not overwrite it.
    return new Conversation(conversationId, session, !session.isClaimed || knows(session));
  }

  function conversationFor(call: HookCall): Conversation {
    const id = call.conversationId;
    const conversation = conversations.get(id) ?? startConversation(call);
    // The latest stays longest: a Map keeps its order of insertion.
    conversations.delete(id);
    conversations.set(id, conversation);
    const oldest = conversations.keys().next().value;
    if (conversations.size > MAX_CONVERSATIONS && oldest !== undefined) {
      conversations.get(oldest)?.drop();
      conversations.delete(oldest);
    }
    return conversation;
  }

  const hooks: PalinodeHooks = {
    async beforeModel(payload) {
      try {
        const call = readHookCall(payload);
        if (!call?.request || !call.isRoot) return undefined;
        const conversation = conversationFor(call);
        conversation.session.failedCalls = 0;
        if (!isActive(conversation.session.config)) return undefined;
        const messages = await conversation.beforeModel(call);
        return messages === undefined ? undefined : { messages };
      } catch {
        return undefined;
      }
    },
    async afterRun(payload) {
      try {
        const call = readHookCall(payload);
        if (!call?.isRoot) return;
        const conversation = conversationFor(call);
        await within(conversation.afterRun(call), conversation.session.config.hookDeadlineMs);
      } catch {
        // A session that cannot be read cannot be captured; the run is not hurt by that.
      }
    },
  };

  return {
    name: "palinode",
    manifest: { capabilities: ["hooks", "tools", "commands", "rules"] },
    hooks,
    setup(api, ctx) {
      try {
        const isCore = ctx !== undefined || typeof asRecord(api).registerTool === "function";
        const session = startSession(isCore ? ctx : {}, isCore ? undefined : asText(asRecord(api).agentId));
        const tools = session.config.tools ? createTools(session) : [];
        if (!isCore) return { hooks, tools };
        contribute(asRecord(api), tools, (input) => slashCommand(() => ({ session, read: readConfig(options, process.env, session.cwd) }), input));
        return undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Registers what the host takes; hosts of other versions may lack a kind. */
function contribute(api: Record<string, unknown>, tools: readonly Tool[], handler: (input: unknown) => Promise<string>): void {
  const register = (kind: string, what: unknown): void => {
    if (typeof api[kind] === "function") Reflect.apply(api[kind], api, [what]);
  };
  for (const tool of tools) register("registerTool", tool);
  if (tools.length > 0) register("registerRule", RULE);
  register("registerCommand", { name: "palinode", description: "Long-term memory: status, search, read, save, why, pause, resume", handler });
}

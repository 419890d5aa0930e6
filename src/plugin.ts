// The plugin object: what a host loads. Stands between the host and everything that could go wrong: no hook throws,
// rejects, or outlives its deadline.
import { asRecord, asText } from "./base/json.ts";
import { within } from "./base/time.ts";
import { readHookCall } from "./cline/index.ts";
import { createTools, RULE, slashCommand, type Tool } from "./desk/index.ts";
import { Roster } from "./session/index.ts";
import { isActive, type PalinodeOptions, readConfig } from "./settings/index.ts";
import { SESSION_VERBS } from "./verbs.ts";

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
  return {
    name: "palinode",
    manifest: { capabilities: ["hooks", "tools", "commands", "rules"] },
    hooks,
    setup(api, ctx) {
      try {
        const takesTools = typeof asRecord(api).registerTool === "function";
        const isCore = ctx !== undefined || takesTools;
        const session = isCore
          ? roster.startSession(ctx, undefined, takesTools)
          : roster.startSession({}, asText(asRecord(api).agentId));
        const tools = session.config.tools ? createTools(session) : [];
        if (!isCore) return { hooks, tools };
        contribute(asRecord(api), tools, (input) =>
          slashCommand(SESSION_VERBS, () => ({ session, read: readConfig(options, process.env, session.cwd) }), input),
        );
        return undefined;
      } catch {
        return undefined;
      }
    },
  };
}

async function addMemory(roster: Roster, payload: unknown): Promise<{ messages: any[] } | undefined> {
  const call = readHookCall(payload);
  if (!call?.request || !call.isRoot) return undefined;
  const conversation = roster.conversationFor(call);
  conversation.session.failures.inRow = 0;
  if (!isActive(conversation.session.config)) return undefined;
  const messages = await conversation.beforeModel(call);
  return messages === undefined ? undefined : { messages };
}

async function capture(roster: Roster, payload: unknown): Promise<void> {
  const call = readHookCall(payload);
  if (!call?.isRoot) return;
  const conversation = roster.conversationFor(call);
  await within(conversation.afterRun(call), conversation.session.config.hookDeadlineMs);
}

/** Registers what the host takes; hosts of other versions may lack a kind. */
function contribute(
  api: Record<string, unknown>,
  tools: readonly Tool[],
  handler: (input: unknown) => Promise<string>,
): void {
  const register = (kind: string, what: unknown): void => {
    if (typeof api[kind] === "function") Reflect.apply(api[kind], api, [what]);
  };
  for (const tool of tools) register("registerTool", tool);
  if (tools.length > 0) register("registerRule", RULE);
  register("registerCommand", {
    name: "palinode",
    description: `Long-term memory: ${Object.keys(SESSION_VERBS).join(", ")}`,
    handler,
  });
}

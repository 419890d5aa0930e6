// Who is who: the sessions that a host set up, their conversations, and which belongs to which.
import { type HookCall, promptKeys, readSetupContext, sessionEnv } from "../cline/index.ts";
import { isActive, type PalinodeOptions, readConfig, settingNotes } from "../settings/index.ts";
import { Conversation } from "./conversation.ts";
import { inherit } from "./inherit.ts";
import { createSession, newSurroundings, prefetch, type Session, workspaceFor } from "./session.ts";

const MAX_CONVERSATIONS = 64;
const MAX_SESSIONS = 64;
const MAX_DELEGATES = 256;

/** The newest 64 sessions and conversations of one plugin object. Creating it does no I/O. */
export class Roster {
  readonly #options: PalinodeOptions;
  readonly #conversations = new Map<string, Conversation>();
  readonly #sessions: Session[] = [];
  readonly #surroundings = newSurroundings();
  /** Conversations of sub-agents and teammates: after a run nothing else tells them from the user's. */
  readonly #delegates = new Set<string>();

  constructor(options: PalinodeOptions) {
    this.#options = options;
  }

  /** Returns a session for what `setup` was told, with the settings of this moment. Throws what reading them throws. */
  startSession(ctx: unknown, agentId?: string, takesTools = true): Session {
    const context = readSetupContext(ctx);
    const readAnew = () => readConfig(this.#options, sessionEnv(), context.cwd ?? workspaceFor({}));
    const read = readAnew();
    const problems = read.problems.map(({ text }) => text);
    // What a host does not take is not spoken of.
    const config = takesTools ? read.config : { ...read.config, tools: false };
    const session = createSession(config, context, this.#surroundings, {
      agentId,
      readToken: () => readAnew().config.token,
    });
    if (problems.length > 0) session.log(`settings that are not usable: ${problems.join("; ")}`);
    this.#add(session);
    session.record.settings = settingNotes(read);
    session.record.problems = problems;
    if (!isActive(config)) return session;
    if (session.id !== undefined) prefetch(session);
    context.onDispose?.(() => this.#endSession(session));
    return session;
  }

  /** Returns the user's conversation that a hook was called for, started when it is new; undefined for any other. */
  conversationFor(call: HookCall): Conversation | undefined {
    const id = call.conversationId;
    if (!call.isRoot) this.#noteDelegate(id);
    if (!call.isRoot || this.#delegates.has(id)) return undefined;
    const conversation = this.#conversations.get(id) ?? this.#startConversation(call);
    if (conversation === undefined) return undefined;
    // The latest stays longest: a Map keeps its order of insertion.
    this.#conversations.delete(id);
    this.#conversations.set(id, conversation);
    const oldest = this.#conversations.keys().next().value;
    if (this.#conversations.size > MAX_CONVERSATIONS && oldest !== undefined) {
      this.#conversations.get(oldest)?.drop();
      this.#conversations.delete(oldest);
    }
    return conversation;
  }

  #noteDelegate(id: string): void {
    if (id === "") return;
    this.#delegates.add(id);
    const oldest = this.#delegates.values().next().value;
    if (this.#delegates.size > MAX_DELEGATES && oldest !== undefined) this.#delegates.delete(oldest);
  }

  #add(session: Session): void {
    const former = this.#sessions.findIndex((each) => each.id !== undefined && each.id === session.id);
    // Set up again: the same session, in a fresh object. What was not kept on disk is handed on.
    if (former !== -1 && !session.config.persist) session.record = this.#sessions[former]?.record ?? session.record;
    if (former !== -1) this.#sessions.splice(former, 1);
    this.#sessions.push(session);
    if (this.#sessions.length > MAX_SESSIONS) this.#sessions.shift();
  }

  async #endSession(session: Session): Promise<void> {
    session.abort.abort();
    const index = this.#sessions.indexOf(session);
    if (index !== -1) this.#sessions.splice(index, 1);
    const ending = [...this.#conversations.values()].filter((conversation) => conversation.session === session);
    for (const { id } of ending) this.#conversations.delete(id);
    await Promise.allSettled(ending.map((conversation) => conversation.dispose()));
  }

  #startConversation(call: HookCall): Conversation | undefined {
    const keys = promptKeys(call.transcript);
    const knows = (session: Session): boolean => session.record.asked.some((key) => keys.has(key));
    const session = call.sessionId === undefined ? this.#sessionBy(call, knows) : this.#sessionNamed(call.sessionId);
    if (session === undefined) return undefined;
    if (!session.isClaimed) inherit(session, keys);
    // A conversation that shares nothing with its session's record must not overwrite it.
    return new Conversation(call.conversationId, session, !session.isClaimed || knows(session));
  }

  /** Where several were set up and none of this name, it may be anybody's. */
  #sessionNamed(sessionId: string): Session | undefined {
    const sessions = this.#sessions;
    if (sessions.length === 0) return this.startSession({ session: { sessionId } });
    return sessions.find(({ id }) => id === sessionId) ?? (sessions.length === 1 ? sessions[0] : undefined);
  }

  /**
   * Where a hook is not told its session, it is the one that was set up for this agent, else the newest that has no
   * conversation yet (a host sets a session up just before its first run), else the one that knows these prompts.
   */
  #sessionBy({ agentId, request }: HookCall, knows: (session: Session) => boolean): Session | undefined {
    const isFree = (session: Session): boolean => session.agentId === undefined && !session.isClaimed;
    const sessions = this.#sessions;
    const known = sessions.find((each) => each.agentId !== undefined && each.agentId === agentId);
    // After a run without a model call only its prompts tell whose it was.
    if (known === undefined && request === undefined && sessions.length > 1) return sessions.findLast(knows);
    return (
      known ??
      sessions.findLast((each) => isFree(each) && each.id !== undefined) ??
      sessions.findLast(knows) ??
      sessions.findLast(isFree) ??
      sessions.at(-1) ??
      this.startSession({})
    );
  }
}

// Who is who: the sessions that a host set up, their conversations, and which belongs to which.
import { type HookCall, promptKeys, readSetupContext } from "../cline/index.ts";
import { isActive, type PalinodeOptions, readConfig, settingNotes, workspaceOf } from "../settings/index.ts";
import { Conversation } from "./conversation.ts";
import { createSession, newSurroundings, prefetch, type Session } from "./session.ts";

const MAX_CONVERSATIONS = 64;
const MAX_SESSIONS = 64;

/** The newest 64 sessions and conversations of one plugin object. Creating it does no I/O. */
export class Roster {
  readonly #options: PalinodeOptions;
  readonly #conversations = new Map<string, Conversation>();
  readonly #sessions: Session[] = [];
  readonly #surroundings = newSurroundings();

  constructor(options: PalinodeOptions) {
    this.#options = options;
  }

  /** Returns a session for what `setup` was told, with the settings of this moment. Throws what reading them throws. */
  startSession(ctx: unknown, agentId?: string, takesTools = true): Session {
    const context = readSetupContext(ctx);
    const readAnew = () => readConfig(this.#options, process.env, context.cwd ?? workspaceOf(process.cwd()));
    const read = readAnew();
    const problems = read.problems.map(({ text }) => text);
    // What a host does not take is not spoken of.
    const config = takesTools ? read.config : { ...read.config, tools: false };
    const session = createSession(config, context, this.#surroundings, agentId, () => readAnew().config.token);
    if (problems.length > 0) session.log(`settings that are not usable: ${problems.join("; ")}`);
    this.#add(session);
    session.record.settings = settingNotes(read);
    session.record.problems = problems;
    if (!isActive(config)) return session;
    if (session.id !== undefined) prefetch(session);
    context.onDispose?.(() => this.#endSession(session));
    return session;
  }

  /** Returns the conversation that a hook was called for, and starts it when it is new. */
  conversationFor(call: HookCall): Conversation {
    const id = call.conversationId;
    const conversation = this.#conversations.get(id) ?? this.#startConversation(call);
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

  /**
   * Hooks are not told their session. It is the one that was set up for this agent, else the newest that has no
   * conversation yet (a host sets a session up just before its first run), else the one that knows these prompts.
   */
  #startConversation({ conversationId, agentId, transcript }: HookCall): Conversation {
    const keys = promptKeys(transcript);
    const knows = (session: Session): boolean => session.record.asked.some((key) => keys.has(key));
    const isFree = (session: Session): boolean => session.agentId === undefined && !session.isClaimed;
    const sessions = this.#sessions;
    const session =
      sessions.find((each) => each.agentId !== undefined && each.agentId === agentId) ??
      sessions.findLast((each) => isFree(each) && each.id !== undefined) ??
      sessions.findLast(knows) ??
      sessions.findLast(isFree) ??
      sessions.at(-1) ??
      this.startSession({});
    // A conversation that shares nothing with its session's record must not overwrite it.
    return new Conversation(conversationId, session, !session.isClaimed || knows(session));
  }
}

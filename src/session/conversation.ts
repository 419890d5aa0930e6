// One conversation of the root agent. A hook call goes prompt → questions → ledger → request. Asking is the work of
// `recaller`; what the session leaves behind, that of `capturer`.
import { type HookCall, type Message, newestPrompt, type Prompt } from "../cline/index.ts";
import {
  type Failure,
  failuresIn,
  hasRoom,
  isAnsweredElsewhere,
  replay,
  type Turn,
  unrepaired,
} from "../recall/index.ts";
import { reasonOf } from "../server/index.ts";
import { repairs } from "../settings/index.ts";
import { Capturer } from "./capturer.ts";
import { Noter } from "./noter.ts";
import { pruneState } from "./prune.ts";
import { Recaller } from "./recaller.ts";
import { newRecord, type SessionRecord, saveRecord } from "./record.ts";
import { isMuted, type Session } from "./session.ts";

/** An answer that is there by then is kept with what came of it, in one write. */
const KEPT_AFTER_MS = 50;

/** What a turn makes worth recalling for: its prompt, where that is new, and commands that failed. */
interface Need {
  readonly prompt: Prompt;
  readonly isNew: boolean;
  readonly failures: readonly Failure[];
}

/** State of one root conversation. Hook calls of one conversation are answered one after the other. */
export class Conversation {
  readonly id: string;
  readonly session: Session;
  readonly #isOwner: boolean;
  readonly #record: SessionRecord;
  readonly #asked: Set<string>;
  readonly #recaller: Recaller;
  readonly #capturer: Capturer;
  readonly #noter: Noter;
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * `isOwner`: the conversation goes on with the session's record, in memory and on disk. A second one that does, after
   * a resume or a fork, gets a copy: each replays its own.
   */
  constructor(id: string, session: Session, isOwner: boolean) {
    this.id = id;
    this.session = session;
    this.#isOwner = isOwner;
    this.#record = isOwner ? claimRecord(session) : newRecord(session.cwd);
    this.#asked = new Set(this.#record.asked);
    const subject = { id, session, isOwner, record: this.#record, save: () => this.#save() };
    this.#recaller = new Recaller(subject);
    this.#capturer = new Capturer(subject);
    this.#noter = new Noter(session, this.#record, (transcript) => this.#capturer.audible(transcript));
  }

  /** Returns the request with memory in place, or undefined when there is nothing to add. Back within the deadline. */
  beforeModel({ request = [], transcript }: HookCall): Promise<Message[] | undefined> {
    this.session.startHook();
    this.#capturer.wake();
    const turn: Turn = { request, transcript, prompt: newestPrompt(transcript) };
    const deadline = Date.now() + this.session.config.hookDeadlineMs;
    const answer = this.#turn.then(() => this.#answer(turn, deadline));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** Captures what is due, and leaves the rest on disk. Back within the deadline. */
  afterRun(call: HookCall): Promise<void> {
    this.session.startHook();
    void pruneState(this.session);
    return this.#capturer.afterRun(call.transcript);
  }

  /** Captures what no capture covers yet, and ends everything that is under way. */
  async dispose(): Promise<void> {
    this.#recaller.stop();
    await this.#capturer.dispose();
  }

  /** Ends what is under way without a last capture: the conversation made room for others. */
  drop(): void {
    this.#capturer.wake();
    this.#recaller.stop();
  }

  async #answer(turn: Turn, deadline: number): Promise<Message[] | undefined> {
    const before = this.#record.ledger;
    const need = this.#needOf(turn);
    if (need !== undefined) await this.#recallFor(need, turn, deadline);
    const { ledger, messages } = replay(this.#noter.withNotes(turn), turn);
    this.#record.ledger = ledger;
    const isChanged = ledger.length !== before.length || ledger.some((entry, index) => entry !== before[index]);
    if (need !== undefined || isChanged) this.#save();
    return messages;
  }

  #needOf({ prompt, transcript }: Turn): Need | undefined {
    if (prompt === undefined) return undefined;
    const isNew = !this.#asked.has(prompt.key);
    const failures = this.#newFailures(prompt, transcript);
    return isNew || failures.length > 0 ? { prompt, isNew, failures } : undefined;
  }

  /** Failures that this session has not recalled for, as many as the prompt has left. */
  #newFailures(prompt: Prompt, transcript: readonly Message[]): Failure[] {
    const { config } = this.session;
    const failures = repairs(config) ? failuresIn(transcript) : [];
    if (failures.length === 0 || !hasRoom(this.#record.ledger, config) || isMuted(this.session)) return [];
    return unrepaired(failures, this.#record.repaired, prompt.key);
  }

  /** Puts what memory has on it into the ledger. Never rejects. */
  async #recallFor({ prompt, isNew, failures }: Need, turn: Turn, deadline: number): Promise<void> {
    const record = this.#record;
    const isOthers = isAnsweredElsewhere(record.ledger, turn);
    this.#asked.add(prompt.key);
    record.repaired.push(...failures.map(({ signature }) => ({ prompt: prompt.key, signature })));
    // What this request lost of its history may be recalled for the prompt that comes with it.
    record.ledger = replay(record.ledger, turn).ledger;
    if (isOthers) return;
    // Kept while the questions travel, where they take their time: should this process end, no later one asks again.
    const keeping = setTimeout(() => this.#save(), KEPT_AFTER_MS).unref();
    try {
      if (isNew) await this.#recaller.recall(prompt, turn.transcript, deadline);
      if (failures.length > 0) await this.#recaller.repair(prompt, failures, turn.transcript, deadline);
    } catch (error) {
      this.session.log(`recall failed: ${reasonOf(error)}`);
    } finally {
      clearTimeout(keeping);
    }
  }

  #save(): void {
    const { session } = this;
    this.#record.asked = [...this.#asked];
    if (this.#isOwner) saveRecord(session.state, session.id, this.#record);
  }
}

/** Returns the session's record: itself for the first conversation that goes on with it, a copy for the next. */
function claimRecord(session: Session): SessionRecord {
  if (session.isClaimed) session.record = structuredClone(session.record);
  session.isClaimed = true;
  return session.record;
}

// The half of a conversation that is captured: what no capture covers yet is left on disk at each run's end, and is
// sent when it is due. A run's end goes transcript → summary → outbox.
import { within } from "../base/time.ts";
import {
  captureOf,
  dropTail,
  type Fate,
  type Item,
  isDue,
  keepTail,
  savedByAgent,
  sendCapture,
} from "../capture/index.ts";
import { keysOfPrompts, type Message, newestPromptKeys, promptKey, withoutTurns } from "../cline/index.ts";
import { sessionEndBody } from "../server/index.ts";
import { noteNews } from "./news.ts";
import { coveredOnDisk, type SessionRecord } from "./record.ts";
import { drainSoon, senderOf } from "./sender.ts";
import { isMuted, type Session } from "./session.ts";

/** In a host that lives on, what a session left unsaid goes out after so long a rest. */
const REST_MS = 10 * 60_000;
/** Of one capture; more prompts than any host shows again after an undo. */
const MAX_KEYS = 500;

/** The conversation, as far as capturing it needs. */
interface Subject {
  readonly id: string;
  readonly session: Session;
  readonly record: SessionRecord;
  /** Whether the session's record on disk is this conversation's. */
  readonly isOwner: boolean;
  readonly save: () => void;
}

/** Captures one conversation. */
export class Capturer {
  readonly #subject: Subject;
  /** What no capture covers yet, and whether it lies on disk. */
  #tail: Item | undefined;
  #isKept = false;
  #capturing: Promise<void> | undefined;
  #rest: NodeJS.Timeout | undefined;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /**
   * Leaves what the session would say on disk, and captures it when it is due. Back within the deadline; a post that
   * takes longer goes on.
   */
  async afterRun(transcript: readonly Message[]): Promise<void> {
    const { session } = this.#subject;
    const deadline = Date.now() + session.config.hookDeadlineMs;
    if (!session.config.capture) return;
    this.#takeIn(this.audible(transcript));
    const tail = this.#tail;
    if (tail === undefined || isMuted(session)) return;
    if (tail.body.trigger !== "run_end") return this.#sendAfterRest();
    await within(this.#capture(tail), Math.max(0, deadline - Date.now()));
  }

  /** The conversation goes on: what is unsaid can wait. */
  wake(): void {
    clearTimeout(this.#rest);
  }

  /** Captures what no capture covers yet. Back within the deadline. */
  async dispose(): Promise<void> {
    this.wake();
    const { session } = this.#subject;
    const deadline = Date.now() + session.config.hookDeadlineMs;
    if (this.#capturing !== undefined) await within(this.#capturing, deadline - Date.now());
    if (this.#tail === undefined || isMuted(session)) return;
    await within(this.#capture(this.#tail), Math.max(0, deadline - Date.now()));
  }

  #sendAfterRest(): void {
    const { session } = this.#subject;
    this.wake();
    this.#rest = setTimeout(() => {
      if (this.#tail !== undefined && !isMuted(session) && !session.abort.signal.aborted)
        void this.#capture(this.#tail);
    }, REST_MS).unref();
  }

  /** The transcript without the turns that were muted: what was said in a pause is not told later either. */
  audible(transcript: readonly Message[]): readonly Message[] {
    const { session, record } = this.#subject;
    const newest = isMuted(session) ? newestPromptKeys(transcript) : [];
    record.muted.push(...newest.filter((key) => !record.muted.includes(key)));
    if (record.muted.length === 0) return transcript;
    const muted = new Set(record.muted);
    return withoutTurns(transcript, (_, index) => muted.has(promptKey(transcript, index)));
  }

  /** Works out what no capture covers, and leaves it on disk once the session is past the floor. */
  #takeIn(transcript: readonly Message[]): void {
    const { session, record, id, isOwner, save } = this.#subject;
    const sessionId = session.id ?? id;
    const tail = isOwner ? sessionId : `${sessionId}-${id}`;
    const keys = keysOfPrompts(transcript);
    this.#countCovered(keys);
    const recalled = record.ledger.map(({ text }) => text);
    const capture = captureOf(transcript, { recalled, captured: record.captured });
    if (savedByAgent(transcript, record.captured)) {
      cover(record, { prompts: capture.prompts, keys });
      dropTail(senderOf(session), tail);
      save();
    }
    this.#tail = undefined;
    if (capture.prompts <= record.captured || capture.prompts < session.config.minMessages) return;
    const { project, cwd } = session;
    const trigger = isDue(capture.prompts, record.captured, session.config.minMessages) ? "run_end" : "session_end";
    const body = sessionEndBody({ ...capture, sessionId, project, cwd, trigger, isAutomatic: true });
    this.#tail = {
      sessionId,
      tail,
      prompts: capture.prompts,
      keys: keys.slice(-MAX_KEYS),
      createdAt: session.now(),
      pid: process.pid,
      body,
      refusals: 0,
    };
    this.#isKept = keepTail(senderOf(session), this.#tail);
  }

  /** After an undo fewer are covered than were: those up to the last one that a capture told of. */
  #countCovered(keys: readonly string[]): void {
    const { session, record, id, isOwner } = this.#subject;
    if (isOwner) {
      const { captured, capturedKeys } = coveredOnDisk(session.state, session.id ?? id);
      record.captured = Math.max(record.captured, captured);
      record.capturedKeys = [...new Set([...record.capturedKeys, ...capturedKeys])];
    }
    const covered = new Set(record.capturedKeys);
    if (covered.size > 0) record.captured = keys.findLastIndex((key) => covered.has(key)) + 1;
  }

  #capture(tail: Item): Promise<void> {
    // A post that is still under way covers the session: a second one would store it twice.
    this.#capturing ??= this.#send(tail, this.#isKept).finally(() => {
      this.#capturing = undefined;
    });
    return this.#capturing;
  }

  async #send(item: Item, isKept: boolean): Promise<void> {
    const { session, record, save } = this.#subject;
    const started = session.now();
    const sender = senderOf(session);
    // Once it is in the queue it will arrive, so it counts as captured then; the record must not lag behind.
    const fate = await sendCapture(sender, item, isKept, () => this.#covered(item));
    const reason = fate === "sent" || fate === "left" ? undefined : fate;
    if (reason === "unauthorized") session.stopped.capture = reason;
    // What waits for the server's policy to change goes with the next prompt that it answers.
    if (reason === "denied") session.drainedAt = -Infinity;
    if (fate === "sent") drainSoon(session, item.sessionId);
    const [at, ms] = [session.now(), session.now() - started];
    if (fate !== "left") noteNews(record, "capture", reason, { at, ms, isAsked: reason !== "paused" });
    save();
    session.log(`${outcomeText(item, isKept, fate)}, ${ms} ms`);
  }

  #covered(item: Item): void {
    const { record, save } = this.#subject;
    cover(record, item);
    const keys = new Set(item.keys);
    if (this.#tail?.keys?.every((key) => keys.has(key))) this.#tail = undefined;
    save();
  }
}

function cover(record: SessionRecord, { prompts, keys = [] }: Pick<Item, "prompts" | "keys">): void {
  record.captured = Math.max(record.captured, prompts);
  record.capturedKeys = [...new Set([...record.capturedKeys, ...keys])];
}

function outcomeText({ prompts }: Item, isKept: boolean, fate: Fate): string {
  if (fate === "sent") return `captured ${prompts} prompts`;
  if (fate === "left") return "capture left on disk";
  return isKept ? `capture queued (${fate})` : `capture not sent (${fate})`;
}

// One conversation of the root agent: what was asked and injected for it, and what was captured of it. A hook call goes
// prompt → questions → ledger → request; a run's end goes transcript → summary → outbox.
import type { HookCall, Message } from "./cline.ts";
import { DIGEST_TITLE, LATE_TITLE, RECALL_TITLE, renderBlock } from "./block.ts";
import type { Outcome } from "./breaker.ts";
import { captureOf, isDue, savedByAgent, sessionEndBody } from "./capture.ts";
import { type Reason, reasonOf } from "./client.ts";
import { primes, recalls } from "./config.ts";
import { dropTail, type Item, keepTail, sendCapture, tidy } from "./outbox.ts";
import { bareWords, newestPrompt, type Prompt } from "./prompt.ts";
import { type Channel, type Finding, type Memory, askDigest, askResolve, askSearch, askTriggers, countHits, queryOf, saysEnough, select } from "./recall.ts";
import { capturedOnDisk, newRecord, pruneRecords, saveRecord, type SessionRecord } from "./record.ts";
import { createEntry, isAnsweredElsewhere, replay, type Turn, visibleIn } from "./replay.ts";
import { askerOf, drainSoon, senderOf, type Session } from "./session.ts";
import { within } from "./time.ts";

interface Question {
  readonly channel: Channel;
  /** True when it is answered without the server. */
  readonly isFree?: boolean;
  readonly ask: () => Promise<Finding>;
}

/** What came of findings: how much was added, and why a channel's memories were not. */
interface Added {
  readonly memories: number;
  readonly chars: number;
  readonly reasons: Partial<Record<Channel, Reason>>;
  /** True when all that was found is in view already. */
  readonly isRepeat?: boolean;
}

/** State of one root conversation. Hook calls of one conversation are answered one after the other. */
export class Conversation {
  readonly id: string;
  readonly session: Session;
  readonly #isOwner: boolean;
  readonly #record: SessionRecord;
  readonly #asked: Set<string>;
  #priming: Promise<Finding> | undefined;
  /** What no capture covers yet. */
  #tail: Item | undefined;
  #capturing: Promise<void> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isPruned = false;
  readonly #abort = new AbortController();

  /**
   * `isOwner`: the conversation goes on with the session's record, in memory and on disk. A second one that does, after
   * a resume or a fork, gets a copy: each replays its own.
   */
  constructor(id: string, session: Session, isOwner: boolean) {
    this.id = id;
    this.session = session;
    this.#isOwner = isOwner;
    this.#record = !isOwner ? newRecord(session.cwd) : session.isClaimed ? structuredClone(session.record) : session.record;
    this.#asked = new Set(this.#record.asked);
    if (isOwner) session.isClaimed = true;
    if (isOwner) session.record = this.#record;
  }

  /** Returns the request with memory in place, or undefined when there is nothing to add. Back within the deadline. */
  beforeModel(call: HookCall): Promise<Message[] | undefined> {
    const turn: Turn = { request: call.request ?? [], transcript: call.transcript, prompt: newestPrompt(call.transcript) };
    const deadline = Date.now() + this.session.config.hookDeadlineMs;
    const answer = this.#turn.then(() => this.#answer(turn, deadline));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /**
   * Leaves what the session would say on disk, and captures it when it is due. Back within the deadline; a post that
   * takes longer goes on.
   */
  async afterRun(call: HookCall): Promise<void> {
    const { session } = this;
    if (!session.config.capture) return;
    this.#takeIn(call.transcript);
    if (!this.#isPruned) void pruneRecords(session.state, session.now()).then(() => tidy(session.state, session.now()));
    this.#isPruned = true;
    const tail = this.#tail;
    if (tail === undefined || !isDue(tail.prompts, this.#record.captured, session.config.minMessages)) return;
    await within(this.#capture(tail, "run_end"), session.config.hookDeadlineMs);
  }

  /** Captures what no capture covers yet, and ends everything that is under way. */
  async dispose(): Promise<void> {
    this.#abort.abort();
    const deadline = Date.now() + this.session.config.hookDeadlineMs;
    if (this.#capturing !== undefined) await within(this.#capturing, deadline - Date.now());
    if (this.#tail !== undefined) await within(this.#capture(this.#tail, "session_end"), Math.max(0, deadline - Date.now()));
  }

  /** Ends what is under way without a last capture: the conversation made room for others. */
  drop(): void {
    this.#abort.abort();
  }

  async #answer(turn: Turn, deadline: number): Promise<Message[] | undefined> {
    const before = this.#record.ledger;
    const isNew = turn.prompt !== undefined && !this.#asked.has(turn.prompt.key);
    if (turn.prompt !== undefined && isNew) {
      this.#asked.add(turn.prompt.key);
      // What this request lost of its history may be recalled for the prompt that comes with it.
      this.#record.ledger = replay(before, turn).ledger;
      // Kept before anything is asked, so that no later process asks it again.
      this.#save();
      try {
        if (!isAnsweredElsewhere(before, turn)) await this.#recallFor(turn.prompt, deadline);
      } catch (error) {
        this.session.log(`recall failed: ${reasonOf(error)}`);
      }
    }
    const { ledger, messages } = replay(this.#record.ledger, turn);
    this.#record.ledger = ledger;
    if (isNew || ledger.length !== before.length || ledger.some((entry, index) => entry !== before[index])) this.#save();
    return messages;
  }

  async #recallFor(prompt: Prompt, deadline: number): Promise<void> {
    const { session } = this;
    const started = session.now();
    // A server that refused is not asked again in this session, and that was said.
    if (session.stopped.recall !== undefined) return;
    const questions = this.#questions(bareWords(prompt.message));
    const pauses = this.#pauses(questions);
    const asked = questions.map((question, index) => (pauses[index] === undefined ? this.#permitted(question) : silent(question.channel, pauses[index])));
    const answers = await Promise.all(asked.map(async (answer) => {
      const found = await within(answer, Math.max(0, deadline - Date.now()));
      return { found, ms: session.now() - started };
    }));
    const onTime = answers.flatMap(({ found }) => found ?? []);
    this.#judge(questions.flatMap(({ channel, isFree }, index) => (isFree || pauses[index] !== undefined ? [] : [{ channel, found: answers[index]?.found }])));
    const added = this.#add(prompt, onTime, false);
    const reasons = answers.map(({ found, ms }, index) => {
      const channel = questions[index]?.channel ?? "search";
      const reason = found === undefined ? "timeout" : (added.reasons[channel] ?? found.reason);
      this.#note(channel, reason, ms);
      return [channel, reason] as const;
    });
    session.log(`${describe(added, reasons)}, ${session.now() - started} ms`);
    asked.filter((_, index) => answers[index]?.found === undefined).forEach((answer) => this.#await(prompt, answer));
  }

  /** Why a question is not asked now: the server is paused, or this channel of it. */
  #pauses(questions: readonly Question[]): (Reason | undefined)[] {
    const { breaker, channelBreaker } = this.session;
    if (!questions.some(({ isFree }) => !isFree)) return [];
    const paused = breaker.start();
    const pauses = questions.map(({ channel, isFree }) => (isFree ? undefined : (paused ?? channelBreaker(channel).start())));
    // A start that nothing follows is given back; one that was not granted is another conversation's to finish.
    if (paused === undefined && questions.every(({ isFree }, index) => isFree || pauses[index] !== undefined)) breaker.finish("unknown");
    return pauses;
  }

  /**
   * Takes in how a round went. Where nothing was answered the server failed; where something was, only the channels that
   * were not. A missed deadline is a failure: the next prompt would wait again.
   */
  #judge(round: readonly { channel: Channel; found: Finding | undefined }[]): void {
    const { session } = this;
    if (round.length === 0) return;
    const isAnswered = round.some(({ found }) => found !== undefined && isAnswer(found));
    const hasFailed = round.some(({ found }) => outcomeOf(found) === "failed");
    session.breaker.finish(isAnswered ? "answered" : hasFailed ? "failed" : "unknown");
    for (const { channel, found } of round) session.channelBreaker(channel).finish(isAnswered ? outcomeOf(found) : "unknown");
    if (isAnswered) drainSoon(session, session.id ?? this.id);
  }

  /** Returns everything that this prompt makes worth asking. */
  #questions(words: string): Question[] {
    const { session } = this;
    const { config } = session;
    const asker = askerOf(session, this.id, this.#abort.signal);
    const questions: Question[] = [];
    if (primes(config) && !this.#record.isPrimed) {
      questions.push({ channel: "prime", ask: () => this.#prime(() => askDigest(asker)) });
    }
    if (!recalls(config)) return questions;
    if (!saysEnough(words, config)) return [...questions, { channel: "search", isFree: true, ask: () => silent("search", "too-short") }];
    const query = queryOf(words);
    const extra = countHits(visibleIn(this.#record.ledger));
    if (config.recallTriggers) questions.push({ channel: "triggers", ask: () => askTriggers(asker, query) });
    if (config.recallMaxResults > 0) questions.push({ channel: "search", ask: () => (config.resolve ? askResolve : askSearch)(asker, query, extra) });
    return questions;
  }

  /** One question for the digest at a time; what was asked ahead of the first prompt counts, unless that failed. */
  #prime(ask: () => Promise<Finding>): Promise<Finding> {
    const { session } = this;
    const ahead = session.prefetched;
    session.prefetched = undefined;
    this.#priming ??= retried(ahead, ask).finally(() => {
      this.#priming = undefined;
    });
    return this.#priming;
  }

  async #permitted({ channel, isFree, ask }: Question): Promise<Finding> {
    const { session } = this;
    if (isFree) return ask();
    const refusal = await session.refusalOf("recall");
    const found: Finding = refusal === undefined ? await ask() : { channel, memories: [], reason: refusal };
    if (found.reason === "unauthorized" || found.reason === "denied") session.stopped.recall = found.reason;
    if (channel === "prime" && isAnswer(found)) this.#record.isPrimed = true;
    return found;
  }

  /** What comes after the deadline is placed in the next request; it is kept on disk until then. */
  #await(prompt: Prompt, answer: Promise<Finding>): void {
    void answer.then((found) => {
      const added = this.#add(prompt, [found], true);
      if (added.memories > 0) this.#save();
      if (added.memories > 0) this.session.log(`${found.channel} late: ${added.memories} memories, ${added.chars} characters`);
    }).catch(() => undefined);
  }

  /** Puts findings into the ledger. */
  #add(prompt: Prompt, findings: readonly Finding[], isLate: boolean): Added {
    if (this.#abort.signal.aborted) return { memories: 0, chars: 0, reasons: {} };
    const { config } = this.session;
    // Asked again after a failure, both answers may come in the end: the session is told once.
    const isTold = this.#record.ledger.some((entry) => entry.kind === "digest");
    const digest = isTold ? [] : findings.filter((found) => found.channel === "prime").flatMap((found) => found.memories);
    const recalled = findings.filter((found) => found.channel !== "prime").flatMap((found) => found.memories);
    const wanted = select([...this.#record.carried, ...recalled], visibleIn(this.#record.ledger), config.recallMaxResults);
    const first = this.#put(prompt, { kind: "digest", atEnd: isLate }, digest, DIGEST_TITLE, config.injectMaxChars);
    const second = this.#put(prompt, { kind: "recall", atEnd: isLate }, wanted, isLate ? LATE_TITLE : RECALL_TITLE, config.recallMaxChars);
    this.#record.carried = wanted.slice(second.memories).filter((memory) => memory.entry.heading === undefined);
    const isRepeat = recalled.length > 0 && wanted.length === 0;
    const reasons: Added["reasons"] = {
      ...(first.memories < digest.length && first.memories === 0 ? { prime: "budget" } : {}),
      ...(second.memories < wanted.length && second.memories === 0 ? { search: "budget" } : {}),
      ...(isRepeat ? { search: "no-hits" } : {}),
    };
    return { memories: first.memories + second.memories, chars: first.chars + second.chars, reasons, isRepeat };
  }

  #put(prompt: Prompt, place: { kind: "digest" | "recall"; atEnd: boolean }, memories: readonly Memory[], title: string, maxChars: number) {
    const alive = this.#record.ledger.reduce((sum, entry) => sum + entry.text.length, 0);
    const room = Math.min(maxChars, this.session.config.sessionMaxChars - alive);
    const block = renderBlock(title, memories.map((memory) => memory.entry), room);
    this.#record.leftOut += memories.length - (block?.shown ?? 0);
    if (block === undefined) return { memories: 0, chars: 0 };
    const seen = memories.slice(0, block.shown).flatMap((memory) => memory.keys);
    this.#record.ledger = [...this.#record.ledger, createEntry(prompt, { ...place, text: block.text, seen })];
    return { memories: block.shown, chars: block.text.length };
  }

  /** Works out what no capture covers, and leaves it on disk once the session is past the floor. */
  #takeIn(transcript: readonly Message[]): void {
    const { session } = this;
    const record = this.#record;
    const capture = captureOf(transcript);
    const sessionId = session.id ?? this.id;
    const tail = this.#isOwner ? sessionId : `${sessionId}-${this.id}`;
    if (this.#isOwner) record.captured = Math.max(record.captured, capturedOnDisk(session.state, sessionId));
    if (savedByAgent(transcript, record.captured)) {
      record.captured = capture.prompts;
      dropTail(senderOf(session), tail);
      this.#save();
    }
    this.#tail = undefined;
    if (capture.prompts <= record.captured || capture.prompts < session.config.minMessages) return;
    const body = sessionEndBody(capture, { sessionId, project: session.project, cwd: session.cwd, trigger: "session_end" });
    this.#tail = { sessionId, tail, prompts: capture.prompts, createdAt: session.now(), pid: process.pid, body, refusals: 0 };
    keepTail(senderOf(session), this.#tail);
  }

  #capture(tail: Item, trigger: "run_end" | "session_end"): Promise<void> {
    // A post that is still under way covers the session: a second one would store it twice.
    this.#capturing ??= this.#send({ ...tail, body: { ...tail.body, trigger } }).finally(() => {
      this.#capturing = undefined;
    });
    return this.#capturing;
  }

  async #send(item: Item): Promise<void> {
    const { session } = this;
    const started = session.now();
    const sender = senderOf(session);
    // Once it is in a file it will arrive, so it counts as captured now; the record must not lag behind the queue.
    const isKept = keepTail(sender, item);
    if (isKept) this.#covered(item);
    const reason = await sendCapture(sender, item, isKept);
    if (reason === undefined && !isKept) this.#covered(item);
    if (reason === "unauthorized" || reason === "denied") session.stopped.capture = reason;
    if (reason === undefined) drainSoon(session, item.sessionId);
    this.#note("capture", reason, session.now() - started);
    this.#save();
    session.log(`${reason === undefined ? `captured ${item.prompts} prompts` : `capture ${isKept ? "queued" : "not sent"} (${reason})`}, ${session.now() - started} ms`);
  }

  #covered(item: Item): void {
    this.#record.captured = Math.max(this.#record.captured, item.prompts);
    if (this.#tail !== undefined && this.#tail.prompts <= item.prompts) this.#tail = undefined;
    this.#save();
  }

  #note(channel: string, reason: Reason | undefined, ms: number): void {
    const at = this.session.now();
    const isOk = reason === undefined || reason === "no-hits" || reason === "below-threshold";
    const okAt = isOk ? at : this.#record.channels[channel]?.okAt;
    // A pause says nothing of its cause, so the reason before it stays beside it.
    const before = this.#record.channels[channel];
    const cause = reason === "paused" ? (before?.cause ?? before?.reason) : undefined;
    this.#record.channels[channel] = { at, ms, ...(okAt === undefined ? {} : { okAt }), ...(reason === undefined ? {} : { reason }), ...(cause === undefined ? {} : { cause }) };
  }

  #save(): void {
    const { session } = this;
    this.#record.asked = [...this.#asked];
    if (this.#isOwner) saveRecord(session.state, session.id, this.#record);
  }
}

/** What was asked ahead of time, or the same question again when that failed. */
async function retried(ahead: Promise<Finding> | undefined, ask: () => Promise<Finding>): Promise<Finding> {
  const found = await ahead;
  return found !== undefined && isAnswer(found) ? found : ask();
}

function isAnswer(found: Finding): boolean {
  return found.memories.length > 0 || found.reason === "no-hits" || found.reason === "below-threshold";
}

function outcomeOf(found: Finding | undefined): Outcome {
  if (found === undefined) return "failed";
  if (isAnswer(found)) return "answered";
  return found.reason !== undefined && ["refused", "dns", "timeout", "bad-response"].includes(found.reason) ? "failed" : "unknown";
}

function describe(added: Added, reasons: readonly (readonly [Channel, Reason | undefined])[]): string {
  const why = reasons.flatMap(([channel, reason]) => (reason === undefined ? [] : [`${channel} ${reason}`])).join(", ");
  const said = added.memories > 0 ? `${added.memories} ${added.memories === 1 ? "memory" : "memories"}, ${added.chars} characters` : added.isRepeat ? "nothing new" : "nothing recalled";
  return `${said}${why === "" ? "" : ` (${why})`}`;
}

async function silent(channel: Channel, reason: Reason): Promise<Finding> {
  return { channel, memories: [], reason };
}

// One conversation of the root agent: what was asked and injected for it. A hook call goes prompt → questions → ledger →
// request. Capturing it is the work of `capturer`.
import { redact } from "../base/redact.ts";
import { clipMarked, oneLine } from "../base/text.ts";
import { bareWords, type HookCall, type Message, newestPrompt, newestPromptKeys, type Prompt } from "../cline/index.ts";
import {
  askDigest,
  askRepair,
  askResolve,
  askSearch,
  askTriggers,
  type Channel,
  countHits,
  createEntry,
  DIGEST_TITLE,
  type Failure,
  type Finding,
  failuresIn,
  isAnsweredElsewhere,
  LATE_DIGEST_TITLE,
  LATE_TITLE,
  type LedgerEntry,
  type Memory,
  queryOf,
  RECALL_TITLE,
  REPAIR_TITLE,
  renderBlock,
  replay,
  saysEnough,
  select,
  type Turn,
  visibleIn,
} from "../recall/index.ts";
import { type Reason, reasonOf } from "../server/index.ts";
import { primes, recalls, repairs } from "../settings/index.ts";
import { Capturer } from "./capturer.ts";
import { addAccount, noteNews, type ShownMemory } from "./news.ts";
import { newRecord, type SessionRecord, saveRecord } from "./record.ts";
import { isAnswer, type Question, Round } from "./round.ts";
import { askerOf, isMuted, type Session } from "./session.ts";

const MAX_REPAIRS_A_PROMPT = 2;
const REPAIR_DEADLINE_MS = 800;
const MAX_ABOUT_CHARS = 80;
/** Less does not hold a block's fence and title. */
const MIN_ROOM_CHARS = 200;

/** What a round of questions is about, and where its answers go. */
interface Cause {
  readonly prompt: Prompt;
  /** How it is named to the user. */
  readonly about: string;
  /** The failed tool's message; absent for a prompt. */
  readonly failed?: Message;
}

/** What came of findings: what was added, and why a channel's memories were not. */
interface Added {
  readonly shown: readonly Memory[];
  readonly rows: readonly ShownMemory[];
  readonly chars: number;
  readonly reasons: Partial<Record<Channel, Reason>>;
}

/** State of one root conversation. Hook calls of one conversation are answered one after the other. */
export class Conversation {
  readonly id: string;
  readonly session: Session;
  readonly #isOwner: boolean;
  readonly #record: SessionRecord;
  readonly #asked: Set<string>;
  readonly #capturer: Capturer;
  #priming: Promise<Finding> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #abort = new AbortController();

  /**
   * `isOwner`: the conversation goes on with the session's record, in memory and on disk. A second one that does, after
   * a resume or a fork, gets a copy: each replays its own.
   */
  constructor(id: string, session: Session, isOwner: boolean) {
    this.id = id;
    this.session = session;
    this.#isOwner = isOwner;
    this.#record = !isOwner
      ? newRecord(session.cwd)
      : session.isClaimed
        ? structuredClone(session.record)
        : session.record;
    this.#asked = new Set(this.#record.asked);
    if (isOwner) session.isClaimed = true;
    if (isOwner) session.record = this.#record;
    this.#capturer = new Capturer({ id, session, isOwner, record: this.#record, save: () => this.#save() });
  }

  /** Returns the request with memory in place, or undefined when there is nothing to add. Back within the deadline. */
  beforeModel(call: HookCall): Promise<Message[] | undefined> {
    const turn: Turn = {
      request: call.request ?? [],
      transcript: call.transcript,
      prompt: newestPrompt(call.transcript),
    };
    const deadline = Date.now() + this.session.config.hookDeadlineMs;
    const answer = this.#turn.then(() => this.#answer(turn, deadline));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** Captures what is due, and leaves the rest on disk. Back within the deadline. */
  afterRun(call: HookCall): Promise<void> {
    return this.#capturer.afterRun(call.transcript);
  }

  /** Captures what no capture covers yet, and ends everything that is under way. */
  async dispose(): Promise<void> {
    this.#abort.abort();
    await this.#capturer.dispose();
  }

  /** Ends what is under way without a last capture: the conversation made room for others. */
  drop(): void {
    this.#abort.abort();
  }

  async #answer(turn: Turn, deadline: number): Promise<Message[] | undefined> {
    const before = this.#record.ledger;
    const isNew = turn.prompt !== undefined && !this.#asked.has(turn.prompt.key);
    const failures =
      turn.prompt === undefined || !repairs(this.session.config)
        ? []
        : this.#newFailures(turn.prompt, failuresIn(turn.transcript));
    if (turn.prompt !== undefined && (isNew || failures.length > 0)) {
      this.#asked.add(turn.prompt.key);
      this.#record.repaired.push(...failures.map((failure) => repairKey(turn.prompt, failure)));
      // What this request lost of its history may be recalled for the prompt that comes with it.
      this.#record.ledger = replay(before, turn).ledger;
      // Kept while the questions travel, so that no later process asks them again.
      setImmediate(() => this.#save());
      try {
        const isOthers = isAnsweredElsewhere(before, turn);
        if (isNew && !isOthers) await this.#recallFor(turn.prompt, turn, deadline);
        if (failures.length > 0 && !isOthers) await this.#repairFor(turn.prompt, failures, turn, deadline);
      } catch (error) {
        this.session.log(`recall failed: ${reasonOf(error)}`);
      }
    }
    const { ledger, messages } = replay(this.#record.ledger, turn);
    this.#record.ledger = ledger;
    if (
      isNew ||
      failures.length > 0 ||
      ledger.length !== before.length ||
      ledger.some((entry, index) => entry !== before[index])
    )
      this.#save();
    return messages;
  }

  async #recallFor(prompt: Prompt, { transcript }: Turn, deadline: number): Promise<void> {
    const words = bareWords(prompt.message);
    const isPaused = isMuted(this.session);
    if (isPaused) this.#record.muted.push(...newestPromptKeys(transcript));
    const about = isPaused ? "(in a pause)" : clipMarked(oneLine(redact(words)), MAX_ABOUT_CHARS);
    await this.#ask({ prompt, about }, this.#questions(words), deadline);
  }

  /** Failures that this session has not recalled for, as many as the prompt has left. */
  #newFailures(prompt: Prompt, failures: readonly Failure[]): Failure[] {
    const { repaired } = this.#record;
    if (failures.length === 0 || !this.#hasRoom() || isMuted(this.session)) return [];
    const known = new Set(repaired.map((key) => key.split(" ")[1]));
    const left = MAX_REPAIRS_A_PROMPT - repaired.filter((key) => key.startsWith(`${prompt.key} `)).length;
    return failures.filter(({ signature }) => !known.has(signature)).slice(0, Math.max(0, left));
  }

  async #repairFor(
    prompt: Prompt,
    failures: readonly Failure[],
    { transcript }: Turn,
    deadline: number,
  ): Promise<void> {
    const asker = askerOf(this.session, this.id, this.#abort.signal);
    const extra = countHits(this.#record.ledger);
    const questions = failures.map(
      ({ query }): Question => ({ channel: "repair", ask: () => askRepair(asker, query, extra) }),
    );
    const cause: Cause = {
      prompt,
      about: clipMarked(failures.map(({ about }) => about).join("; "), MAX_ABOUT_CHARS),
      failed: transcript.at(-1) ?? {},
    };
    await this.#ask(cause, questions, Math.min(deadline, Date.now() + REPAIR_DEADLINE_MS));
  }

  /** Asks a round of questions, and puts what comes in time into the ledger; what comes later is placed later. */
  async #ask(cause: Cause, questions: readonly Question[], deadline: number): Promise<void> {
    const { session } = this;
    if (questions.length === 0) return;
    // A server that refused is not asked again in this session, and the log has said so.
    const refused = session.stopped.recall;
    const round = new Round(
      session,
      session.id ?? this.id,
      refused === undefined ? questions : questions.map(({ channel }) => ({ channel, known: refused })),
      (question) => this.#permitted(question),
    );
    const answers = await round.answers(deadline);
    const added = this.#add(
      cause,
      answers.flatMap(({ found }) => found ?? []),
      false,
    );
    const silent: Record<string, Reason> = {};
    for (const { channel, found, ms, isAsked } of answers) {
      const reason = found === undefined ? "timeout" : (added.reasons[channel] ?? found.reason);
      noteNews(this.#record, channel, reason, { at: session.now(), ms, isAsked });
      if (reason !== undefined) silent[channel] = reason;
    }
    addAccount(this.#record, { at: session.now(), about: cause.about, shown: added.rows, chars: added.chars, silent });
    if (refused === undefined) session.log(`${describe(added, silent)}, ${round.ms()} ms`);
    const further = answers.flatMap(({ found }) => found?.later ?? []);
    [...round.late(), ...further].forEach((answer) => this.#await(cause, answer));
  }

  /** Returns everything that this prompt makes worth asking. */
  #questions(words: string): Question[] {
    const { session } = this;
    const { config } = session;
    const asker = askerOf(session, this.id, this.#abort.signal);
    const questions: Question[] = [];
    if (primes(config) && !this.#record.isPrimed)
      questions.push({ channel: "prime", ask: () => this.#prime(() => askDigest(asker)) });
    if (!recalls(config)) return questions;
    // A trigger that is asked for counts as told, and a block has to hold something.
    if (!this.#hasRoom()) return [...questions, { channel: "search", known: "budget" }];
    if (!saysEnough(words, config)) return [...questions, { channel: "search", known: "too-short" }];
    const query = queryOf(words);
    const extra = countHits(this.#record.ledger);
    if (config.recallTriggers) questions.push({ channel: "triggers", ask: () => askTriggers(asker, query) });
    if (config.recallMaxResults > 0)
      questions.push({ channel: "search", ask: () => (config.resolve ? askResolve : askSearch)(asker, query, extra) });
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

  async #permitted({ channel, ask }: Extract<Question, { ask: unknown }>): Promise<Finding> {
    const { session } = this;
    const refusal = await session.refusalOf("recall");
    const found: Finding = refusal === undefined ? await ask() : { channel, memories: [], reason: refusal };
    if (found.reason === "unauthorized" || found.reason === "denied") session.stopped.recall = found.reason;
    if (channel === "prime" && isAnswer(found)) this.#record.isPrimed = true;
    return found;
  }

  /** What comes after the deadline is placed in the next request; it is kept on disk until then. */
  #await(cause: Cause, answer: Promise<Finding>): void {
    void answer
      .then((found) => {
        if (found.later !== undefined) this.#await(cause, found.later);
        // Said in a pause, it waits for the next prompt after that; only a trigger does not come again by itself.
        const isPaused = isMuted(this.session);
        if (isPaused && found.channel === "triggers") this.#record.carried.push(...found.memories);
        if (isPaused) return this.#save();
        const added = this.#add(cause, [found], true);
        if (added.shown.length === 0) return;
        addAccount(this.#record, {
          at: this.session.now(),
          about: `${cause.about} (late)`,
          shown: added.rows,
          chars: added.chars,
          silent: {},
        });
        this.#save();
        this.session.log(`${found.channel} late: ${describe(added, {})}`);
      })
      .catch(() => undefined);
  }

  /** Puts findings into the ledger. */
  #add(cause: Cause, findings: readonly Finding[], isLate: boolean): Added {
    if (this.#abort.signal.aborted) return { shown: [], rows: [], chars: 0, reasons: {} };
    const { config } = this.session;
    const record = this.#record;
    // Asked again after a failure, both answers may come in the end: the session is told once.
    const visible = visibleIn(record.ledger);
    const digest = findings
      .filter((found) => found.channel === "prime")
      .flatMap((found) => found.memories)
      .filter(({ keys }) => !keys.every((key) => visible.keys.has(key)));
    const told = record.ledger.filter((entry) => entry.kind === "digest");
    const recalled = findings.filter((found) => found.channel !== "prime").flatMap((found) => found.memories);
    const wanted = select([...record.carried, ...recalled], visible, config.recallMaxResults);
    const kind = cause.failed === undefined ? "recall" : "repair";
    const title = kind === "repair" ? REPAIR_TITLE : isLate ? LATE_TITLE : RECALL_TITLE;
    const first = this.#put(
      cause,
      { kind: "digest", atEnd: isLate },
      digest,
      told.length > 0 ? LATE_DIGEST_TITLE : DIGEST_TITLE,
      config.injectMaxChars - charsOf(told),
    );
    const second = this.#put(cause, { kind, atEnd: isLate }, wanted, title, config.recallMaxChars);
    record.carried = wanted.slice(second.shown.length).filter(({ source }) => source === "trigger");
    const reasons: Added["reasons"] = {
      ...(digest.length > 0 && first.shown.length === 0 ? { prime: "budget" } : {}),
      ...(wanted.length > 0 && second.shown.length === 0 ? { search: "budget", repair: "budget" } : {}),
      // All that was found is in view already.
      ...(recalled.length > 0 && wanted.length === 0 ? { search: "no-hits", repair: "no-hits" } : {}),
    };
    const rows = [first, second].flatMap(({ shown, kind: of }) =>
      shown.map(({ path, score, entry }) => ({ kind: of, path, score, chars: entry.lines.join("\n").length })),
    );
    return { shown: [...first.shown, ...second.shown], rows, chars: first.chars + second.chars, reasons };
  }

  #put(
    { prompt, failed }: Cause,
    place: Pick<LedgerEntry, "kind" | "atEnd">,
    memories: readonly Memory[],
    title: string,
    maxChars: number,
  ) {
    const { config } = this.session;
    const room = Math.min(maxChars, config.sessionMaxChars - charsOf(this.#record.ledger));
    const block = renderBlock(
      title,
      memories.map((memory) => memory.entry),
      room,
      { namesTools: config.tools },
    );
    const shown = memories.slice(0, block?.shown ?? 0);
    this.#record.leftOut += memories.length - shown.length;
    if (block === undefined) return { kind: place.kind, shown, chars: 0 };
    const seen = shown.flatMap((memory) => memory.keys);
    const snippets = shown.flatMap(({ path, words }) => (words === undefined ? [] : [{ path, words }]));
    this.#record.ledger = [
      ...this.#record.ledger,
      createEntry(prompt, { ...place, text: block.text, seen, snippets }, place.kind === "repair" ? failed : undefined),
    ];
    return { kind: place.kind, shown, chars: block.text.length };
  }

  #hasRoom(): boolean {
    const { recallMaxChars, sessionMaxChars } = this.session.config;
    return Math.min(recallMaxChars, sessionMaxChars - charsOf(this.#record.ledger)) >= MIN_ROOM_CHARS;
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

function charsOf(ledger: readonly LedgerEntry[]): number {
  return ledger.reduce((sum, entry) => sum + entry.text.length, 0);
}

function repairKey(prompt: Prompt | undefined, { signature }: Failure): string {
  return `${prompt?.key} ${signature}`;
}

function describe({ shown, chars }: Added, silent: Readonly<Record<string, Reason>>): string {
  const said =
    shown.length > 0
      ? `${shown.length} ${shown.length === 1 ? "memory" : "memories"}, ${chars} characters`
      : "nothing recalled";
  const why = Object.entries(silent)
    .map(([channel, reason]) => `${channel} ${reason}`)
    .join(", ");
  return `${said}${why === "" ? "" : ` (${why})`}`;
}

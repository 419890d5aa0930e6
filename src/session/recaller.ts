// The half of a conversation that is recalled: asks for a prompt or a failed command, and puts what comes of it into
// the ledger, in time or late. Where a block then goes is the work of `replay`.
import { redact } from "../base/redact.ts";
import { clipMarked, oneLine } from "../base/text.ts";
import { bareWords, type Message, newestPromptKeys, type Prompt, promptsOf } from "../cline/index.ts";
import {
  type Admission,
  type Asker,
  admit,
  type Failure,
  type Finding,
  type Question,
  questionsFor,
  repairQuestions,
  type Silence,
} from "../recall/index.ts";
import type { Reason } from "../server/index.ts";
import { accountLine, addAccount, noteNews } from "./news.ts";
import { findingsWithoutArchived, withoutArchived } from "./put-away.ts";
import type { SessionRecord } from "./record.ts";
import { type Answer, askRound, isAnswer } from "./round.ts";
import { askerOf, isMuted, type Session } from "./session.ts";

const REPAIR_DEADLINE_MS = 800;
const MAX_ABOUT_CHARS = 80;
const MAX_EARLIER_PROMPTS = 10;

/** The conversation, as far as recalling for it needs. */
interface Subject {
  readonly id: string;
  readonly session: Session;
  readonly record: SessionRecord;
  readonly save: () => void;
}

/** What a round of questions is about, and where its answers go. */
interface Cause {
  readonly prompt: Prompt;
  /** How it is named to the user. */
  readonly about: string;
  /** In epoch milliseconds. */
  readonly askedAt: number;
  /** The failed tool's message; absent for a prompt. */
  readonly failed?: Message;
}

/** Recalls for one conversation. Deadlines are epoch milliseconds; what comes later is placed later. */
export class Recaller {
  readonly #subject: Subject;
  readonly #abort = new AbortController();
  #priming: Promise<Finding> | undefined;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** Asks for a prompt, and puts what comes before the deadline into the ledger. */
  async recall(prompt: Prompt, transcript: readonly Message[], deadline: number): Promise<void> {
    const { session, record } = this.#subject;
    const words = bareWords(prompt.message);
    const before = earlierWords(transcript, prompt);
    const isPaused = isMuted(session);
    if (isPaused) record.muted.push(...newestPromptKeys(transcript));
    const about = isPaused ? "(in a pause)" : clipMarked(oneLine(redact(words)), MAX_ABOUT_CHARS);
    const askedAt = session.now();
    await this.#ask({ prompt, about, askedAt }, questionsFor({ words, before }, record, this.#asker()), deadline);
  }

  /** The same for commands that failed; a search for these has less time. */
  async repair(prompt: Prompt, failures: readonly Failure[], transcript: readonly Message[], deadline: number) {
    const about = clipMarked(failures.map((failure) => failure.about).join("; "), MAX_ABOUT_CHARS);
    const questions = repairQuestions(failures, this.#subject.record.ledger, this.#asker());
    const soon = Math.min(deadline, Date.now() + REPAIR_DEADLINE_MS);
    const askedAt = this.#subject.session.now();
    await this.#ask({ prompt, about, askedAt, failed: transcript.at(-1) ?? {} }, questions, soon);
  }

  /** Ends what is under way; nothing comes of it any more. */
  stop(): void {
    this.#abort.abort();
  }

  /** Asks a round of questions, and puts what comes in time into the ledger; what comes later is placed later. */
  async #ask(cause: Cause, questions: readonly (Question | Silence)[], deadline: number): Promise<void> {
    const { session, record, id } = this.#subject;
    if (questions.length === 0) return;
    // A server that refused the token is not asked again in this session, and the log has said so.
    const reason = session.stopped.recall;
    const round = await askRound(
      session,
      reason === undefined ? questions : questions.map(({ channel }) => ({ channel, reason })),
      { sessionId: session.id ?? id, deadline, ask: (question) => this.#permitted(question) },
    );
    const findings = round.answers.flatMap(({ finding }) => finding ?? []);
    const { shown, chars, reasons } = this.#admit(cause, findings, false);
    const silent = this.#noteAnswers(round.answers, reasons);
    const account = { at: session.now(), about: cause.about, shown, chars, silent };
    addAccount(record, account);
    if (reason === undefined) session.log(`${accountLine(account)}, ${round.ms} ms`);
    const further = findings.flatMap(({ later }) => later ?? []);
    for (const answer of [...round.late, ...further]) this.#awaitLate(cause, answer);
  }

  /** Takes in how each channel fared, and returns why those that are silent are. */
  #noteAnswers(answers: readonly Answer[], reasons: Admission["reasons"]): Record<string, Reason> {
    const { session, record } = this.#subject;
    const silent: Record<string, Reason> = {};
    for (const { channel, finding, ms, isAsked } of answers) {
      const reason = finding === undefined ? "timeout" : (reasons[channel] ?? finding.reason);
      noteNews(record, channel, reason, { at: session.now(), ms, isAsked });
      if (reason !== undefined) silent[channel] = reason;
    }
    return silent;
  }

  /** Asks a question as far as the server's policy allows it. */
  async #permitted({ channel, ask }: Question): Promise<Finding> {
    const { session, record } = this.#subject;
    const refusal = await session.refusalOf("recall");
    const allowed = channel === "prime" ? () => this.#prime(ask) : ask;
    const finding = refusal === undefined ? await allowed() : { channel, memories: [], reason: refusal };
    if (finding.reason === "unauthorized") session.stopped.recall = finding.reason;
    if (finding.reason === "denied") session.doubtPolicy();
    if (channel === "prime" && isAnswer(finding)) record.isPrimed = true;
    return finding;
  }

  /** One question for the digest at a time; what was asked ahead of the first prompt counts, unless that failed. */
  #prime(ask: () => Promise<Finding>): Promise<Finding> {
    const { session } = this.#subject;
    const ahead = session.prefetched;
    session.prefetched = undefined;
    this.#priming ??= retried(ahead, ask).finally(() => {
      this.#priming = undefined;
    });
    return this.#priming;
  }

  /** What comes after the deadline is placed in the next request; it is kept on disk until then. */
  #awaitLate(cause: Cause, answer: Promise<Finding>): void {
    void answer.then((finding) => this.#takeLate(cause, finding)).catch(() => undefined);
  }

  #takeLate(cause: Cause, finding: Finding): void {
    const { session, record, save } = this.#subject;
    if (finding.later !== undefined) this.#awaitLate(cause, finding.later);
    if (isMuted(session)) {
      // Said in a pause, it waits for the next prompt after that; only a trigger does not come again by itself.
      if (finding.channel === "triggers") record.carried = [...record.carried, ...finding.memories];
      save();
      return;
    }
    const { shown, chars } = this.#admit(cause, [finding], true);
    if (shown.length === 0) return;
    const account = { at: session.now(), about: `${cause.about} (late)`, shown, chars, silent: {} };
    addAccount(record, account);
    save();
    session.log(`${finding.channel} late: ${accountLine(account)}`);
  }

  /** Puts findings into the ledger. */
  #admit(
    { prompt, failed, askedAt }: Cause,
    findings: readonly Finding[],
    isLate: boolean,
  ): Pick<Admission, "shown" | "chars" | "reasons"> {
    const { session, record } = this.#subject;
    // A conversation that is over may have handed its record on.
    if (this.#abort.signal.aborted) return { shown: [], chars: 0, reasons: {} };
    const standing = findingsWithoutArchived(session, findings, askedAt);
    const carried = withoutArchived(session, record.carried);
    const admission = admit({ ledger: record.ledger, carried }, standing, { prompt, failed, isLate }, session.config);
    record.ledger = admission.ledger;
    record.carried = admission.carried;
    record.leftOut += admission.leftOut;
    return admission;
  }

  #asker(): Asker {
    const { session, id } = this.#subject;
    return askerOf(session, id, this.#abort.signal);
  }
}

/** What was asked ahead of time, or the same question again when that failed. */
async function retried(ahead: Promise<Finding> | undefined, ask: () => Promise<Finding>): Promise<Finding> {
  const finding = await ahead;
  return finding !== undefined && isAnswer(finding) ? finding : ask();
}

/** Returns the bare words of the prompts before one, oldest first, as far back as a follow-up may reach. */
function earlierWords(transcript: readonly Message[], { message }: Prompt): string[] {
  const prompts = promptsOf(transcript);
  const end = prompts.lastIndexOf(message);
  return prompts.slice(0, Math.max(0, end)).slice(-MAX_EARLIER_PROMPTS).map(bareWords);
}

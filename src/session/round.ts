// One round of questions to the server, all at once: who may be asked now, what comes before the deadline, and what that
// says about the server's health.
import { within } from "../base/time.ts";
import type { Channel, Finding } from "../recall/index.ts";
import type { Outcome, Reason } from "../server/index.ts";
import { drainSoon, isMuted, type Session } from "./session.ts";

/** A question, or the reason known beforehand why there is none. */
export type Question =
  | { readonly channel: Channel; readonly ask: () => Promise<Finding>; readonly known?: undefined }
  | { readonly channel: Channel; readonly known: Reason };

/** How one question went; `found` is missing where the deadline came first. */
export interface Answer {
  readonly channel: Channel;
  readonly found: Finding | undefined;
  readonly ms: number;
  readonly isAsked: boolean;
}

/** Asks when it is made. */
export class Round {
  readonly #session: Session;
  readonly #sessionId: string;
  readonly #started: number;
  readonly #asked: readonly { channel: Channel; isAsked: boolean; answer: Promise<Finding> }[];
  #late: Promise<Finding>[] = [];

  constructor(
    session: Session,
    sessionId: string,
    questions: readonly Question[],
    ask: (question: Extract<Question, { ask: unknown }>) => Promise<Finding>,
  ) {
    this.#session = session;
    this.#sessionId = sessionId;
    this.#started = session.now();
    const pauses = pausesOf(session, questions);
    this.#asked = questions.map((question, index) => {
      const { channel } = question;
      const reason = question.known ?? pauses[index];
      if (question.known !== undefined || reason !== undefined)
        return {
          channel,
          isAsked: false,
          answer: Promise.resolve({ channel, memories: [], ...(reason === undefined ? {} : { reason }) }),
        };
      return { channel, isAsked: true, answer: ask(question) };
    });
  }

  /** Returns what came before the deadline, in the order of the questions, and tells the breakers. */
  async answers(deadline: number): Promise<Answer[]> {
    const answers = await Promise.all(
      this.#asked.map(async ({ channel, isAsked, answer }) => {
        const found = await within(answer, Math.max(0, deadline - Date.now()));
        return { channel, isAsked, found, ms: this.ms() };
      }),
    );
    this.#late = this.#asked.filter((_, index) => answers[index]?.found === undefined).map(({ answer }) => answer);
    this.#judge(answers.filter(({ isAsked }) => isAsked));
    return answers;
  }

  /** What is still under way after `answers`. */
  late(): readonly Promise<Finding>[] {
    return this.#late;
  }

  /** Milliseconds since the questions were asked. */
  ms(): number {
    return this.#session.now() - this.#started;
  }

  /**
   * Takes in how the round went. Where nothing was answered the server failed; where something was, only the channels
   * that were not. A missed deadline is a failure: the next prompt would wait again.
   */
  #judge(answers: readonly Answer[]): void {
    const session = this.#session;
    if (answers.length === 0) return;
    const isAnswered = answers.some(({ found }) => found !== undefined && isAnswer(found));
    // A failed command's search has less time than a prompt's: that it was slow says nothing of the server.
    const isShort = answers.every(({ channel }) => channel === "repair");
    const hasFailed = !isShort && answers.some(({ found }) => outcomeOf(found) === "failed");
    session.breaker.finish(isAnswered ? "answered" : hasFailed ? "failed" : "unknown");
    for (const { channel, found } of answers)
      session.channelBreaker(channel).finish(isAnswered || isShort ? outcomeOf(found) : "unknown");
    if (isAnswered) drainSoon(session, this.#sessionId);
  }
}

/** Returns whether the server answered, with memories or without. */
export function isAnswer(found: Finding): boolean {
  return found.memories.length > 0 || found.reason === "no-hits" || found.reason === "below-threshold";
}

/** Why a question is not asked now: memory is muted, or the server is paused, or this channel of it. */
function pausesOf(session: Session, questions: readonly Question[]): (Reason | undefined)[] {
  const { breaker, channelBreaker } = session;
  if (isMuted(session)) return questions.map(() => "muted");
  if (questions.every(({ known }) => known !== undefined)) return [];
  const paused = breaker.start();
  const pauses = questions.map(({ channel, known }) =>
    known !== undefined ? undefined : (paused ?? channelBreaker(channel).start()),
  );
  // A start that nothing follows is given back; one that was not granted is another conversation's to finish.
  if (paused === undefined && questions.every(({ known }, index) => known !== undefined || pauses[index] !== undefined))
    breaker.finish("unknown");
  return pauses;
}

function outcomeOf(found: Finding | undefined): Outcome {
  if (found === undefined) return "failed";
  if (isAnswer(found)) return "answered";
  return found.reason !== undefined && ["refused", "dns", "timeout", "bad-response"].includes(found.reason)
    ? "failed"
    : "unknown";
}

// One round of questions to the server, all at once: who may be asked now, what comes before the deadline, and what
// that says about the server's health.
import { within } from "../base/time.ts";
import type { Channel, Finding, Question, Silence } from "../recall/index.ts";
import type { Outcome, Reason } from "../server/index.ts";
import { drainSoon } from "./sender.ts";
import { isMuted, type Session } from "./session.ts";

/** Reasons that count against the server, beside a missed deadline. */
const FAILURES: ReadonlySet<Reason | undefined> = new Set(["refused", "dns", "tls", "unreachable", "bad-response"]);
/** What missed its deadline is waited for so long, until it answers in time again. */
const SLOW_WAIT_MS = 500;

/** How one question went. */
export interface Answer {
  readonly channel: Channel;
  /** Undefined where the deadline came first. */
  readonly finding: Finding | undefined;
  readonly ms: number;
  readonly isAsked: boolean;
}

/** How a round went. */
export interface Round {
  /** In the order of the questions. */
  readonly answers: readonly Answer[];
  /** What is still under way. */
  readonly late: readonly Promise<Finding>[];
  readonly ms: number;
}

interface Asked {
  readonly channel: Channel;
  readonly isAsked: boolean;
  readonly answer: Promise<Finding>;
  /** Whether it is waited for less. */
  readonly isSlow: boolean;
}

/**
 * Asks what may be asked now, with `ask`, and returns what came before the deadline (epoch milliseconds). Tells the
 * breakers how it went.
 */
export async function askRound(
  session: Session,
  questions: readonly (Question | Silence)[],
  how: {
    readonly sessionId: string;
    readonly deadline: number;
    readonly ask: (question: Question) => Promise<Finding>;
  },
): Promise<Round> {
  const startedAt = session.now();
  const asked = granted(session, questions).map((question): Asked => {
    const { channel } = question;
    const isSlow = session.breaker.isSlow || session.channelBreaker(channel).isSlow;
    if (isQuestion(question)) return { channel, isAsked: true, answer: how.ask(question), isSlow };
    const answer = Promise.resolve({ channel, memories: [], reason: question.reason });
    return { channel, isAsked: false, answer, isSlow: false };
  });
  const restMs = Math.max(0, how.deadline - Date.now());
  const answers = await Promise.all(
    asked.map(async ({ channel, isAsked, answer, isSlow }): Promise<Answer> => {
      const finding = await within(answer, isSlow ? Math.min(SLOW_WAIT_MS, restMs) : restMs);
      return { channel, isAsked, finding, ms: session.now() - startedAt };
    }),
  );
  judge(
    session,
    how.sessionId,
    answers.filter(({ isAsked }) => isAsked),
  );
  const late = asked.filter((_, index) => answers[index]?.finding === undefined);
  for (const each of late) if (each.isSlow) void clearIfInTime(session, each, how.deadline);
  return { answers, late: late.map(({ answer }) => answer), ms: session.now() - startedAt };
}

/** What was waited for less, and comes before the whole deadline, has answered in time all the same. */
async function clearIfInTime(session: Session, { channel, answer }: Asked, deadline: number): Promise<void> {
  const finding = await answer.catch(() => undefined);
  if (finding === undefined || !isAnswer(finding) || Date.now() > deadline) return;
  session.breaker.finish("answered");
  session.channelBreaker(channel).finish("answered");
}

/** Returns whether the server answered, with memories or without. */
export function isAnswer({ memories, reason }: Finding): boolean {
  return memories.length > 0 || reason === "no-hits" || reason === "below-threshold";
}

/** The questions as far as they may be asked now: memory may be muted, and the server or a channel of it paused. */
function granted(session: Session, questions: readonly (Question | Silence)[]): readonly (Question | Silence)[] {
  if (isMuted(session)) return questions.map((each) => (isQuestion(each) ? silence(each, "muted") : each));
  if (!questions.some(isQuestion)) return questions;
  const pause = session.breaker.start();
  const asked = questions.map((each) => {
    if (!isQuestion(each)) return each;
    const reason = pause ?? session.channelBreaker(each.channel).start();
    return reason === undefined ? each : silence(each, reason);
  });
  // A start that nothing follows is given back; one that was not granted is another conversation's to finish.
  if (pause === undefined && !asked.some(isQuestion)) session.breaker.finish("unknown");
  return asked;
}

/**
 * Tells the breakers how a round went. Where nothing was answered the server failed; where something was, only the
 * channels that were not. A missed deadline is a failure: the next prompt would wait again.
 */
function judge(session: Session, sessionId: string, answers: readonly Answer[]): void {
  if (answers.length === 0) return;
  const isAnswered = answers.some(({ finding }) => finding !== undefined && isAnswer(finding));
  // A failed command's search has less time than a prompt's: that it was slow says nothing of the server.
  const isShort = answers.every(({ channel }) => channel === "repair");
  const outcomes = answers.map(({ channel, finding }) => ({ channel, outcome: outcomeOf(finding) }));
  const worst = (["late", "failed"] as const).find((each) => outcomes.some(({ outcome }) => outcome === each));
  if (isAnswered) session.breaker.finish("answered");
  else session.breaker.finish((!isShort && worst) || "unknown");
  for (const { channel, outcome } of outcomes)
    session.channelBreaker(channel).finish(isAnswered || isShort ? outcome : "unknown");
  if (isAnswered) drainSoon(session, sessionId);
}

function outcomeOf(finding: Finding | undefined): Outcome {
  if (finding === undefined || finding.reason === "timeout") return "late";
  if (isAnswer(finding)) return "answered";
  return FAILURES.has(finding.reason) ? "failed" : "unknown";
}

function isQuestion(each: Question | Silence): each is Question {
  return "ask" in each;
}

function silence({ channel }: Question, reason: Reason): Silence {
  return { channel, reason };
}

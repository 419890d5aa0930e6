// What the host itself writes where a person's words or a tool's result stand: openings, each with the version of the
// CLI that it was seen in and the last that has it, "" for no end. A `…` stands for anything. Source: @cline/cli 3.0.65
// and @cline/core 0.0.86. What the editor extension wrote is in `history`.

/** An opening with all that may stand in it. */
const MAX_OPENING_CHARS = 400;

export type Sentence = readonly [opening: string, since: string, until: string];

/** What nobody typed, in the envelope of a prompt or bare: the host goes on by itself, or speaks for other agents. */
export const HOST_PROMPTS: readonly Sentence[] = [
  ["The user approved switching to act mode. Continue with the approved plan now.", "3.0.65", ""],
  ["[TASK RESUMPTION]", "3.0.65", ""],
  ["System-delivered teammate async run updates:", "3.0.65", ""],
  ["Your previous response was cut off because it reached the model's output-token limit", "3.0.65", ""],
  ["mistake_limit_reached: retry with a different approach", "3.0.65", ""],
  ["Stopped after … consecutive mistakes (", "3.0.65", ""],
  ["Detected … consecutive identical calls to `", "3.0.65", ""],
  ["Context summary:\n", "3.0.65", ""],
  ["[MAILBOX] You ", "3.0.65", ""],
  ["This is an automatic recovery of interrupted team run", "3.0.65", ""],
  ["Previous agent output:\n", "3.0.65", ""],
];

/** What the host puts ahead of a person's words, in the same text. */
export const AHEAD_OF_PROMPTS: readonly Sentence[] = [
  ["mistake_limit_reached: ", "3.0.65", ""],
  ["spawn a team of agents for the following task: ", "3.0.65", ""],
  ["Execute this approved agenda task.\n\n", "3.0.65", ""],
];

/** What the error of a tool call opens with that was not carried out: somebody or something would not have it. */
export const REFUSALS: readonly Sentence[] = [
  ["This tool call was rejected by the user and not executed.", "3.0.65", ""],
  ["User rejected the tool call", "3.0.65", ""],
  ["User denied the tool execution", "3.0.65", ""],
  ["The user denied this edit.", "3.0.65", ""],
  ["Denied by ", "3.0.65", ""],
  ["Permission request was cancelled", "3.0.65", ""],
  ["Permission request failed", "3.0.65", ""],
  ["Unknown permission option:", "3.0.65", ""],
  ["Tool execution was cancelled because the user sent a follow-up message.", "3.0.65", ""],
  ["Tool execution is disabled for provider", "3.0.65", ""],
  ["Tool approval ", "3.0.65", ""],
  ["Hub shutting down before approval was resolved.", "3.0.65", ""],
  ["No Cline Hub webview is attached to this session.", "3.0.65", ""],
  ["Cline Hub webview disconnected before approval was resolved.", "3.0.65", ""],
  ["Desktop tool approval IPC is not", "3.0.65", ""],
  ["Tool was not executed", "3.0.65", ""],
  ['Tool "…" requires approval', "3.0.65", ""],
  ['Tool "…" approval request failed', "3.0.65", ""],
  ['Tool "…" was not approved', "3.0.58", "3.0.58"],
  ['Tool "…" is disabled by policy', "3.0.65", ""],
  ["Tool … was blocked by a runtime hook", "3.0.65", ""],
  ["Command not executed:", "3.0.65", ""],
];

const patterns = new Map<readonly Sentence[], RegExp>();

/** Returns whether a text, after white space, opens with one of the sentences. */
export function opensWith(text: string, sentences: readonly Sentence[]): boolean {
  const pattern = patterns.get(sentences) ?? patternOf(sentences);
  patterns.set(sentences, pattern);
  return pattern.test(text);
}

/** Returns the sentence, one without a `…`, that a text opens with after white space, or undefined. */
export function openingOf(text: string, sentences: readonly Sentence[]): string | undefined {
  const start = text.slice(0, MAX_OPENING_CHARS).trimStart();
  return sentences.find(([opening]) => start.startsWith(opening))?.[0];
}

function patternOf(sentences: readonly Sentence[]): RegExp {
  const openings = sentences.map(([opening]) => opening.replace(/[[\](){}.*+?^$|\\]/g, "\\$&"));
  return new RegExp(`^\\s*(?:${openings.join("|").replaceAll("…", `[^]{0,${MAX_OPENING_CHARS}}?`)})`);
}

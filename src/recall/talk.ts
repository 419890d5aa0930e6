// What kind of thing a person said: talk that asks nothing, a follow-up that leans on the prompt before it, or words
// that stand for themselves. Decided by counting words; nobody is asked.
import { ASKING_WORDS, CJK_FUNCTION_PHRASES, CJK_TALK_PHRASES, FUNCTION_WORDS, TALK_WORDS } from "./talk-words.ts";

const MAX_TALK_CHARS = 200;
const MAX_LEANING_CHARS = 120;
/** As much of a text as words are counted in. */
const MAX_COUNTED_CHARS = 2000;

const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
const CJK_ASKING = /什么|怎么|为什么|哪|谁|几|多少|多大|多久|なぜ|どう|何|いつ|どこ|だれ|誰|どれ|どの/;
/** Longest first: the one phrase may hold the other. */
const CJK_PHRASES = [...new Set([...CJK_FUNCTION_PHRASES, ...CJK_TALK_PHRASES])].sort((a, b) => b.length - a.length);
/** What an apostrophe cuts off: "what's" is "what", and a rest that says nothing. */
const CONTRACTION = /['’](?:s|t|d|ll|m|re|ve)\b/gu;

const WHAT_NOW = /\bwhat(?:['’]s| is)? (?:now|next|up)\b|^how (?:are you|is it going)\b/i;
const CONTINUING = [
  "and|but|or|also|so|then|plus|what about|how about|what if|what of|same",
  "und|aber|oder|auch|also|dann|was ist mit|wie ist es mit|wie wäre|y|pero|o|también|entonces|qué tal",
  "et|mais|ou|aussi|alors|donc|et si|那么?|那|还有|以及|如果|而|それなら|それでは|じゃあ|では|でも|あと|また",
].join("|");
const CONTINUES = new RegExp(`^\\s*(?:${CONTINUING})(?![\\p{L}\\p{N}])|^\\s*(?:那|还有|それ|じゃ)`, "iu");
const TOO =
  /\b(?:too|as well|auch|ebenfalls|también|aussi|either|then|instead)\s*[?!.。?!]*\s*$|(?:也是|也一样|も)\s*[?。?]*$/iu;
const POINTING = [
  "it|its|that|this|these|those|they|them|their|one|ones|same|other|others|there",
  "das|dies|diese[rsnm]?|es|dort|da|damit|davon|dafür|daran|eso|esto|esa|ese|esos|esas|mismo|misma|otro|otra|ello",
  "ça|cela|ceci|celui|celle|même|autre|y|en",
].join("|");
const POINTS_BACK = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${POINTING})(?![\\p{L}\\p{N}])|[它这那其]|それ|これ|その|この|同じ|他の`,
  "iu",
);

interface WordCount {
  readonly words: number;
  /** Words that say something of a subject. */
  readonly content: number;
  readonly talk: number;
  readonly isAsking: boolean;
}

/** Returns whether a prompt is approval, thanks, greeting, refusal or steering alone. "why?" is a question. */
export function isTalk(text: string): boolean {
  const words = text.trim();
  if (words.length > MAX_TALK_CHARS) return false;
  const { content, talk, isAsking } = countWords(words);
  if (content > 0) return false;
  if (WHAT_NOW.test(words) || (talk > 0 && /^why not\b/i.test(words))) return true;
  return !isAsking && (talk > 0 || !/[?？¿]/.test(words));
}

/** Returns whether a prompt says too little without the one before it: it continues, or points back. */
export function leansBack(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > MAX_LEANING_CHARS) return false;
  const { words, content } = countWords(trimmed);
  if (content === 0 || words <= 3 || (words <= 5 && content <= 1)) return true;
  if (words <= 9 && content <= 3 && (CONTINUES.test(trimmed) || TOO.test(trimmed))) return true;
  return words <= 7 && content <= 2 && POINTS_BACK.test(trimmed);
}

/** Returns how many words of a text say something of a subject. Only the first 2,000 characters are looked at. */
export function contentWords(text: string): number {
  return countWords(text).content;
}

function countWords(text: string): WordCount {
  const lower = text.slice(0, MAX_COUNTED_CHARS).normalize("NFKC").toLowerCase();
  const rest = lower
    .replace(CJK_RUN, " ")
    .replace(CONTRACTION, "")
    .replace(/['’](?=\p{L})/gu, " ");
  const counts = [
    ...(lower.match(CJK_RUN) ?? []).map(countRun),
    ...(rest.match(/[\p{L}\p{N}]+/gu) ?? []).map(countWord),
  ];
  return counts.reduce(
    (sum, { words, content, talk, isAsking }) => ({
      words: sum.words + words,
      content: sum.content + content,
      talk: sum.talk + talk,
      isAsking: sum.isAsking || isAsking,
    }),
    { words: 0, content: 0, talk: 0, isAsking: false },
  );
}

function countWord(word: string): WordCount {
  const isTalkWord = TALK_WORDS.has(word);
  const isNumber = /^\p{N}{1,2}$/u.test(word);
  const isContent = !isTalkWord && !isNumber && !FUNCTION_WORDS.has(word);
  return { words: 1, content: Number(isContent), talk: Number(isTalkWord), isAsking: ASKING_WORDS.has(word) };
}

/** A run of Chinese or Japanese counts half its characters; what no phrase of the lists covers says something. */
function countRun(run: string): WordCount {
  const left = CJK_PHRASES.reduce((text, phrase) => text.replaceAll(phrase, " "), run).replaceAll(" ", "");
  const isTalkRun = [...CJK_TALK_PHRASES].some((phrase) => run.includes(phrase));
  return {
    words: run.length / 2,
    content: left.length / 2,
    talk: Number(isTalkRun),
    isAsking: CJK_ASKING.test(run),
  };
}

// What a person laid down for good in what they said: rules, decisions, things to remember. Plain rules for six
// languages that would rather miss one than take a remark for a rule: what is caught is told in later sessions.
import { clipMarked, oneLine, sentencesIn } from "../base/text.ts";

const MAX_SENTENCE_CHARS = 200;
/** More of one prompt is not looked at. */
const MAX_LOOKED_CHARS = 4000;
/** A longer sentence is a text, not a rule. */
const MAX_RULE_CHARS = 400;

const GERMAN_VERBS = [
  "nutze|nutz|verwende|benutze|schreib|schreibe|nimm|mach|mache|lass|halte|prüfe|teste|committe",
  "formatiere|nenne|frag|frage|führe|setze|lege|pushe",
].join("|");
const SPANISH_VERBS = [
  "usa|usar|utiliza|escribe|ejecuta|haz|pon|mantén|prueba|pregunta|revisa|nombra|hagas|uses|escribas",
  "toques|borres|subas",
].join("|");
const FRENCH_VERBS = [
  "utilise|utilisez|écris|lance|mets|garde|fais|teste|demande|vérifie|nomme|utiliser|touche|modifie",
  "pousse|supprime",
].join("|");

/** Each is looked for in one sentence. */
const RULES = [
  // From now on
  /\b(?:from now on|from here on|going forward|from this point on)\b/i,
  /\b(?:ab jetzt|ab sofort|von nun an|ab heute)\b|(?<!\p{L})(?:künftig|zukünftig)\b/iu,
  /\b(?:de ahora en adelante|a partir de ahora|desde ahora)\b/i,
  /(?<!\p{L})(?:à partir de maintenant|dorénavant|désormais|à l'avenir)(?!\p{L})/iu,
  /从现在(?:起|开始)|从今(?:以|往)后|以后(?:都|请|要|不要|别|一律)|今后/,
  /今後は|これからは|以後は|今後、/,
  // Always, never
  /^(?:please |and |but |so |also |just )*(?:always|never)\s+(?!mind\b)\p{L}+/iu,
  /[,;:]\s*(?:please )?(?:always|never)\s+(?!mind\b|does\b|is\b|was\b|has\b)\p{L}+/iu,
  /\b(?:should|must|shall|have to|need to|are to)\s+(?:always|never)\b/i,
  /^(?:please )?(?:do not|don't) ever \p{L}+\b/iu,
  /^(?:bitte )?(?:immer|nie|niemals)\s+\p{L}+/iu,
  new RegExp(`^(?:bitte )?(?:${GERMAN_VERBS})\\b.{0,60}\\b(?:immer|nie|niemals)\\b`, "iu"),
  /\b(?:sollst|sollt|sollen|musst|müsst|müssen|darfst|dürft|dürfen)\b.{0,60}\b(?:immer|nie|niemals)\b/iu,
  new RegExp(`^(?:por favor,? )?(?:siempre|nunca|jamás)\\s+(?:${SPANISH_VERBS}|se|hay|debe[sn]?)(?!\\p{L})`, "iu"),
  new RegExp(`(?<!\\p{L})(?:${SPANISH_VERBS}|debes|hay que)\\s+siempre(?!\\p{L})`, "iu"),
  new RegExp(`(?<!\\p{L})(?:${FRENCH_VERBS})\\s+toujours(?!\\p{L})`, "iu"),
  new RegExp(`^(?:s'il te plaît,? )?ne (?:${FRENCH_VERBS})\\s+jamais(?!\\p{L})`, "iu"),
  /^(?:请|請)?(?:总是|始终|永远|一律|务必|千万|每次都?)(?:要|不要|别|用|使用|先|在|把|保持|运行|写)/,
  /(?:绝不|永不|切勿|绝对不要|永远不要|千万不要|禁止)\p{L}/u,
  /(?:常に|必ず|いつも).{1,40}(?:して(?:ください|下さい|ね)?|使って(?:ください)?|すること|しよう|書いて(?:ください)?)[。]?$/,
  /(?:決して|絶対に).{1,40}(?:しないで|ないこと|使わないで|触らないで|ないでください)/,
  // Decided
  /\bwe(?:'ve| have)? (?:decided|agreed|settled on|chose|have chosen|'ve chosen)\b/i,
  /^(?:decision|rule|convention|policy)\s*:/i,
  /\b(?:the|our) (?:rule|convention|policy|decision) (?:here )?is\b/i,
  /\bwir haben (?:uns )?.{0,60}(?:entschieden|beschlossen|geeinigt)\b/iu,
  /^(?:entscheidung|regel|konvention)\s*:/iu,
  /(?<!\p{L})(?:hemos decidido|decidimos|hemos acordado|acordamos|quedamos en)(?!\p{L})/iu,
  /(?<!\p{L})(?:nous avons|on a) (?:décidé|convenu|choisi)(?!\p{L})/iu,
  /我们(?:已经|已)?(?:决定|商定|说好|约定|定下)/,
  /(?:ことに(?:した|しました|決めた|決めました|決まった|決まりました)|に決め(?:た|ました))(?!らしい|そう)/,
  // Remember
  /(?:^|[,;:]\s*)(?:please |and |but |so |also )*(?:remember|note|keep in mind)\s*(?:that|to|:)\s/i,
  /^(?:please )?(?:don't|do not|never) forget (?:that|to)\b/i,
  /(?<!\p{L})merk(?:e)? dir\b|\bdenk(?:e)? (?:bitte |immer )?daran\b|\bvergiss nicht\b/iu,
  /(?<!\p{L})(?:recuerda que|recuerda:|ten en cuenta que|no olvides)(?!\p{L})/iu,
  /(?<!\p{L})(?:souviens-toi|rappelle-toi|n'oublie pas|retiens que|garde en tête)(?!\p{L})/iu,
  /^(?:请|請)?(?:记住|记得|牢记|别忘了|不要忘记)/,
  /覚えて(?:おいて|ください|ね)|忘れないで/,
];
const QUESTION = /[?？]["')\]]*$|吗[。]?$|呢[。]?$|(?:です|ます|でしょう)か[。]?$/;
const ASKING = [
  "why|how|what|when|where|who|which|do|does|did|is|are|can|could|would|should we",
  "warum|wieso|wie|was|wann|kannst|por qué|pourquoi|comment|为什么|怎么|如何|なぜ|どう",
].join("|");
const ASKS = new RegExp(`^(?:${ASKING})(?!\\p{L})`, "iu");

/** Returns the sentences of a person's words that lay something down, in their words, at most 200 characters each. */
export function laidDownIn(words: string): string[] {
  const sentences = sentencesOf(words).filter((sentence) => sentence.length <= MAX_RULE_CHARS);
  const rules = sentences.filter(
    (sentence) => !QUESTION.test(sentence) && !ASKS.test(sentence) && RULES.some((rule) => rule.test(sentence)),
  );
  return rules.map((rule) => clipMarked(rule, MAX_SENTENCE_CHARS));
}

/** Returns the question that an answer ends in, or undefined. */
export function openQuestionIn(answer: string): string | undefined {
  const last = sentencesOf(answer.slice(-MAX_LOOKED_CHARS)).at(-1);
  return last !== undefined && QUESTION.test(last) ? clipMarked(last, MAX_SENTENCE_CHARS) : undefined;
}

/** Returns the sentences of a text without the marks of lists; each ends with its line at the latest. */
export function sentencesOf(text: string): string[] {
  return text
    .slice(0, MAX_LOOKED_CHARS)
    .split("\n")
    .flatMap(sentencesIn)
    .map((sentence) => oneLine(sentence).replace(/^(?:[-*•>]|\d{1,2}[.)])\s+/, ""))
    .filter((sentence) => sentence !== "");
}

// A pasted log or trace: what of it asks something. Its prose at head and tail, and the lines that tell what is wrong.

/** A shorter text is asked as it is. */
const MIN_PASTE_CHARS = 600;
const MACHINE_SHARE = 0.4;
const MAX_PROSE_LINES = 4;
const MAX_ALARM_LINES = 3;
/** As much of a line as is looked at, and as many lines. */
const MAX_LINE_CHARS = 300;
const MAX_LINES = 5000;
/** A prose line is letters and spaces; a longer line than this with fewer of them is none. */
const MIN_SIGNS_CHARS = 20;
const PROSE_SHARE = 0.75;
/** A kind of line that makes up more than this of a paste tells nothing, however severe. */
const COMMON_SHARE = 0.3;
/** One without severity tells something only where its kind is rare. */
const RARE_SHARE = 0.05;

const MACHINE_LINES = [
  /^at\s+\S+.*[:(]/,
  /^(?:File|Traceback|Caused by:|\.\.\. \d+ more)/,
  /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\[?\d\d:\d\d:\d\d/,
  /^[IWEF]\d{4} \d\d:/,
  /^[[{].*[\]}],?$/,
  /^(?:\$|>|#|\+|-|~|\||✓|✗|✕|●|❯|→|=+|\*) /,
  /^\w+: (?:INFO|WARN|WARNING|ERROR|DEBUG)\b/,
  /^(?:info|warn(?:ing)?|error|debug|trace|fatal|log|notice|verbose|fail|pass|ok|note)\b[:\s[]/i,
  /^\S+\|\S*\|/,
  /^[\w.-]+\/[\w./-]+(?::\d+)*\b/,
  /^[\w./-]+:\d+(?::\d+)?[:\s]/,
  /[{};]\s*$/,
  /^(?:import|from|export|const|let|var|def|class|return|if|for|while|select|insert|update|create)\b.*[=({;:]/i,
];
const FRAME = /^at\s+\S+/;

const ERROR_WORDS = [
  "error|exception|e\\d{3,}|errno|failed|failure|cannot|can't|could not|denied|refused|invalid|timeout|timed out",
  "exceeded|not found|undefined|mismatch|too many|deadlock|rejected|violat\\w+|unable",
].join("|");
/** Worst first. */
const SEVERITIES = [
  /\b(?:fatal|panic|emergency|critical|unhandled|uncaught|segfault|oom|out of memory)\b/i,
  new RegExp(`\\b(?:${ERROR_WORDS})\\b|Error\\b|Exception\\b`, "i"),
  /\b(?:warn(?:ing)?|deprecated|retry|slow|unexpected|missing|expired|limit)\b/i,
];

/** Returns whether a text is mostly lines that no person typed. */
export function isPaste(text: string): boolean {
  if (text.length <= MIN_PASTE_CHARS) return false;
  const lines = linesOf(text);
  return lines.filter(isMachineLine).length >= MACHINE_SHARE * lines.length;
}

/** Returns the prose around a paste and up to three of its lines that tell what is wrong. */
export function gistOfPaste(text: string): string {
  const lines = linesOf(text);
  const head = proseAt(lines);
  const tail = proseAt(lines.slice(head.length).reverse()).reverse();
  const machine = lines.slice(head.length, lines.length - tail.length);
  return [...head, ...alarmsIn(machine), ...tail].join("\n");
}

function linesOf(text: string): string[] {
  const lines = text.split("\n").flatMap((line) => line.slice(0, MAX_LINE_CHARS).trim() || []);
  // Of a huge paste the head and the tail: the question stands at one of its ends.
  return lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES / 2), ...lines.slice(-MAX_LINES / 2)];
}

function isMachineLine(line: string): boolean {
  if (MACHINE_LINES.some((pattern) => pattern.test(line))) return true;
  const prose = line.match(/[\p{L} ]/gu)?.length ?? 0;
  return line.length > MIN_SIGNS_CHARS && prose / line.length < PROSE_SHARE;
}

function proseAt(lines: readonly string[]): string[] {
  const end = lines.findIndex(isMachineLine);
  return lines.slice(0, Math.min(end === -1 ? lines.length : end, MAX_PROSE_LINES));
}

/** The most severe lines, of equals the rarest kind, in the order in which they stand. */
function alarmsIn(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(kindOf(line), (counts.get(kindOf(line)) ?? 0) + 1);
  const alarms = lines.flatMap((line, index) => {
    const severity = severityOf(line);
    const share = (counts.get(kindOf(line)) ?? 1) / lines.length;
    const isTelling = !FRAME.test(line) && share <= (severity < SEVERITIES.length ? COMMON_SHARE : RARE_SHARE);
    return isTelling ? [{ index, text: withoutNumbers(line), rank: 10 * severity + 5 * share }] : [];
  });
  alarms.sort((a, b) => a.rank - b.rank || a.index - b.index);
  const unique = new Map([...alarms].reverse().map((alarm) => [alarm.text, alarm]));
  const chosen = alarms.filter((alarm) => unique.get(alarm.text) === alarm).slice(0, MAX_ALARM_LINES);
  return chosen.sort((a, b) => a.index - b.index).map(({ text }) => text);
}

function severityOf(line: string): number {
  const severity = SEVERITIES.findIndex((pattern) => pattern.test(line));
  return severity === -1 ? SEVERITIES.length : severity;
}

/** Two lines of one kind open with the same words, whatever they then name. */
function kindOf(line: string): string {
  const shape = line
    .replace(/"[^"]*"|'[^']*'/g, "S")
    .replace(/[0-9a-f]{6,}/gi, "H")
    .replace(/\d+/g, "N")
    .replace(/[\w.-]+\/[\w./-]+/g, "P");
  return shape
    .slice(0, 60)
    .split(/[\s:=(]+/)
    .slice(0, 2)
    .join(" ");
}

/** Times, hashes, ids and the way to a file are those of one run, and no memory has them. */
function withoutNumbers(line: string): string {
  return line
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.,]+Z?/g, "")
    .replace(/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, "")
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f-]{20,})?[0-9a-f]*\b/gi, "")
    .replace(/[\w.@-]*\/[\w.@/-]*\/([\w.-]+)/g, "$1")
    .replace(/\b\d{5,}\b/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

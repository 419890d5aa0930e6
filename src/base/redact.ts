// Takes secrets out of text before it is sent or stored. Paths, SHAs and UUIDs stay: only what is a secret by its shape
// or by the name it is given goes. In doubt it goes. Every pattern is linear in the text.

const MARK = "[redacted]";

const KEY_BLOCK = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
// One that was cut short goes to the end of the text, one whose start was cut off from the start of it.
const PRIVATE_KEY = new RegExp(`-----BEGIN ${KEY_BLOCK}[\\s\\S]*?(?:-----END ${KEY_BLOCK}|$)`, "g");
const PRIVATE_KEY_TAIL = new RegExp(`^[\\s\\S]*?-----END ${KEY_BLOCK}`);

/**
 * Tokens that issuers made recognisable, wherever they stand: a letter before one may belong to an escape (`\nghp_…`).
 * Lengths are bounded because engines give up on repetitions of many millions.
 */
const ISSUED_TOKENS = new RegExp(
  [
    // GitHub, GitLab, Slack
    "gh[pousr]_\\w{16,999}",
    "github_pat_\\w{20,999}",
    "glpat-[\\w-]{16,999}",
    "xox[a-z]-[\\w-]{10,999}",
    "xapp-[\\w-]{20,999}",
    // AWS, Google, DigitalOcean, Tailscale, Supabase
    "(?:AKIA|ASIA|AGPA|AROA)[0-9A-Z]{16}(?![0-9A-Z])",
    "AIza[\\w-]{30,999}",
    "ya29\\.[\\w-]{16,999}",
    "do[opr]_v1_\\w{32,999}",
    "tskey-[\\w-]{16,999}",
    "sbp_\\w{20,999}",
    // Google OAuth, Vault, Grafana, Figma, Notion, Square, New Relic, Mailgun, Twilio
    "GOCSPX-[\\w-]{20,99}",
    "hvs\\.[\\w-]{20,999}",
    "glsa_\\w{20,99}",
    "figd_[\\w-]{20,99}",
    "ntn_\\w{20,99}",
    "sq0(?:atp|csp)-[\\w-]{20,99}",
    "NRAK-\\w{20,99}",
    "key-[0-9a-f]{32}(?![0-9a-f])",
    "SK[0-9a-f]{32}(?![0-9a-f])",
    // Package registries
    "npm_\\w{30,999}",
    "pypi-\\w[\\w-]{30,999}",
    "dckr_pat_[\\w-]{20,999}",
    // Stripe, Shopify, SendGrid, Linear, Atlassian, Telegram, age
    "[sr]k_(?:live|test)_\\w{10,999}",
    "whsec_\\w{16,999}",
    "shp(?:at|ca|pa|ss)_\\w{20,999}",
    "SG\\.[\\w-]{16,999}\\.[\\w-]{16,999}",
    "lin_api_\\w{20,999}",
    "ATATT3[\\w-]{20,999}",
    "\\d{8,10}:AA[\\w-]{30,999}",
    "AGE-SECRET-KEY-1\\w{20,999}",
    "sk-(?:ant|proj|or-v1)-[\\w-]{20,999}",
    // Model providers. `sk-` also ends words (`task-…`) and starts names (`sk-learn-…`): a long part has to have a
    // digit.
    "(?<![A-Za-z0-9](?<!\\\\[nrt]|\\[[\\d;]{0,9}m))sk-(?:\\w{1,20}-){0,5}(?=\\w{0,60}\\d)\\w{16,999}[\\w-]*",
    "hf_\\w{20,999}",
    "gsk_\\w{20,999}",
    "xai-\\w{20,999}",
    "pplx-\\w{20,999}",
    "r8_\\w{20,999}",
    "nvapi-[\\w-]{20,999}",
    // JWTs, and all else that starts as JSON does in base64
    "eyJ[\\w-]{12,9999}(?:\\.[\\w-]{0,9999}){0,2}",
  ].join("|"),
  "g",
);

/** A quote, perhaps escaped: JSON is often found inside a JSON string. */
const QUOTE = "\\\\{0,7}[\"'`]";
// To the same quote, unless that is escaped once more, or to the end of the line. The group is named for its reference.
const QUOTED = `(?<quote>${QUOTE})[^\\n]*?(?:(?<!\\\\)\\k<quote>|(?=\\n)|$)`;
const BARE = "[^\\s\"'`<>]+";
/** In plain quotes, closed or not. */
const IN_QUOTES = `"[^"\\n]*"?|'[^'\\n]*'?`;
/** A value as a shell puts words together (`ab"cd"`): parts touch, and there is no punctuation where they do. */
const TOUCH = "(?<![,;:&|=(\\[{\\\\])(?=[\"']?[^\\s\"'`,;:&|)\\]}<>\\\\])";
const VALUE = new RegExp(`(?:${QUOTED}|${BARE})(?:${TOUCH}(?:${IN_QUOTES}|${BARE}))*`, "y");

/** What stands between a name and its value: `NAME=`, `"name": `, `name => "`, `name := `, `<name>…</`. */
const LINK = `(?:${QUOTE})?\\]?[ \\t]*(?:=>(?=[ \\t]*["'])|:=|=(?![=>])|:(?!:)|>(?=[^\\s<>]{1,400}</))[ \\t]*`;
const NAMED = new RegExp(`(?<![\\w-])(?:([\\w-]{1,100})(${LINK})|(-[\\w-]{1,100})[ \\t]+)`, "g");

/** What makes a name secret, in lower case with `_` between its words. */
const SECRET_NAME = new RegExp(
  [
    // Also at the end of a word (PGPASSWORD), but not at its start (tokenizer)
    "(?:passw(?:or)?d|passphrase|passcode|secret|credential|token)s?(?![a-z])",
    // Whole words only: compass, bypass
    "(?:^|_)(?:pass|pwd)(?![a-z])",
    // Other keys are often public, foreign or primary
    "(?:api|access|private|secret|encryption|signing|auth|master|deploy|ssh|licen[cs]e|account|storage)_?key(?![a-z])",
    // _auth in .npmrc, but not SSH_AUTH_SOCK
    "_auth$",
  ].join("|"),
);
const SHOUTED_KEY = /[A-Z0-9]_KEY(?![A-Z])/;
/** Last words of names that say something about a secret. */
const ABOUT_SECRETS = /_(?:url|uri|endpoint|path|file|name|type|count|limit|budget|usage|ttl)$/;

const NUMBER = /^["']?\d[\d.,]{0,14}[kKM%]?(?![\w-])/;
// Types and constants: code that only names a secret.
const TYPES = "string|str|number|int|bool(?:ean)?|bytes|any|unknown|optional|promise";
const CONSTANTS = "null|none|undefined|true|false";
const NO_SECRET = new RegExp(`^(?:${TYPES}|${CONSTANTS})(?![^\\s,;)\\]}<|&[])`, "i");
const FOLDER = /^["']?(?:[/~.]|[A-Za-z]:)/;
/** A word with something that prose seldom has. */
const UNLIKE_PROSE = /^(?:\\{0,7}["'`]|\S{0,100}[\d!@#$%^&*+/=])/;
/** As much of a value as is looked at to decide. */
const MAX_LOOK_CHARS = 120;

type Rule = readonly [pattern: RegExp, replacement: string];

/** Returns a rule that takes out what `secret` matches where `before`, which stays, leads up to it. */
function rule(before: string, secret: string, flags = "g"): Rule {
  return [new RegExp(`(${before})${secret}`, flags), `$1${MARK}`];
}

const BLANKS = "[ \\t]{1,9}";
/** What may close the name of a header, in JSON. */
const NAME_END = "(?:\\\\{0,7}[\"'])?[ \\t]*";
const VALUE_START = `[ \\t]*(?:${QUOTE})?`;
/** From the name of a program to an option of it. */
const TO_OPTION = "\\b[^\\n|;&]{0,200}?[ \\t]";
const SHELL_WORD = `(?:${IN_QUOTES}|[^\\s"']{1,400})`;
const USER_OPTION = "(?:^|\\s)(?:-u|--(?:proxy-)?user)[ \\t=]{0,9}";
const SECRET_SETTING = "(?:token|passw(?:or)?d|secret|(?:api|access|private|auth)[_-]?key)";
const SECRET_IN_PROSE = "(?:password|passphrase|passcode|token|secret|api key|access key)";

/** Secrets that show by what stands around them. */
const SHOWN_BY_CONTEXT: readonly Rule[] = [
  // scheme://user:password@host, and https://token@host
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:"'<>]{0,200}:[^\s/"'<>]{1,400}@/gi, `$1${MARK}@`],
  [/(https?:\/\/)[^\s/@:"'<>]{16,400}@/gi, `$1${MARK}@`],
  // The header, with a scheme or without
  rule(
    `authorization${NAME_END}[:=]${VALUE_START}`,
    "(?:(?:bearer|basic|token|digest|apikey)[ \\t]+)?[^\\s\"'`,\\\\]+",
    "gi",
  ),
  // Cookies, and signatures in addresses
  rule(`(?:set-)?cookie${NAME_END}:${VALUE_START}`, "[^\\s\"'`\\\\][^\\n\"'`\\\\]{0,4000}", "gi"),
  rule("[?&](?:sig|signature|x-amz-signature)=", "[^\\s&\"'`<>]{8,999}", "gi"),
  // mysql -pPASSWORD: the flag and its value are one word
  rule(`\\b(?:mysql|mysqldump|mysqladmin|mariadb)${TO_OPTION}-p`, "[^\\s\"']{3,200}"),
  // Programs whose short flag takes a password
  rule(`\\b(?:sshpass|redis-cli|(?:docker|podman)[ \\t]+login)${TO_OPTION}-[pa][ \\t]?`, SHELL_WORD),
  rule(`\\bgh[ \\t]+secret[ \\t]+set${TO_OPTION}(?:--body|-b)[ \\t=]{1,9}`, SHELL_WORD),
  // aws configure set aws_secret_access_key VALUE
  rule(
    `\\b(?:set|config)${BLANKS}(?:--[\\w-]{1,40}${BLANKS}){0,3}\\S{0,100}${SECRET_SETTING}\\w{0,20}${BLANKS}`,
    "(?=\\S{0,100}[\\d!@#$%^&*+/=])[\"']?[^\\s\"']{4,400}",
    "gi",
  ),
  // curl -u user:password; numbers are ids (`docker run -u 1000:1000`)
  rule(`${USER_OPTION}(["'])[^\\s:"']{1,100}:`, "[^\\n]*?(?=\\2|\\n|$)"),
  rule(`${USER_OPTION}(?!\\d{1,9}:\\d)[^\\s:"']{1,100}:`, `(?!\\/\\/)(?:${IN_QUOTES}|[^\\s"']+)`),
];
/** The same in prose, for what is left. */
const SHOWN_BY_WORDS: readonly Rule[] = [
  [/\b(bearer|basic)[ \t]{1,9}(?=[^\s"']{0,200}\d|[^\s"']{24})[\w.~+/=-]{8,9999}/gi, `$1 ${MARK}`],
  // "the password is …": without a digit it would be prose
  rule(`\\b${SECRET_IN_PROSE}${BLANKS}(?:is|was)[:=]?${BLANKS}["'\`]?`, "(?=\\S{0,100}\\d)[^\\s\"'`]{6,999}", "gi"),
];

/** Returns `text` with secrets replaced by `[redacted]`. Linear; never throws. */
export function redact(text: string): string {
  let safe = text.replace(PRIVATE_KEY, MARK);
  if (safe.includes("PRIVATE KEY")) safe = safe.replace(PRIVATE_KEY_TAIL, MARK);
  for (const [pattern, replacement] of SHOWN_BY_CONTEXT) safe = safe.replace(pattern, replacement);
  safe = redactNamed(safe).replace(ISSUED_TOKENS, MARK);
  for (const [pattern, replacement] of SHOWN_BY_WORDS) safe = safe.replace(pattern, replacement);
  return safe;
}

/** Replaces the values of secret names. What is not replaced is searched on: a value may hold names (`?token=…`). */
function redactNamed(text: string): string {
  let kept = "";
  let from = 0;
  NAMED.lastIndex = 0;
  for (let match = NAMED.exec(text); match; match = NAMED.exec(text)) {
    const start = NAMED.lastIndex;
    const { 1: setting, 2: link = "", 3: flag = "" } = match;
    if (!isSecret(setting ?? flag, link, text.slice(start, start + MAX_LOOK_CHARS))) continue;
    VALUE.lastIndex = start;
    if (!VALUE.test(text)) continue;
    kept += text.slice(from, start) + MARK;
    from = VALUE.lastIndex;
    NAMED.lastIndex = from;
  }
  return kept + text.slice(from);
}

function isSecret(name: string, link: string, value: string): boolean {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])|-/g, "_").toLowerCase();
  if (!(SECRET_NAME.test(words) || SHOUTED_KEY.test(name)) || ABOUT_SECRETS.test(words)) return false;
  if (value.startsWith(MARK) || NO_SECRET.test(value)) return false;
  if (words.includes("token") && NUMBER.test(value)) return false;
  if (words === "pwd" && FOLDER.test(value)) return false;
  // `password: why`, `PASS: 12` are prose and reports; `DB_PASSWORD: why` is a setting.
  if (!link.includes(":") || link.includes("=")) return true;
  if (words === "pass") return /^["'`]/.test(value);
  return /\w[_-]\w/.test(name) || name === name.toUpperCase() || UNLIKE_PROSE.test(value);
}

// Secrets that show by what stands around them: addresses, headers, options of programs, SQL, words of prose. What has
// the name of a secret ahead of it, as a setting has, is the work of `redact`.
export const MARK = "[redacted]";

/** A quote, perhaps escaped: JSON is often found inside a JSON string. */
export const QUOTE = "\\\\{0,7}[\"'`]";
// To the same quote, unless that is escaped once more, or to the end of the line. The group is named for its reference.
export const QUOTED = `(?<quote>${QUOTE})[^\\n]*?(?:(?<!\\\\)\\k<quote>|(?=\\n)|$)`;
export const BARE = "[^\\s\"'`<>]+";
/** In plain quotes, closed or not. */
export const IN_QUOTES = `"[^"\\n]*"?|'[^'\\n]*'?`;
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
const QUOTED_WORD = `(?:${IN_QUOTES})`;
const SHELL_WORD = `(?:${IN_QUOTES}|[^\\s"']{1,400})`;
/** Programs of which `-u` takes a name and a password. */
const USER_OPTION = `\\b(?:curl|wget|https?|xh|ab|siege)${TO_OPTION}(?:-u|--(?:proxy-)?user)[ \\t=]{0,9}`;
const SECRET_SETTING = "(?:token|passw(?:or)?d|secret|(?:api|access|private|auth)[_-]?key)";
const PASSWORD_IN_PROSE = [
  "passwords?|passphrase|passcode|credentials?|token|secret|api key|access key|passwort|kennwort|zugangsdaten",
  "contraseña|clave|senha|mot de passe|пароль|密码|密碼|口令|パスワード",
].join("|");
const IS = "(?::|：|is|was|ist|lautet|es|est|é|是|为|は)";
/** No number alone, no version and no name of a method; with a digit or a sign that prose seldom has inside. */
const UNLIKE_A_WORD = [
  "(?!\\d[\\d.,]*(?:[^\\w]|$)|[\\w.$]{1,60}\\(|(?:sha|md|utf|oauth|base|argon|pbkdf|http|v)-?\\d)",
  "(?=\\S{0,100}(?:\\d|[!@#$%^&*+=]\\w))[^\\s\"'`,;]{6,999}",
].join("");

/** Programs, and their options that take a password: in the next word, or in the same one. */
const PASSWORD_OPTIONS = [
  `(?:mysql|mysqldump|mysqladmin|mariadb)${TO_OPTION}-p`,
  `(?:sshpass|redis-cli|mongo\\w{0,9}|(?:docker|podman)[ \\t]+login)${TO_OPTION}(?:-[pa]|--password(?!-))[ \\t=]?`,
  `gh[ \\t]+secret[ \\t]+set${TO_OPTION}(?:--body|-b)[ \\t=]{1,9}`,
  `(?:sqlcmd|unzip|zip)${TO_OPTION}-P[ \\t]*`,
  `(?:7z[ar]?|rar|unrar)${TO_OPTION}-p`,
  `ldap\\w{1,12}${TO_OPTION}-w[ \\t]*`,
  `openssl${TO_OPTION}-k[ \\t]+`,
  `openssl${TO_OPTION}-pass(?:in|out)?[ \\t]+pass:`,
  `smbclient${TO_OPTION}-U[ \\t]*[^\\s%]{1,100}%`,
  `htpasswd[ \\t]+-[a-zA-Z]{0,5}b[a-zA-Z]{0,5}[ \\t]+\\S{1,200}[ \\t]+\\S{1,200}[ \\t]+`,
].join("|");

const SCHEME = "\\b([a-z][a-z0-9+.-]{1,20}://)";
const BY = "identified[ \\t]{1,9}(?:with[ \\t]{1,9}\\S{1,40}[ \\t]{1,9})?by";
const OF_WHAT = "(?:[ \\t]{1,9}(?:for|of|to|zum|für|para|pour|del?|du)[ \\t][^\\n:.]{1,40}?)?";

/** Secrets that show by what stands around them. */
export const SHOWN_BY_CONTEXT: readonly Rule[] = [
  // scheme://user:password@host, and https://token@host; a slash in a password makes no port of it
  [new RegExp(`${SCHEME}[^\\s/@:"'<>]{0,200}:[^\\s/"'<>]{1,400}@`, "gi"), `$1${MARK}@`],
  [
    new RegExp(
      `${SCHEME}[^\\s/@:"'<>]{1,200}:(?!\\d{1,5}[/?#])[^\\s"'<>@]{1,200}@(?=[\\w.-]{1,200}(?:[:/?\\s]|$))`,
      "gi",
    ),
    `$1${MARK}@`,
  ],
  [/(https?:\/\/)[^\s/@:"'<>]{16,400}@/gi, `$1${MARK}@`],
  // Addresses that are a secret themselves: whoever knows them may post
  rule("hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/", "[\\w/+-]{8,999}"),
  rule("discord(?:app)?\\.com/api/webhooks/\\d{1,25}/", "[\\w-]{8,999}"),
  rule("webhook\\.office\\.com/webhookb2/|hooks\\.zapier\\.com/hooks/catch/", "[\\w/@+-]{8,999}"),
  // The header, with a scheme or without
  rule(
    `authorization${NAME_END}[:=]${VALUE_START}`,
    "(?:(?:bearer|basic|token|digest|apikey)[ \\t]+)?[^\\s\"'`,\\\\]+",
    "gi",
  ),
  // Cookies, and signatures in addresses
  rule(`(?:set-)?cookie${NAME_END}:${VALUE_START}`, "[^\\s\"'`\\\\][^\\n\"'`\\\\]{0,4000}", "gi"),
  rule("[?&](?:sig|signature|x-amz-signature)=", "[^\\s&\"'`<>]{8,999}", "gi"),
  rule(`\\bcurl${TO_OPTION}(?:-b|--cookie)[ \\t=]{0,9}`, `(?=["']?[^\\s"'=]{1,200}=)${SHELL_WORD}`),
  rule(`\\becho${BLANKS}(?:-n${BLANKS})?`, `${SHELL_WORD}(?=[ \\t]*\\|[^\\n|]{0,200}--password-stdin)`),
  rule(`\\b(?:${PASSWORD_OPTIONS})`, SHELL_WORD),
  // netrc, on one line or on three
  rule(
    "\\b(?:machine[ \\t]{1,9}\\S{1,200}|default)\\s{1,40}(?:login\\s{1,40}\\S{1,200}\\s{1,40})?password[ \\t]{1,9}",
    "\\S{1,400}",
  ),
  // SQL
  rule(`\\b(?:password|${BY})(?:[ \\t]{1,9}|[ \\t]{0,9}[=(][ \\t]{0,9})`, "'[^'\\n]{1,400}'?", "gi"),
  // HCL: the name stands outside; `define("NAME", "…")` and its like
  rule(
    `\\bvariable${BLANKS}"[^"\\n]{0,100}${SECRET_SETTING}[^"\\n]{0,40}"[^}]{0,400}?default[ \\t]*=[ \\t]*`,
    QUOTED_WORD,
  ),
  rule(
    `\\b(?:define|setenv|putenv|getenv|fetch)\\([ \\t]*["'][^"'\\n]{0,100}${SECRET_SETTING}["'],[ \\t]*`,
    QUOTED_WORD,
    "gi",
  ),
  // aws configure set aws_secret_access_key VALUE
  rule(
    `\\b(?:set|config)${BLANKS}(?:--[\\w-]{1,40}${BLANKS}){0,3}\\S{0,100}${SECRET_SETTING}\\w{0,20}${BLANKS}`,
    "(?=\\S{0,100}[\\d!@#$%^&*+/=])[\"']?[^\\s\"']{4,400}",
    "gi",
  ),
  // curl -u user:password; numbers are ids (`docker run -u 1000:1000`)
  rule(`${USER_OPTION}(["'])[^\\s:"']{1,100}:`, "[^\\n]*?(?=\\2|\\n|$)"),
  rule(`${USER_OPTION}(?!\\d{1,9}:\\d)[^\\s:"']{1,100}:`, `(?!\\/\\/)(?:${IN_QUOTES}|[^\\s"']+)`),
  // PuTTY's key files
  rule("^Private-(?:Lines: \\d{1,4}\\r?\\n|MAC: )", "[\\w+/=]{8,999}(?:\\r?\\n[\\w+/=]{8,999}){0,99}", "gm"),
];
/** The same in prose, for what is left. */
export const SHOWN_BY_WORDS: readonly Rule[] = [
  [/\b(bearer|basic)[ \t]{1,9}(?=[^\s"']{0,200}\d|[^\s"']{24})[\w.~+/=-]{8,9999}/gi, `$1 ${MARK}`],
  // "the password (for the db) is …": without a digit it would be prose
  rule(
    `(?<![\\p{L}\\d_-])(?:${PASSWORD_IN_PROSE})${OF_WHAT}[ \\t]{0,9}${IS}[:=]?[ \\t]{0,9}["'\`]?`,
    UNLIKE_A_WORD,
    "giu",
  ),
  rule(
    `\\b(?:with|the|and|use|using)${BLANKS}(?:the${BLANKS})?(?:password|passphrase)${BLANKS}["'\`]?`,
    UNLIKE_A_WORD,
    "gi",
  ),
];

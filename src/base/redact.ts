// Takes secrets out of text before it is sent or stored. Paths, SHAs and UUIDs stay: only what is a secret by its shape
// or by the name it is given goes. In doubt it goes. Every pattern is linear in the text.

import { CUT_TOKENS, ISSUED_TOKENS } from "./issued-tokens.ts";
import { BARE, IN_QUOTES, MARK, QUOTE, QUOTED, SHOWN_BY_CONTEXT, SHOWN_BY_WORDS } from "./redact-rules.ts";

const KEY_BLOCK = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
// One that was cut short goes to the end of the text, one whose start was cut off from the start of it.
const PRIVATE_KEY = new RegExp(`-----BEGIN ${KEY_BLOCK}[\\s\\S]*?(?:-----END ${KEY_BLOCK}|$)`, "g");
const PRIVATE_KEY_TAIL = new RegExp(`^[\\s\\S]*?-----END ${KEY_BLOCK}`);

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
    "(?:^|_)(?:(?:ssh|db|my|pg|ftp|smtp)?pass|pwd)(?![a-z])",
    // Other keys are often public, foreign or primary
    "(?:api|access|private|secret|encryption|signing|auth|master|deploy|ssh|licen[cs]e|account)_?key(?![a-z])",
    "key_data$",
    // _auth in .npmrc, but not SSH_AUTH_SOCK
    "_auth$",
  ].join("|"),
);
const SHOUTED_KEY = /[A-Z0-9]_KEY(?![A-Z])/;
/** Of such a name alone, what a program made up; `STORAGE_KEY = "theme"` is a name in an app. */
const MADE_UP = /^[^\w\s]{0,8}(?=[\w+/=.~-]{0,200}\d)(?=[\w+/=.~-]{0,200}[A-Za-z])[\w+/=.~-]{10}/;
/** What docker keeps: base64 of a name and a password. */
const DOCKER_AUTH = /^\\{0,7}["'](?=[\w+/=-]{0,200}[A-Z\d])[\w+/=-]{8}/;
/** Last words of names that say something about a secret. */
const ABOUT_SECRETS = new RegExp(
  "_(?:url|uri|endpoint|path|file|name|type|count|limit|budget|usage|ttl|chars|length|size|prefix|header|pattern|" +
    "variable)$",
);
/** Nothing yet, a sign for something, a call, or a pattern: code that only names a secret. */
const NO_VALUE =
  /^(?:["'`]{2}(?!["'`])|["'`]?(?:…|\.{3})|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*){0,9}(?:\?\.)?\(|\/\S*[[(\\])/;

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

/** Returns `text` with secrets replaced by `[redacted]`. Linear; never throws. */
export function redact(text: string): string {
  let safe = text.replace(PRIVATE_KEY, MARK);
  if (safe.includes("PRIVATE KEY")) safe = safe.replace(PRIVATE_KEY_TAIL, MARK);
  for (const [pattern, replacement] of SHOWN_BY_CONTEXT) safe = safe.replace(pattern, replacement);
  safe = redactNamed(safe).replace(ISSUED_TOKENS, MARK).replace(CUT_TOKENS, MARK);
  for (const [pattern, replacement] of SHOWN_BY_WORDS) safe = safe.replace(pattern, replacement);
  return safe;
}

/** A value that goes on below its name: YAML's blocks, heredocs, a quoted text on the next line; and a list. */
const BLOCKS = [
  /[|>][+-]?\d{0,2}[ \t]*(?:#[^\n]*)?\n(?:[ \t]+[^\n]*(?:\n|$)){1,200}/y,
  /<<[-~]?["']?(\w{1,40})["']?\n[\s\S]{0,9999}?(?:\n[ \t]*\1(?!\w)|$)/y,
  /\r?\n[ \t]{0,200}(?:"[^"\n]{1,999}"?|'[^'\n]{1,999}'?)/y,
  /\[[ \t]*["'][^\]\n]{0,2000}\]?/y,
];

/** Replaces the values of secret names. What is not replaced is searched on: a value may hold names (`?token=…`). */
function redactNamed(text: string): string {
  let kept = "";
  let from = 0;
  NAMED.lastIndex = 0;
  for (let match = NAMED.exec(text); match; match = NAMED.exec(text)) {
    const start = NAMED.lastIndex;
    const { 1: setting, 2: link = "", 3: flag = "" } = match;
    const end = endOfValue(text, start, setting ?? flag, link);
    if (end === undefined) continue;
    kept += text.slice(from, start) + MARK;
    // A block keeps the break at its end.
    from = text[end - 1] === "\n" ? end - 1 : end;
    NAMED.lastIndex = from;
  }
  return kept + text.slice(from);
}

/** Returns where the value of a secret name ends; undefined where it is none. */
function endOfValue(text: string, start: number, name: string, link: string): number | undefined {
  if (!isSecret(name, link, text.slice(start, start + MAX_LOOK_CHARS))) return undefined;
  const pattern = [...BLOCKS, VALUE].find((each) => {
    each.lastIndex = start;
    return each.test(text);
  });
  return pattern?.lastIndex;
}

function isSecret(name: string, link: string, value: string): boolean {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])|-/g, "_").toLowerCase();
  if (words === "auth") return link.includes(":") && DOCKER_AUTH.test(value);
  const isNamed = SECRET_NAME.test(words);
  if (!(isNamed || (SHOUTED_KEY.test(name) && MADE_UP.test(value))) || ABOUT_SECRETS.test(words)) return false;
  if (value.startsWith(MARK) || NO_SECRET.test(value) || NO_VALUE.test(value)) return false;
  if (words.includes("token") && NUMBER.test(value)) return false;
  // `this.token = token`
  if (/\s/.test(link) && value.startsWith(name) && !/^\w/.test(value.slice(name.length))) return false;
  // Of a model's tokens, and of a parser's, there are many.
  if (words.endsWith("tokens") && !MADE_UP.test(value)) return false;
  if (words === "pwd" && FOLDER.test(value)) return false;
  // `password: why`, `PASS: 12` are prose and reports; `DB_PASSWORD: why` is a setting.
  if (!link.includes(":") || link.includes("=")) return true;
  if (/^[|>][+-]?\d{0,2}[ \t]*\n/.test(value)) return true;
  if (words === "pass") return /^["'`]/.test(value);
  if (/^\[[ \t]*["']/.test(value)) return true;
  return /\w[_-]\w/.test(name) || name === name.toUpperCase() || UNLIKE_PROSE.test(value);
}

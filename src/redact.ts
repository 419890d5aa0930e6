// Takes secrets out of text before it is sent or stored. Paths, SHAs and UUIDs stay: only what is a secret by its shape
// or by the name it is given goes. Every pattern is linear in the text.

const MARK = "[redacted]";

const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;
const PRIVATE_KEY_TAIL = /^[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;

/** Tokens that issuers made recognisable. */
const ISSUED_TOKENS = new RegExp(
  [
    "\\bsk-[\\w-]{16,}", "\\b[sr]k_(?:live|test)_\\w{10,}", "\\bwhsec_\\w{16,}", "\\bgh[pousr]_\\w{16,}",
    "\\bgithub_pat_\\w{20,}", "\\bglpat-[\\w-]{16,}", "\\bxox[a-z]-[\\w-]{10,}", "\\bxapp-[\\w-]{20,}",
    "\\b(?:AKIA|ASIA|AGPA|AROA)[0-9A-Z]{16}\\b", "\\bAIza[\\w-]{30,}", "\\bya29\\.[\\w-]{16,}", "\\bnpm_\\w{30,}",
    "\\bpypi-\\w[\\w-]{30,}", "\\bhf_\\w{20,}", "\\bgsk_\\w{20,}", "\\bxai-\\w{20,}", "\\bpplx-\\w{20,}", "\\br8_\\w{20,}",
    "\\bnvapi-[\\w-]{20,}", "\\bSG\\.[\\w-]{16,}\\.[\\w-]{16,}", "\\bdo[opr]_v1_\\w{32,}", "\\bshp(?:at|ca|pa|ss)_\\w{20,}",
    "\\blin_api_\\w{20,}", "\\bATATT3[\\w-]{20,}", "\\bdckr_pat_[\\w-]{20,}", "\\btskey-[\\w-]{16,}", "\\bsbp_\\w{20,}",
    "\\bAGE-SECRET-KEY-1\\w{20,}", "\\b\\d{8,10}:AA[\\w-]{30,}", "\\beyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*)?",
  ].join("|"),
  "g",
);

const AUTHORIZATION = /\b((?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?)(?:(?:bearer|basic|token|digest)\s{1,3})?[^\s"',]+/gi;
const BEARER = /\b(bearer|basic)\s{1,3}(?=[^\s"']{0,200}\d|[^\s"']{16})[\w.~+/=-]{8,}/gi;

const QUOTED_OR_WORD = `("(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?|\`[^\`\\n]*\`?|[^\\s"'\`<>]+)`;
const SECRET_NAMES = [
  "secret", "token(?!s\\w*[\"']?\\s{0,3}[=:]\\s{0,3}\\d{1,9}\\b)(?!i[sz])", "passw(?:or)?d", "passphrase", "(?<=_)pwd", "(?<=_)pass",
  "credentials?", "(?:api|access|private|secret|encryption|signing|auth|master|deploy|ssh|licen[cs]e|account|storage)[_-]?key",
  "(?<=_)auth(?![a-z])",
].join("|");
/** `NAME=value`, `"name": "value"`, `--name=value`: the name says that the value is a secret. */
const NAMED_VALUE = new RegExp(`((?:${SECRET_NAMES})[\\w.-]{0,48}["']?\\s{0,3}(?:=>|:=|=)\\s{0,3})${QUOTED_OR_WORD}`, "gi");
const NAMED_FIELD = new RegExp(`((?:${SECRET_NAMES})[\\w.-]{0,48}["']?\\s{0,3}:\\s{0,3})(?=["'\`]|[^\\s]{0,100}[\\d!@#$%^&*+/=])${QUOTED_OR_WORD}`, "gi");
const SHOUTED_KEY = new RegExp(`(\\b[A-Z0-9_]{1,64}_KEY["']?\\s{0,3}[=:]\\s{0,3})${QUOTED_OR_WORD}`, "g");
const FLAG_VALUE = /(--?(?:password|passwd|pass|token|secret|api-?key|access-?key|auth-?token)\s{1,3})(?!-)("[^"\n]*"?|'[^'\n]*'?|[^\s"']+)/gi;
const BASIC_FLAG = /((?:^|\s)(?:-u|--user)[ =]{1,3}["']?[^\s:"']{1,100}:)[^\s"']+/g;
const SPOKEN = /\b((?:password|passphrase|passcode|token|secret|api key|access key)\s{1,3}(?:is|was|=)\s{1,3}["'`]?)(?=[^\s]{0,100}\d)[^\s"'`]{6,}/gi;

const URL_PASSWORD = /\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:"'<>]{0,200}:[^\s/"'<>]{1,400}@/gi;
const URL_TOKEN = /\b(https?:\/\/)[^\s/@:"'<>]{16,400}@/gi;

/** Returns `text` with secrets replaced by `[redacted]`. Linear; never throws. */
export function redact(text: string): string {
  let safe = text.replace(PRIVATE_KEY, MARK);
  if (safe.includes("PRIVATE KEY")) safe = safe.replace(PRIVATE_KEY_TAIL, MARK);
  return safe
    .replace(URL_PASSWORD, `$1${MARK}@`)
    .replace(URL_TOKEN, `$1${MARK}@`)
    .replace(AUTHORIZATION, `$1${MARK}`)
    .replace(ISSUED_TOKENS, MARK)
    .replace(BEARER, `$1 ${MARK}`)
    .replace(NAMED_VALUE, `$1${MARK}`)
    .replace(NAMED_FIELD, `$1${MARK}`)
    .replace(SHOUTED_KEY, `$1${MARK}`)
    .replace(FLAG_VALUE, `$1${MARK}`)
    .replace(BASIC_FLAG, `$1${MARK}`)
    .replace(SPOKEN, `$1${MARK}`);
}

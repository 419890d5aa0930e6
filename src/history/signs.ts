// Text that the server's security scan would refuse for its signs (palinode-api.md, 2.10): rules made short, and signs
// taken out where little else stands.

/** The server refuses texts of which more than 0.4 are other characters than these. */
const SPECIAL = /[^\p{L}\p{N} .,!?\-_\n#:()[\]{}'"]/gu;
const MAX_SPECIAL_SHARE = 0.35;
/** Accents of their own, without which words of many scripts cannot be read. */
const SIGN = /[^\p{L}\p{M}\p{N} .,!?\-_\n#:()[\]{}'"]/gu;
/** A rule of the same sign; three of them say as much. */
const RULE = /([^\p{L}\p{N}\s])\1{7,}/gu;

/** Returns the text that `make` makes: as it is where the server takes it, else with fewer signs in its parts. */
export function bearable(make: (soften: (part: string) => string) => string): string {
  // As it is, else without what the server counts as signs; last of all without accents, which it counts too.
  const drafts = [(part: string) => part, (part: string) => calm(part, SIGN), (part: string) => calm(part, SPECIAL)];
  const texts = drafts.map(make);
  return texts.find((text) => !isNoisy(text)) ?? texts.at(-1) ?? "";
}

/** Returns text with three signs in place of eight or more of the same. */
export function withShortRules(text: string): string {
  return text.replace(RULE, "$1$1$1");
}

/** Takes signs out of lines that hold little else, and lines that hold nothing else. */
function calm(text: string, signs: RegExp): string {
  const lines = text.split("\n").map((line) => {
    if (!isNoisy(line)) return line;
    return line.replace(signs, " ").replace(/ {2,}/g, " ").trim();
  });
  return lines.filter((line) => /[\p{L}\p{N}]/u.test(line)).join("\n");
}

function isNoisy(text: string): boolean {
  return (text.match(SPECIAL)?.length ?? 0) > MAX_SPECIAL_SHARE * [...text].length;
}

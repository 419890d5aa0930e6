// Names of code as words: memories are written in sentences, prompts name `chargeAttempt.ts`.

const MAX_NAMES = 12;
const TOKEN = /[\p{L}\p{N}_$@./\\-]*[\p{L}\p{N}_]/gu;

/**
 * Returns the names in a text as words: camelCase, PascalCase and snake_case taken apart, and the stems of paths; each
 * once, at most 12. What a hyphen joins is words already.
 */
export function spelledNames(text: string): string[] {
  const names = [...text.matchAll(TOKEN)].flatMap(([token]) => partsOf(token).flatMap((part) => spelled(part, token)));
  return [...new Set(names)].slice(0, MAX_NAMES);
}

/** The file of a path, or the members that dots join. */
function partsOf(token: string): string[] {
  const last = token.slice(Math.max(token.lastIndexOf("/"), token.lastIndexOf("\\")) + 1).replace(/\.[a-z]{1,5}$/i, "");
  return token.includes("/") ? [last] : last.split(".");
}

function spelled(name: string, token: string): string[] {
  const words = name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/[_$@]+/g, " ")
    .trim()
    .toLowerCase();
  const isStem = token !== name && token.includes("/") && words.length > 2;
  return (isStem || words.includes(" ")) && /\p{L}{2}/u.test(words) ? [words] : [];
}

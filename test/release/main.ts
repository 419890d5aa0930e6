// `npm run release:check`: everything that has to hold of a release, a line each. Exits with 1 when something does not.
import {
  hasChecksum,
  hasLicence,
  hasOneVersion,
  installsAsReadmeSays,
  installsInCline,
  isReproducible,
  isSmall,
  packsOnlyWhatItShould,
} from "./checks.ts";

const CHECKS: readonly [string, () => Promise<string>][] = [
  ["reproducible", isReproducible],
  ["dist/palinode.js.sha256", hasChecksum],
  ["version", hasOneVersion],
  ["size", isSmall],
  ["licence", hasLicence],
  ["npm pack", packsOnlyWhatItShould],
  ["README's release line", installsAsReadmeSays],
  ["cline plugin install", installsInCline],
];

for (const [name, check] of CHECKS) {
  try {
    console.log(`ok      ${name}: ${await check()}`);
  } catch (error) {
    // What an assertion adds to its message takes many lines.
    console.log(`failed  ${name}: ${(error instanceof Error ? error.message : String(error)).split("\n", 1)[0]}`);
    process.exitCode = 1;
  }
}

// Fuzzes the session files that Cline leaves: recorded ones with odd places, cut ones, and foreign ones in their place.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findSessions } from "../../src/history/find.ts";
import { readSession } from "../../src/history/read.ts";
import { resumeLine } from "../../src/history/sessions.ts";
import { memoryOf } from "../../src/history/snapshot.ts";
import type { Random } from "../helpers/random.ts";
import type { Fuzzer } from "./driver.ts";
import { mutated, SECRETS, someText, spoilt } from "./values.ts";

declare const REPOSITORY: string;

const RECORDED = join(REPOSITORY, "test/recordings/sessions");
const MAX_BODY_CHARS = 6000;

export async function openPastFuzzer(): Promise<Fuzzer> {
  const folder = mkdtempSync(join(tmpdir(), "palinode-fuzz-past-"));
  return {
    run: async (random) => runCase(folder, random),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function runCase(folder: string, random: Random): void {
  const root = mkdtempSync(join(folder, "case-"));
  cpSync(RECORDED, root, { recursive: true });
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".json"),
  )) {
    if (random.chance(0.6)) spoil(join(root, name), random);
  }
  const told: string[] = [];
  const warn = (text: string): void => void told.push(text);
  for (const session of findSessions(
    { PALINODE_CLINE_ROOT: root, PALINODE_CLINE_ROOTS: join(folder, "none"), HOME: folder },
    warn,
  )) {
    const read = readSession(session, warn);
    if (read === undefined) continue;
    const body = memoryOf(read, "shop");
    const text = JSON.stringify(body);
    assert.ok(
      String(body.content).length <= MAX_BODY_CHARS && text.isWellFormed() && String(body.content).isWellFormed(),
      "a memory over its cap, or half a character",
    );
    for (const secret of SECRETS) assert.ok(!text.includes(secret), `${secret} would be sent: ${text}`);
    assert.equal(typeof resumeLine(read), "string");
  }
  assert.ok(told.every((line) => line.length < 2000));
  rmSync(root, { recursive: true, force: true });
}

function spoil(path: string, random: Random): void {
  const text = readFileSync(path, "utf8");
  if (random.chance(0.3)) {
    writeFileSync(path, spoilt(random, text));
    return;
  }
  let value: unknown = JSON.parse(text);
  for (let count = random.below(4) + 1; count > 0; count -= 1) value = mutated(random, value);
  writeFileSync(
    path,
    (JSON.stringify(value) ?? "").replace("retry", () =>
      random.chance(0.5)
        ? `retry ${random.pick(SECRETS)} ${someText(random, 2).replace(/["\\\u0000-\u001f]/g, "")}`
        : "retry",
    ),
  );
}

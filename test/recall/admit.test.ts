// What of the findings goes into the ledger, and what is said of the rest: without a server and without a host.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../src/cline/messages.ts";
import type { Prompt } from "../../src/cline/prompt.ts";
import { admit, hasRoom, type Injected, type Occasion } from "../../src/recall/admit.ts";
import type { Channel, Finding, Memory } from "../../src/recall/finding.ts";
import { countHits, visibleIn } from "../../src/recall/replay.ts";

const CONFIG = {
  injectMaxChars: 4000,
  recallMaxChars: 3000,
  recallMaxResults: 3,
  sessionMaxChars: 24_000,
  tools: true,
};
const PROMPT: Prompt = { key: "prompt", message: { id: "m1", role: "user", content: "x", createdAt: 1 } };
const NOTHING: Injected = { ledger: [], carried: [] };

function occasion(more: Partial<Occasion> = {}): Occasion {
  return { prompt: PROMPT, isLate: false, ...more };
}

function finding(channel: Channel, ...memories: Memory[]): Finding {
  return { channel, memories };
}

function core(name: string): Memory {
  const [path, words] = [`core/${name}.md`, `${name} — always`];
  const entry = { lines: [`- [${path}] ${words}`] };
  return { source: "digest", keys: [`core ${name}`], path, score: null, words, gist: words, entry };
}

function hit(
  name: string,
  words = `${name} says ${name} of ${name}s and nothing of anything else`,
  path = `m/${name}.md`,
): Memory {
  const entry = { heading: "### Related memories", lines: [`- [${path}] (80% match) ${words}`] };
  return { source: "hit", keys: [`hit ${words}`], path, score: 0.8, words, gist: words, entry };
}

function trigger(name: string, text = `The text of ${name}.`): Memory {
  const [path, heading] = [`t/${name}.md`, `### Trigger fired: t/${name}.md`];
  const entry = { lines: [heading, ...text.split("\n")] };
  const mention = { lines: [heading, "(its text stands further up)"] };
  return { source: "trigger", keys: [`text ${name}`], path, score: 1, gist: text, entry, mention };
}

function resolution(text: string): Memory {
  const entry = { lines: ["### Resolved from memory (current state)", text] };
  return { source: "resolution", keys: [`resolved ${text}`], path: "", score: null, gist: text, entry };
}

function linesOf({ ledger }: Injected): string[] {
  return ledger.flatMap(({ text }) =>
    text.split("\n").filter((line) => /^(?:- \[|### Trigger|## Palinode)/.test(line)),
  );
}

test("a digest and what the prompt recalls are a block each, not placed yet, and accounted for", () => {
  const admission = admit(NOTHING, [finding("prime", core("a")), finding("search", hit("b"))], occasion(), CONFIG);
  assert.deepEqual(linesOf(admission), [
    "## Palinode memory (session start)",
    "- [core/a.md] a — always",
    "## Palinode recall (this prompt)",
    "- [m/b.md] (80% match) b says b of bs and nothing of anything else",
  ]);
  assert.deepEqual(
    admission.ledger.map(({ kind, atEnd, prompt, anchor }) => ({ kind, atEnd, prompt, anchor })),
    ["digest", "recall"].map((kind) => ({ kind, atEnd: false, prompt: "prompt", anchor: null })),
  );
  assert.deepEqual(admission.shown, [
    { kind: "digest", path: "core/a.md", score: null, chars: 24 },
    { kind: "recall", path: "m/b.md", score: 0.8, chars: 66 },
  ]);
  assert.equal(admission.chars, admission.ledger.map(({ text }) => text).join("").length);
  assert.deepEqual([admission.leftOut, admission.carried, admission.reasons], [0, [], {}]);
});

test("an entry keeps what its lines say, so that a text which hardly changed is known again", () => {
  const first = admit(NOTHING, [finding("prime", core("a")), finding("search", hit("b"))], occasion(), CONFIG);
  assert.deepEqual(
    first.ledger.map(({ snippets }) => snippets),
    [
      [{ path: "core/a.md", words: "a — always" }],
      [{ path: "m/b.md", words: "b says b of bs and nothing of anything else" }],
    ],
  );
  assert.equal(countHits(first.ledger), 1);
  const grown = hit("b", "b says b of bs and nothing of anything else, today");
  const second = admit(first, [finding("search", grown, hit("c"))], occasion(), CONFIG);
  assert.deepEqual(
    second.shown.map(({ path }) => path),
    ["m/c.md"],
  );
  const third = admit(second, [finding("search", grown)], occasion(), CONFIG);
  assert.equal(third.ledger, second.ledger);
  assert.deepEqual(third.reasons, { search: "no-hits", repair: "no-hits" });
});

test("a line in a trigger's file that reads like a hit is none", () => {
  const words = "b says b of bs and nothing of anything else";
  const first = admit(
    NOTHING,
    [finding("triggers", trigger("a", `- [m/b.md] (80% match) ${words}`))],
    occasion(),
    CONFIG,
  );
  assert.equal(countHits(first.ledger), 0);
  const second = admit(first, [finding("search", hit("b", `${words}, today`))], occasion(), CONFIG);
  assert.deepEqual(
    second.shown.map(({ path }) => path),
    ["m/b.md"],
  );
});

test("a daily note that was seen once is not shown again, however it grew", () => {
  const day = (words: string) => hit("d", words, "daily/2026-11-30.md");
  const first = admit(NOTHING, [finding("search", day("morning: nothing happened here today"))], occasion(), CONFIG);
  const second = admit(
    first,
    [finding("search", day("evening: quite another thing was captured"))],
    occasion(),
    CONFIG,
  );
  assert.equal(second.ledger, first.ledger);
});

test("a digest is told once, and what comes after it has a title and the rest of the room", () => {
  const first = admit(NOTHING, [finding("prime", core("a"))], occasion(), CONFIG);
  const again = admit(first, [finding("prime", core("a"))], occasion({ isLate: true }), CONFIG);
  assert.equal(again.ledger, first.ledger);
  const late = admit(first, [finding("prime", core("a"), core("b"))], occasion({ isLate: true }), CONFIG);
  assert.deepEqual(linesOf(late).slice(2), ["## Palinode memory (later)", "- [core/b.md] b — always"]);
  assert.equal(late.ledger.at(-1)?.atEnd, true);
  const full = admit(first, [finding("prime", core("b"))], occasion(), { ...CONFIG, injectMaxChars: first.chars + 10 });
  assert.deepEqual([full.ledger, full.leftOut, full.reasons], [first.ledger, 1, { prime: "budget" }]);
});

test("a title says what was asked about, and a failed command's block has the time of its message", () => {
  const found = [finding("repair", hit("b"))];
  const failed: Message = { id: "m2", role: "tool", content: [], createdAt: 5 };
  const titles = [occasion(), occasion({ isLate: true }), occasion({ failed }), occasion({ failed, isLate: true })].map(
    (about) =>
      admit(NOTHING, found, about, CONFIG).ledger.map(({ kind, text, createdAt }) => [
        kind,
        text.split("\n")[1],
        createdAt,
      ]),
  );
  assert.deepEqual(titles.flat(), [
    ["recall", "## Palinode recall (this prompt)", 1],
    ["recall", "## Palinode recall (earlier prompt)", 1],
    ["repair", "## Palinode recall (failed command)", 5],
    ["repair", "## Palinode recall (failed command)", 5],
  ]);
});

test("triggers that find no room wait for the next block, hits and resolutions do not", () => {
  const long = (name: string) => trigger(name, `${name} `.repeat(250).trim());
  const config = { ...CONFIG, recallMaxChars: 900 };
  const found = [finding("triggers", long("one"), long("two")), finding("search", resolution("It is so."), hit("b"))];
  const first = admit(NOTHING, found, occasion(), config);
  assert.deepEqual(
    first.carried.map(({ path }) => path),
    ["t/two.md"],
  );
  assert.deepEqual([first.shown.length, first.leftOut], [1, 3]);
  const second = admit(first, [], occasion(), { ...config, recallMaxChars: 2000 });
  assert.deepEqual([second.shown.map(({ path }) => path), second.carried], [["t/two.md"], []]);
});

test("a hit that does not fit leaves its place to the next, and is not taken for seen", () => {
  const config = { ...CONFIG, recallMaxChars: 420 };
  const told = admit(
    NOTHING,
    [finding("search", hit("one"), hit("two", "two ".repeat(99)), hit("three"))],
    occasion(),
    config,
  );
  assert.deepEqual(
    told.shown.map(({ path }) => path),
    ["m/one.md", "m/three.md"],
  );
  assert.equal(told.leftOut, 1);
  assert.ok(!visibleIn(told.ledger).keys.has(`hit ${"two ".repeat(99)}`));
  assert.equal(visibleIn(told.ledger).keys.size, 2);
});

test("a trigger whose text is in view is mentioned, and counts as no hit", () => {
  const first = admit(NOTHING, [finding("triggers", trigger("a"))], occasion(), CONFIG);
  const second = admit(first, [finding("triggers", trigger("a")), finding("search", hit("b"))], occasion(), {
    ...CONFIG,
    recallMaxResults: 1,
  });
  assert.match(second.ledger.at(-1)?.text ?? "", /### Trigger fired: t\/a\.md\n\(its text stands further up\)\n/);
  assert.equal(second.shown.length, 2);
});

test("of hits there are as many as wanted, one a file, and none that says what another says", () => {
  const hits = [hit("a"), hit("a", "something else about the same file"), hit("x", hit("a").words), hit("b"), hit("c")];
  const { shown, ledger } = admit(NOTHING, [finding("search", ...hits)], occasion(), {
    ...CONFIG,
    recallMaxResults: 2,
  });
  assert.deepEqual(
    shown.map(({ path }) => path),
    ["m/a.md", "m/b.md"],
  );
  assert.deepEqual([...visibleIn(ledger).keys].length, 2);
});

test("a trigger whose file says what another's says is told by its name", () => {
  const text = "one two three four five six seven eight nine ten";
  const admission = admit(
    NOTHING,
    [finding("triggers", trigger("a", text), trigger("b", `${text}!`))],
    occasion(),
    CONFIG,
  );
  assert.match(
    admission.ledger.at(-1)?.text ?? "",
    /### Trigger fired: t\/a\.md\none two .*\n### Trigger fired: t\/b\.md\n\(says the same as t\/a\.md\)/,
  );
  assert.deepEqual(
    admission.shown.map(({ path }) => path),
    ["t/a.md", "t/b.md"],
  );
});

test("of captures one is told, whichever session or day it is of, so that what answers has room", () => {
  const capture = (path: string) => hit(path, `the question of ${path} and how it went`, path);
  const hits = [
    capture("projects/session-end-2026-11-30-shop-0a1b2c3d.md"),
    capture("projects/session-end-2026-11-29-shop-4e5f6a7b.md"),
    capture("daily/2026-11-30.md"),
    capture("projects/cline-session-1796044586994-tt0np.md"),
    hit("decision"),
  ];
  const { shown } = admit(NOTHING, [finding("search", ...hits)], occasion(), CONFIG);
  assert.deepEqual(
    shown.map(({ path }) => path),
    ["projects/session-end-2026-11-30-shop-0a1b2c3d.md", "m/decision.md"],
  );
});

test("what the digest showed is no hit: a session at all, another file where it says no more", () => {
  const session = "projects/session-end-2026-11-30-shop-0a1b2c3d.md";
  const line = (path: string, words: string): Memory => ({ ...core(path), path, words });
  const digest = finding(
    "prime",
    line(session, "(snapshot) the retry policy was changed"),
    line("m/rule.md", "Rule — use tabs and never spaces in any file"),
  );
  const first = admit(NOTHING, [digest], occasion(), CONFIG);
  const again = finding(
    "search",
    hit("x", "something else that session says of retries", session),
    hit("rule", "use tabs and never spaces in any file"),
    hit("more", "use tabs and never spaces in any file but makefiles need tabs for recipes", "m/rule.md"),
  );
  assert.deepEqual(
    admit(first, [again], occasion(), CONFIG).shown.map(({ path }) => path),
    ["m/rule.md"],
  );
});

test("what shares nine words in ten says the same, what shares eight does not", () => {
  const words = "one two three four five six seven eight nine ten".split(" ");
  const shares = (count: number) => hit(`s${count}`, [...words.slice(0, count), "else"].join(" "));
  const paths = (...hits: Memory[]) =>
    admit(NOTHING, [finding("search", ...hits)], occasion(), CONFIG).shown.map(({ path }) => path);
  assert.deepEqual(paths(hit("a", words.join(" ")), shares(10)), ["m/a.md"]);
  assert.deepEqual(paths(hit("a", words.join(" ")), shares(8)), ["m/a.md", "m/s8.md"]);
});

test("what is alive in a session keeps to its budget, and the reason is said", () => {
  let injected = NOTHING;
  const config = { ...CONFIG, sessionMaxChars: 700 };
  const reasons = [];
  for (const name of ["a", "b", "c", "d"]) {
    const admission = admit(injected, [finding("search", hit(name))], occasion(), config);
    reasons.push(admission.reasons.search);
    injected = admission;
  }
  const chars = injected.ledger.reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(chars <= 700, `${chars} characters`);
  assert.deepEqual(reasons, [undefined, undefined, "budget", "budget"]);
  assert.equal(hasRoom(injected.ledger, config), false);
  assert.equal(hasRoom([], config), true);
  assert.equal(hasRoom([], { ...config, recallMaxChars: 199 }), false);
});

test("nothing that is given is changed", () => {
  const first = admit(NOTHING, [finding("triggers", trigger("a"))], occasion(), CONFIG);
  const copy = structuredClone(first);
  admit(first, [finding("search", hit("b")), finding("prime", core("c"))], occasion(), CONFIG);
  assert.deepEqual(first, copy);
  assert.deepEqual(NOTHING, { ledger: [], carried: [] });
});

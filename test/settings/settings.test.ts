// Each default, each bad value, who wins over whom, and that no value of a setting is ever told.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { type Config, isActive, type PalinodeOptions, primes, recalls } from "../../src/settings/config.ts";
import { readConfig as readAll } from "../../src/settings/settings.ts";

/** Settings as they are read, with the problems as people read them. */
function readConfig(...given: Parameters<typeof readAll>) {
  const { problems, ...rest } = readAll(...given);
  return { ...rest, problems: problems.map(({ text }) => text) };
}

/** The seed's table and issue 2: variable, option, default, a value as text, what it means. */
const TABLE: [string, keyof Config, unknown, string, unknown][] = [
  [
    "PALINODE_API_URL",
    "apiUrl",
    "http://localhost:6340",
    "https://memory.example/base/",
    "https://memory.example/base",
  ],
  ["PALINODE_API_TOKEN", "token", "", " s3cret ", "s3cret"],
  ["PALINODE_HOOK_RECALL_PROFILE", "recallProfile", "coding", "Writing", "writing"],
  ["PALINODE_HOOK_RECALL_MAX_RESULTS", "recallMaxResults", 3, "5", 5],
  ["PALINODE_HOOK_RECALL_THRESHOLD", "recallThreshold", undefined, "0.6", 0.6],
  ["PALINODE_HOOK_RECALL_TRIGGERS", "recallTriggers", true, "0", false],
  ["PALINODE_HOOK_RECALL_MIN_CHARS", "recallMinChars", 12, "20", 20],
  ["PALINODE_HOOK_RECALL_MAX_CHARS", "recallMaxChars", 3000, "1500", 1500],
  ["PALINODE_HOOK_RECALL_TIMEOUT", "recallTimeoutMs", 4000, "0.25", 250],
  ["PALINODE_HOOK_INJECT_MAX_FILES", "injectMaxFiles", 10, "4", 4],
  ["PALINODE_HOOK_INJECT_MAX_CHARS", "injectMaxChars", 4000, " 2000 ", 2000],
  ["PALINODE_HOOK_MIN_MESSAGES", "minMessages", 3, "5", 5],
  ["PALINODE_CLINE_HOOK_DEADLINE_MS", "hookDeadlineMs", 2000, "1000", 1000],
  ["PALINODE_HOOK_RESOLVE", "resolve", false, "1", true],
  ["PALINODE_HOOK_RESOLVE_DEADLINE", "resolveDeadlineMs", 250, "500", 500],
  ["PALINODE_CAPTURE_ENABLED", "capture", true, "0", false],
  ["PALINODE_PROJECT", "project", "", "my-app", "my-app"],
];

test("every setting has its default, and an empty variable is none", () => {
  const empty = Object.fromEntries(TABLE.map(([variable]) => [variable, "  "]));
  for (const env of [{}, empty]) {
    const { config, problems } = readConfig({}, env);
    assert.deepEqual(
      TABLE.map(([, key]) => config[key]),
      TABLE.map(([, , fallback]) => fallback),
    );
    assert.deepEqual(problems, []);
  }
});

test("every setting is read from its variable", () => {
  const { config, problems } = readConfig(
    {},
    Object.fromEntries(TABLE.map(([variable, , , text]) => [variable, text])),
  );
  assert.deepEqual(
    TABLE.map(([, key]) => config[key]),
    TABLE.map(([, , , , value]) => value),
  );
  assert.deepEqual(problems, []);
});

/** Returns a setting's default as its variable would hold it. */
function asVariable(key: string, fallback: unknown): string {
  if (key === "token" || key === "project") return "other";
  if (key === "recallTimeoutMs") return "4";
  return String(typeof fallback === "boolean" ? Number(fallback) : fallback);
}

test("every option beats its variable", () => {
  for (const [variable, key, fallback, text, value] of TABLE) {
    const other = { [variable]: asVariable(key, fallback) };
    assert.equal(
      readConfig({ [key]: value }, other).config[key],
      value,
      `${key} over ${variable}=${other[variable]} (${text})`,
    );
  }
});

test("nonsense falls back to the default and is named without being told", () => {
  const nonsense: Record<string, string[]> = {
    PALINODE_API_URL: ["nonsense", "ftp://x", "javascript:alert(1)", "http://", "/api", "file:///etc/passwd", "//host"],
    PALINODE_API_TOKEN: ["two words", "s3cr\u00e9t", "a\nb", "a\u0000b", "x".repeat(5000)],
    PALINODE_HOOK_RECALL_PROFILE: ["loud", "constructor", "__proto__", "toString"],
    PALINODE_HOOK_RECALL_MAX_RESULTS: ["-1", "NaN", "three", "1.5", "Infinity", "3;rm", "0x3"],
    PALINODE_HOOK_RECALL_THRESHOLD: ["-0.1", "1.1", "50%", "NaN", "0,5"],
    PALINODE_HOOK_RECALL_TRIGGERS: ["maybe", "2", "-1", "null"],
    PALINODE_HOOK_RECALL_MIN_CHARS: ["-1", "many", "NaN"],
    PALINODE_HOOK_RECALL_MAX_CHARS: ["-3000", "3k", "NaN"],
    PALINODE_HOOK_RECALL_TIMEOUT: ["-4", "0", "4s", "NaN", "Infinity"],
    PALINODE_HOOK_INJECT_MAX_FILES: ["-1", "all", "2.5"],
    PALINODE_HOOK_INJECT_MAX_CHARS: ["-1", "NaN"],
    PALINODE_HOOK_MIN_MESSAGES: ["-1", "0", "NaN", "few"],
    PALINODE_CLINE_HOOK_DEADLINE_MS: ["soon", "NaN", "2s"],
    PALINODE_HOOK_RESOLVE: ["perhaps", "10"],
    PALINODE_HOOK_RESOLVE_DEADLINE: ["0", "-1", "NaN"],
    PALINODE_CAPTURE_ENABLED: ["nope!", "2"],
  };
  for (const [variable, texts] of Object.entries(nonsense)) {
    const [, key, fallback] = TABLE.find(([name]) => name === variable)!;
    for (const text of texts) {
      const { config, problems } = readConfig({}, { [variable]: text });
      assert.equal(config[key], fallback, `${variable}=${JSON.stringify(text)}`);
      assert.ok(
        problems.length === 1 && problems[0]!.includes(variable),
        `${variable}=${JSON.stringify(text)} is named`,
      );
      if (text.length > 3) assert.ok(!problems[0]!.includes(text));
    }
  }
});

test("numbers are read in the ways people write them", () => {
  assert.equal(readConfig({}, { PALINODE_HOOK_RECALL_THRESHOLD: ".4" }).config.recallThreshold, 0.4);
  assert.equal(readConfig({}, { PALINODE_HOOK_RECALL_THRESHOLD: "1" }).config.recallThreshold, 1);
  assert.equal(readConfig({}, { PALINODE_HOOK_RECALL_MAX_RESULTS: "5.0" }).config.recallMaxResults, 5);
});

test("switches are read in the ways people write them", () => {
  for (const [text, value] of Object.entries({
    1: true,
    true: true,
    TRUE: true,
    yes: true,
    on: true,
    0: false,
    false: false,
    False: false,
    no: false,
    off: false,
  })) {
    assert.equal(readConfig({}, { PALINODE_HOOK_RECALL_TRIGGERS: text }).config.recallTriggers, value, text);
  }
});

test("the deadline stays within 100 and 2,700 milliseconds", () => {
  for (const [text, value] of Object.entries({
    0: 100,
    1: 100,
    99: 100,
    100: 100,
    2700: 2700,
    2701: 2700,
    999999: 2700,
    1500.4: 1500,
  })) {
    assert.equal(readConfig({}, { PALINODE_CLINE_HOOK_DEADLINE_MS: text }).config.hookDeadlineMs, value, text);
    assert.equal(readConfig({ hookDeadlineMs: Number(text) }, {}).config.hookDeadlineMs, value, text);
  }
});

test("zero means off where the settings say so", () => {
  const channels = (env: NodeJS.ProcessEnv) => ({
    primes: primes(readConfig({}, env).config),
    recalls: recalls(readConfig({}, env).config),
  });
  assert.deepEqual(channels({ PALINODE_HOOK_INJECT_MAX_FILES: "0" }), { primes: false, recalls: true });
  assert.deepEqual(channels({ PALINODE_HOOK_INJECT_MAX_CHARS: "0" }), { primes: false, recalls: true });
  assert.deepEqual(channels({ PALINODE_HOOK_RECALL_MAX_RESULTS: "0" }), { primes: true, recalls: true });
  assert.deepEqual(channels({ PALINODE_HOOK_RECALL_MAX_RESULTS: "0", PALINODE_HOOK_RECALL_TRIGGERS: "0" }), {
    primes: true,
    recalls: false,
  });
  assert.deepEqual(channels({ PALINODE_HOOK_RECALL_MAX_CHARS: "0" }), { primes: true, recalls: false });
});

test("each profile switches its channels", () => {
  const channels = (recallProfile: string) => {
    const { config } = readConfig({}, { PALINODE_HOOK_RECALL_PROFILE: recallProfile });
    return [primes(config), config.recallTriggers, config.recallMaxResults > 0, config.capture];
  };
  const expected = {
    coding: [true, true, true, true],
    monitoring: [false, true, false, true],
    investigation: [false, false, true, true],
    writing: [true, false, false, true],
    conversation: [true, true, false, true],
    minimal: [false, false, false, true],
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, channels(name)])), expected);
  const { config } = readConfig({ recallProfile: "investigation" }, {});
  assert.ok(config.recallMaxResults > 3 || (config.recallThreshold ?? 1) < 0.5, "investigation searches wider");
});

test("a setting of its own wins over the profile, from either source", () => {
  assert.equal(
    readConfig({}, { PALINODE_HOOK_RECALL_PROFILE: "minimal", PALINODE_HOOK_RECALL_TRIGGERS: "1" }).config
      .recallTriggers,
    true,
  );
  assert.equal(readConfig({ recallProfile: "writing", recallMaxResults: 2 }, {}).config.recallMaxResults, 2);
  assert.equal(
    readConfig({ recallProfile: "writing" }, { PALINODE_HOOK_RECALL_MAX_RESULTS: "2" }).config.recallMaxResults,
    2,
  );
  assert.equal(
    readConfig({}, { PALINODE_HOOK_RECALL_PROFILE: "writing", PALINODE_HOOK_RECALL_MAX_RESULTS: "nonsense" }).config
      .recallMaxResults,
    0,
  );
});

test("off does nothing at all, minimal only captures", () => {
  const everything = {
    PALINODE_CAPTURE_ENABLED: "1",
    PALINODE_HOOK_INJECT_MAX_FILES: "9",
    PALINODE_HOOK_RECALL_TRIGGERS: "1",
  };
  assert.equal(isActive(readConfig({}, { ...everything, PALINODE_HOOK_RECALL_PROFILE: "off" }).config), false);
  assert.equal(isActive(readConfig({ recallProfile: "off", capture: true }, everything).config), false);
  assert.equal(isActive(readConfig({ recallProfile: "minimal" }, {}).config), true);
  assert.equal(isActive(readConfig({ recallProfile: "minimal", capture: false }, {}).config), false);
});

test("the timeout's variable is in seconds and its option in milliseconds", () => {
  assert.equal(readConfig({}, { PALINODE_HOOK_RECALL_TIMEOUT: "2" }).config.recallTimeoutMs, 2000);
  assert.equal(
    readConfig({ recallTimeoutMs: 2000 }, { PALINODE_HOOK_RECALL_TIMEOUT: "9" }).config.recallTimeoutMs,
    2000,
  );
});

test("a timeout is a whole number of milliseconds, since timers refuse others", () => {
  assert.equal(readConfig({ recallTimeoutMs: 1500.5 }, {}).config.recallTimeoutMs, 1501);
  assert.equal(readConfig({}, { PALINODE_HOOK_RECALL_TIMEOUT: "0.0015" }).config.recallTimeoutMs, 2);
});

test("a settings file that holds no text for a variable, or an endless name, is named and does not throw", (t) => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, ".cline"));
  const name = `${"x".repeat(79)}🙂`;
  writeFileSync(
    join(home, ".cline/palinode.json"),
    `{ "PALINODE_HOOK_MIN_MESSAGES": { "toString": 1 }, "PALINODE_HOOK_INJECT_MAX_FILES": 4, "${name}": 1 }`,
  );
  const { config, problems } = readConfig({}, { HOME: home });
  assert.deepEqual([config.minMessages, config.injectMaxFiles], [3, 4]);
  const path = join(home, ".cline/palinode.json");
  assert.deepEqual(problems, [
    `${path}: ${"x".repeat(79)} is no setting`,
    `${path}: minMessages is not usable (prompts before the first capture)`,
  ]);
});

test("an address keeps host and path and nothing else", () => {
  const addresses = {
    "http://h:1/": "http://h:1",
    "HTTP://Host:6340//": "http://host:6340",
    "http://u:p@h/a/b/?q=1#f": "http://h/a/b",
    "http://[::1]:6340": "http://[::1]:6340",
    " https://h ": "https://h",
  };
  assert.deepEqual(
    Object.keys(addresses).map((text) => readConfig({}, { PALINODE_API_URL: text }).config.apiUrl),
    Object.values(addresses),
  );
});

test("a token file stands in where no token is set", (t) => {
  const file = temporary(t, "\ufeff s3cret-from-file \r\n");
  assert.equal(readConfig({}, { PALINODE_API_TOKEN_FILE: file }).config.token, "s3cret-from-file");
  assert.equal(readConfig({ tokenFile: file }, {}).config.token, "s3cret-from-file");
  assert.equal(readConfig({}, { PALINODE_API_TOKEN: "direct", PALINODE_API_TOKEN_FILE: file }).config.token, "direct");
  assert.equal(readConfig({ token: "direct", tokenFile: file }, {}).config.token, "direct");
});

test("a token file given as an option beats the environment's token", (t) => {
  assert.equal(
    readConfig({ tokenFile: temporary(t, "from-option") }, { PALINODE_API_TOKEN: "from-env" }).config.token,
    "from-option",
  );
});

test("a token file that is of no use is named, and its text is not", (t) => {
  for (const text of ["", "  \n", "two words", "s3cr\u00e9t", `${"x".repeat(70_000)}`]) {
    const { config, problems } = readConfig({}, { PALINODE_API_TOKEN_FILE: temporary(t, text) });
    assert.equal(config.token, "");
    assert.equal(problems.length, 1);
    assert.ok(problems[0]!.includes("PALINODE_API_TOKEN_FILE") && (text.trim() === "" || !problems[0]!.includes(text)));
  }
  for (const path of ["/gone/token", tmpdir(), "\0"])
    assert.match(readConfig({}, { PALINODE_API_TOKEN_FILE: path }).problems.join(), /PALINODE_API_TOKEN_FILE/);
});

test("options of the wrong type fall back, and nothing throws", () => {
  const junk: unknown[] = [
    null,
    NaN,
    -1,
    {},
    [],
    () => 1,
    Symbol("x"),
    10n,
    Object.create(null),
    { toString: 1 },
    "\ud800",
    true,
  ];
  for (const [, key, fallback] of TABLE) {
    for (const value of junk) {
      const { config } = readConfig({ [key]: value } as PalinodeOptions, {});
      if (typeof value === "object")
        assert.equal(config[key], fallback, `${key} of ${value === null ? null : "an object"}`);
      assert.equal(typeof config[key], typeof fallback);
    }
  }
  assert.equal(readConfig({ tokenFile: {} as string }, {}).config.token, "");
});

test("no options at all are no reason to throw", () => {
  assert.deepEqual(readConfig(null as unknown as PalinodeOptions, {}).config, readConfig({}, {}).config);
});

test("settings cannot be changed, and reading them changes nothing", () => {
  const [options, env] = [Object.freeze({ minMessages: 4 }), Object.freeze({ PALINODE_HOOK_MIN_MESSAGES: "9" })];
  const { config } = readConfig(options, env);
  assert.ok(Object.isFrozen(config));
  assert.equal(config.minMessages, 4);
});

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "palinode-config-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function temporary(t: TestContext, text: string): string {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "token"), text);
  return join(folder, "token");
}

/** Folders of a user and a workspace, each with its settings file. */
function settingsFiles(
  t: TestContext,
  user: unknown,
  workspace?: unknown,
): { env: NodeJS.ProcessEnv; workspace: string } {
  const folder = mkdtempSync(join(tmpdir(), "palinode-settings-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, value: unknown): void => {
    mkdirSync(join(folder, name, ".cline"), { recursive: true });
    if (value !== undefined)
      writeFileSync(
        join(folder, name, ".cline/palinode.json"),
        typeof value === "string" ? value : JSON.stringify(value),
      );
  };
  write("home", user);
  write("work", workspace);
  return { env: { HOME: join(folder, "home") }, workspace: join(folder, "work") };
}

test("options beat the environment, that the workspace file, that the user file, that the profile", (t) => {
  const { env, workspace } = settingsFiles(
    t,
    { recallMaxResults: 4, recallThreshold: 0.4, minMessages: 9, recallProfile: "writing" },
    { recallMaxResults: 5, recallThreshold: 0.45 },
  );
  const { config, sources, problems } = readConfig(
    { recallMaxResults: 7 },
    { ...env, PALINODE_HOOK_RECALL_MAX_RESULTS: "6", PALINODE_HOOK_RECALL_MIN_CHARS: "20" },
    workspace,
  );
  assert.deepEqual(
    [config.recallMaxResults, config.recallThreshold, config.minMessages, config.recallMinChars, config.recallTriggers],
    [7, 0.45, 9, 20, false],
  );
  assert.deepEqual(sources, {
    recallMaxResults: "option",
    recallThreshold: "workspace file",
    minMessages: "user file",
    recallMinChars: "environment",
    recallProfile: "user file",
    recallTriggers: "profile",
  });
  assert.deepEqual(problems, []);
});

test("the user file lies in Cline's folder, and takes option names or variables", (t) => {
  const { env } = settingsFiles(t, {
    PALINODE_API_URL: "http://127.0.0.1:7000",
    PALINODE_HOOK_RECALL_TIMEOUT: 2,
    PALINODE_HOOK_RECALL_TRIGGERS: false,
    PALINODE_HOOK_INJECT_MAX_FILES: "4",
    recallTimeoutMs: null,
    token: "from-file",
  });
  const { config, problems } = readConfig({}, { CLINE_DIR: join(String(env.HOME), ".cline") });
  assert.deepEqual(
    [config.apiUrl, config.recallTimeoutMs, config.recallTriggers, config.injectMaxFiles, config.token],
    ["http://127.0.0.1:7000", 2000, false, 4, "from-file"],
  );
  assert.deepEqual(problems, []);
});

test("a workspace can tune and mute, but neither redirect nor read secrets", (t) => {
  const secret = temporary(t, "secret-of-the-user");
  const hostile = {
    apiUrl: "http://evil.example",
    PALINODE_API_URL: "http://evil.example",
    token: "x",
    tokenFile: secret,
    PALINODE_API_TOKEN_FILE: secret,
    stateDir: "/tmp/evil",
    allowHttp: true,
    capture: false,
  };
  const { env, workspace } = settingsFiles(t, { apiUrl: "https://memory.example", token: "mine" }, hostile);
  const { config, sources, problems } = readConfig({}, env, workspace);
  assert.deepEqual(
    [config.apiUrl, config.token, config.allowHttp, config.capture],
    ["https://memory.example", "mine", false, false],
  );
  assert.ok(config.stateDir.startsWith(String(env.HOME)));
  assert.equal(sources.capture, "workspace file");
  assert.equal(problems.length, 7);
  assert.ok(problems.every((problem) => /is not for a workspace to set/.test(problem)));
});

test("unknown keys and wrong types in a file are named, never fatal and never told", (t) => {
  const { env, workspace } = settingsFiles(
    t,
    { recallMaxResults: "many", colour: "s3cret-value", recallThreshold: [1], __proto__x: 1 },
    { minMessages: {} },
  );
  const { config, problems } = readConfig({}, env, workspace);
  assert.deepEqual([config.recallMaxResults, config.recallThreshold, config.minMessages], [3, undefined, 3]);
  assert.equal(problems.length, 5);
  assert.match(problems.join("\n"), /palinode\.json: colour is no setting/);
  assert.match(problems.join("\n"), /palinode\.json: recallMaxResults is not usable/);
  assert.ok(!problems.join("\n").includes("s3cret-value"));
});

test("a file that is no JSON object is named and left alone", (t) => {
  for (const text of ["", "{", "[]", "null", "7", '"text"', '{"a":1', "x".repeat(100_000)]) {
    const { env } = settingsFiles(t, text);
    const { config, problems } = readConfig({}, env);
    assert.equal(config.recallMaxResults, 3);
    assert.match(problems.join(), /palinode\.json is not/, text.slice(0, 20));
  }
  const { env } = settingsFiles(t, undefined);
  mkdirSync(join(String(env.HOME), ".cline/palinode.json"));
  assert.match(readConfig({}, env).problems.join(), /is not a JSON object/);
  assert.equal(readConfig({}, settingsFiles(t, '\uFEFF{"minMessages": 4}').env).config.minMessages, 4);
});

test("in the home folder the one file is the user's", (t) => {
  const { env } = settingsFiles(t, { apiUrl: "https://memory.example" });
  const { config, problems } = readConfig({}, env, String(env.HOME));
  assert.deepEqual([config.apiUrl, problems], ["https://memory.example", []]);
});

test("a value that makes no sense is named also where a better one counts", (t) => {
  const { env, workspace } = settingsFiles(t, { recallMaxResults: "many" });
  const { config, problems } = readConfig(
    {},
    { ...env, PALINODE_HOOK_RECALL_MAX_RESULTS: "2", PALINODE_PROJECT: "!!!" },
    workspace,
  );
  assert.equal(config.recallMaxResults, 2);
  assert.match(problems[0] ?? "", /, though not needed \(/);
  assert.deepEqual(readConfig({}, { PALINODE_PROJECT: "project/日本" }).problems.length, 1);
  assert.deepEqual(
    problems.map((problem) => problem.split(" is not usable")[0]),
    [`${join(env.HOME ?? "", ".cline/palinode.json")}: recallMaxResults`, "PALINODE_PROJECT"],
  );
});

test("a problem says what it is about, where it stands, and whether another value makes up for it", (t) => {
  const { env, workspace } = settingsFiles(
    t,
    { colour: "red", recallMaxResults: "many", tokenFile: "/gone" },
    { apiUrl: "http://evil.example", minMessages: "few" },
  );
  const all = { ...env, PALINODE_HOOK_RECALL_MAX_RESULTS: "2", PALINODE_API_URL: "nonsense" };
  const { problems } = readAll({ hookDeadlineMs: NaN }, all, workspace);
  const [ofUser, ofWorkspace] = [
    join(String(env.HOME), ".cline/palinode.json"),
    join(workspace, ".cline/palinode.json"),
  ];
  assert.deepEqual(
    problems.map(({ setting, source, file, isShadowed }) => [setting, source, file, isShadowed]),
    [
      ["apiUrl", "workspace file", ofWorkspace, false],
      ["colour", "user file", ofUser, false],
      ["apiUrl", "environment", undefined, false],
      ["tokenFile", "user file", ofUser, false],
      ["recallMaxResults", "user file", ofUser, true],
      ["minMessages", "workspace file", ofWorkspace, false],
      ["hookDeadlineMs", "option", undefined, false],
    ],
  );
  assert.deepEqual(
    problems.map(({ text }) => text.replace(ofUser, "USER").replace(ofWorkspace, "WORKSPACE")),
    [
      "WORKSPACE: apiUrl is not for a workspace to set; put it into the user file",
      "USER: colour is no setting",
      "PALINODE_API_URL is not usable (http:// or https:// is missing)",
      "USER: tokenFile: the file cannot be read (ENOENT)",
      "USER: recallMaxResults is not usable, though not needed (search hits per prompt; 0 = no search)",
      "WORKSPACE: minMessages is not usable (prompts before the first capture)",
      "hookDeadlineMs is not usable (limit of a whole hook, 100 to 2700)",
    ],
  );
});

test("a problem with a file as a whole is about no setting, and one that stands for many is about the next", (t) => {
  const names = Array.from({ length: 13 }, (_, index) => `colour${index}`);
  const { env, workspace } = settingsFiles(t, "{", Object.fromEntries(names.map((name) => [name, 1])));
  const { problems } = readAll({}, env, workspace);
  assert.deepEqual(
    problems.map(({ setting }) => setting),
    [...names.slice(0, 11), undefined],
  );
  assert.match(problems[10]?.text ?? "", /palinode\.json: and 3 more of these$/);
  assert.deepEqual(problems[11], {
    setting: undefined,
    source: "user file",
    file: join(String(env.HOME), ".cline/palinode.json"),
    text: `${join(String(env.HOME), ".cline/palinode.json")} is not JSON`,
    isShadowed: false,
  });
});

test("the file that the token stands in is known, and without a token the one that was to hold it", (t) => {
  const tokenFile = temporary(t, "from-file");
  const { env } = settingsFiles(t, { token: "direct", tokenFile });
  const fileOf = (...given: Parameters<typeof readAll>): string | undefined => readAll(...given).tokenFile;
  const userFile = join(String(env.HOME), ".cline/palinode.json");
  assert.equal(fileOf({}, env), userFile);
  assert.equal(fileOf({}, { ...env, PALINODE_API_TOKEN_FILE: ` ${tokenFile} ` }), tokenFile);
  assert.equal(fileOf({}, { ...env, PALINODE_API_TOKEN: "x", PALINODE_API_TOKEN_FILE: tokenFile }), undefined);
  assert.equal(fileOf({}, { PALINODE_API_TOKEN_FILE: "/gone" }), "/gone");
  assert.equal(fileOf({}, {}), undefined);
});

test("a workspace turns down what the user has, and never up", (t) => {
  const user = {
    capture: false,
    recallMaxResults: 2,
    recallThreshold: 0.6,
    digest: "core",
    tools: false,
    repair: false,
  };
  const more = {
    ...{ capture: true, recallMaxResults: 9, recallThreshold: 0.1, digest: "full", tools: true, repair: true },
    ...{ minMessages: 1, sessionMaxChars: 60_000, recallTriggers: true, injectMaxFiles: 4 },
  };
  const { env, workspace } = settingsFiles(t, user, more);
  const { config, sources, problems } = readConfig({}, env, workspace);
  for (const [name, value] of Object.entries(user)) assert.equal(config[name as keyof Config], value, name);
  assert.deepEqual([config.minMessages, config.sessionMaxChars, config.injectMaxFiles], [3, 24_000, 4]);
  assert.deepEqual([sources.capture, sources.injectMaxFiles], ["user file", "workspace file"]);
  const refused = problems.map((text) => / (\S+) asks for more than your own settings give/.exec(text)?.[1]);
  assert.deepEqual(refused.sort(), [
    ...[
      "capture",
      "digest",
      "minMessages",
      "recallMaxResults",
      "recallThreshold",
      "repair",
      "sessionMaxChars",
      "tools",
    ],
  ]);
});

test("what the user switched off stays off, whatever a workspace asks for", (t) => {
  for (const wish of [{ recallProfile: "coding" }, { recallProfile: "investigation", capture: true }, { tools: 1 }]) {
    const { env, workspace } = settingsFiles(t, { recallProfile: "off" }, wish);
    const { config } = readConfig({}, env, workspace);
    assert.equal(isActive(config), false, JSON.stringify(wish));
    assert.equal(config.recallProfile, "off");
  }
});

test("a workspace's profile takes channels away and adds none", (t) => {
  const { env, workspace } = settingsFiles(t, { recallMaxResults: 2 }, { recallProfile: "investigation" });
  const { config, sources, problems } = readConfig({}, env, workspace);
  assert.deepEqual(
    [config.recallMaxResults, config.recallThreshold, config.recallTriggers, config.injectMaxFiles],
    [2, undefined, false, 0],
  );
  assert.deepEqual([sources.recallProfile, sources.recallTriggers], ["workspace file", "profile"]);
  assert.deepEqual(problems, []);
});

test("a workspace that says off is off, beside options and the environment too", (t) => {
  const { env, workspace } = settingsFiles(t, {}, { recallProfile: "off", recallMaxResults: 5 });
  const { config } = readConfig({ capture: true }, { ...env, PALINODE_HOOK_RECALL_MAX_RESULTS: "6" }, workspace);
  assert.equal(isActive(config), false);
});

test("a workspace does not decide whether anything is kept on disk", (t) => {
  const { env, workspace } = settingsFiles(t, {}, { persist: 0, onlyIn: ["/"], notIn: ["/"] });
  const { config, problems } = readConfig({}, env, workspace);
  assert.deepEqual([config.persist, isActive(config)], [true, true]);
  assert.equal(problems.filter((text) => text.includes("is not for a workspace to set")).length, 3);
});

test("memory is on only in the folders that the user names, and off in those it is not for", (t) => {
  const { env, workspace } = settingsFiles(t, undefined);
  const home = String(env.HOME);
  mkdirSync(join(home, "work/shop/src"), { recursive: true });
  mkdirSync(join(home, "workshop"), { recursive: true });
  const isOn = (user: object, folder: string): boolean => {
    writeFileSync(join(home, ".cline/palinode.json"), JSON.stringify(user));
    return isActive(readConfig({}, env, folder).config);
  };
  const only = { onlyIn: ["~/work/*"] };
  assert.deepEqual(
    [join(home, "work/shop/src"), join(home, "work"), join(home, "workshop"), workspace].map((at) => isOn(only, at)),
    [true, true, false, false],
  );
  const both = { ...only, notIn: ["~/work/shop"] };
  assert.deepEqual([isOn(both, join(home, "work/shop/src")), isOn(both, join(home, "work"))], [false, true]);
  // A list that cannot be used must not switch memory on where it was not wanted.
  assert.equal(isOn({ notIn: ["relative/folder"] }, workspace), false);
  assert.equal(isOn({ onlyIn: [] }, workspace), true);
  const read = readConfig({ onlyIn: [join(home, "work")] }, env, workspace);
  assert.deepEqual(
    [read.leftOutBy, read.config.recallProfile, read.sources.recallProfile],
    ["onlyIn", "off", "option"],
  );
});

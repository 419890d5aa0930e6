// Fuzzes settings: options, environment and both settings files hold anything. What comes out can be worked with, a
// workspace cannot send prompts elsewhere, and a token goes only where it may.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Config, PalinodeOptions } from "../../src/settings/config.ts";
import { readConfig } from "../../src/settings/settings.ts";
import { SETTINGS } from "../../src/settings/table.ts";
import { createChat } from "../helpers/chat.ts";
import type { Random } from "../helpers/random.ts";
import type { Fuzzer } from "./driver.ts";
import { checkRequests, checkResult } from "./promises.ts";
import { answerFrom, openStage, responseOf, SESSION_ID, type Stage, withEnvironment } from "./stage.ts";
import { mutated, someText, someValue, spoilt } from "./values.ts";

const TOKEN = "zqtoken-0123456789";
const ADDRESSES = [
  "http://localhost:6340",
  "http://127.0.0.1:1",
  "http://[::1]:6340/",
  "https://memory.example",
  "https://user:pass@memory.example/base/?x=1#y",
  "http://memory.example",
  "http://192.168.1.7:6340",
  "http://172.32.0.1",
  "http://172.31.255.255",
  "http://10.0.0.1.example",
  "http://0x7f.1",
  "http://127.0.0.1@memory.example",
  "http://localhost.example",
  "http://[::ffff:8.8.8.8]",
  "http://[::ffff:10.0.0.1]",
  "http://[fd00::1]",
  "http://[fdg::1]",
  "HTTP://LOCALHOST",
  "http://2130706433",
  "http://例え.jp",
  "http://foo.localhost",
  "http://169.254.169.254",
  "ftp://x",
  "//x",
  "",
];
/** What a settings file of a cloned repository tries. None of it may be taken. */
const OF_WORKSPACE = {
  apiUrl: "http://10.6.6.6:666",
  token: "zqstolen",
  tokenFile: "/etc/hostname",
  stateDir: "/zqelsewhere",
  allowHttp: true,
};

type Values = Record<string, unknown>;

export async function openSettingsFuzzer(): Promise<Fuzzer> {
  const stage = await openStage();
  return { run: (random) => runCase(stage, random), close: stage.close };
}

async function runCase(stage: Stage, random: Random): Promise<void> {
  const folder = stage.newFolder();
  const [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
  writeSettings(random, home, someSettings(random, folder));
  writeSettings(random, workspace, { ...someSettings(random, folder), ...(random.chance(0.8) ? OF_WORKSPACE : {}) });
  writeFileSync(
    join(folder, "token"),
    random.pick([TOKEN, `\ufeff${TOKEN}\n`, `${TOKEN} ${TOKEN}`, "", someText(random)]),
  );
  const env = {
    ...asVariables(someSettings(random, folder)),
    HOME: home,
    PALINODE_CLINE_STATE_DIR: random.pick([undefined, join(folder, "state"), "/dev/null/state", "state"]),
  };
  const options = someSettings(random, folder) as PalinodeOptions;
  const { config, problems, sources } = readConfig(
    random.chance(0.05) ? (someValue(random) as PalinodeOptions) : options,
    env,
    random.chance(0.9) ? workspace : undefined,
  );
  checkConfig(config);
  for (const { text } of problems)
    assert.ok(text.isWellFormed() && !text.includes(TOKEN), `a problem tells a token, or half a character: ${text}`);
  for (const [key, source] of Object.entries(sources))
    assert.ok(source !== "workspace file" || !(key in OF_WORKSPACE), `the workspace set ${key}`);

  const restore = withEnvironment(env);
  try {
    await checkHook(stage, options, readConfig(options, env, workspace).config, workspace);
  } finally {
    restore();
  }
  rmSync(folder, { recursive: true, force: true });
}

/** One prompt with these settings: within the caps that hold then, and the token only where it may go. */
async function checkHook(stage: Stage, options: PalinodeOptions, config: Config, workspace: string): Promise<void> {
  const { network } = stage;
  const store = stage.newStore();
  network.forget();
  network.answer = (request) =>
    responseOf(
      answerFrom(store, {
        ...request,
        path: request.path.slice(new URL(config.apiUrl).pathname.replace(/\/$/, "").length),
      }),
    );
  const plugin = stage.load(options, { session: { sessionId: SESSION_ID }, workspaceInfo: { rootPath: workspace } });
  const chat = createChat();
  chat.say("How do we roll back the deploy?");
  const payload = chat.beforeModel();
  checkResult(payload.request?.messages as unknown[], await plugin.hooks.beforeModel(payload), config);
  await plugin.hooks.afterRun(chat.afterRun());
  for (const request of network.requests)
    assert.ok(
      request.url.href.startsWith(new URL(config.apiUrl).href.replace(/\/$/, "")),
      `asked ${request.url.origin} instead of ${config.apiUrl}`,
    );
  if (!config.allowHttp) checkRequests(network.requests, TOKEN);
  network.check();
}

function checkConfig(config: Config): void {
  const { apiUrl, token, stateDir, project, recallThreshold, hookDeadlineMs } = config;
  const { protocol, username, password, search, hash } = new URL(apiUrl);
  assert.ok(
    ["http:", "https:"].includes(protocol) && username + password + search + hash === "" && !apiUrl.endsWith("/"),
    apiUrl,
  );
  assert.match(token, /^[\x21-\x7e]{0,4096}$/);
  assert.ok(isAbsolute(stateDir) && !stateDir.includes("\0"), stateDir);
  assert.ok(project.length <= 200);
  assert.ok(recallThreshold === undefined || (recallThreshold >= 0 && recallThreshold <= 1));
  assert.ok(hookDeadlineMs >= 100 && hookDeadlineMs <= 2700);
  for (const [key, { fallback }] of Object.entries(SETTINGS)) {
    const value = config[key as keyof Config];
    if (fallback !== undefined) assert.equal(typeof value, typeof fallback, key);
    if (typeof value === "number")
      assert.ok(
        value >= 0 && value <= 1e6 && (key === "recallThreshold" || Number.isInteger(value)),
        `${key} is ${value}`,
      );
  }
  assert.ok(Object.isFrozen(config));
}

/** A few settings, each with a value that is right, nearly right, or anything. */
function someSettings(random: Random, folder: string): Values {
  const keys = Object.keys(SETTINGS).filter((key) => key !== "stateDir" && random.chance(0.2));
  const values = keys.map((key) => [key, random.chance(0.8) ? likely(random, key) : someValue(random, 1)]);
  return Object.fromEntries([
    ...values,
    ...(random.chance(0.3)
      ? [["tokenFile", random.pick([join(folder, "token"), folder, "/dev/zero", "token", someText(random, 2)])]]
      : []),
  ]) as Values;
}

function likely(random: Random, key: string): unknown {
  if (key === "apiUrl") return random.pick(ADDRESSES);
  if (key === "token") return random.pick([TOKEN, ` ${TOKEN}\n`, `${TOKEN} x`, "é", "x".repeat(5000)]);
  const { fallback } = SETTINGS[key as keyof Config];
  if (typeof fallback === "boolean") return random.pick([true, false, "1", "0", "on", " YES ", 1, "maybe"]);
  if (typeof fallback === "number")
    return random.pick([
      fallback,
      String(fallback),
      0,
      "0",
      1,
      "1",
      -1,
      "-1",
      1.5,
      "0.25",
      "1e3",
      "0x10",
      100,
      1e5,
      "99999999999999",
      NaN,
      Infinity,
      " 7 ",
      "7,5",
    ]);
  return random.pick([
    fallback,
    "coding",
    "off",
    "minimal",
    " Writing ",
    "core",
    "shop",
    "project/shop",
    "../../x",
    someText(random, 2),
    "__proto__",
  ]);
}

/** Most files are JSON objects; some are spoilt, something else, or not files. */
function writeSettings(random: Random, folder: string, values: Values): void {
  const path = join(folder, ".cline/palinode.json");
  mkdirSync(join(folder, ".cline"), { recursive: true });
  if (random.chance(0.2)) return;
  if (random.chance(0.03)) return void mkdirSync(path);
  const named = random.chance(0.3)
    ? Object.fromEntries(Object.entries(values).map(([key, value]) => [variableOf(key), value]))
    : values;
  const text =
    JSON.stringify(
      random.chance(0.1)
        ? mutated(random, named)
        : { ...named, ...(random.chance(0.1) ? { [`${"x".repeat(random.below(90))}🙂`]: 1 } : {}) },
    ) ?? "";
  writeFileSync(path, random.chance(0.1) ? spoilt(random, text) : text);
}

/** As a shell has them: all values are text. */
function asVariables(values: Values): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  // This variable is in seconds.
  return Object.fromEntries(
    given.map(([key, value]) => [
      variableOf(key),
      asText(key === "recallTimeoutMs" && typeof value === "number" ? value / 1000 : value),
    ]),
  );
}

function asText(value: unknown): string {
  return (typeof value === "object" ? JSON.stringify(value) : String(value)).replaceAll("\0", "");
}

function variableOf(key: string): string {
  return key === "tokenFile" ? "PALINODE_API_TOKEN_FILE" : (SETTINGS[key as keyof Config]?.variable ?? key);
}

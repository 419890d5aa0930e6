// What is a secret goes, what only looks like one stays, and neither takes long.
import assert from "node:assert/strict";
import test from "node:test";
import { redact } from "../../src/base/redact.ts";

/** The secret of every example below; `leaks` looks for any four characters of it. */
const SECRET = "Zq7XvK2mWp9RtB4nYs6L";

test("redact takes tokens that their issuers made recognisable", () => {
  assertGone(
    [
      `sk-${SECRET}${SECRET}`,
      `sk-proj-${SECRET}_${SECRET}-${SECRET}`,
      `sk-ant-api03-${SECRET}-${SECRET}`,
      `sk-or-v1-${SECRET}${SECRET}`,
      `ghp_${SECRET}${SECRET.slice(4)}`,
      `gho_${SECRET}${SECRET}`,
      `ghs_${SECRET}${SECRET}`,
      `github_pat_11${SECRET}_${SECRET}${SECRET}`,
      `glpat-${SECRET}`,
      `xoxb-123456789012-${SECRET}`,
      `xoxp-1-2-${SECRET}`,
      `xapp-1-A1-${SECRET}${SECRET}`,
      `AIzaSy${SECRET}${SECRET.slice(7)}`,
      `ya29.${SECRET}${SECRET}`,
      `npm_${SECRET}${SECRET.slice(4)}`,
      `pypi-AgEIcHlwaS5vcmc${SECRET}${SECRET}`,
      `hf_${SECRET}${SECRET}`,
      `sk_live_${SECRET}`,
      `rk_live_${SECRET}`,
      `sk_test_${SECRET}`,
      `whsec_${SECRET}`,
      `SG.${SECRET}.${SECRET}${SECRET}`,
      `dop_v1_${SECRET}${SECRET}`,
      `shpat_${SECRET}${SECRET}`,
      `dckr_pat_${SECRET}${SECRET}`,
    ],
    SECRET,
  );
  assert.equal(redact("key AKIAIOSFODNN7EXAMPLE end"), "key [redacted] end");
  assert.equal(redact("ASIAIOSFODNN7EXAMPLE"), "[redacted]");
});

test("redact takes JWTs, with a signature and without", () => {
  const [head, body] = [base64({ alg: "HS256", typ: "JWT" }), base64({ sub: SECRET, iat: 1516239022 })];
  for (const jwt of [`${head}.${body}.${SECRET}`, `${head}.${body}.`, `${head}.${body}`]) {
    assert.equal(redact(`got ${jwt} back`), "got [redacted] back");
    assert.doesNotMatch(redact(`{"id":"${jwt}"} and jwt=${jwt}; ?t=${jwt}&x`), /eyJ/);
  }
});

test("redact finds a token behind a letter that is part of an escape", () => {
  assertGone(
    [
      `\u001b[32mghp_${SECRET}${SECRET}\u001b[0m`,
      `\u001b[1msk-proj-${SECRET}${SECRET}\u001b[0m`,
      `{"log":"ok\\nghp_${SECRET}${SECRET}"}`,
      `{"log":"ok\\tnpm_${SECRET}${SECRET}"}`,
      `[31mglpat-${SECRET}`,
      `line\\nxoxb-123456789012-${SECRET}`,
      `value_ghp_${SECRET}${SECRET}`,
    ],
    SECRET,
  );
  assert.doesNotMatch(redact("out:\\nAKIAIOSFODNN7EXAMPLE"), /AKIA/);
  assert.doesNotMatch(redact(`x\\n${base64({ alg: "none" })}.${base64({ sub: "me" })}.sig`), /eyJ/);
});

test("redact takes private keys: whole, cut short, several, and in one line of JSON", () => {
  for (const kind of ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]) {
    const pem = `-----BEGIN ${kind}PRIVATE KEY-----\n${SECRET}\n${SECRET}\n-----END ${kind}PRIVATE KEY-----`;
    assert.equal(redact(`before\n${pem}\nbetween\n${pem}\nafter`), "before\n[redacted]\nbetween\n[redacted]\nafter");
    assert.equal(redact(`before\n${pem.slice(0, 60)}`).includes(SECRET.slice(0, 4)), false);
    assertGone([JSON.stringify({ key: pem }), pem.replaceAll("\n", "\r\n"), pem.slice(20), `KEY="${pem}"`], SECRET);
  }
  assertGone([`-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${SECRET}\n-----END PGP PRIVATE KEY BLOCK-----`], SECRET);
});

test("redact keeps public keys and certificates", () => {
  assertKept([
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
  ]);
});

test("redact takes the value of NAME=value where the name says that it is secret", () => {
  const names = [
    "API_KEY",
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "SECRET_KEY_BASE",
    "DB_PASSWORD",
    "PGPASSWORD",
    "MYSQL_PWD",
    "DB_PASS",
    "SMTP_PASS",
    "CLIENT_SECRET",
    "JWT_SECRET",
    "PRIVATE_KEY",
    "ENCRYPTION_KEY",
    "STRIPE_KEY",
    "NPM_TOKEN",
    "PASSPHRASE",
    "AZURE_CREDENTIALS",
    "password",
    "api_key",
    "apiKey",
    "secretKey",
    "_authToken",
    "auth_token",
    "PASSWORD",
    "PASS",
  ];
  assertGone(
    names.flatMap((name) => [
      `export ${name}=${SECRET}`,
      `${name}=${SECRET} npm start`,
      `set ${name}=${SECRET}`,
      `$env:${name} = "${SECRET}"`,
      `${name}="${SECRET}"`,
      `${name}='${SECRET}'`,
      `- ${name}=${SECRET}`,
      `docker run -e ${name}=${SECRET} x`,
    ]),
    SECRET,
  );
});

test("redact takes values however they are quoted", () => {
  assertGone(
    [
      `PASSWORD="two ${SECRET}"`,
      `PASSWORD='two ${SECRET}'`,
      `PASSWORD="a\\"${SECRET}"`,
      `const password = \`${SECRET}\`;`,
      `PASSWORD=$'${SECRET}'`,
      `PASSWORD=ab"${SECRET}"`,
      `PASSWORD="ab"${SECRET}`,
      `PASSWORD=ab'${SECRET}'cd`,
    ],
    SECRET,
  );
});

test("redact takes values of aligned settings", () => {
  assertGone(
    [
      `db_password      = ${SECRET}`,
      `API_KEY =      ${SECRET}`,
      `api_key\t\t\t\t\t= "${SECRET}"`,
      `"password"     :     "${SECRET}"`,
      `password:        '${SECRET}'`,
    ],
    SECRET,
  );
});

test("redact takes values of JSON, also of JSON inside a string", () => {
  const names = [
    "password",
    "apiKey",
    "api_key",
    "clientSecret",
    "client_secret",
    "accessToken",
    "refresh_token",
    "private_key",
    "token",
    "secret",
  ];
  const objects = names.map((name) => ({ user: "bob", [name]: SECRET, port: 5432 }));
  assertGone(
    objects.flatMap((object) => [JSON.stringify(object), JSON.stringify(object, null, 2)]),
    SECRET,
  );
  assertGone(
    objects.map((object) => JSON.stringify({ body: JSON.stringify(object) })),
    SECRET,
  );
  const shown = redact(JSON.stringify(objects[0]));
  assert.ok(shown.includes('"user":"bob"') && shown.includes('"port":5432'), shown);
});

test("redact takes values of YAML, digits or none", () => {
  const names = [
    "password",
    "api_key",
    "client_secret",
    "POSTGRES_PASSWORD",
    "SESSION_SECRET",
    "GITHUB_TOKEN",
    "x-api-key",
  ];
  assertGone(
    names.flatMap((name) => [`${name}: ${SECRET}`, `  ${name}: "${SECRET}"`, `env:\n  ${name}: '${SECRET}'`]),
    SECRET,
  );
  assertGone(
    ["POSTGRES_PASSWORD", "SESSION_SECRET", "GITHUB_TOKEN", "api_key", "client_secret"].map(
      (name) => `  ${name}: correcthorsebattery`,
    ),
    "correcthorsebattery",
  );
});

test("redact takes credentials out of URLs and keeps the rest of them", () => {
  const kept: Record<string, RegExp> = {
    [`postgres://u:${SECRET}@h`]: /^postgres:\/\/.*@h$/,
    [`postgresql+asyncpg://bob:${SECRET}@db.internal:5432/shop?sslmode=require`]:
      /@db\.internal:5432\/shop\?sslmode=require$/,
    [`redis://:${SECRET}@cache:6379/0`]: /@cache:6379\/0$/,
    [`mongodb+srv://bob:${SECRET}@c0.mongodb.net/x`]: /@c0\.mongodb\.net\/x$/,
    [`https://bob:${SECRET}@example.com/x.git`]: /@example\.com\/x\.git$/,
    [`HTTPS://BOB:${SECRET}@EXAMPLE.COM`]: /@EXAMPLE\.COM$/,
    [`https://${SECRET}@github.com/acme/x`]: /@github\.com\/acme\/x$/,
    [`amqp://guest:ab@${SECRET}@mq/`]: /@mq\/$/,
    [`https://x-access-token:ghp_${SECRET}${SECRET}@github.com/acme/x`]: /@github\.com\/acme\/x$/,
  };
  assertGone(Object.keys(kept), SECRET);
  for (const [url, rest] of Object.entries(kept)) assert.match(redact(url), rest);
  assert.equal(redact("postgres://u:p@h").includes(":p@"), false);
  assertGone(
    [
      `https://x.example/cb?access_token=${SECRET}&state=1`,
      `https://x.example/?api_key=${SECRET}`,
      `https://x.example/#token=${SECRET}`,
    ],
    SECRET,
  );
});

test("redact takes what authorizes a request", () => {
  assertGone(
    [
      `Authorization: Bearer ${SECRET}`,
      `authorization: bearer ${SECRET}`,
      `-H "Authorization: Bearer ${SECRET}"`,
      `-H 'authorization: token ${SECRET}'`,
      `"Authorization": "Bearer ${SECRET}"`,
      `Proxy-Authorization: Basic ${SECRET}`,
      `Authorization: ${SECRET}`,
      `headers: { Authorization: 'Bearer ${SECRET}' }`,
      `{\\"Authorization\\": \\"Bearer ${SECRET}\\"}`,
      `Bearer ${SECRET}`,
      `use bearer ${SECRET} here`,
      `X-Api-Key: ${SECRET}`,
      `-H "X-API-Key: ${SECRET}"`,
      `X-Auth-Token: ${SECRET}`,
      `PRIVATE-TOKEN: ${SECRET}`,
    ],
    SECRET,
  );
  assert.doesNotMatch(
    redact(`Authorization: Basic ${btoa(`bob:${SECRET}`)} and basic ${btoa(`bob:${SECRET}`)}`),
    /Ym9i/,
  );
});

test("redact takes the password of a command line", () => {
  assertGone(
    [
      `curl -u bob:${SECRET} https://x`,
      `curl --user bob:${SECRET} x`,
      `curl --user=bob:${SECRET} x`,
      `curl -u 'bob:${SECRET}' x`,
      `curl -u "bob:${SECRET}" x`,
      `curl -ubob:${SECRET} x`,
      `curl -u "bob:two ${SECRET}" x`,
      `curl -u bob:"${SECRET}" x`,
      `curl -u bob:'${SECRET}' x`,
      `curl --proxy-user bob:${SECRET} x`,
      `mysql --password=${SECRET}`,
      `tool --password ${SECRET}`,
      `tool --token ${SECRET}`,
      `tool --api-key ${SECRET}`,
      `tool --api-key="${SECRET}"`,
      `tool --client-secret ${SECRET}`,
      `tool --secret-key ${SECRET}`,
      `gpg --passphrase ${SECRET}`,
    ],
    SECRET,
  );
});

test("redact takes a password that is told in a sentence", () => {
  assertGone(
    [`the password is ${SECRET}`, `my password is "${SECRET}"`, `password is: ${SECRET}`, `the API key is ${SECRET}.`],
    SECRET,
  );
});

test("redact takes many secrets of one text and nothing between them", () => {
  const text = `cd /srv/app && export API_KEY=${SECRET} && DB_PASSWORD="${SECRET}" ./run --port 80 # see docs/setup.md`;
  assert.equal(
    redact(text),
    "cd /srv/app && export API_KEY=[redacted] && DB_PASSWORD=[redacted] ./run --port 80 # see docs/setup.md",
  );
});

test("redact keeps paths, with lines, secret-like names and all", () => {
  assertKept([
    "/home/x/project/src/secret/token.ts",
    "src/auth/password.rs",
    "C:\\Users\\Ann Lee\\secrets\\a.txt",
    "see /run/secrets/db_password",
    "./tokens/api_key.py",
    "~/.ssh/id_ed25519.pub",
    "src/auth/token.ts:12: error TS2322",
    "src/auth/token.ts:12:5",
    "tests/test_password.py:42: AssertionError",
    "/home/x/sk-learn-examples-notebooks/a.py",
    "node_modules/.bin/esbuild",
  ]);
});

test("redact keeps hashes, ids and versions", () => {
  assertKept([
    "8c04925a11ad7279efe8d1b59d7c675d39814ed8",
    "fixed in 8c04925a",
    "10297766-04a3-445f-bc52-fe146412e745",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity: sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP==",
    "v1.2.3-rc.1",
    "msg_I8Bm2qLc",
    "call_19",
    "1796044587494_tt0np",
    "2026-11-30T14:10:00.000Z",
    "the token test fails at 8c04925a11ad7279efe8d1b59d7c675d39814ed8",
  ]);
});

test("redact keeps settings that hold no secret", () => {
  assertKept([
    "PWD=/home/x",
    "OLDPWD=/home/x",
    "PATH=/usr/bin:/bin",
    "HOME=/root",
    "author: Bob",
    "AUTHOR=Bob",
    "GIT_AUTHOR_NAME=Bob",
    "authors: [Bob, Ann]",
    "authority: core",
    "KEY=value",
    "keyboard: qwerty",
    "monkey=banana",
    "compass=north",
    "bypass: true",
    "TOKENIZERS_PARALLELISM=false",
    "tokenizer=gpt2",
    "public_key: abc",
    "foreign_key=user_id",
    "cache_key=abc",
    "PASS: 12 FAIL: 0",
    "pass: 3",
    "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1",
    "POSTGRES_PASSWORD_FILE=/run/secrets/db",
    "TOKEN_URL=https://login.example.com/token",
    "token_endpoint: https://login.example.com/token",
    "privateKeyPath: ./keys/deploy",
    "SECRET_NAME=checkout",
    "api_key_type: bearer",
    "TOKEN_TTL=24h",
  ]);
});

test("redact keeps counts and limits of tokens", () => {
  assertKept([
    "max_tokens: 4096",
    "max_tokens=4096",
    '"max_tokens": 4096,',
    "maxTokens: 4096",
    "total_tokens=100",
    "prompt_tokens: 12, completion_tokens: 34",
    "input_tokens=100 output_tokens=20",
    '"inputTokens":100,"cacheReadTokens":0',
    "tokens: 12",
    "tokens per second: 12.5",
    "context_tokens: 200000",
    "token_count: 512",
    "token_limit=4096",
    "num_tokens=5",
  ]);
});

test("redact takes a provider's key with no digit in its last part, and a password in one word with its flag", () => {
  assert.equal(redact("use sk-ant-api03-abcabcabcabcabcabcabcabc now"), "use [redacted] now");
  assert.equal(redact("mysql -u root -pS3cretPw shop < dump.sql"), "mysql -u root -p[redacted] shop < dump.sql");
  for (const kept of ["mysql -u root -p shop", "mkdir -p src/mysql", "ssh -p2222 host", "the sk-anthology is a book"])
    assert.equal(redact(kept), kept);
});

test("redact takes what programs are given as a password in their own way", () => {
  for (const [text, kept] of [
    ["sshpass -p hunter2x ssh host", "sshpass -p [redacted] ssh host"],
    ["redis-cli -h db -a hunter2x ping", "redis-cli -h db -a [redacted] ping"],
    ["docker login -u bob -p hunter2x reg", "docker login -u bob -p [redacted] reg"],
    ["gh secret set KEY --body hunter2x", "gh secret set KEY --body [redacted]"],
    ["aws configure set aws_secret_access_key wJalr7XU/bPx", "aws configure set aws_secret_access_key [redacted]"],
    ["npm config set //reg/:_authToken abc123def", "npm config set //reg/:_authToken [redacted]"],
    ["git config user.password hunter2x", "git config user.password [redacted]"],
  ] as const)
    assert.equal(redact(text), kept);
  for (const kept of [
    "set the password again",
    "config token handling is odd",
    "docker run -p 8080:80 redis",
    "redis-cli ping",
  ])
    assert.equal(redact(kept), kept);
});

test("redact keeps prose about secrets", () => {
  assertKept([
    "the token is expired",
    "The token is required for login.",
    "Basic authentication",
    "basic authentication is used here",
    "Bearer authentication",
    "a bearer token is required",
    "Bearer tokens expire after an hour",
    "password reset flow",
    "the password was changed last week",
    "what is a secret key?",
    "Authorization header is missing",
    "rotate the API key every month",
    "secrets live in the vault",
    "the secret of success is work",
    "where do I set the api key?",
    "authentication: how does it work",
    "password: is it needed?",
    "token: why does it expire?",
  ]);
});

test("redact keeps code that only names secrets", () => {
  assertKept([
    "token: string",
    "token?: string;",
    "password: string, name: string",
    "token: Promise<string>",
    "function login(user: string, password: string): void",
    "const { token } = config",
    "if (token === undefined) return;",
    "if (password == null) {",
    "password !== confirmation",
    "import { redact } from './secret.ts'",
  ]);
});

test("redact keeps addresses without credentials", () => {
  assertKept([
    "http://localhost:6340/path@x",
    "https://example.com:8080/a",
    "https://registry.npmjs.org/@types/node",
    "git@github.com:acme/shop.git",
    "ssh://git@github.com/acme/shop.git",
    "npm install @types/node@20",
    "rsync a:/x b:/y",
    "bob@example.com",
  ]);
});

test("redact keeps flags that mean something else", () => {
  assertKept([
    "docker run -u 1000:1000 image",
    "sort -u file",
    "date -u +%Y",
    "git push -u origin main",
    "ps -u root",
    "mkdir -p a/b",
    "docker run -p 8080:80 x",
  ]);
});

test("redact changes nothing the second time", () => {
  const text = [
    `API_KEY=${SECRET}`,
    `"password": "${SECRET}"`,
    `postgres://u:${SECRET}@h`,
    `Authorization: Bearer ${SECRET}`,
    `curl -u bob:${SECRET} x`,
    `--token ${SECRET}`,
    `password: ${SECRET}`,
    `Bearer ${SECRET}`,
    `password is ${SECRET}`,
    `ghp_${SECRET}${SECRET}`,
  ].join("\n");
  assert.equal(redact(redact(text)), redact(text));
});

test("redact leaves well-formed text well-formed and takes any text", () => {
  for (const text of [
    "",
    "\ud800",
    "PASSWORD=😀😀",
    "token: 😀1",
    "😀".repeat(500),
    "\u0000=\u0000",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
  ]) {
    assert.equal(redact(text).isWellFormed(), text.isWellFormed(), JSON.stringify(text));
  }
});

test("redact takes time in proportion to a hostile text", () => {
  const units = [
    "eyJ",
    "eyJ-",
    "eyJaaaaaaaa-",
    "eyJaaaaaaaa.",
    "tokens",
    "token",
    "tokenSECRET",
    "secret",
    "_auth",
    "password",
    "passwd_",
    "api_key",
    "api-",
    "A_",
    "A_KEY",
    "_KEY",
    "token=",
    'token="',
    'token="\\',
    "token:",
    "token: ",
    'token" : ',
    "credential",
    "sk-",
    "sk-a ",
    "ghp_",
    "AKIA",
    "xoxb-",
    "SG.aaaaaaaaaaaaaaaa",
    "12345678:AA",
    "pypi-",
    "-----BEGIN ",
    "-----BEGIN A",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "PRIVATE KEY",
    "http://",
    "http://a:",
    "https://a",
    "a+",
    "a.",
    "a://",
    "@",
    ":",
    "=",
    "=>",
    "'",
    "`",
    '"',
    "\\",
    "-",
    "--password ",
    '--password "',
    " -u ",
    " -u a",
    " --user a:",
    "authorization:",
    "authorization: bearer ",
    "bearer ",
    "bearer a",
    "basic 1",
    "password is ",
    "password for ",
    "password for the a ",
    "the password a1",
    "mysql ",
    "mysql -p",
    "curl ",
    "curl -b ",
    "curl -u a",
    "machine ",
    "machine a login b ",
    "default\n",
    "echo ",
    "echo a |",
    'variable "password" { ',
    "password: |\n a\n",
    "password = <<A\n",
    "password: ['a', ",
    "identified by ",
    "identified with a ",
    'define("TOKEN", ',
    "contraseña es ",
    "密码：",
    "glpat-a1",
    "glpat-a1…",
    "MAAAAAAAAAAAAAAAAAAAAAAAA.",
    "MAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAA.",
    "aaa8Q~",
    "eyJ1",
    "discord.com/api/webhooks/1",
    "htpasswd -b a b ",
    "Private-Lines: 1\naaaaaaaa\n",
    "https://a:b/",
    "https://a:b/c@",
    "openssl -pass ",
    "a3-A",
    "password is aaaa",
    " ",
    "\n",
    "\t",
    "a",
    "1",
    "😀",
    "\ud83d",
  ];
  assert.deepEqual(units.filter(isSlow), []);
});

/** Grows the text from 4 KB to 1 MB: four times the text may take nine times as long, and a pause of the machine. */
function isSlow(unit: string): boolean {
  for (let size = 4096, before = Infinity; size <= 1 << 20; size *= 4) {
    const text = `${unit.repeat(Math.ceil(size / unit.length))}\u0001!`;
    const limit = before * 9 + 150;
    let spent = elapsed(text);
    for (let again = 0; spent > limit && again < 1; again += 1) spent = Math.min(spent, elapsed(text));
    if (spent > limit) return true;
    before = spent;
  }
  return false;
}

/** Milliseconds of processor time: others may be at work on this machine. */
function elapsed(text: string): number {
  const start = process.cpuUsage();
  redact(text);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function assertGone(texts: readonly string[], secret: string) {
  const parts = Array.from({ length: secret.length - 3 }, (_, at) => secret.slice(at, at + 4));
  for (const text of texts)
    assert.ok(
      parts.some((part) => text.includes(part)),
      `no secret in ${text}`,
    );
  const leaks = texts.filter((text) => parts.some((part) => redact(text).includes(part)));
  assert.deepEqual(
    leaks.map((text) => [text, redact(text)]),
    [],
  );
}

function assertKept(texts: readonly string[]) {
  assert.deepEqual(texts.map(redact), texts);
}

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

test("redact looks a hundred characters into a value to tell it from prose", () => {
  const value = `${"abcdefghij".repeat(8)}9`;
  assert.equal(redact(`password: ${value}`), "password: [redacted]");
});

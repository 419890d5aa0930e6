// A server's trouble in words: one table for tools and commands, the doctor and an import.
import assert from "node:assert/strict";
import test from "node:test";
import { PalinodeError, type Reason } from "../../src/server/failure.ts";
import { adviceFor, explain, troubleOf } from "../../src/server/words.ts";
import { readConfig } from "../../src/settings/index.ts";

const CONFIG = { ...readConfig(undefined, {}).config, apiUrl: "http://localhost:6340", token: "s3cret-token-value" };
const AT = "The Palinode server at http://localhost:6340";

test("each trouble says what is wrong and then what mends it", () => {
  const told: [error: unknown, text: string][] = [
    [
      failed("refused"),
      "Nothing listens at http://localhost:6340, so Palinode does not answer. " +
        "Start it with: palinode-api (to get it: node palinode.js server install)",
    ],
    [failed("dns"), `${AT} cannot be found: there is no host localhost. Check PALINODE_API_URL`],
    [failed("timeout"), `${AT} does not answer in time. Its embedder may be loading; see: node palinode.js doctor`],
    [
      failed("unreachable"),
      "No whole answer came from http://localhost:6340: the connection broke, or a proxy did not let it through. " +
        "Try again; look at the server's log, and at HTTPS_PROXY and NO_PROXY. See: node palinode.js doctor",
    ],
    [
      failed("bad-response", 502),
      "A gateway at http://localhost:6340 gets no answer from the server behind it (HTTP 502). " +
        "Start palinode-api behind it, or look at the address that it passes requests to",
    ],
    [
      failed("unauthorized", 401),
      `${AT} refused the token. Put the right one as "token" into your settings file, or into PALINODE_API_TOKEN; ` +
        "node palinode.js doctor names the file",
    ],
    [failed("denied", 403, "recall_paused"), `${AT} does not allow this (recall_paused). See: palinode controls`],
    [failed("denied", 403), `${AT} does not allow this (its policy). See: palinode controls`],
    [failed("rate-limited", 429), `${AT} wants quiet (rate limit). Try again in a minute`],
    [failed("bad-response", 413), `${AT} takes no text of that size`],
    [failed("bad-response", 422), `${AT} refused it (HTTP 422)`],
    [
      new PalinodeError("/save", "bad-response", 400, { serverWords: "no <system> tags" }),
      `${AT} refused it: no &lt;system> tags`,
    ],
    [
      failed("bad-response", 503),
      `${AT} has no working embedder. Get its model with: ollama pull bge-m3. ` +
        "Without one it can still search: PALINODE_RETRIEVAL_MODE=lexical palinode-api",
    ],
    [
      failed("bad-response", 500),
      `${AT} gave no usable answer (HTTP 500). Is that palinode-api? See: node palinode.js doctor`,
    ],
    [undefined, `${AT} gave no usable answer. Is that palinode-api? See: node palinode.js doctor`],
  ];
  for (const [error, text] of told) assert.equal(explain(error, { config: CONFIG }), text);
});

test("what is wrong with a token depends on whether there is one and may be sent", () => {
  const error = failed("unauthorized", 401);
  assert.match(troubleOf(error, { ...CONFIG, token: "" }).what, /wants a token, and none is set$/);
  const open = { ...CONFIG, apiUrl: "http://palinode.example" };
  assert.match(troubleOf(error, open).what, /wants a token, and the token is not sent over plain http/);
  assert.match(troubleOf(error, open).mend, /^use https.*PALINODE_ALLOW_HTTP=1$/);
  assert.match(troubleOf(error, { ...open, allowHttp: true }).what, /refused the token$/);
});

test("in a few words there is advice for every reason", () => {
  const reasons: Reason[] = [
    "refused",
    "dns",
    "tls",
    "unauthorized",
    "denied",
    "rate-limited",
    "timeout",
    "bad-response",
  ];
  assert.deepEqual(reasons.map(adviceFor), [
    "start palinode-api, or set PALINODE_API_URL",
    "look at PALINODE_API_URL",
    "look at NODE_EXTRA_CA_CERTS, or at the scheme of PALINODE_API_URL",
    "look at PALINODE_API_TOKEN",
    "the server's policy forbids it",
    "the server wants quiet; try again later",
    "the server does not answer as it should",
    "the server does not answer as it should",
  ]);
});

function failed(code: Reason, status?: number, detail?: string): PalinodeError {
  return new PalinodeError("/search", code, status, { detail });
}

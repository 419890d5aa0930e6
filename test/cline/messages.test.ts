// What hooks and `setup` are handed, as hosts of several kinds do it: whatever is missing, empty or of another shape.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readHookCall, readSetupContext } from "../../src/cline/index.ts";

const [SAID, SENT, CAME] = ["said", "sent", "came"].map((id) => [{ id, role: "user", content: id }]);

test("the transcript is the snapshot's, else the request's or the result's; an empty list is the last choice", () => {
  const transcriptOf = (messages: unknown, sent: unknown, came: unknown) =>
    readHookCall({ snapshot: { messages }, request: { messages: sent }, result: { messages: came } })?.transcript;
  assert.deepEqual(transcriptOf(SAID, SENT, CAME), SAID);
  assert.deepEqual(transcriptOf([], SENT, CAME), SENT);
  assert.deepEqual(transcriptOf(undefined, SENT, CAME), SENT);
  assert.deepEqual(transcriptOf([], [], CAME), CAME);
  assert.deepEqual(transcriptOf("x", null, []), []);
  assert.equal(transcriptOf(undefined, {}, null), undefined);
});

test("the request is what will be sent, and absent where nothing is", () => {
  assert.deepEqual(readHookCall({ snapshot: { messages: SAID }, request: { messages: SENT } })?.request, SENT);
  assert.deepEqual(readHookCall({ snapshot: { messages: SAID }, request: { messages: [] } })?.request, []);
  for (const payload of [{}, { request: undefined }, { request: { messages: "x" } }])
    assert.equal("request" in (readHookCall({ snapshot: { messages: SAID }, ...payload }) ?? {}), false);
});

test("a call without a parent is the root agent's, in every way to have none", () => {
  const isRoot = (snapshot: object) => readHookCall({ snapshot: { messages: SAID, ...snapshot } })?.isRoot;
  for (const none of [{}, { parentAgentId: undefined }, { parentAgentId: null }, { parentAgentId: "" }])
    assert.equal(isRoot(none), true, JSON.stringify(none));
  for (const some of [{ parentAgentId: "agent_1" }, { parentAgentId: 7 }]) assert.equal(isRoot(some), false);
});

test("a conversation without an id of its own is its agent's", () => {
  const idOf = (snapshot: object) => readHookCall({ snapshot: { messages: SAID, ...snapshot } })?.conversationId;
  assert.equal(idOf({ conversationId: "conv_1", agentId: "agent_1" }), "conv_1");
  assert.equal(idOf({ conversationId: "", agentId: "agent_1" }), "agent_1");
  assert.equal(idOf({}), "");
});

test("the workspace's root is the folder, and a shell's folder where there is none", () => {
  const cwdOf = (ctx: unknown) => readSetupContext(ctx).cwd;
  assert.equal(cwdOf({ cwd: "/w/shop/src", workspaceInfo: { rootPath: "/w/shop" } }), "/w/shop");
  assert.equal(cwdOf({ cwd: "/w/shop/src", workspaceInfo: { rootPath: "" } }), "/w/shop/src");
  assert.equal(cwdOf({ cwd: "/w/shop/src" }), "/w/shop/src");
  for (const ctx of [undefined, null, {}, { cwd: 7, workspaceInfo: 7 }]) assert.equal(cwdOf(ctx), undefined);
});

test("remotes that are no text are left out", () => {
  const workspaceInfo = { associatedRemoteUrls: ["origin: a", 7, null, "fork: b"] };
  assert.deepEqual(readSetupContext({ workspaceInfo }).remoteUrls, ["origin: a", "fork: b"]);
  assert.deepEqual(readSetupContext({ workspaceInfo: { associatedRemoteUrls: "origin: a" } }).remoteUrls, []);
});

test("the host's onDispose is called as its method, and what it rejects with hurts nobody", async () => {
  const ctx = {
    heard: [] as unknown[],
    async onDispose(cleanUp: unknown) {
      this.heard.push(cleanUp);
      throw new Error("no");
    },
  };
  const cleanUp = (): void => undefined;
  readSetupContext(ctx).onDispose?.(cleanUp);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ctx.heard, [cleanUp]);
});

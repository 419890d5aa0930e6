// Contract checks: what holds for every route, and the pause and exclusion policy.
import assert from "node:assert/strict";
import type { Check, Fields, Reply } from "./contract-client.ts";
import { brief, fields, rows, unique } from "./contract-client.ts";

export const GENERAL_CHECKS: Check[] = [
  {
    title: "health answers without a token and names the version",
    async run(api, { version }) {
      const { status, body } = await api.get("/health", { authorization: "" });
      assert.equal(status, 200);
      assert.equal(fields(body).status, "ok");
      assert.equal(fields(body).version, version);
    },
  },
  {
    title: "a wrong or missing token is 401, also for a route that does not exist",
    async run(api, { token }) {
      for (const authorization of token === undefined ? [] : ["", "Bearer wrong", `bearer ${token}`]) {
        for (const path of ["/list", "/nowhere"]) {
          const reply = await api.get(path, { authorization });
          assert.equal(reply.status, 401);
          assert.deepEqual(reply.body, { detail: "Unauthorized" });
          assert.equal(reply.headers.get("www-authenticate"), 'Bearer realm="palinode"');
        }
      }
    },
  },
  {
    title: "an unknown route is 404, a known one with another method 405",
    async run(api) {
      assert.deepEqual(brief(await api.get("/nowhere")), { status: 404, body: { detail: "Not Found" } });
      assert.deepEqual(brief(await api.get("/search")), { status: 405, body: { detail: "Method Not Allowed" } });
    },
  },
  {
    title: "a wrong body is 422 with a list of type, loc, msg and input",
    async run(api) {
      const missing = await api.post("/search", { limit: 1001 });
      assert.equal(missing.status, 422);
      const [first, second] = rows(fields(missing.body).detail);
      assert.deepEqual(first, {
        type: "missing",
        loc: ["body", "query"],
        msg: "Field required",
        input: { limit: 1001 },
      });
      assert.deepEqual([second?.type, second?.loc, second?.input], ["less_than_equal", ["body", "limit"], 1001]);
      const noJson = await api.post("/search", "{");
      assert.deepEqual([noJson.status, rows(fields(noJson.body).detail)[0]?.type], [422, "json_invalid"]);
      const noObject = await api.post("/search", [1]);
      assert.deepEqual([noObject.status, rows(fields(noObject.body).detail)[0]?.type], [422, "model_attributes_type"]);
    },
  },
  {
    title: "controls/check allows, and refuses extra fields and scopes it cannot place",
    since: "0.21",
    async run(api) {
      const check = async (body: Fields): Promise<unknown> =>
        brief(await api.post("/controls/check", { action: "capture", ...body }));
      const allowed = { allowed: true, reason: null, policy_version: 1, project: "web" };
      assert.deepEqual(await check({ project: "web" }), { status: 200, body: allowed });
      for (const wrong of [{ extra: 1 }, { action: "other" }, { automatic: "true" }]) {
        assert.deepEqual(await check(wrong), { status: 422, body: { detail: "Invalid controls request" } });
      }
      for (const scope of [{ project: "project/web" }, { cwd: "relative" }, { cwd: "/a/../b" }]) {
        const denied = { allowed: false, reason: "invalid_scope", policy_version: 1, project: null };
        assert.deepEqual(await check(scope), { status: 200, body: denied });
      }
    },
  },
  {
    title: "excluded projects stop automatic calls, a pause stops every call before it is looked at",
    since: "0.21",
    async run(api) {
      const project = unique();
      try {
        await api.post("/controls", { excluded_projects: [project] });
        const context = [`project/${project}`];
        const search = (body: Fields): Promise<Reply> => api.post("/search", { query: "x", context, ...body });
        assert.deepEqual(brief(await search({ mode: "passive" })), {
          status: 403,
          body: { detail: "excluded_project" },
        });
        assert.equal((await search({})).status, 200);
        await api.post("/controls", { excluded_projects: [], capture_paused: true, recall_paused: true });
        assert.deepEqual(brief(await api.post("/search", {})), { status: 403, body: { detail: "recall_paused" } });
        assert.deepEqual(brief(await api.post("/session-end", {})), {
          status: 403,
          body: { detail: "capture_paused" },
        });
      } finally {
        await api.post("/controls", { excluded_projects: [], capture_paused: false, recall_paused: false });
      }
    },
  },
  {
    title: "resolve is unknown",
    until: "0.20",
    async run(api) {
      assert.deepEqual(brief(await api.post("/resolve", { query: "x" })), {
        status: 404,
        body: { detail: "Not Found" },
      });
    },
  },
  {
    title: "controls/check is unknown",
    until: "0.21",
    async run(api) {
      const reply = await api.post("/controls/check", { action: "recall" });
      assert.deepEqual(brief(reply), { status: 404, body: { detail: "Not Found" } });
    },
  },
];

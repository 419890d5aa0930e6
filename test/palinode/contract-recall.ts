// Contract checks: what memory says, and when.
import assert from "node:assert/strict";
import { isAbsolute } from "node:path";
import type { Check, Fields } from "./contract-client.ts";
import { brief, fields, rows, saved, stemOf, text, unique } from "./contract-client.ts";

export const RECALL_CHECKS: Check[] = [
  {
    title: "prime answers an empty object",
    async run(api) {
      const { status, body } = await api.post("/context/prime", {});
      assert.equal(status, 200);
      for (const key of ["core_memories", "recent_decisions", "open_action_items", "recent_snapshots"])
        rows(fields(body)[key]);
      assert.equal(fields(body).mode, "scoped");
    },
  },
  {
    title: "prime lists core memories and a project's decisions and action items",
    async run(api) {
      const project = unique();
      const file = await saved(api, {
        type: "Decision",
        project,
        core: true,
        title: "Title",
        metadata: { description: "why" },
      });
      const action = await saved(api, { type: "ActionItem", project });
      const body = fields((await api.post("/context/prime", { project })).body);
      assert.equal(body.project, `project/${project}`);
      assert.ok(rows(body.core_memories).some((row) => row.file === file && row.summary === "Title — why"));
      assert.deepEqual(
        rows(body.recent_decisions).map((row) => row.file),
        [file],
      );
      assert.deepEqual(
        rows(body.open_action_items).map((row) => row.file),
        [action],
      );
    },
  },
  {
    title: "list is an array of all memories, newest first, without the inbox",
    async run(api) {
      const older = await saved(api, { type: "Decision", core: true });
      const newer = await saved(api, { type: "Decision", metadata: { summary: "short" } });
      const action = await saved(api, { type: "ActionItem" });
      const list = rows((await api.get("/list")).body);
      const files = list.map((row) => row.file);
      assert.ok(files.indexOf(newer) < files.indexOf(older) && files.includes(newer));
      assert.ok(!files.includes(action));
      const { name, category, core, summary, entities } = list[files.indexOf(newer)] ?? {};
      assert.deepEqual([name, category, core, summary, entities], [stemOf(newer), "decisions", false, "short", []]);
      const cores = rows((await api.get("/list?core_only=true&category=decisions")).body).map((row) => row.file);
      assert.deepEqual([cores.includes(older), cores.includes(newer)], [true, false]);
      assert.equal((await api.get("/list?category=inbox")).status, 422);
    },
  },
  {
    title: "read returns the whole file, and refuses paths that are absent or outside",
    async run(api) {
      const file = await saved(api, { type: "Insight", content: "Body of it", project: "web" });
      const { status, body } = await api.get(`/read?file_path=${file.replace(/\.md$/, "")}&meta=true`);
      assert.equal(status, 200);
      assert.equal(fields(body).file, file);
      assert.match(String(fields(body).content), /^---\n.*\n---\n\nBody of it\n/s);
      assert.deepEqual(fields(fields(body).frontmatter).entities, ["project/web"]);
      assert.deepEqual(brief(await api.get("/read?file_path=insights/absent")), {
        status: 404,
        body: { detail: "File not found" },
      });
      for (const path of ["/etc/passwd", "../outside"]) {
        assert.deepEqual(brief(await api.get(`/read?file_path=${path}`)), {
          status: 403,
          body: { detail: "Invalid path" },
        });
      }
      assert.equal((await api.get("/read?file_path=a%00b")).status, 400);
      assert.equal((await api.get("/read")).status, 422);
    },
  },
  {
    title: "read with automatic=true withholds another project's memory",
    since: "0.22",
    async run(api) {
      const file = await saved(api, { type: "Insight", project: unique() });
      const detail = "Withheld: record belongs to another project";
      const reply = await api.get(`/read?file_path=${file}&automatic=true&project=${unique()}`);
      assert.deepEqual(brief(reply), { status: 404, body: { detail } });
    },
  },
  {
    title: "search is an array whose raw_score is the cosine",
    async run(api) {
      const word = unique();
      const file = await saved(api, { type: "Decision", content: `${word} lives here`, core: true });
      const { status, body } = await api.post("/search", { query: `${word} lives here`, threshold: 0.6, limit: 3 });
      assert.equal(status, 200);
      const [hit = {}] = rows(body);
      const { rel_path, category, snippet, content_truncated, freshness, metadata } = hit;
      assert.deepEqual([rel_path, category, content_truncated, freshness], [file, "decisions", false, "valid"]);
      assert.ok(isAbsolute(String(hit.file_path)) && String(hit.file_path).endsWith(file));
      assert.match(String(snippet), new RegExp(word));
      assert.equal(fields(metadata).core, true);
      assert.ok(Math.abs(Number(hit.raw_score) - 1) < 1e-3);
      assert.ok(Number(hit.score) >= 0.99);
    },
  },
  {
    title: "a search hit that only the keywords found has raw_score null",
    since: "0.18",
    async run(api) {
      const word = unique();
      const file = await saved(api, { type: "Insight", content: `${word} and a good deal of other text beside it` });
      const find = async (more: Fields): Promise<Fields | undefined> =>
        rows((await api.post("/search", { query: word, threshold: 0.99, ...more })).body).find(
          (hit) => hit.rel_path === file,
        );
      assert.equal((await find({}))?.raw_score, null);
      assert.equal(await find({ hybrid: false }), undefined);
    },
  },
  {
    title: "a blank search query returns the newest, without raw_score",
    async run(api) {
      const file = await saved(api, { type: "Insight" });
      const [hit = {}] = rows((await api.post("/search", { query: "", limit: 1 })).body);
      assert.deepEqual([hit.rel_path, hit.score, "raw_score" in hit], [file, 1, false]);
    },
  },
  {
    title: "search cuts a long snippet near the wanted word and says so",
    async run(api) {
      const word = unique();
      const file = await saved(api, {
        type: "Insight",
        content: `${"before ".repeat(60)}${word} ${"after ".repeat(60)}`,
      });
      const { body } = await api.post("/search", { query: word, threshold: 0, max_chars: 50 });
      const hit = rows(body).find((found) => found.rel_path === file);
      assert.equal(hit?.content_truncated, true);
      assert.ok(String(hit?.snippet).length <= 50 + "…".length * 2);
      assert.match(String(hit?.snippet), new RegExp(word));
      assert.ok(String(hit?.content).length > 400);
    },
  },
  {
    title: "search raises what belongs to the project in context above 1",
    async run(api) {
      const [word, project] = [unique(), unique()];
      await saved(api, { type: "Insight", content: `${word} fact`, project });
      const query = { query: `${word} fact`, threshold: 0.1, context: [`project/${project}`] };
      const [hit] = rows((await api.post("/search", query)).body);
      assert.ok(Number(hit?.score) > 1.4);
    },
  },
  {
    title: "search with a project in context leaves out what belongs to another",
    since: "0.22",
    async run(api) {
      const word = unique();
      const file = await saved(api, { type: "Insight", content: word, project: unique() });
      const finds = async (context: string[]): Promise<boolean> =>
        rows((await api.post("/search", { query: word, context })).body).some((hit) => hit.rel_path === file);
      assert.deepEqual([await finds([]), await finds([`project/${unique()}`])], [true, false]);
    },
  },
  {
    title: "search tells whose its rows are, in their frontmatter",
    async run(api) {
      const [word, project] = [unique(), unique()];
      const file = await saved(api, { type: "Insight", content: `${word} fact`, project });
      const hits = rows((await api.post("/search", { query: `${word} fact`, threshold: 0.1 })).body);
      const { metadata } = hits.find((hit) => hit.rel_path === file) ?? {};
      assert.deepEqual(fields(metadata).entities, [`project/${project}`]);
    },
  },
  {
    title: "resolve is about the project that it is asked for, and what is everybody's",
    since: "0.22",
    async run(api) {
      const content = text();
      const ref = (await saved(api, { type: "Decision", content, project: "web" })).replace(/\.md$/, "");
      const finds = async (project: string): Promise<boolean> =>
        JSON.stringify(fields((await api.post("/resolve", { query: content, project })).body).selected).includes(ref);
      assert.deepEqual([await finds("web"), await finds(unique())], [true, false]);
    },
  },
  {
    title: "search says of what contradicts another that it is contested, and names the other",
    since: "0.20",
    async run(api) {
      const word = unique();
      const other = (await saved(api, { type: "Decision", content: text() })).replace(/\.md$/, "");
      const file = await saved(api, { type: "Decision", content: `${word} holds`, contradicts: [other] });
      for (const mode of [undefined, "passive"]) {
        const hits = rows((await api.post("/search", { query: `${word} holds`, mode })).body);
        const { currency, currency_reason } = hits.find((hit) => hit.rel_path === file) ?? {};
        assert.deepEqual([currency, currency_reason], ["contested", `contradicts: ${other}`]);
      }
    },
  },
  {
    title: "search says of what was retired why, and what replaced it",
    since: "0.20",
    async run(api) {
      const word = unique();
      const other = (await saved(api, { type: "Decision", content: text() })).replace(/\.md$/, "");
      const reasons: [metadata: Fields, reason: string][] = [
        [{ superseded_by: other }, `superseded_by: ${other}`],
        [{ status: "deprecated" }, "status:deprecated"],
        [{ expires_at: "2020-01-01T00:00:00Z" }, "expired"],
      ];
      for (const [index, [metadata, reason]] of reasons.entries()) {
        const file = await saved(api, { type: "Decision", content: `${word} holds ${index}`, metadata });
        const find = async (mode?: string): Promise<Fields | undefined> =>
          rows((await api.post("/search", { query: `${word} holds ${index}`, threshold: 0, mode })).body).find(
            (hit) => hit.rel_path === file,
          );
        const { currency, currency_reason } = (await find()) ?? {};
        assert.deepEqual([currency, currency_reason], ["retired", reason]);
      }
    },
  },
  {
    title: "a passive search leaves out what was retired",
    since: "0.23",
    async run(api) {
      const word = unique();
      const file = await saved(api, { type: "Decision", content: `${word} holds`, metadata: { status: "deprecated" } });
      const finds = async (mode?: string): Promise<boolean> =>
        rows((await api.post("/search", { query: `${word} holds`, mode })).body).some((hit) => hit.rel_path === file);
      assert.deepEqual([await finds(), await finds("passive")], [true, false]);
    },
  },
  {
    title: "prime says what a memory contradicts, and leaves out what was retired",
    since: "0.20",
    async run(api) {
      const [project, other] = [unique(), `decisions/${unique()}`];
      const file = await saved(api, { type: "Decision", project, contradicts: [other] });
      await saved(api, { type: "Decision", project, metadata: { superseded_by: other } });
      const decisions = rows(fields((await api.post("/context/prime", { project })).body).recent_decisions);
      assert.deepEqual(
        decisions.map((row) => [row.file, row.contradicts]),
        [[file, [other]]],
      );
    },
  },
  {
    title: "a trigger fires once and then cools down",
    since: "0.17",
    async run(api) {
      const description = text();
      const memory_file = await saved(api, { type: "Decision" });
      const id = unique();
      const created = await api.post("/triggers", { description, memory_file, trigger_id: id });
      assert.deepEqual(brief(created), { status: 200, body: { id, status: "created" } });
      const fired = rows((await api.post("/check-triggers", { query: description })).body);
      assert.deepEqual(
        fired.map(({ score, ...rest }) => rest),
        [{ id, description, memory_file }],
      );
      assert.ok(Number(fired[0]?.score) > 0.99);
      assert.deepEqual((await api.post("/check-triggers", { query: description })).body, []);
      assert.equal(
        rows((await api.post("/check-triggers", { query: description, cooldown_bypass: true })).body).length,
        1,
      );
      const listed = rows((await api.get("/triggers")).body).find((trigger) => trigger.id === id);
      assert.deepEqual(
        [listed?.fire_count, listed?.threshold, listed?.cooldown_hours, listed?.enabled],
        [2, 0.75, 24, 1],
      );
      assert.deepEqual((await api.delete(`/triggers/${id}`)).body, { status: "deleted" });
      assert.deepEqual((await api.delete(`/triggers/${id}`)).body, { status: "deleted" });
    },
  },
  {
    title: "a second check of a trigger that has fired crashes",
    until: "0.17",
    async run(api) {
      const description = text();
      await api.post("/triggers", { description, memory_file: "decisions/a.md" });
      assert.equal(rows((await api.post("/check-triggers", { query: description })).body).length, 1);
      const again = await api.post("/check-triggers", { query: description });
      assert.deepEqual(brief(again), { status: 500, body: { detail: "Trigger check failed" } });
    },
  },
  {
    title: "a trigger whose memory does not exist does not fire",
    since: "0.21",
    async run(api) {
      const description = text();
      await api.post("/triggers", { description, memory_file: "decisions/absent.md" });
      assert.deepEqual(brief(await api.post("/check-triggers", { query: description })), { status: 200, body: [] });
    },
  },
  {
    title: "a trigger does not fire for another project than its memory's",
    since: "0.23",
    async run(api) {
      const [project, description] = [unique(), text()];
      const memory_file = await saved(api, { type: "Decision", project });
      await api.post("/triggers", { description, memory_file });
      assert.deepEqual((await api.post("/check-triggers", { query: description, project: unique() })).body, []);
      assert.equal(rows((await api.post("/check-triggers", { query: description, project })).body).length, 1);
    },
  },
  {
    title: "resolve always says something",
    since: "0.20",
    async run(api) {
      const content = text();
      const file = await saved(api, { type: "Decision", content });
      const found = fields((await api.post("/resolve", { query: content })).body);
      const one = rows(found.selected).find((selected) => selected.rel_path === file);
      assert.ok(String(one?.statement).length > 100 && content.startsWith(String(one?.statement)));
      assert.match(
        String(found.text),
        new RegExp(`^### Resolved from memory \\(current state\\)\n[^]*\n- \\[${one?.ref}\\] `),
      );
      const none = fields((await api.post("/resolve", { query: text() })).body);
      assert.match(String(none.text), /Nothing in memory answers this\./);
      for (const key of ["selected", "replaced", "conflicts", "insufficient"]) assert.deepEqual(none[key], [], key);
      assert.equal((await api.post("/resolve", {})).status, 422);
    },
  },
];

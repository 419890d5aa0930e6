// What a session wrote into files, by the calls that succeeded: the two sides of an edit, the lines that a patch adds
// and removes, SEARCH/REPLACE blocks in both spellings. Source: @cline/core 0.0.86, tools; the extension's
// core/assistant-message/diff.ts.
import { asRecord, asText } from "../base/json.ts";
import { isFailed, type Message, toolCallsOf, toolResultsOf } from "../cline/index.ts";

/** The lines that one call wrote and took out; what stands on both sides is neither. */
export interface Edit {
  readonly path: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const PATH_KEYS = ["path", "file_path", "filePath", "absolutePath"];
const OLD_KEYS = ["old_text", "old_str", "old_string"];
const NEW_KEYS = ["new_text", "new_str", "new_string", "content", "file_text"];
const PATCH_KEYS = ["input", "patch"];
const SEARCH = /^(?:-{3,}|<{3,}) SEARCH>?\s*$/;
const MIDDLE = /^={3,}\s*$/;
const REPLACE = /^(?:\+{3,}|>{3,}) REPLACE>?\s*$/;
const PATCHED_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/;
const MOVED = /^\*\*\* Move to: (.+)$/;

type Side = "added" | "removed";

/** Returns the edits of a conversation, oldest first. */
export function editsOf(messages: readonly Message[]): Edit[] {
  const results = messages.flatMap(toolResultsOf).filter((result) => !isFailed(result));
  const done = new Set(results.map(({ id }) => id));
  return messages
    .flatMap(toolCallsOf)
    .filter(({ id }) => done.has(id))
    .flatMap(({ name, input }) => editsIn(name, input));
}

function editsIn(tool: string, input: unknown): Edit[] {
  if (tool === "apply_patch") return patchEdits(linesOf(asText(input) ?? memberOf(input, PATCH_KEYS)));
  const path = memberOf(input, PATH_KEYS);
  if (path === undefined) return [];
  const diff = asText(asRecord(input).diff);
  if (diff !== undefined) return [blockEdit(path, linesOf(diff))];
  const [before, after] = [memberOf(input, OLD_KEYS), memberOf(input, NEW_KEYS)];
  return before === undefined && after === undefined ? [] : [edit(path, linesOf(after), linesOf(before))];
}

function memberOf(input: unknown, keys: readonly string[]): string | undefined {
  return keys.map((key) => asText(asRecord(input)[key])).find((text) => text !== undefined);
}

function linesOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(/\r\n?|\n/);
}

function edit(path: string, added: readonly string[], removed: readonly string[]): Edit {
  const [after, before] = [new Set(added), new Set(removed)];
  return {
    path,
    added: added.filter((line) => !before.has(line)),
    removed: removed.filter((line) => !after.has(line)),
  };
}

function blockEdit(path: string, lines: readonly string[]): Edit {
  const sides: Record<Side, string[]> = { added: [], removed: [] };
  let side: Side | undefined;
  for (const line of lines) {
    if (SEARCH.test(line)) side = "removed";
    else if (side === "removed" && MIDDLE.test(line)) side = "added";
    else if (REPLACE.test(line)) side = undefined;
    else if (side !== undefined) sides[side].push(line);
  }
  return edit(path, sides.added, sides.removed);
}

function patchEdits(lines: readonly string[]): Edit[] {
  const files: { path: string; added: string[]; removed: string[] }[] = [];
  for (const line of lines) {
    const path = PATCHED_FILE.exec(line)?.[1]?.trim();
    const file = files.at(-1);
    if (path !== undefined) files.push({ path, added: [], removed: [] });
    else if (file === undefined) continue;
    else if (line.startsWith("+")) file.added.push(line.slice(1));
    else if (line.startsWith("-")) file.removed.push(line.slice(1));
    else file.path = MOVED.exec(line)?.[1]?.trim() ?? file.path;
  }
  return files.map(({ path, added, removed }) => edit(path, added, removed));
}

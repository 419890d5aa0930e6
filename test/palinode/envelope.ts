// The server's guard against tool-call markup in what it is asked to store (palinode-api.md section 2.9), as
// `palinode/core/envelope.py` has it. A tag alone is only a candidate; one of three rules must agree.

const TAGS = [
  "invoke",
  "parameter",
  "function_calls",
  "tool_call",
  "tool_use",
  "summary",
  "decisions",
  "blockers",
  "system-reminder",
  "command-message",
  "command-name",
  "command-args",
  "local-command-stdout",
  "local-command-stderr",
  "user-prompt-submit-hook",
  "bash-input",
  "bash-stdout",
  "bash-stderr",
  "ide_selection",
  "ide_opened_file",
];
const TAG = new RegExp(`<(/?)(?:[A-Za-z][\\w.-]*:)?(${TAGS.join("|")})(?:\\s[^<>]*)?/?>`, "gi");
const CODE = [/```.*?```/gs, /~~~.*?~~~/gs, /`[^`\n]+`/g];
const HINT =
  "If the markup really is part of the note, wrap it in backticks on a single line, or put it in a fenced code " +
  "block, and it will pass.";

export type Summary = { summary: string; decisions?: string[] | null; blockers?: string[] | null };

/** Returns why the server refuses a session summary, or undefined. */
export function summaryComplaint({ summary, decisions, blockers }: Summary): string | undefined {
  const arraysSent = Array.isArray(decisions) || Array.isArray(blockers);
  const items = [...named("decisions", decisions), ...named("blockers", blockers)];
  const complaints = [
    complaint(summary, "summary", !arraysSent),
    ...items.map(([field, item]) => complaint(item, field)),
  ];
  return complaints.find((text) => text !== undefined);
}

/**
 * Returns why the server refuses `text`, or undefined. With `anyTag` one tag is enough: the parameters that should have
 * come along did not, so this is taken for a tool call whose tail was swallowed.
 */
export function complaint(text: string, field: string, anyTag = false): string | undefined {
  const bare = CODE.reduce((rest, pattern) => rest.replace(pattern, " "), text);
  const tags = [...bare.matchAll(TAG)].map((match) => ({
    text: match[0],
    name: match[2]?.toLowerCase(),
    closes: match[1] === "/",
    end: match.index + match[0].length,
  }));
  const opened = new Set(tags.filter((tag) => !tag.closes).map((tag) => tag.name));
  const unopened = tags.find((tag) => tag.closes && !opened.has(tag.name));
  const last = tags.find((tag) => tag.end === bare.trimEnd().length);
  const reason = refusal({ anyTag: anyTag ? (unopened ?? last ?? tags.at(-1)) : undefined, unopened, last });
  return reason && `Refusing to store \`${field}\`: it contains tool-envelope markup ${reason}. ${HINT}`;
}

type Offenders = Partial<Record<"anyTag" | "unopened" | "last", { text: string }>>;

function refusal({ anyTag, unopened, last }: Offenders): string | undefined {
  if (anyTag) return `and no \`decisions\`/\`blockers\` arrived with it — \`${anyTag.text}\``;
  if (unopened) return `as a closing tag with no matching opener — \`${unopened.text}\``;
  if (last) return `at the very end of the value, where an absorbed envelope lands — \`${last.text}\``;
  return undefined;
}

function named(field: string, items: string[] | null | undefined): [string, string][] {
  return (items ?? []).map((item, index) => [`${field}[${index}]`, item]);
}

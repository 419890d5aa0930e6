// A session that goes on with another's messages under an id of its own: `/fork`, `/undo`, or a host that lost its hub.
// No hook and no setup names the other one, but the messages keep their ids. Source: the real CLI 3.0.65.
import { tailLeft } from "../capture/index.ts";
import { type Covered, listRecords, loadRecord, type SessionRecord } from "./record.ts";
import type { Session } from "./session.ts";

/** The other session ran just before: it is among the newest. */
const MAX_LOOKED_AT = 20;

/**
 * Has a session that starts with messages of another take over what was injected, asked and captured there, so that the
 * same bytes are sent and nothing is said twice. `keys`: of its prompts. Reads at most 20 small files, and none where a
 * session starts anew.
 */
export function inherit({ id, record, state, cwd }: Session, keys: ReadonlySet<string>): void {
  if (id === undefined || record.asked.length > 0 || keys.size < 2) return;
  const others = listRecords(state).slice(0, MAX_LOOKED_AT);
  for (const { id: otherId } of others) {
    const other = loadRecord(state, otherId, cwd);
    const shared = [...keys].filter((key) => other.asked.includes(key) && !other.muted.includes(key)).length;
    if (shared === 0) continue;
    const left = tailLeft(state, otherId);
    const captured = Math.min(shared, Math.max(other.captured, left?.prompts ?? 0));
    takeOver(record, other, { captured, capturedKeys: [...other.capturedKeys, ...(left?.keys ?? [])] });
    return;
  }
}

function takeOver(record: SessionRecord, other: SessionRecord, covered: Covered): void {
  const { isPrimed, asked, ledger, carried, repaired, muted } = other;
  Object.assign(record, { isPrimed, asked, ledger, carried, repaired, muted, ...covered });
}

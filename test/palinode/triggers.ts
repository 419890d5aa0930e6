// Triggers of the stand-in Palinode. A match counts as fired at once, whatever the caller then does with it.
import { embed } from "./embedding.ts";
import { isHidden, isOtherProject, isRetired, parseMemory, similarity } from "./memory.ts";
import type { Call, Fields, Store, Trigger } from "./store.ts";
import { HttpError, needEmbedder, projectOf, since, timestamp } from "./store.ts";

export type TriggerInput = { id?: string } & Partial<Omit<Trigger, "id">> &
  Pick<Trigger, "description" | "memory_file">;

const DEFAULTS = { threshold: 0.75, cooldownHours: 24 };
const HOUR_MS = 3_600_000;

/** Registers a trigger, or replaces the one of that id; zero for a number means the default, as on the server. */
export function addTrigger(store: Store, input: TriggerInput): Trigger {
  const trigger: Trigger = {
    last_fired: null,
    fire_count: 0,
    created_at: timestamp(store),
    enabled: 1,
    expires_at: null,
    authority: null,
    ...input,
    id: input.id ?? `trigger-${store.triggers.size + 1}`,
    threshold: input.threshold || DEFAULTS.threshold,
    cooldown_hours: input.cooldown_hours || DEFAULTS.cooldownHours,
  };
  store.triggers.delete(trigger.id);
  store.triggers.set(trigger.id, trigger);
  return trigger;
}

export function createTrigger(store: Store, fields: Fields): unknown {
  const { description, memory_file, trigger_id, threshold, cooldown_hours, expires_at, authority } = fields;
  if (typeof expires_at === "string" && since(store, "0.17") && Number.isNaN(Date.parse(expires_at))) {
    throw new HttpError(400, `Invalid expires_at '${expires_at}'; expected an ISO-8601 timestamp`);
  }
  needEmbedder(store, "Trigger creation failed");
  const { id } = addTrigger(store, {
    ...(typeof trigger_id === "string" && trigger_id !== "" ? { id: trigger_id } : {}),
    description: String(description),
    memory_file: String(memory_file),
    threshold: Number(threshold ?? 0),
    cooldown_hours: Number(cooldown_hours ?? 0),
    expires_at: typeof expires_at === "string" ? expires_at : null,
    authority: typeof authority === "string" ? authority : null,
  });
  return { id, status: "created" };
}

export function listTriggers(store: Store): unknown {
  return [...store.triggers.values()]
    .reverse()
    .map(({ expires_at, authority, ...trigger }) =>
      since(store, "0.17") ? { ...trigger, expires_at, authority } : trigger,
    );
}

export function deleteTrigger(store: Store, _: Fields, { path }: Call): unknown {
  store.triggers.delete(decodeURIComponent(path.slice("/triggers/".length)));
  return { status: "deleted" };
}

export function checkTriggers(store: Store, fields: Fields): unknown {
  const project = since(store, "0.23") ? projectOf(store, fields) : null;
  needEmbedder(store, "Trigger check failed");
  const vector = embed(String(fields.query));
  const matches = [...store.triggers.values()]
    .map((trigger) => ({ trigger, score: similarity(vector, trigger.description) }))
    .filter(({ trigger, score }) => isActive(store, trigger) && score >= trigger.threshold)
    .filter(({ trigger }) => fields.cooldown_bypass === true || !isCoolingDown(store, trigger))
    .filter(({ trigger }) => isDeliverable(store, trigger.memory_file, project));
  for (const { trigger } of matches) {
    trigger.last_fired = timestamp(store);
    trigger.fire_count += 1;
  }
  return matches.map(({ trigger: { id, description, memory_file }, score }) => ({
    id,
    description,
    memory_file,
    score,
  }));
}

function isActive(store: Store, { enabled, expires_at }: Trigger): boolean {
  return enabled === 1 && !(Date.parse(String(expires_at)) <= store.now());
}

function isCoolingDown(store: Store, { last_fired, cooldown_hours }: Trigger): boolean {
  if (last_fired === null) return false;
  // Up to 0.16 comparing the dates crashed, and the other matches of the call were lost with it.
  if (!since(store, "0.17")) throw new HttpError(500, "Trigger check failed");
  return store.now() - Date.parse(last_fired) < cooldown_hours * HOUR_MS;
}

/** No trigger fires whose memory is gone or hidden (since 0.21), retired (0.22) or another project's (0.23). */
function isDeliverable(store: Store, file: string, project: string | null): boolean {
  if (!since(store, "0.21")) return true;
  const path = [file, `${file}.md`].find((name) => store.memories.has(name));
  if (path === undefined) return false;
  const memory = parseMemory(path, store.memories.get(path) ?? "");
  const isCurrent = !since(store, "0.22") || !isRetired(memory, store.now());
  return isCurrent && !isHidden(memory) && !isOtherProject(memory, project);
}

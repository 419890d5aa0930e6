// What a workspace's file may do to the settings of the person at the keyboard: turn things down. A cloned repository
// can switch memory off, or make it smaller and stricter; it never switches on what the user switched off.
import type { Config, Profile } from "./config.ts";
import { profileValues } from "./profiles.ts";

/** Of these more is stricter; of other numbers less is. */
const STRICTER_WHEN_LARGER: ReadonlySet<keyof Config> = new Set(["recallThreshold", "recallMinChars", "minMessages"]);

/** About what holds where nobody set a floor. */
const UNSET_THRESHOLD = 0.4;

type Values = Partial<Config>;

/** What came of a workspace's wishes. */
export interface TurnedDown {
  /** The settings that change. */
  readonly values: Values;
  /** The settings of which the workspace asked for more than it gets. */
  readonly refused: readonly (keyof Config)[];
}

/**
 * Returns what a workspace's values change of the user's settings. `fixed`: settings that something nearer decides,
 * an option or the environment, and that only the profile `off` reaches past.
 */
export function turnDown(users: Config, wishes: Values, fixed: ReadonlySet<keyof Config>): TurnedDown {
  const isOff = wishes.recallProfile === "off";
  const ofProfile = wishes.recallProfile === undefined ? {} : profileValues(wishes.recallProfile);
  const asked: Values = { ...ofProfile, ...(isOff ? {} : wishes) };
  const values: Record<string, unknown> = {};
  const refused: (keyof Config)[] = [];
  for (const name of Object.keys(asked) as (keyof Config)[]) {
    if (name === "recallProfile" || (fixed.has(name) && !isOff)) continue;
    const lower = lowerOf(name, users[name], asked[name]);
    if (lower !== users[name]) values[name] = lower;
    // What comes with a profile was not asked for by name.
    if (lower !== asked[name] && Object.hasOwn(wishes, name)) refused.push(name);
  }
  // A profile is named where it changed something; nothing changes what is off already.
  const isNamed = users.recallProfile !== "off" && Object.keys(ofProfile).some((name) => Object.hasOwn(values, name));
  return { values: isNamed ? { ...values, recallProfile: wishes.recallProfile as Profile } : values, refused };
}

/** Returns the stricter of two values of one setting. A name is nothing to turn down: the workspace knows its own. */
function lowerOf(name: keyof Config, users: unknown, asked: unknown): unknown {
  if (typeof users === "boolean") return users && asked;
  if (typeof users === "number") {
    const pick = STRICTER_WHEN_LARGER.has(name) ? Math.max : Math.min;
    return pick(users, asked as number);
  }
  // Nobody set a floor: one that is as strict as what then holds is stricter than none.
  if (name === "recallThreshold") return (asked as number) > UNSET_THRESHOLD ? asked : users;
  if (name === "digest") return users === "core" ? users : asked;
  return asked;
}

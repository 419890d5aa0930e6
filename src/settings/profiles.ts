// What each profile changes of the defaults.
import type { Config, Profile } from "./config.ts";
import { SETTINGS } from "./table.ts";

const PROFILES: Record<Profile, Partial<Config>> = {
  coding: {},
  monitoring: { injectMaxFiles: 0, recallMaxResults: 0 },
  investigation: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 6, recallThreshold: 0.4 },
  writing: { recallTriggers: false, recallMaxResults: 0 },
  conversation: { recallMaxResults: 0 },
  minimal: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 0, tools: false },
  off: { injectMaxFiles: 0, recallTriggers: false, recallMaxResults: 0, capture: false, tools: false, repair: false },
};

/** Returns what a profile changes of the defaults. */
export function profileValues(profile: Profile): Partial<Config> {
  return PROFILES[profile];
}

/** Returns what the profile sets beside explicit settings. Those win over it, except over `off`. */
export function fromProfile(explicit: Partial<Config>): Partial<Config> {
  const profile = explicit.recallProfile ?? SETTINGS.recallProfile.fallback;
  const entries = Object.entries(PROFILES[profile]);
  return Object.fromEntries(entries.filter(([key]) => profile === "off" || !Object.hasOwn(explicit, key)));
}

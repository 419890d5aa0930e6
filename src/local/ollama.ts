// Whether the server can have an embedder: Ollama, with the model that the server asks it for. Without, it searches by
// words alone.
import { asRecord, asText } from "../base/json.ts";
import { createClient } from "../server/index.ts";
import { readUrl } from "../settings/index.ts";

const DEFAULT_URL = "http://localhost:11434";
const DEFAULT_MODEL = "bge-m3";
const TIMEOUT_MS = 3000;

export interface Ollama {
  readonly state: "ready" | "no model" | "away";
  readonly url: string;
  readonly model: string;
}

/** Returns how Ollama is, where the server would look for it (palinode-api.md, 4). Never rejects. */
export async function lookForOllama(env: NodeJS.ProcessEnv): Promise<Ollama> {
  const url = readUrl(env.OLLAMA_URL) ?? DEFAULT_URL;
  const model = asText(env.EMBEDDING_MODEL) ?? DEFAULT_MODEL;
  const ollama = createClient({ apiUrl: url, token: "", allowHttp: false, recallTimeoutMs: TIMEOUT_MS });
  try {
    const { models } = asRecord(await ollama.get("/api/tags", {}));
    const names = Array.isArray(models) ? models.map((each) => asText(asRecord(each).name) ?? "") : [];
    const isThere = names.some((name) => name === model || name.startsWith(`${model}:`));
    return { state: isThere ? "ready" : "no model", url, model };
  } catch {
    return { state: "away", url, model };
  }
}

/** Returns what an embedder would add, and the one command that brings it; "" where there is one. */
export function whatOllamaAdds({ state, model }: Ollama): string {
  if (state === "ready") return "";
  const get =
    process.platform === "linux" ? "curl -fsSL https://ollama.com/install.sh | sh" : GETTING[process.platform];
  const pull = `ollama pull ${model}`;
  const command = state === "no model" ? pull : `${get ?? "get it from https://ollama.com/download"} && ${pull}`;
  return `With an embedder it also finds what is said in other words, and triggers fire: ${command}`;
}

const GETTING: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "brew install ollama && brew services start ollama",
  win32: "winget install Ollama.Ollama",
};

// A sandbox is cut off from everything that is not on loopback; what it installs comes by the machine's own ways.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "./cline.ts";

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
const CERTIFICATES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"];

/** Gives the sandbox the machine's way to the registries of npm and PyPI. */
export function useRegistry({ env }: Sandbox): void {
  const ofPip = Object.keys(process.env).filter((name) => /^(?:PIP|UV)_/.test(name));
  for (const name of [...PROXIES, ...CERTIFICATES, ...ofPip, "npm_config_registry"]) env[name] = process.env[name];
  env.npm_config_userconfig = process.env.npm_config_userconfig ?? join(homedir(), ".npmrc");
  env.npm_config_cache = process.env.npm_config_cache ?? join(homedir(), ".npm");
}

/** Returns whether a package manager says that nobody answers. */
export function isRegistryAway(text: string): boolean {
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|\bE5\d\d\b|NewConnectionError/.test(text);
}

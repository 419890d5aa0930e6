// Whether the address of the server is one of this machine, where one can be started.

/** Where a server listens. */
export interface Listening {
  readonly host: string;
  readonly port: string;
}

/** Returns where a server has to listen to be found at an address; undefined where that is not of this machine. */
export function listeningAt(apiUrl: string): Listening | undefined {
  const { protocol, hostname, port, pathname } = new URL(apiUrl);
  if (protocol !== "http:" || pathname !== "/") return undefined;
  const place = { port: port || "80" };
  if (hostname === "localhost") return { host: "127.0.0.1", ...place };
  if (hostname === "[::1]") return { host: "::1", ...place };
  return /^127(?:\.\d+){3}$/.test(hostname) ? { host: hostname, ...place } : undefined;
}

// One line of the doctor: what was looked at, how it is, and the one command that mends it.
export interface Check {
  readonly name: string;
  readonly level: "ok" | "warning" | "failure";
  readonly message: string;
  /** What to type into a shell. */
  readonly fix?: string;
}

export function ok(name: string, message: string): Check {
  return { name, level: "ok", message };
}

/** Memory works, but not as it could. */
export function warning(name: string, message: string, fix?: string): Check {
  return { name, level: "warning", message, fix };
}

/** Memory cannot work. */
export function failure(name: string, message: string, fix?: string): Check {
  return { name, level: "failure", message, fix };
}

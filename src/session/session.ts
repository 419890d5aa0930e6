// One session of the host: its settings, its server and how that fares, its project, and what is kept of it on disk.
import { entryAt, realFolder } from "../base/files.ts";
import { workingFolder } from "../base/process.ts";
import { withBudget } from "../base/slow-disk.ts";
import { noState, openState, type State } from "../base/store.ts";
import type { SetupContext } from "../cline/index.ts";
import { type Asker, askDigest, type Channel, type Finding } from "../recall/index.ts";
import { Breaker, type Client, checkControls, createClient, Embedder, type Reason, reasonOf } from "../server/index.ts";
import { type Config, pausedSince, primes, projectOf, projectSlug, recalls, workspaceOf } from "../settings/index.ts";
import { loadRecord, type SessionRecord } from "./record.ts";
import { serverStarter } from "./server-start.ts";

export type Action = "recall" | "capture";

/** One session, shared by its conversations. */
export interface Session {
  readonly config: Config;
  readonly client: Client;
  /** Of the server as a whole: nothing was answered. */
  readonly breaker: Breaker;
  /** Of one channel while others are answered, such as triggers without an embedder. */
  readonly channelBreaker: (channel: Channel) => Breaker;
  readonly embedder: Embedder;
  readonly state: State;
  /** Where pauses are noted, also where nothing else is kept. */
  readonly pauses: State;
  readonly now: () => number;
  /** The host's session id; undefined where the host has none. */
  readonly id: string | undefined;
  /** The agent that `setup` was called for, where the host names it. */
  readonly agentId: string | undefined;
  readonly cwd: string | undefined;
  readonly project: string;
  readonly missingRoutes: Set<string>;
  /** Why the server is not asked any more in this session: it refused the token, also as it was read anew. */
  readonly stopped: Partial<Record<Action, Reason>>;
  /** Ends what was started ahead of prompts and behind runs. */
  readonly abort: AbortController;
  /** What is known of the session from this and earlier processes. */
  record: SessionRecord;
  /** True once a conversation works with the record. */
  isClaimed: boolean;
  /** The digest that was asked for ahead of the first prompt; taken once. */
  prefetched: Promise<Finding> | undefined;
  /** What was archived by hand, where that cannot be kept on disk. */
  archived: Readonly<Record<string, unknown>>;
  /** True once the state folder was looked through for what is long over. */
  isPruned: boolean;
  /** When captures that could not be delivered were last looked for. */
  drainedAt: number;
  readonly failures: Surroundings["failures"];
  /** Undefined when the server allows the action, else why not. That recall is allowed is remembered, nothing else. */
  refusalOf(action: Action): Promise<Reason | undefined>;
  /** Has the server asked anew whether it allows recall, and what it has: a route of it has denied what it allowed. */
  doubtPolicy(): void;
  /** Gives the disk the time anew that it may cost a hook. */
  startHook(): void;
  /** Writes one line to the host's log, where there is one. Never throws. */
  log(line: string): void;
}

/** What a session shares with the others of its process. */
export interface Surroundings {
  readonly now: () => number;
  /** By state folder, then by server and channel: one each, whatever the session. */
  readonly breakers: Map<string, Map<string, Breaker>>;
  /** Tool calls that failed since the last success of any kind: the host counts them for the plugin as a whole. */
  readonly failures: { inRow: number };
}

/** Returns the surroundings of a process in which nothing happened yet. */
export function newSurroundings(): Surroundings {
  return { now: () => Date.now(), breakers: new Map(), failures: { inRow: 0 } };
}

/** What a session of a host has beside its settings. */
interface HostSession {
  /** The agent that `setup` was called for. */
  readonly agentId?: string | undefined;
  /** Reads a token that was refused anew from where it stands. */
  readonly readToken?: () => string;
}

/**
 * Returns a session; one that is no host's starts no server. Reads its record and git's files for the project; asks the
 * server nothing.
 */
export function createSession(
  config: Config,
  context: SetupContext,
  surroundings: Surroundings,
  host?: HostSession,
): Session {
  const { now } = surroundings;
  const log = createLog(context);
  const cwd = workspaceFor(context);
  const pauses = openState(config.stateDir, log);
  const tellSlow = (ms: number): void =>
    log(`the disk under ${config.stateDir} took ${Math.round(ms)} ms: this session goes on in memory`);
  const disk = withBudget(pauses, tellSlow);
  const state = config.persist ? disk.state : noState;
  const breaker = breakerFor(config, state, surroundings);
  const client = createClient(config, {
    onRateLimited: (ms) => breaker.limit(ms),
    readToken: host?.readToken ?? (() => config.token),
    ...(host && { onRefused: serverStarter({ config, breaker, now, log }) }),
  });
  const record = loadRecord(state, context.sessionId, cwd);
  const project = projectKept(config, cwd, record) || projectOf(config.project, cwd, context.remoteUrls);
  record.project = project;
  const missingRoutes = new Set<string>();
  const ask = (action: Action) => refusalIn(checkControls({ client, missingRoutes }, { action, cwd, project }));
  return {
    config,
    client,
    breaker,
    embedder: new Embedder(state, config.apiUrl, now),
    state,
    pauses,
    now,
    project,
    cwd,
    agentId: host?.agentId,
    missingRoutes,
    log,
    channelBreaker: (channel) => breakerFor(config, state, surroundings, channel),
    id: context.sessionId,
    stopped: {},
    abort: new AbortController(),
    record,
    isClaimed: false,
    prefetched: undefined,
    archived: {},
    isPruned: false,
    drainedAt: -Infinity,
    startHook: () => disk.renew(),
    failures: surroundings.failures,
    ...createPolicy(ask, missingRoutes),
  };
}

/** Returns the folder that the host names, else the one that it works in; undefined where that is gone. */
export function workspaceFor({ cwd }: { readonly cwd?: string | undefined }): string | undefined {
  if (cwd !== undefined) return realFolder(cwd);
  const folder = workingFolder();
  return folder && workspaceOf(folder);
}

/** Of a folder that is gone, such as a worktree, git says nothing any more; the session's record still does. */
function projectKept(config: Config, cwd: string | undefined, { project = "" }: SessionRecord): string {
  const isGone = cwd !== undefined && entryAt(cwd) === undefined;
  return isGone && config.project === "" ? projectSlug(project) : "";
}

/** Returns whether somebody paused memory in this workspace. Reads one small file. */
export function isMuted({ pauses, cwd }: Session): boolean {
  return pausedSince(pauses, cwd) !== undefined;
}

/** Starts what the first prompt will need, so that it does not wait for it. A session that is primed needs nothing. */
export function prefetch(session: Session): void {
  if (session.record.isPrimed || session.breaker.isPaused() || !primes(session.config) || isMuted(session)) return;
  if (recalls(session.config) && session.config.recallTriggers) void session.embedder.look(session.client);
  session.prefetched = session
    .refusalOf("recall")
    .then((reason) =>
      reason === undefined
        ? askDigest(askerOf(session, session.id ?? "", session.abort.signal))
        : { channel: "prime", memories: [], reason },
    );
}

/** Returns whom to ask for a conversation of this session. */
export function askerOf(session: Session, conversationId: string, signal: AbortSignal): Asker {
  const { client, config, project, cwd, missingRoutes, embedder } = session;
  return { client, config, project, cwd, missingRoutes, embedder, signal, sessionId: session.id ?? conversationId };
}

/**
 * Only a yes to recall is remembered: a server that denies it, or was away, is asked again at the next prompt, in a
 * question that holds none of its words.
 */
function createPolicy(
  ask: (action: Action) => Promise<Reason | undefined>,
  missingRoutes: Set<string>,
): Pick<Session, "refusalOf" | "doubtPolicy"> {
  let recall: Promise<Reason | undefined> | undefined;
  return {
    async refusalOf(action) {
      if (action === "capture") return ask(action);
      recall ??= ask(action);
      const asked = recall;
      const reason = await asked;
      if (reason !== undefined && recall === asked) recall = undefined;
      return reason;
    },
    doubtPolicy() {
      recall = undefined;
      // A server that had no policy may have been replaced by one that has.
      missingRoutes.clear();
    },
  };
}

async function refusalIn(asked: ReturnType<typeof checkControls>): Promise<Reason | undefined> {
  try {
    return (await asked)?.isAllowed === false ? "denied" : undefined;
  } catch (error) {
    // A server that answers nonsense still guards its own routes.
    return reasonOf(error) === "bad-response" ? undefined : reasonOf(error);
  }
}

/** Sessions of a process share the breakers of a server as far as they share the state folder. */
function breakerFor(
  { apiUrl, persist, stateDir }: Config,
  state: State,
  { breakers, now }: Surroundings,
  channel?: Channel,
): Breaker {
  const folder = persist ? stateDir : "";
  const name = channel === undefined ? apiUrl : `${apiUrl} ${channel}`;
  const ofFolder = breakers.get(folder) ?? new Map<string, Breaker>();
  const breaker = ofFolder.get(name) ?? new Breaker(state, name, now);
  breakers.set(folder, ofFolder.set(name, breaker));
  return breaker;
}

function createLog({ logger }: SetupContext): (line: string) => void {
  return (line) => {
    try {
      const returned: unknown = (logger?.debug ?? logger?.log)?.call(logger, `palinode: ${line}`);
      if (returned instanceof Promise) returned.catch(() => undefined);
    } catch {
      // A host's logger is no reason to fail.
    }
  };
}

// What a session itself laid down and left open is told once more when compaction takes the turns that said so. Asks
// nobody: it comes from the transcript.
import { notesOf } from "../capture/index.ts";
import type { Message } from "../cline/index.ts";
import { admitNotes, compactionIn, hasBlockOfOthers, type Ledger, replay, type Turn } from "../recall/index.ts";
import { primes } from "../settings/index.ts";
import { addAccount } from "./news.ts";
import type { SessionRecord } from "./record.ts";
import { isMuted, type Session } from "./session.ts";

/** Keeps the notes of one conversation in its ledger. */
export class Noter {
  readonly #session: Session;
  readonly #record: SessionRecord;
  readonly #audible: (transcript: readonly Message[]) => readonly Message[];
  /** The compaction and prompt that were looked at last. */
  #occasion: string | undefined;

  /** `audible`: a transcript without what was said in a pause. */
  constructor(
    session: Session,
    record: SessionRecord,
    audible: (transcript: readonly Message[]) => readonly Message[],
  ) {
    this.#session = session;
    this.#record = record;
    this.#audible = audible;
  }

  /** Returns the ledger with notes, where this request's history was compacted and no block in view has them. */
  withNotes(turn: Turn): Ledger {
    const { ledger } = this.#record;
    const compaction = compactionIn(turn.request);
    const { prompt } = turn;
    if (compaction === undefined || prompt === undefined) return ledger;
    if (!primes(this.#session.config) || isMuted(this.#session)) return ledger;
    const occasion = `${compaction} ${prompt.key}`;
    if (this.#occasion === occasion) return ledger;
    this.#occasion = occasion;
    // What this compaction took is not in view any more.
    const live = replay(ledger, turn).ledger;
    if (live.some(({ kind }) => kind === "notes") || hasBlockOfOthers(live, turn.request)) return live;
    const notes = notesOf(this.#audible(turn.transcript));
    const entry = admitNotes(live, notes, prompt, this.#session.config);
    if (entry === undefined) return live;
    this.#account(entry.text.length);
    return [...live, entry];
  }

  #account(chars: number): void {
    const shown = [{ kind: "notes", path: "this session", score: null, chars }] as const;
    addAccount(this.#record, { at: this.#session.now(), about: "(compaction)", shown, chars, silent: {} });
    this.#session.log(`noted after compaction, ${chars} characters`);
  }
}

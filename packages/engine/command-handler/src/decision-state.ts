import type { PayloadSource } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { enteredIdsIn, type Frame, type HistoryEvent } from '@stemma/events';
import {
  applyFrame,
  bytesOfBranch,
  decidePending,
  findRepeated,
  freeMemory,
  openHistory,
  revertFrame,
  type Command,
  type HistoryState,
  type PendingDecision,
  type KeptFrame,
} from '@stemma/history';
import { labelPosition, type Position } from '@stemma/history-store';
import type { Decision, HeadState, Repeated, Session } from '@stemma/log';
import { withBranches } from './branches-in-rows.ts';
import type { HistoryRows } from './history-rows.ts';
import { openRecentFrames, type RecentFrames } from './recent-frames.ts';
import { SessionLookups } from './session-lookups.ts';

export type DecisionStateOptions = {
  readonly history: string;
  readonly next: number;
  readonly prev: Uint8Array;
  readonly asOf: number;
  readonly rows: HistoryRows;
  /** The branch that has the name `main`. */
  readonly main: number;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
  /** Called with the position of an applied frame, if the session knows it. */
  readonly onPosition: (frame: Frame, position: Position) => void;
  readonly mostAhead?: MostAhead | undefined;
};

/**
 * After this many more recent frames the session asks the rows again which of them they have: of a database less often, since each
 * answer takes a way there and back; of others often, since each frame keeps what undoing it takes, some 10 KB.
 */
const RECENT_STEP = { local: 16, remote: 64 };
/** How far the rows may be behind before writes to the history fail: all of these frames are in memory. */
export type MostAhead = { readonly frames: number; readonly bytes: number };
export const MOST_AHEAD: MostAhead = { frames: 10_000, bytes: 128 * 1024 * 1024 };
/** The most nodes of trees that a session keeps, about 250 MB. It reads the other branches from the rows again. */
const MAX_NODES = 300_000;
/** What a session takes besides branches and recent frames, measured roughly. */
const BYTES_PER_SESSION = 8_000;
/** With more branches loaded, the session asks the rows at every frame: only then can it drop their trees. */
const MAX_BRANCHES = 4;

/**
 * The decision state of one history for the writer: the facts in the rows, and the recent frames that the rows may not
 * have yet. The session forgets recent frames when the rows have them.
 */
export const openDecisionState = (options: DecisionStateOptions): Session<Command> =>
  new DecisionState(options);

/** What was decided last, and is in the state though no frame has it yet. */
type Pending = { readonly events: readonly HistoryEvent[]; readonly decision: PendingDecision };

class DecisionState implements Session<Command> {
  readonly #options: DecisionStateOptions;
  readonly #rows: HistoryRows;
  readonly #mostAhead: MostAhead;
  readonly #state: HistoryState;
  readonly #recent: RecentFrames;
  readonly #lookups: SessionLookups;
  readonly #step: number;
  readonly asOf: number;
  #prev: Uint8Array;
  #forgetAtSize: number;
  /** The branch of the newest frame. */
  #usedLast = 0;
  #pending: Pending | undefined;

  constructor(options: DecisionStateOptions) {
    const { history, next, prev, asOf, rows, main, mostAhead = MOST_AHEAD } = options;
    this.#options = options;
    this.#rows = rows;
    this.#mostAhead = mostAhead;
    this.#state = openHistory(history, next);
    this.#recent = openRecentFrames(main);
    this.#lookups = new SessionLookups(rows, this.#recent, next === 0);
    this.#step = rows.isRemote ? RECENT_STEP.remote : RECENT_STEP.local;
    this.asOf = asOf;
    this.#prev = prev;
    this.#forgetAtSize = this.#step;
  }

  get next(): number {
    return this.#state.next;
  }

  get prev(): Uint8Array {
    return this.#prev;
  }

  get bytes(): number {
    let bytes = BYTES_PER_SESSION + this.#recent.bytes + this.#lookups.bytes;
    for (const branch of this.#state.loadedBranches.values()) bytes += bytesOfBranch(branch);
    return bytes;
  }

  async decide({ command }: { readonly command: Command }): Promise<Decision | Repeated> {
    this.#dropPending();
    if (this.#isFarAhead()) await this.#forgetKnown();
    await this.#makeRoom(command.branchId);
    // Read once, though a decision may be tried again, and not at all for a repeated command.
    let at: bigint | undefined;
    const now = (): bigint => (at ??= this.#options.clock());
    const decided = await withBranches(
      this.#rows,
      () => this.#state.next,
      (branches) =>
        this.#lookups.withOlder((older, stored) => {
          this.#dropPending();
          const lookups = this.#lookups.over(older);
          const sources = { ...branches, payload: this.#payloadOver(stored), lookups };
          const repeated = findRepeated(command, lookups);
          if (repeated) return repeated;
          this.#refuseFarAhead();
          const { decided: fresh, pending: decision } = decidePending(this.#state, command, now(), sources);
          if (decision !== null) this.#pending = { events: fresh.events, decision };
          return fresh;
        }),
    );
    const { branchId, events, repeats } = decided;
    if (repeats !== null) return { repeats, frame: this.#recent.commands.get(command.id)?.frame ?? null };
    return { author: command.by, at: now(), branchId, events };
  }

  async apply(frame: Frame, hash: Uint8Array): Promise<void> {
    const applied = this.#keepPending(frame) ?? (await this.#applyDecoded(frame));
    const cycle = await this.#cycleAfter(applied);
    this.#recent.add({ applied, frame, cycle, prev: this.#prev });
    this.#prev = hash;
    if (cycle === undefined) return;
    const { branchId, seq } = applied;
    const committed = applied.snapshot !== null;
    const { history, onPosition } = this.#options;
    onPosition(frame, labelPosition({ history, branchId, seq, cycle, committed, main: this.#recent.main }));
  }

  undo(): void {
    this.#dropPending();
    const { applied, prev } = this.#recent.takeLast();
    revertFrame(this.#state, applied);
    this.#prev = prev;
  }

  rowsHave(head: Pick<HeadState, 'next' | 'prev'>): void {
    this.#dropPending();
    this.#forgetBefore(head);
    this.#freeIfKnown();
  }

  #payloadOver(stored: PayloadSource): PayloadSource {
    return (ref) => this.#recent.payload(ref) ?? stored(ref);
  }

  /** The newest cycle at a frame that was just applied; undefined if the rows cannot be read now. */
  async #cycleAfter(applied: KeptFrame): Promise<number | undefined> {
    const { snapshot, started, observed, branchId, seq } = applied;
    if (snapshot !== null) return snapshot.cycle;
    // A branch without frames of its own is not loaded for this.
    const at =
      started !== null && started.how !== 'start'
        ? { branchId: started.parent, seq: started.at }
        : observed
          ? { branchId, seq }
          : null;
    if (at === null) return applied.state.tree.cycle;
    return (
      this.#recent.cycleAt(at.branchId, at.seq) ??
      this.#rows.readFacts((facts) => facts.cycleAt(at.branchId, at.seq)).catch(() => undefined)
    );
  }

  async #forgetKnown(): Promise<void> {
    this.#forgetBefore(await this.#rows.readFacts((facts) => facts.head()));
  }

  #forgetBefore(head: Pick<HeadState, 'next' | 'prev'>): void {
    this.#lookups.add(this.#recent.forgetKnown(head, this.#prev));
    this.#forgetAtSize = this.#recent.size + this.#step;
  }

  #freeIfKnown(): void {
    if (this.#recent.size === 0) freeMemory(this.#state, MAX_NODES, this.#usedLast);
  }

  #dropPending(): void {
    this.#pending?.decision.drop();
    this.#pending = undefined;
  }

  /** Frees what only frames need that the rows have by now. Nothing is pending. */
  async #makeRoom(branchId: number): Promise<void> {
    if (this.#recent.size >= this.#forgetAtSize || this.#state.loadedBranches.size > MAX_BRANCHES)
      await this.#forgetKnown();
    this.#usedLast = branchId;
    this.#freeIfKnown();
  }

  async #applyDecoded(frame: Frame): Promise<KeptFrame> {
    this.#dropPending();
    await this.#makeRoom(frame.body.branchId);
    return withBranches(
      this.#rows,
      () => this.#state.next,
      (branches) =>
        this.#rows.withPayloads((stored) =>
          applyFrame(this.#state, frame, { ...branches, payload: this.#payloadOver(stored) }, { keep: true }),
        ),
      enteredIdsIn(frame.body.events),
    );
  }

  #keepPending(frame: Frame): KeptFrame | undefined {
    if (this.#pending?.events !== frame.body.events) return undefined;
    const { decision } = this.#pending;
    this.#pending = undefined;
    return decision.keep(frame);
  }

  #isFarAhead(): boolean {
    return this.#recent.size >= this.#mostAhead.frames || this.#recent.bytes >= this.#mostAhead.bytes;
  }

  #refuseFarAhead(): void {
    const { history } = this.#options;
    if (this.#isFarAhead())
      throw fail('E_ROWS_BEHIND', `the rows are ${this.#recent.size} frames behind the history ${history}`, {
        history,
      });
  }
}

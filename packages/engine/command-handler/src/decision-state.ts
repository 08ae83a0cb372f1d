import { UNLOADED, withIds, type PayloadSource, type Unloaded } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Frame, HistoryEvent } from '@stemma/events';
import {
  applyFrame,
  bytesOfBranch,
  decidePending,
  findRepeated,
  freeMemory,
  openHistory,
  POSITIONS,
  revertFrame,
  type BranchState,
  type BranchTip,
  type Command,
  type PendingDecision,
  type KeptFrame,
  type Lookups,
  type Sources,
} from '@stemma/history';
import { labelPosition, type Position } from '@stemma/history-store';
import type { Decision, HeadState, Repeated, Session } from '@stemma/log';
import { fetching, missing, missingKind, resume } from '@stemma/suspend';
import { idsOf, openRecentFrames, type Remembered } from './recent-frames.ts';
import { NO_LOOKUPS, openLookupsInMemory, type LookupLists } from './lookups-in-memory.ts';

/** Facts about one history, from one state of the rows that is at least as new as when the session began. */
export type HistoryFacts = {
  /** The `seq` after the newest frame that the rows have, and that frame's SHA-256. */
  head(): Pick<HeadState, 'next' | 'prev'>;
  /** The state of a branch after the newest of its frames before `limit`, or, with `seq`, at that position. */
  branchState(branchId: number, seq: number | null, limit: number): BranchState;
  /** The tip of a branch before frame `limit`, without its tree. */
  branchTip(branchId: number, limit: number): BranchTip | undefined;
  /** Adds to trees of branches the nodes that they lack. */
  loadTurns(needs: readonly Unloaded[]): void;
  findBranchByName(name: string): number | undefined;
  idTaken(id: string): boolean;
  nameTaken(name: string): boolean;
  remembered(command: string): Remembered | undefined;
  /** All that decisions look up; undefined if it would be more than a session keeps. */
  lookups(): LookupLists | undefined;
  /** The cycle of the newest commit or import at or before a position; 0 if there is none. */
  cycleAt(branchId: number, seq: number): number;
};

export type HistoryRows = {
  /** True if each reading takes a request over a network: then it pays to read all lookups of a history at once. */
  readonly isRemote: boolean;
  /** Calls `fn` with facts and payloads, again each time a payload had to be fetched, and returns its result. */
  readFacts<T>(fn: (facts: HistoryFacts, stored: PayloadSource) => T): Promise<T>;
  /** The same without facts: after `fn` has returned, it is not called again. */
  withPayloads<T>(fn: (stored: PayloadSource) => T): Promise<T>;
  /** Resolves when the rows have everything that is in the log now. */
  catchUp(): Promise<void>;
};

type BranchSources = Pick<Sources, 'position' | 'branchTip'>;

/** Facts about a branch that must be read before `fn` of `withBranches` can use them. */
const UNREAD = missingKind<{ readonly key: string; readonly readFrom: (facts: HistoryFacts) => unknown }>(
  'branches',
  ({ key }) => key,
);

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
/** After as many ids that it looked up in rows of this machine, a session reads all of them at once. */
const MANY_LOOKED_UP = 1_000;
/** The most bytes of lookups that a session keeps; of more, rows are read at each decision. */
const MAX_IN_MEMORY = 4_000_000;
/** With more branches loaded, the session asks the rows at every frame: only then can it drop their trees. */
const MAX_BRANCHES = 4;

/**
 * The decision state of one history for the writer: the facts in the rows, and the recent frames that the rows may not
 * have yet. The session forgets recent frames when the rows have them.
 */
export const openDecisionState = ({
  history,
  next,
  prev,
  asOf,
  rows,
  main,
  clock,
  onPosition,
  mostAhead = MOST_AHEAD,
}: DecisionStateOptions): Session<Command> => {
  const state = openHistory(history, next);
  const recent = openRecentFrames(main);
  let prevHash = prev;
  /** Present if decisions read no rows: for a history that began in this session, and once reading all pays. */
  let inMemory = next === 0 ? openLookupsInMemory(NO_LOOKUPS) : undefined;
  let mayRead = true;
  /** How many ids this session looked up in the rows. */
  let lookedUp = 0;

  const lookupsOver = (older: Lookups): Lookups => ({
    idTaken: (id) => recent.ids.has(id) || older.idTaken(id),
    branchNamed: (name) =>
      recent.branchesByName.has(name) ? recent.branchesByName.get(name) : older.branchNamed(name),
    nameTaken: (name) => recent.names.has(name) || older.nameTaken(name),
    command: (id) => recent.commands.get(id) ?? older.command(id),
  });
  const lookupsIn = (facts: HistoryFacts): Lookups => ({
    idTaken: (id) => {
      lookedUp += 1;
      return facts.idTaken(id);
    },
    branchNamed: (name) => facts.findBranchByName(name),
    nameTaken: (name) => facts.nameTaken(name),
    command: (id) => facts.remembered(id),
  });
  /** Calls `fn` with the lookups of the frames before the recent ones, and payloads. */
  const withLookups = async <T>(fn: (older: Lookups, stored: PayloadSource) => T): Promise<T> => {
    if (inMemory === undefined && mayRead && (rows.isRemote || lookedUp >= MANY_LOOKED_UP)) {
      // The rows have every frame before the recent ones, and perhaps some of these.
      const found = await rows.readFacts((facts) => facts.lookups());
      mayRead = found !== undefined;
      if (found !== undefined) inMemory = openLookupsInMemory(found);
    }
    const known = inMemory;
    return known === undefined
      ? rows.readFacts((facts, stored) => fn(lookupsIn(facts), stored))
      : rows.withPayloads((stored) => fn(known, stored));
  };
  const payloadOver =
    (stored: PayloadSource): PayloadSource =>
    (ref) =>
      recent.payload(ref) ?? stored(ref);
  /** Reads facts from the rows; lets the rows catch up if they lack a position. */
  const read = <T>(fn: (facts: HistoryFacts) => T): Promise<T> =>
    resume(
      () => rows.readFacts(fn),
      fetching(POSITIONS, () => rows.catchUp()),
    );
  /**
   * Runs `fn` with the branches in the rows. A branch that is not loaded has no recent frames, so its rows are
   * complete. It is read before `fn` runs again, not inside of `fn`, which changes the state: a read may happen
   * twice. `entered`: ids that the frame brings; those that the rows have are found at once.
   */
  const withBranches = <T>(
    fn: (branches: BranchSources) => Promise<T>,
    entered: readonly string[] = [],
  ): Promise<T> => {
    const known = new Map<string, unknown>();
    const readOnce = <V>(key: string, readFrom: (facts: HistoryFacts) => V): V => {
      if (known.has(key)) return known.get(key) as V;
      throw missing(UNREAD, [{ key, readFrom }]);
    };
    const branches: BranchSources = {
      position: (branchId, seq) =>
        readOnce(`position ${branchId} ${seq}`, (facts) => {
          if (seq !== null && seq >= facts.head().next) throw missing(POSITIONS, [{ branchId, seq }]);
          return facts.branchState(branchId, seq, state.next);
        }),
      branchTip: (branchId) => readOnce(`tip ${branchId}`, (facts) => facts.branchTip(branchId, state.next)),
    };
    return resume(
      () => fn(branches),
      fetching(UNREAD, async (needs) => {
        for (const { key, readFrom } of needs) known.set(key, await read(readFrom));
      }),
      fetching(UNLOADED, (needs) => rows.readFacts((facts) => facts.loadTurns(withIds(needs, entered)))),
    );
  };

  /** The newest cycle at a frame that was just applied; undefined if the rows cannot be read now. */
  const cycleAfter = async (applied: KeptFrame): Promise<number | undefined> => {
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
      recent.cycleAt(at.branchId, at.seq) ??
      rows.readFacts((facts) => facts.cycleAt(at.branchId, at.seq)).catch(() => undefined)
    );
  };

  const step = rows.isRemote ? RECENT_STEP.remote : RECENT_STEP.local;
  let forgetAtSize = step;
  const forgetKnown = async (): Promise<void> => {
    forgetBefore(await rows.readFacts((facts) => facts.head()));
  };
  const forgetBefore = (head: Pick<HeadState, 'next' | 'prev'>): void => {
    const known = recent.forgetKnown(head, prevHash);
    if (inMemory !== undefined) for (const frame of known) inMemory.add(frame);
    if ((inMemory?.bytes ?? 0) > MAX_IN_MEMORY) {
      inMemory = undefined;
      mayRead = false;
    }
    forgetAtSize = recent.size + step;
  };

  /** The branch of the newest frame. */
  let usedLast = 0;
  const freeIfKnown = (): void => {
    if (recent.size === 0) freeMemory(state, MAX_NODES, usedLast);
  };

  /** What was decided last, and is in the state though no frame has it yet. */
  let pending: { readonly events: readonly HistoryEvent[]; readonly decision: PendingDecision } | undefined;
  const dropPending = (): void => {
    pending?.decision.drop();
    pending = undefined;
  };
  /** Frees what only frames need that the rows have by now. Nothing is pending. */
  const makeRoom = async (branchId: number): Promise<void> => {
    if (recent.size >= forgetAtSize || state.loadedBranches.size > MAX_BRANCHES) await forgetKnown();
    usedLast = branchId;
    freeIfKnown();
  };
  const applyDecoded = async (frame: Frame): Promise<KeptFrame> => {
    dropPending();
    await makeRoom(frame.body.branchId);
    return withBranches(
      (branches) =>
        rows.withPayloads((stored) =>
          applyFrame(state, frame, { ...branches, payload: payloadOver(stored) }, { keep: true }),
        ),
      idsOf(frame.body.events),
    );
  };
  const keepPending = (frame: Frame): KeptFrame | undefined => {
    if (pending?.events !== frame.body.events) return undefined;
    const { decision } = pending;
    pending = undefined;
    return decision.keep(frame);
  };

  const isFarAhead = (): boolean => recent.size >= mostAhead.frames || recent.bytes >= mostAhead.bytes;
  const refuseFarAhead = (): void => {
    if (isFarAhead())
      throw fail('E_ROWS_BEHIND', `the rows are ${recent.size} frames behind the history ${history}`, {
        history,
      });
  };

  return {
    get next() {
      return state.next;
    },
    get prev() {
      return prevHash;
    },
    asOf,
    get bytes() {
      let bytes = BYTES_PER_SESSION + recent.bytes + (inMemory?.bytes ?? 0);
      for (const branch of state.loadedBranches.values()) bytes += bytesOfBranch(branch);
      return bytes;
    },
    decide: async ({ command }): Promise<Decision | Repeated> => {
      dropPending();
      if (isFarAhead()) await forgetKnown();
      await makeRoom(command.branchId);
      // Read once, though a decision may be tried again, and not at all for a repeated command.
      let at: bigint | undefined;
      const now = (): bigint => (at ??= clock());
      const decided = await withBranches((branches) =>
        withLookups((older, stored) => {
          dropPending();
          const lookups = lookupsOver(older);
          const sources = { ...branches, payload: payloadOver(stored), lookups };
          const repeated = findRepeated(command, lookups);
          if (repeated) return repeated;
          refuseFarAhead();
          const { decided: fresh, pending: decision } = decidePending(state, command, now(), sources);
          if (decision !== null) pending = { events: fresh.events, decision };
          return fresh;
        }),
      );
      const { branchId, events, repeats } = decided;
      if (repeats !== null) return { repeats, frame: recent.commands.get(command.id)?.frame ?? null };
      return { author: command.by, at: now(), branchId, events };
    },
    apply: async (frame: Frame, hash: Uint8Array) => {
      const applied = keepPending(frame) ?? (await applyDecoded(frame));
      const cycle = await cycleAfter(applied);
      recent.add({ applied, frame, cycle, prev: prevHash });
      prevHash = hash;
      if (cycle === undefined) return;
      const { branchId, seq } = applied;
      const committed = applied.snapshot !== null;
      onPosition(frame, labelPosition({ history, branchId, seq, cycle, committed, main: recent.main }));
    },
    undo: () => {
      dropPending();
      const { applied, prev: previous } = recent.takeLast();
      revertFrame(state, applied);
      prevHash = previous;
    },
    rowsHave: (head) => {
      dropPending();
      forgetBefore(head);
      freeIfKnown();
    },
  };
};

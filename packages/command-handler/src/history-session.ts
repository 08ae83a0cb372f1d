import type { PayloadSource } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Frame } from '@stemma/events';
import {
  applyFrame,
  decide,
  finalizeFrames,
  openHistory,
  POSITIONS,
  revertFrame,
  type AppliedFrame,
  type BranchState,
  type BranchTip,
  type Command,
  type Lookups,
  type Sources,
} from '@stemma/history';
import { labelPosition, type Position } from '@stemma/history-store';
import type { Decision, HeadState, Remembered, Session } from '@stemma/log';
import { fetching, missing, missingKind, resume } from '@stemma/suspend';
import { openRecentFrames } from './recent-frames.ts';

/** What the rows know of one history: one state of them, and never less than when the session began. */
export type HistoryFacts = {
  /** The `seq` behind the newest frame that the rows have, and that frame's SHA-256. */
  head(): Pick<HeadState, 'next' | 'prev'>;
  /** The branch after the newest of its frames before `limit`, or, with `seq`, at that position. */
  branchState(branchId: number, seq: number | null, limit: number): BranchState;
  /** Where a branch stood before frame `limit`, without its tree. */
  branchTip(branchId: number, limit: number): BranchTip | undefined;
  findBranchByName(name: string): number | undefined;
  idTaken(id: string): boolean;
  nameTaken(name: string): boolean;
  remembered(command: string): Remembered | undefined;
  /** The cycle of the newest commit or import at or before a position; 0: none. */
  cycleAt(branchId: number, seq: number): number;
};

export type HistoryRows = {
  /** What `fn` gives on the rows as they are, with all payloads that it asks for. It may be called again. */
  ask<T>(fn: (facts: HistoryFacts, stored: PayloadSource) => T): Promise<T>;
  /** As `ask`, without rows. What `fn` gives is its only result: it is not called again behind it. */
  withPayloads<T>(fn: (stored: PayloadSource) => T): Promise<T>;
  /** Resolves when the rows have everything that is in the log now. */
  catchUp(): Promise<void>;
};

type BranchSources = Pick<Sources, 'position' | 'branchTip'>;

/** What the rows say of a branch: it is read before it is used. */
const UNREAD = missingKind<{ readonly key: string; readonly look: (facts: HistoryFacts) => unknown }>(
  'branches',
  ({ key }) => key,
);

export type SessionStart = {
  readonly history: string;
  readonly next: number;
  readonly prev: Uint8Array;
  readonly asOf: number;
  readonly rows: HistoryRows;
  /** The branch that has the name `main`. */
  readonly main: number;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
  /** Told, as far as it can be, of which position a frame that was taken in is. */
  readonly onPosition: (frame: Frame, position: Position) => void;
};

/** When so many more frames are ahead of what the rows were known to have, they are asked again. */
const RECENT_STEP = 64;
/** Frames of a history that rows may be behind before no more are written to it: they are all in memory. */
const MAX_RECENT = 10_000;
/** Nodes of the trees that a session keeps: about 250 MB. Those of more branches are read from the rows again. */
const MAX_NODES = 300_000;
/** A branch more than this at hand, and the rows are asked again at every frame: their trees can go only then. */
const MAX_BRANCHES = 4;

/**
 * The decision state of one history for the writer: what the rows say, and on top of it the frames that came since.
 * Those are forgotten when the rows have them.
 */
export const openSession = ({
  history,
  next,
  prev,
  asOf,
  rows,
  main,
  clock,
  onPosition,
}: SessionStart): Session<Command> => {
  const state = openHistory(history, next);
  const recent = openRecentFrames(main);
  let before = prev;

  const lookupsIn = (facts: HistoryFacts): Lookups => ({
    idTaken: (id) => recent.ids.has(id) || facts.idTaken(id),
    branchNamed: (name) =>
      recent.branchesByName.has(name) ? recent.branchesByName.get(name) : facts.findBranchByName(name),
    nameTaken: (name) => recent.names.has(name) || facts.nameTaken(name),
    command: (id) => recent.commands.get(id) ?? facts.remembered(id),
  });
  const payloadOver =
    (stored: PayloadSource): PayloadSource =>
    (ref) =>
      recent.payload(ref) ?? stored(ref);
  /** What the rows say; what they do not have yet they have after catching up. */
  const read = <T>(fn: (facts: HistoryFacts) => T): Promise<T> =>
    resume(
      () => rows.ask(fn),
      fetching(POSITIONS, () => rows.catchUp()),
    );
  /**
   * Runs `fn` with branches as the rows have them. One that is not at hand has no recent frames, so what the rows say of it is
   * all there is. It is read before, not inside of `fn`, which changes the state: a read may be done twice.
   */
  const withBranches = <T>(fn: (branches: BranchSources) => Promise<T>): Promise<T> => {
    const known = new Map<string, unknown>();
    const readOnce = <V>(key: string, readFacts: (facts: HistoryFacts) => V): V => {
      if (known.has(key)) return known.get(key) as V;
      throw missing(UNREAD, [{ key, look: readFacts }]);
    };
    const branches: BranchSources = {
      position: (branchId, seq) =>
        readOnce(`position ${branchId} ${seq}`, (facts) => {
          if (seq !== null && seq >= facts.head().next) throw missing(POSITIONS, [{ branchId, seq }]);
          return facts.branchState(branchId, seq, state.next);
        }),
      branchTip: (branchId) =>
        readOnce(`standing ${branchId}`, (facts) => facts.branchTip(branchId, state.next)),
    };
    return resume(
      () => fn(branches),
      fetching(UNREAD, async (needs) => {
        for (const { key, look } of needs) known.set(key, await read(look));
      }),
    );
  };

  /** The newest cycle at a frame that was just applied; undefined if the rows do not tell just now. */
  const cycleAfter = async (applied: AppliedFrame): Promise<number | undefined> => {
    const { snapshot, started, observed, branchId, seq } = applied;
    if (snapshot !== null) return snapshot.cycle;
    // The state of a branch that only started is not read in for this.
    const at =
      started !== null && started.how !== 'start'
        ? { branchId: started.parent, seq: started.at }
        : observed
          ? { branchId, seq }
          : null;
    if (at === null) return applied.state.tree.cycle;
    return (
      recent.cycleAt(at.branchId, at.seq) ??
      rows.ask((facts) => facts.cycleAt(at.branchId, at.seq)).catch(() => undefined)
    );
  };

  let askRowsAt = RECENT_STEP;
  const forgetKnown = async (): Promise<void> => {
    recent.forgetKnown(await rows.ask((facts) => facts.head()), before);
    askRowsAt = recent.size + RECENT_STEP;
  };

  return {
    get next() {
      return state.next;
    },
    get prev() {
      return before;
    },
    asOf,
    remembered: async (id) => recent.commands.get(id) ?? rows.ask((facts) => facts.remembered(id)),
    decide: async (command): Promise<Decision> => {
      if (recent.size >= MAX_RECENT) {
        await forgetKnown();
        if (recent.size >= MAX_RECENT)
          throw fail('E_ROWS_BEHIND', `the rows are ${recent.size} frames behind the history ${history}`, {
            history,
          });
      }
      const at = clock();
      const decided = await withBranches((branches) =>
        rows.ask((facts, stored) =>
          decide(state, command, at, {
            ...branches,
            payload: payloadOver(stored),
            lookups: lookupsIn(facts),
          }),
        ),
      );
      return { author: command.by, at, branchId: decided.branchId, events: decided.events };
    },
    apply: async (frame: Frame, hash: Uint8Array) => {
      if (recent.size >= askRowsAt || state.loadedBranches.size > MAX_BRANCHES) await forgetKnown();
      if (recent.size === 0) finalizeFrames(state, MAX_NODES, frame.body.branchId);
      const applied = await withBranches((branches) =>
        rows.withPayloads((stored) =>
          applyFrame(state, frame, { ...branches, payload: payloadOver(stored) }, { keep: true }),
        ),
      );
      const cycle = await cycleAfter(applied);
      recent.add({ applied, frame, cycle, prev: before });
      before = hash;
      if (cycle === undefined) return;
      const { branchId, seq } = applied;
      const committed = applied.snapshot !== null;
      onPosition(frame, labelPosition({ history, branchId, seq, cycle, committed, main: recent.main }));
    },
    undo: () => {
      const { applied, prev: previous } = recent.takeLast();
      revertFrame(state, applied);
      before = previous;
    },
  };
};

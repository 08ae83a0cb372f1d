import type { PayloadSource } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Frame } from '@stemma/events';
import { applyFrame, decide, openHistory, POSITIONS, revertFrame, settle, type AppliedFrame, type Command, type LineageState, type Lookups, type Sources, type Standing } from '@stemma/history';
import { positionLabelled, type Position } from '@stemma/history-store';
import type { Decision, HeadState, Remembered, Session } from '@stemma/log';
import { fetching, missing, missingKind, resume } from '@stemma/suspend';
import { recentFrames } from './recent-frames.ts';

/** What the rows know of one history: one state of them, and never less than when the session began. */
export type HistoryFacts = {
  /** The `seq` behind the newest frame that the rows have, and that frame's SHA-256. */
  head(): Pick<HeadState, 'next' | 'prev'>;
  /** The lineage after the newest of its frames before `limit`, or, with `seq`, at that position. */
  lineage(strand: number, seq: number | null, limit: number): LineageState;
  /** Where a lineage stood before frame `limit`, without its tree. */
  standing(strand: number, limit: number): Standing | undefined;
  lineageNamed(name: string): number | undefined;
  idTaken(id: string): boolean;
  nameTaken(name: string): boolean;
  remembered(command: string): Remembered | undefined;
  /** The cycle of the newest commit or import at or before a position; 0: none. */
  cycleAt(strand: number, seq: number): number;
};

export type HistoryRows = {
  /** What `fn` gives on the rows as they are, with all payloads that it asks for. It may be called again. */
  ask<T>(fn: (facts: HistoryFacts, stored: PayloadSource) => T): Promise<T>;
  /** As `ask`, without rows. What `fn` gives is its only result: it is not called again behind it. */
  withPayloads<T>(fn: (stored: PayloadSource) => T): Promise<T>;
  /** Resolves when the rows have everything that is in the log now. */
  catchUp(): Promise<void>;
};

type Lineages = Pick<Sources, 'position' | 'lineage'>;

/** What the rows say of a lineage: it is read before it is used. */
const UNREAD = missingKind<{ readonly key: string; readonly look: (facts: HistoryFacts) => unknown }>(
  'lineages',
  ({ key }) => key,
);

export type SessionStart = {
  readonly history: string;
  readonly next: number;
  readonly prev: Uint8Array;
  readonly asOf: number;
  readonly rows: HistoryRows;
  /** The lineage that has the name `main`. */
  readonly main: number;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
  /** Told, as far as it can be, of which position a frame that was taken in is. */
  readonly placed: (frame: Frame, position: Position) => void;
};

/** When so many more frames are ahead of what the rows were known to have, they are asked again. */
const RECENT = 64;
/** Frames of a history that rows may be behind before no more are written to it: they are all in memory. */
const MOST_AHEAD = 10_000;
/** Nodes of the trees that a session keeps: about 250 MB. Those of more lineages are read from the rows again. */
const MOST_NODES = 300_000;
/** A lineage more than this at hand, and the rows are asked again at every frame: their trees can go only then. */
const LINEAGES = 4;

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
  placed,
}: SessionStart): Session<Command> => {
  const state = openHistory(history, next);
  const recent = recentFrames(main);
  let before = prev;

  const lookupsIn = (facts: HistoryFacts): Lookups => ({
    idTaken: (id) => recent.ids.has(id) || facts.idTaken(id),
    lineageNamed: (name) =>
      recent.lineages.has(name) ? recent.lineages.get(name) : facts.lineageNamed(name),
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
   * Runs `fn` with lineages as the rows have them. One that is not at hand has no recent frames, so what the rows say of it is
   * all there is. It is read before, not inside of `fn`, which changes the state: a read may be done twice.
   */
  const withLineages = <T>(fn: (lineages: Lineages) => Promise<T>): Promise<T> => {
    const known = new Map<string, unknown>();
    const once = <V>(key: string, look: (facts: HistoryFacts) => V): V => {
      if (known.has(key)) return known.get(key) as V;
      throw missing(UNREAD, [{ key, look }]);
    };
    const lineages: Lineages = {
      position: (strand, seq) =>
        once(`position ${strand} ${seq}`, (facts) => {
          if (seq !== null && seq >= facts.head().next) throw missing(POSITIONS, [{ strand, seq }]);
          return facts.lineage(strand, seq, state.next);
        }),
      lineage: (strand) => once(`standing ${strand}`, (facts) => facts.standing(strand, state.next)),
    };
    return resume(
      () => fn(lineages),
      fetching(UNREAD, async (needs) => {
        for (const { key, look } of needs) known.set(key, await read(look));
      }),
    );
  };

  /** The newest cycle at a frame that was just applied; undefined if the rows do not tell just now. */
  const cycleOf = async (applied: AppliedFrame): Promise<number | undefined> => {
    const { snapshot, started, observed, lineage, seq } = applied;
    if (snapshot !== null) return snapshot.cycle;
    // The state of a lineage that only started is not read in for this.
    const at =
      started !== null && started.how !== 'start'
        ? { strand: started.parent, seq: started.at }
        : observed
          ? { strand: lineage, seq }
          : null;
    if (at === null) return applied.state.tree.cycle;
    return (
      recent.cycleAt(at.strand, at.seq) ??
      rows.ask((facts) => facts.cycleAt(at.strand, at.seq)).catch(() => undefined)
    );
  };

  let askAt = RECENT;
  const forgetKnown = async (): Promise<void> => {
    recent.forgetKnown(await rows.ask((facts) => facts.head()), before);
    askAt = recent.size + RECENT;
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
      if (recent.size >= MOST_AHEAD) {
        await forgetKnown();
        if (recent.size >= MOST_AHEAD)
          throw fail('E_ROWS_BEHIND', `the rows are ${recent.size} frames behind the history ${history}`, {
            history,
          });
      }
      const at = clock();
      const decided = await withLineages((lineages) =>
        rows.ask((facts, stored) =>
          decide(state, command, at, {
            ...lineages,
            payload: payloadOver(stored),
            lookups: lookupsIn(facts),
          }),
        ),
      );
      return { author: command.by, at, lineage: decided.lineage, events: decided.events };
    },
    apply: async (frame: Frame, hash: Uint8Array) => {
      if (recent.size >= askAt || state.lineages.size > LINEAGES) await forgetKnown();
      if (recent.size === 0) settle(state, MOST_NODES, frame.body.lineage);
      const applied = await withLineages((lineages) =>
        rows.withPayloads((stored) =>
          applyFrame(state, frame, { ...lineages, payload: payloadOver(stored) }, { keep: true }),
        ),
      );
      const cycle = await cycleOf(applied);
      recent.add({ applied, frame, cycle, prev: before });
      before = hash;
      if (cycle === undefined) return;
      const { lineage: strand, seq } = applied;
      const committed = applied.snapshot !== null;
      placed(frame, positionLabelled({ history, strand, seq, cycle, committed, main: recent.main }));
    },
    undo: () => {
      const { applied, prev: previous } = recent.takeLast();
      revertFrame(state, applied);
      before = previous;
    },
  };
};

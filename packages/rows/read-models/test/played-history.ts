import { exportTree, flattenRecords, type PayloadSource } from '@stemma/context-tree';
import { payloadIn, type AppliedFrame, type Step } from '@stemma/history';
import {
  anyOperations,
  naiveHistory,
  perform,
  rowsUnderTest,
  sized,
  START,
  type NaiveHistory,
  type RandomOperation,
  type RowsUnderTest,
} from '@stemma/test-kit';
import fc from 'fast-check';

/** Random histories of a property. */
export const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(20, 60));

/** A history that was played: as a naive copy of each position, and as the rows under test. */
export type PlayedHistory = {
  readonly history: NaiveHistory;
  readonly under: RowsUnderTest;
  readonly source: PayloadSource;
};

/** A position: branch id and frame. */
export type PlayedPosition = readonly [number, number];

/** Plays the operations after a first step. `fold` sees each frame after the rows have it. */
export const playHistory = (
  operations: readonly RandomOperation[],
  first: Step = START,
  fold?: (frame: AppliedFrame, played: PlayedHistory) => void,
): PlayedHistory => {
  const under = rowsUnderTest();
  const history: NaiveHistory = naiveHistory((frame) => {
    under.fold(frame);
    fold?.(frame, played);
  });
  const source: PayloadSource = ({ seq, index }) =>
    payloadIn(history.frames[seq]?.body.events[index] as never);
  const played: PlayedHistory = { history, under, source };
  history.run(0, [first]);
  for (const operation of operations) perform(history, operation);
  return played;
};

type Play<P extends PlayedHistory> = (operations: readonly RandomOperation[], first?: Step) => P;
type Compare<P extends PlayedHistory> = (played: P, a: PlayedPosition, b: PlayedPosition) => void;

/** Compares any two positions of random histories, and every frame of every branch with the one before it. */
export const compareRandomPositions = <P extends PlayedHistory>(play: Play<P>, compare: Compare<P>): void =>
  fc.assert(
    fc.property(
      anyOperations(1, 60),
      fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat()), { maxLength: 20 }),
      (operations, pairs) => {
        const played = play(operations);
        const { state, branches } = played.history;
        const branchIds = [...branches.keys()];
        const pick = (branch: number, seq: number): PlayedPosition => [
          branchIds[branch % branchIds.length] as number,
          seq % state.next,
        ];
        for (const [s, q, t, r] of pairs) compare(played, pick(s, q), pick(t, r));
        for (const branchId of branchIds)
          for (let seq = Math.max(1, branchId); seq < state.next; seq++)
            compare(played, [branchId, seq - 1], [branchId, seq]);
      },
    ),
    { numRuns: RUNS },
  );

/** The same for histories that begin with the export of a random history. */
export const compareAfterImport = <P extends PlayedHistory>(play: Play<P>, compare: Compare<P>): void =>
  fc.assert(
    fc.property(anyOperations(1, 40), anyOperations(1, 30), fc.nat(), fc.nat(), (operations, more, q, r) => {
      const { history, source } = play(operations);
      const tree = flattenRecords(history.copyAt(0, history.state.next - 1));
      const played = play(more, { op: 'import', name: null, export: exportTree(tree, source) });
      const { next } = played.history.state;
      for (const branchId of played.history.branches.keys())
        compare(played, [branchId, q % next], [branchId, r % next]);
    }),
    { numRuns: RUNS },
  );

import { diffTrees, flattenRecords, flattenTree } from '@stemma/context-tree';
import { attributeFrame, type Attributed, type Step } from '@stemma/history';
import { anyOperations, HISTORY, type RandomOperation } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  explainDiff,
  findCycle,
  presenceOf,
  readAncestryView,
  readTimeline,
  type AncestryView,
  type ExplainedEntry,
} from '../src/index.ts';
import {
  compareAfterImport,
  compareRandomPositions,
  playHistory,
  RUNS,
  type PlayedHistory,
  type PlayedPosition,
} from './played-history.ts';

const TIMEOUT = 600_000;

type Told = PlayedHistory & {
  /** What each frame made different, and why. */
  readonly attributed: ReadonlyMap<number, readonly Attributed[]>;
};

const play = (operations: readonly RandomOperation[], first?: Step): Told => {
  const attributed = new Map<number, readonly Attributed[]>();
  const played = playHistory(operations, first, (frame, { history, source }) => {
    const { seq, branchId } = frame;
    const before = seq === 0 ? null : flattenRecords(history.copyAt(branchId, seq - 1));
    attributed.set(seq, attributeFrame(frame, before, flattenTree(frame.state.tree), source));
  });
  return { ...played, attributed };
};

/** The frames of a position in order, by the definition of branches alone. */
const framesAt = ({ history }: Told, branchId: number, seq: number): number[] => {
  const { parent, at } = history.branches.get(branchId) ?? { parent: null, at: 0 };
  const before = parent === null ? [] : framesAt({ history } as Told, parent, Math.min(seq, at));
  return [
    ...before,
    ...history.frames
      .filter(({ envelope, body }) => body.branchId === branchId && envelope.seq <= seq)
      .map(({ envelope }) => envelope.seq),
  ];
};

/** One line for each cause of each difference, in the order of the way. */
const expectedLines = (told: Told, a: readonly number[], b: readonly number[], id: string): string[] => {
  const back = a.filter((seq) => !b.includes(seq)).reverse();
  const on = b.filter((seq) => !a.includes(seq));
  const lines = (seq: number, undone: boolean): string[] =>
    (told.attributed.get(seq) ?? [])
      .filter((entry) => entry.id === id)
      .map(
        ({ what, field, index, cause }) =>
          `${undone ? 'undone ' : ''}${field ?? what} ${seq}.${index} ${JSON.stringify(cause)}`,
      );
  return [...back.flatMap((seq) => lines(seq, true).reverse()), ...on.flatMap((seq) => lines(seq, false))];
};

/** The same lines from an explained entry: a run of ageing is a line for each of its cycles. */
const explainedLines = (
  told: Told,
  views: readonly [AncestryView, AncestryView],
  entry: ExplainedEntry,
): string[] =>
  told.under.rows.now((view) =>
    entry.causes.flatMap(({ undone, fields, seq, index, cause, explains, cycle, until }) => {
      const prefix = undone ? 'undone ' : '';
      if (until !== null) {
        const cycles = Array.from({ length: until - cycle + 1 }, (_, i) => cycle + i);
        const runs = cycles.map((each) => {
          const commit = findCycle(view, views[undone ? 0 : 1], each);
          return `${prefix}ttl ${commit?.seq ?? -1}.${commit?.index ?? -1} ${JSON.stringify(cause)}`;
        });
        return undone ? runs.reverse() : runs;
      }
      const names = entry.change === 'changed' ? fields : [explains as string];
      return names.map((name) => `${prefix}${name} ${seq}.${index} ${JSON.stringify(cause)}`);
    }),
  );

const byField = (lines: readonly string[]): Record<string, string[]> => {
  const fields: Record<string, string[]> = {};
  for (const line of lines) (fields[line.replace('undone ', '').split(' ')[0] as string] ??= []).push(line);
  return fields;
};

/** Compares the explained diff of two positions with what the frames on the way did. */
const compare = (told: Told, a: PlayedPosition, b: PlayedPosition): void => {
  const { history, under, source } = told;
  const [older, newer] = [flattenRecords(history.copyAt(...a)), flattenRecords(history.copyAt(...b))];
  const diff = diffTrees(older, newer, source);
  const [from, to] = [framesAt(told, ...a), framesAt(told, ...b)];
  const place = ([branchId, seq]: PlayedPosition): { branchId: number; seq: number } => ({
    branchId,
    seq,
  });
  const { explained, views } = under.rows.now((view) => ({
    explained: explainDiff(view, HISTORY, { a: place(a), b: place(b), diff }, source),
    views: [readAncestryView(view, HISTORY, ...a), readAncestryView(view, HISTORY, ...b)] as const,
  }));
  expect(explained.mergeBase.limit).toBeGreaterThanOrEqual(0);
  expect(framesAt(told, explained.mergeBase.branchId, explained.mergeBase.limit)).toEqual(
    from.filter((seq) => to.includes(seq)),
  );
  expect(explained.entries.map(({ id, change }) => `${change} ${id}`)).toEqual([
    ...diff.added.map((id) => `added ${id}`),
    ...diff.removed.map((id) => `removed ${id}`),
    ...diff.changed.map(({ id }) => `changed ${id}`),
  ]);
  for (const entry of explained.entries) {
    const found = byField(explainedLines(told, views, entry));
    const expected = byField(expectedLines(told, from, to, entry.id));
    if (entry.change === 'changed') {
      expect(new Set(Object.keys(found))).toEqual(new Set(entry.fields));
      for (const field of entry.fields) expect(found[field]).toEqual(expected[field]);
    } else {
      const [wanted] = [...(expected['added'] ?? []), ...(expected['removed'] ?? [])];
      expect(Object.values(found).flat()).toEqual([wanted]);
    }
  }
};

test(
  'between any two positions, on one branch, on forks and on abandoned branches, every entry has the causes of the frames between them, in order, undone on the way back',
  { tags: ['context-tree§3:one-cause', 'context-tree§7:explain', 'snapshots:diff'], timeout: TIMEOUT },
  () => compareRandomPositions(play, compare),
);

test(
  'the same holds for a history that begins with an export',
  { tags: ['context-tree§3:one-cause', 'context-tree§10.17'], timeout: TIMEOUT },
  () => compareAfterImport(play, compare),
);

test(
  'a node is in the snapshots that its timeline says, on every ancestor path, and its timeline begins with how it came',
  { tags: ['context-tree§3:one-cause'], timeout: TIMEOUT },
  () => {
    fc.assert(
      fc.property(anyOperations(1, 60), (actions) => {
        const told = play(actions);
        const { history, under } = told;
        under.rows.now((view) => {
          for (const branchId of history.branches.keys()) {
            const head = history.state.next - 1;
            const ancestry = readAncestryView(view, HISTORY, branchId, head);
            const snapshots = framesAt(told, branchId, head).flatMap((seq) =>
              (history.frames[seq]?.body.events ?? []).flatMap((event) =>
                event.type === 'SnapshotCommitted' ? [{ seq, cycle: event.cycle }] : [],
              ),
            );
            const trees = snapshots.map(({ seq, cycle }) => ({
              cycle,
              tree: flattenRecords(history.copyAt(branchId, seq)),
            }));
            const now = flattenRecords(history.copyAt(branchId, head));
            for (const id of history.ids) {
              const cycles = trees
                .filter(({ tree }) => tree.indexOf(id) !== undefined)
                .map(({ cycle }) => cycle);
              const presence = presenceOf(view, ancestry, id);
              const first = cycles[0];
              expect(presence?.snapshots ?? null).toEqual(
                first === undefined ? null : { first, last: cycles.at(-1) },
              );
              expect(presence !== undefined && presence.removed === null).toBe(now.indexOf(id) !== undefined);
              const timeline = readTimeline(view, ancestry, id);
              expect(timeline[0]?.explains).toBe(presence === undefined ? undefined : 'added');
              expect(timeline.findIndex(({ explains }) => explains === 'removed')).toBe(
                presence?.removed == null ? -1 : timeline.length - 1,
              );
            }
          }
        });
      }),
      { numRuns: RUNS / 2 },
    );
  },
);

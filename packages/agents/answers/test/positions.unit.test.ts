import type { Home } from '@stemma/home';
import type { HistorySummary, LoggedEvent } from '@stemma/queries';
import { expect, test } from 'vitest';
import { positionDiffs } from '../src/position-diff.ts';
import { ancestorLimits } from '../src/positions.ts';

const branchSummary = (branchId: number, parent: number | null, at: number | null) => ({
  branch: branchId === 0 ? 'h' : `h:${branchId}`,
  branchId,
  name: null,
  parent,
  at,
});
const summary = {
  history: 'h',
  branches: [
    branchSummary(0, null, null),
    branchSummary(5, 0, 3),
    branchSummary(9, 5, 7),
    branchSummary(12, 9, 2),
  ],
} as unknown as HistorySummary;

test(
  "an ancestor path's limits are the running minimum of where its branches left their parents",
  { tags: ['snapshots:branches'] },
  () => {
    expect([...ancestorLimits(summary, 9)]).toEqual([
      [9, Number.POSITIVE_INFINITY],
      [5, 7],
      [0, 3],
    ]);
    expect(new Map(ancestorLimits(summary, 12)).get(5)).toBe(2);
    expect(new Map(ancestorLimits(summary, 12)).get(0)).toBe(2);
  },
);

const event = (
  seq: number,
  branchId: number,
  type: 'NodeInserted' | 'NodeRemoved',
  id: string,
): LoggedEvent =>
  ({
    history: 'h',
    seq,
    branchId,
    event: type === 'NodeInserted' ? { type, node: { id } } : { type, id, subtree: [] },
  }) as unknown as LoggedEvent;

test('additions and removals are counted along the ancestor path only, and nodes both added and removed in between are not counted', async () => {
  const events = [
    event(1, 0, 'NodeInserted', 'a'),
    event(2, 0, 'NodeInserted', 'b'),
    event(4, 0, 'NodeInserted', 'of the parent, after the fork'),
    event(6, 5, 'NodeRemoved', 'a'),
    event(7, 5, 'NodeInserted', 'brief'),
    event(8, 0, 'NodeInserted', 'of the parent, later'),
    event(10, 5, 'NodeRemoved', 'brief'),
    event(11, 5, 'NodeInserted', 'c'),
  ];
  const home = {
    read: {
      events: async (_: string, { from = 0, limit = 0 } = {}) =>
        events.filter(({ seq }) => seq >= from).slice(0, Math.min(limit, 2)),
    },
  } as unknown as Home;
  expect(await positionDiffs(home, summary, 5, [1, 2, 11])).toEqual([
    { added: new Set(['b']), removed: new Map() },
    { added: new Set(['c']), removed: new Map([['a', 'removed']]) },
  ]);
});

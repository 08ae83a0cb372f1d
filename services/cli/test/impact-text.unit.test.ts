import type { Impact } from '@stemma/queries';
import { expect, test } from 'vitest';
import { describeImpact } from '../src/interventions/impact.ts';

const impact: Impact = {
  basis: 'made',
  brought: [
    { id: 'never', calls: [], still: false },
    { id: 'once', calls: [{ branchId: 0, first: 4, last: 4, count: 1 }], still: false },
    {
      id: 'often',
      calls: [
        { branchId: 0, first: 4, last: 9, count: 5 },
        { branchId: 12, first: 7, last: 7, count: 1 },
      ],
      still: true,
    },
  ],
  calls: [],
  counts: { calls: 6, direct: 5, derived: 1 },
  blocks: [],
  lost: [
    { id: 'gone', what: 'removed', calls: [] },
    { id: 'other', what: 'replaced', calls: [{ branchId: 0, first: 5, last: 6, count: 2 }] },
  ],
  branches: [{ branchId: 0, calls: 8, direct: 5, derived: 1, lastDirect: 9, lastDerived: null }],
};

test(
  'an impact lists for each block the calls that showed it, or says that none did',
  { tags: ['pool:impact'] },
  () => {
    expect(describeImpact(impact).split('\n')).toEqual([
      '',
      '6 model calls after it: 5 were shown what it added, 1 only what was derived from it',
      'added never: shown in no call',
      'added once: shown in 0@c4',
      'added often: shown in 0@c4..9 (5 calls), 12@c7, still in the context',
      'removed gone: no later call would have shown it',
      'replaced other: not shown in 0@c5..6 (2 calls)',
      'BRANCH  CALLS  DIRECT  DERIVED  LAST DIRECT  LAST DERIVED',
      '0       8      5       1        @c9',
      '',
    ]);
  },
);

test('an impact lists 40 calls and counts the others, and lists the first 8 steps of a path', () => {
  const call = (cycle: number, depth: number) => ({
    branchId: 0,
    cycle,
    seq: cycle,
    direct: 0,
    derived: 1,
    depth,
    through: `b${depth}`,
  });
  const blocks = Array.from({ length: 12 }, (_, depth) => ({
    id: `b${depth}`,
    seq: depth,
    branchId: 0,
    depth,
    reason: depth === 0 ? ({ kind: 'brought' } as const) : ({ kind: 'refs', to: `b${depth - 1}` } as const),
  }));
  const lines = (calls: Impact['calls']): string[] =>
    describeImpact({ ...impact, brought: [], lost: [], branches: [], blocks, calls })
      .split('\n')
      .filter((line) => line.includes('@c') || line.includes('more calls'));
  const many = (count: number) => Array.from({ length: count }, (_, i) => call(i + 20, 1));
  expect(lines(many(40))).toHaveLength(40);
  expect(lines(many(42)).slice(-2)).toEqual([
    '0@c59  0 direct, 1 derived  b1 (refers) ← b0 (added)',
    'and 2 more calls (--json lists all)',
  ]);
  const path = (depth: number): string => lines([call(20, depth)])[0]?.split('derived  ')[1] ?? '';
  expect(path(7)).toBe(`${[7, 6, 5, 4, 3, 2, 1].map((i) => `b${i} (refers)`).join(' ← ')} ← b0 (added)`);
  expect(path(8)).toBe(`${[8, 7, 6, 5, 4, 3, 2, 1].map((i) => `b${i} (refers)`).join(' ← ')} ← …`);
});

import type { BranchNodeAnswer } from '@stemma/api';
import { expect, test } from 'vitest';
import { idsIn, partedAt } from '../src/pool/verdict-arms.ts';

const branch = (branchId: number, cycle: number, from: readonly [branchId: number, cycle: number] | null) =>
  ({
    branchId,
    cycle,
    parent: from === null ? null : { branchId: from[0], seq: 0, cycle: from[1], label: `@c${from[1]}` },
  }) as BranchNodeAnswer;

const BRANCHES = [
  branch(0, 20, null),
  branch(1, 30, [0, 10]),
  branch(2, 30, [0, 12]),
  branch(3, 30, [1, 15]),
  branch(4, 9, [0, 0]),
];

test('branches part after the newest round that both have, whichever of them leaves the other', () => {
  const cases = [
    [1, 2, 10],
    [3, 2, 10],
    [3, 1, 15],
    [0, 1, 10],
    [0, 0, 20],
    [4, 1, null],
    [1, 99, null],
  ] as const;
  for (const [a, b, parted] of cases) {
    expect(partedAt(BRANCHES, a, b)).toBe(parted);
    expect(partedAt(BRANCHES, b, a)).toBe(parted);
  }
});

test('an arm in an address is a list of ids; what is none is left out', () => {
  expect(idsIn('1,23')).toEqual([1, 23]);
  expect(idsIn('1,x,-2,1e3,')).toEqual([1]);
  expect(idsIn(null)).toEqual([]);
});

import type { BranchNodeAnswer } from '@stemma/api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  drawBranches,
  foldBranches,
  linesInView,
  pathToPosition,
  pointsInView,
} from '../src/branches/branch-drawing.ts';

/** A branch that leaves the one before it in `branches`, at a cycle of its ancestor path. */
const node = (
  branchId: number,
  parent: BranchNodeAnswer | null,
  at: number,
  cycles: number,
): BranchNodeAnswer => ({
  branch: branchId === 0 ? 'h' : `h:${branchId}`,
  branchId,
  name: null,
  how: parent === null ? 'start' : 'fork',
  parent:
    parent === null
      ? null
      : { branchId: parent.branchId, seq: at, cycle: Math.floor(at), label: labelOf(at) },
  called_by: null,
  may_continue: null,
  abandoned_by: null,
  startedAt: 0,
  updatedAt: 0,
  seq: 0,
  cycle: Math.floor(at) + cycles,
  frames: 1,
  description: '',
  saved: [],
});
const labelOf = (at: number): string => (Number.isInteger(at) ? `@c${at}` : `@s${at * 2}`);

/** Trees of branches: each leaves an earlier one at a committed cycle or behind it. */
const trees = fc
  .array(fc.record({ parent: fc.nat(), at: fc.double({ min: 0, max: 1, noNaN: true }), cycles: fc.nat(4) }), {
    maxLength: 40,
  })
  .map((steps) => {
    const nodes = [node(0, null, 0, 6)];
    for (const { parent, at, cycles } of steps) {
      const above = nodes[parent % nodes.length] as BranchNodeAnswer;
      const begins =
        above.parent === null
          ? 0
          : (above.parent.cycle ?? 0) + (above.parent.label.startsWith('@c') ? 0 : 0.5);
      const end = Math.max(begins, above.cycle ?? 0);
      nodes.push(node(nodes.length, above, Math.round((begins + at * (end - begins)) * 2) / 2, cycles));
    }
    return nodes;
  });

test('every branch is drawn once, under its parent, and no line from a parent to a child crosses a branch between them', () => {
  fc.assert(
    fc.property(trees, (nodes) => {
      const { rows } = drawBranches(nodes);
      expect(rows.map((row) => row.node.branchId).toSorted((a, b) => a - b)).toEqual(
        nodes.map(({ branchId }) => branchId),
      );
      for (const [i, row] of rows.entries()) {
        if (row.node.parent === null) continue;
        expect(row.parent).toBeLessThan(i);
        expect(rows[row.parent]?.node.branchId).toBe(row.node.parent.branchId);
        for (const between of rows.slice(row.parent + 1, i))
          expect(between.from).toBeGreaterThanOrEqual(row.from);
      }
    }),
  );
});

test('what is folded away is all that leaves a branch, directly or by way of others, and every branch says how many that are', () => {
  fc.assert(
    fc.property(trees, fc.array(fc.nat(40)), (nodes, chosen) => {
      const folded = new Set(chosen);
      const { shown, below } = foldBranches(nodes, folded);
      const isBelow = (one: BranchNodeAnswer, branchId: number): boolean => {
        const { parent } = one;
        if (parent === null) return false;
        if (parent.branchId === branchId) return true;
        return nodes.some((each) => each.branchId === parent.branchId && isBelow(each, branchId));
      };
      expect(shown).toEqual(nodes.filter((one) => ![...folded].some((branchId) => isBelow(one, branchId))));
      for (const { branchId } of nodes)
        expect(below.get(branchId) ?? 0).toBe(nodes.filter((one) => isBelow(one, branchId)).length);
    }),
  );
});

const TEN = (x: number): number => 10 * x;
const ALL = { first: 0, last: 100, left: 0, right: 1_000 };

test('lines go from the row of a parent down to that of its child, and only what is in view of them is drawn', () => {
  const root = node(0, null, 0, 9);
  const early = node(1, root, 2, 1);
  const late = node(2, root, 7, 1);
  const deep = node(3, late, 8, 1);
  const drawing = drawBranches([root, early, late, deep]);
  expect(drawing.rows.map((row) => row.node.branchId)).toEqual([0, 2, 3, 1]);
  const path = pathToPosition(drawing, 3, 3);
  expect([...path]).toEqual([
    [3, 3],
    [0, 2],
  ]);
  // Lines stand on every third pixel; that to the position shown stands where it is.
  expect(linesInView(drawing, path, TEN, ALL)).toEqual({
    others: [
      { x: 69, from: 0, to: 1 },
      { x: 81, from: 1, to: 2 },
    ],
    onPath: [{ x: 20, from: 0, to: 3 }],
  });
  expect(linesInView(drawing, new Map(), TEN, { ...ALL, first: 2, last: 3 }).others).toEqual([
    { x: 21, from: 1, to: 3 },
    { x: 81, from: 1, to: 2 },
  ]);
  expect(linesInView(drawing, new Map(), TEN, { ...ALL, left: 60, right: 75 }).others).toEqual([
    { x: 69, from: 0, to: 1 },
  ]);
});

test('however many branches leave one, lines that stand together are one, and none is missing', () => {
  fc.assert(
    fc.property(trees, fc.nat(40), fc.nat(40), (nodes, one, other) => {
      const drawing = drawBranches(nodes);
      const [first, last] = [Math.min(one, other), Math.max(one, other)];
      const { others } = linesInView(drawing, new Map(), TEN, { ...ALL, first, last });
      const isDrawn = (x: number, row: number): boolean =>
        others.some((line) => Math.abs(line.x - x) < 3 && line.from <= row && line.to > row);
      for (const [i, { parent, from }] of drawing.rows.entries())
        for (let row = Math.max(parent, first); row < Math.min(i, last); row++)
          expect(isDrawn(TEN(from), row)).toBe(true);
      for (const line of others)
        for (const same of others)
          if (same !== line && same.x === line.x)
            expect(same.to < line.from || line.to < same.from).toBe(true);
    }),
  );
});

test('points nearer than a click can tell apart stand as one, whatever part of them is in view', () => {
  const root = node(0, null, 0, 9);
  const drawing = drawBranches([root, ...[1, 2, 5, 8].map((at, i) => node(i + 1, root, at, 1))]);
  const points = drawing.rows[0]?.points ?? [];
  const labels = (left: number, right: number) =>
    pointsInView(points, TEN, { left, right }).map((group) => group.points.map(({ label }) => label));
  expect(labels(0, 1_000)).toEqual([['@c1', '@c2'], ['@c5'], ['@c8']]);
  expect(labels(15, 40)).toEqual([['@c1', '@c2'], ['@c5']]);
  expect(labels(75, 1_000)).toEqual([['@c8']]);
});

test('a position before the beginning of a branch lies on its parent, and an abandoned part is marked from its first position', () => {
  const root = { ...node(0, null, 0, 9), abandoned_by: 1 };
  const back = { ...node(1, root, 4, 2), how: 'rollback' as const };
  const drawing = drawBranches([root, back]);
  expect([...pathToPosition(drawing, 1, 3)]).toEqual([[0, 3]]);
  expect(drawing.rows.map(({ from, to, abandonedAt: left }) => [from, to, left])).toEqual([
    [0, 9, 4],
    [4, 6, null],
  ]);
});

test('a point of the drawing has all names it was saved under and all branches that fork there', () => {
  const saved = (name: string) => ({ name, seq: 3, cycle: 3, label: '@c3' });
  const root = { ...node(0, null, 0, 9), saved: [saved('one'), saved('two')] };
  const drawing = drawBranches([root, node(1, root, 3, 1), node(2, root, 3.5, 0)]);
  expect(
    drawing.rows[0]?.points.map(({ x, saved: names, branches: leaving }) => [
      x,
      names,
      leaving.map((one) => one.branchId),
    ]),
  ).toEqual([
    [3, ['one', 'two'], [1]],
    [3.5, [], [2]],
  ]);
});

import type { BranchNodeAnswer, FilmCellAnswer } from '@stemma/api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decisionWords, filmOf, hasFailed, spokenCell } from '../src/filmstrip/film-tracks.ts';
import { cellAt, columnLeft, trackTop, layoutOf, scrollTo } from '../src/filmstrip/film-layout.ts';
import { fittedName } from '../src/filmstrip/film-names.ts';
import { chosenIn } from '../src/filmstrip/chosen-call.ts';
import type { Address } from '../src/page/address.ts';

const branch = (
  branchId: number,
  more: Partial<BranchNodeAnswer> & { readonly from?: readonly [branch: number, cycle: number] } = {},
): BranchNodeAnswer => {
  const { from, ...given } = more;
  return {
    ...{ branch: branchId === 0 ? 'h' : `h:${branchId}`, branchId, name: null, description: '' },
    how: from === undefined ? 'start' : 'fork',
    parent:
      from === undefined ? null : { branchId: from[0], seq: from[1], cycle: from[1], label: `@c${from[1]}` },
    ...{ called_by: null, may_continue: null, abandoned_by: null, startedAt: 0, updatedAt: 0, saved: [] },
    ...{ seq: 0, cycle: null, frames: 1 },
    ...given,
  };
};

const cell = (branchId: number, cycle: number, more: Partial<FilmCellAnswer> = {}): FilmCellAnswer => ({
  ...{ branchId, cycle, seq: cycle, at: 0, messages: 1, tokens: 10 * cycle },
  roles: { system: 10 * cycle, user: 0, assistant: 0, tool: 0, other: 0 },
  ...{ came: { messages: 1, tokens: 10 }, left: { messages: 0, tokens: 0 }, compacted: false },
  ...{ decided: null, call: null, interventions: [] },
  ...more,
});
const cells = (branchId: number, from: number, to: number): FilmCellAnswer[] =>
  Array.from({ length: to - from + 1 }, (_, i) => cell(branchId, from + i));

/** `main` was rolled back to the fourth call: its first branch has two more, which `main` has not. */
const BRANCHES = [
  branch(0, { branch: 'h:0', abandoned_by: 9 }),
  branch(5, { name: 'try', from: [0, 3] }),
  branch(9, { branch: 'h', name: 'main', how: 'rollback', from: [0, 4] }),
  branch(12, { name: 'deeper', from: [5, 5] }),
];
const CELLS = [...cells(0, 1, 6), ...cells(5, 4, 5), ...cells(9, 5, 8), ...cells(12, 6, 6)];
const film = filmOf('h', BRANCHES, CELLS);

test('the first row is the path of main, and every other branch a track that parts where its path does', () => {
  expect(
    film.tracks.map(({ branchId, row, cells: own, parting, abandoned }) => ({
      ...{ branchId, row, parting, abandoned },
      cycles: own.map(({ cycle }) => cycle),
    })),
  ).toEqual([
    { branchId: 9, row: 0, parting: null, abandoned: false, cycles: [1, 2, 3, 4, 5, 6, 7, 8] },
    { branchId: 5, row: 1, parting: { row: 0, cycle: 3 }, abandoned: false, cycles: [4, 5] },
    { branchId: 12, row: 2, parting: { row: 1, cycle: 5 }, abandoned: false, cycles: [6] },
    { branchId: 0, row: 3, parting: { row: 0, cycle: 4 }, abandoned: true, cycles: [5, 6] },
  ]);
  expect(film.pathOf(12).map(({ branchId, cycle }) => `${branchId}@${cycle}`)).toEqual([
    ...['0@1', '0@2', '0@3', '5@4', '5@5', '12@6'],
  ]);
  expect([film.trackOf(12, 2)?.row, film.trackOf(12, 5)?.row, film.trackOf(12, 6)?.row]).toEqual([0, 1, 2]);
});

test('each call of a history is drawn in one track, whatever its branches', () => {
  const tree = fc
    .array(fc.tuple(fc.nat(), fc.nat(), fc.nat(4), fc.boolean()), { maxLength: 12 })
    .map((drawn) => {
      const branches = [branch(0)];
      const all = cells(0, 1, 5);
      for (const [i, [parent, at, length, abandoned]] of drawn.entries()) {
        const of = parent % branches.length;
        const reach = Math.max(1, ...all.filter((one) => one.branchId === of).map(({ cycle }) => cycle));
        const from = branches[of]?.parent?.cycle ?? 0;
        const cycle = from + (at % Math.max(1, reach - from + 1));
        branches.push(branch(i + 1, { from: [of, cycle], abandoned_by: abandoned ? 99 : null }));
        all.push(...cells(i + 1, cycle + 1, cycle + length));
      }
      return { branches, all };
    });
  fc.assert(
    fc.property(tree, ({ branches, all }) => {
      const drawn = filmOf('h', branches, all).tracks.flatMap((track) => track.cells);
      const key = (one: FilmCellAnswer): string => `${one.branchId}.${one.cycle}`;
      expect(new Set(drawn.map(key))).toEqual(new Set(all.map(key)));
      expect(drawn).toHaveLength(all.length);
    }),
  );
});

test('what is under the left edge of a column is its call, on every row and however far it is scrolled', () => {
  const long = filmOf(
    'h',
    [branch(0), branch(3, { from: [0, 2] })],
    [...cells(0, 1, 900), ...cells(3, 3, 500)],
  );
  for (const width of [390, 1440]) {
    const layout = layoutOf(long, width, { row: 0, extraColumns: 0, isLow: false });
    expect(layout.scrolls).toBe(true);
    for (const cycle of [3, 40, 499]) {
      const scroll = scrollTo(layout, long, cycle, 0);
      const x = columnLeft(layout, long, cycle, scroll) + 1;
      for (const row of [0, 1])
        expect(cellAt(layout, long, scroll, { x, y: (trackTop(layout, row) ?? 0) + 10 })).toMatchObject({
          cycle,
          track: { row },
        });
    }
  }
});

test('of many branches the tracks near the one that is shown are in view', () => {
  const many = filmOf(
    'h',
    [branch(0), ...Array.from({ length: 2_000 }, (_, i) => branch(i + 1, { from: [0, 1] }))],
    [...cells(0, 1, 3), ...Array.from({ length: 2_000 }, (_, i) => cell(i + 1, 2))],
  );
  const layout = layoutOf(many, 1_000, { row: 1_500, extraColumns: 0, isLow: false });
  expect(layout.tracksShown).toBe(4);
  expect(trackTop(layout, 1_500)).not.toBeNull();
  expect(trackTop(layout, 1)).toBeNull();
  expect(layout.height).toBeLessThan(400);
});

test('a call says what it decided and whether a tool failed, in words too', () => {
  const failed = cell(0, 4, {
    decided: {
      said: 1,
      tools: [
        { name: 'book', state: 'failed' },
        { name: 'book', state: 'answered' },
        { name: 'look', state: 'called' },
      ],
    },
  });
  expect([decisionWords(failed), hasFailed(failed)]).toEqual(['book + look', true]);
  expect(spokenCell(failed, String)).toBe('call 4: 40 tokens, 1 new, 0 left, decided book + look, failed');
  expect(decisionWords(cell(0, 1, { decided: { said: 1, tools: [] } }))).toBe('answer');
  const ended = cell(0, 1, { call: { attempts: 1, status: 'timed out' } });
  expect([decisionWords(ended), hasFailed(ended)]).toEqual(['timed out', true]);
});

test('the name of a tool is whole, in two lines, cut, or its initials, as the column has room', () => {
  const measure = (text: string): number => text.length;
  expect(fittedName('look', 10, measure, true)).toEqual(['look']);
  expect(fittedName('search_direct_flight', 14, measure, true)).toEqual(['search_', 'direct_flight']);
  expect(fittedName('transfertohumanagents', 8, measure, true)).toEqual(['transfe…']);
  expect(fittedName('search_direct_flight', 4, measure, false)).toEqual(['sdf']);
  expect(fittedName('answer', 1, measure, false)).toEqual(['a']);
});

test('steps stay on the branch that is shown, tracks are changed at the same call, and an older call is compared with', () => {
  const at = (reference: string, of: string, since: string | null = null) =>
    chosenIn(film, BRANCHES, of, { reference, cycle: Number(reference.slice(2)), following: false }, since);
  const gone = (act: (go: (to: Partial<Address>) => void) => void): Partial<Address> | undefined => {
    let found: Partial<Address> | undefined;
    act((to) => (found = to));
    return found;
  };
  expect(at('@c5', 'h:12')).toMatchObject({ cycle: 5, row: 1, since: null, isLast: false });
  expect(gone((go) => at('@c5', 'h:12').step(go, 1))).toEqual({ at: '@c6' });
  expect(gone((go) => at('@c3', 'h:12').step(go, -9))).toEqual({ at: '@c1' });
  expect(gone((go) => at('@c5', 'h').changeTrack(go, 1))).toEqual({ history: 'h:5', at: '@c5' });
  expect(gone((go) => at('@c5', 'h').choose(go, 6, 3, 'push'))).toEqual({ history: 'h:0', at: '@c6' });
  expect(gone((go) => at('@c5', 'h:12').choose(go, 2, 0, 'push'))).toEqual({ at: '@c2' });
  expect(gone((go) => at('@c5', 'h').chooseSince(go, 2))).toEqual({ since: '@c2' });
  expect(gone((go) => at('@c5', 'h').chooseSince(go, 7))).toEqual({ since: '@c5', at: '@c7' });
  expect(gone((go) => at('@c5', 'h').stepSince(go, -1))).toEqual({ since: '@c3' });
  expect(at('@c5', 'h', '@c2').since).toBe(2);
});

import { compareCodePoints } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { DEFECTS, foldFrame, HISTORY_HEADS, putHistoryHead, readHistoryHead } from '@stemma/history-store';
import { ALL_FOLDS, loadingTokenizer } from '@stemma/read-models';
import {
  openMemoryRowStore,
  stageRows,
  typedRows,
  type CellReader,
  type GenerationView,
  type Value,
} from '@stemma/row-store';
import { foldedPayloads, naiveHistory, payloadsInMemory, rowsUnderTest } from '@stemma/test-kit';
import { beforeAll, expect, it } from 'vitest';
import { checkSnapshotRows } from '../src/check-view.ts';
import { findBranchRef } from '../src/find-branch.ts';
import { listOpenedHistories } from '../src/list-opened.ts';
import { listHistoryPage, positionOf } from '../src/read.ts';
import { findServedBranch, findServedPosition } from '../src/served-histories.ts';

/** Names of histories; the ids of the first two begin with the same four characters. */
const NAMES = ['twin-68', 'twin-86', ...Array.from({ length: 60 }, (_, i) => `name-${i}`)];
const IDS = NAMES.map((name) => historyId(name, ''));
const world = openMemoryRowStore().rows('test', [
  ...ALL_FOLDS.flatMap(({ tables }) => tables),
  HISTORY_HEADS,
  DEFECTS,
]);

beforeAll(async () => {
  await loadingTokenizer.fetch([]);
  for (const [i, id] of IDS.entries()) {
    const staged = world.now((view) => stageRows(view));
    const payloadsOf = foldedPayloads();
    naiveHistory((frame) => {
      for (const model of ALL_FOLDS) foldFrame(model, frame, staged, payloadsOf(frame));
    }, id).run(0, [{ op: 'start', name: NAMES[i] ?? null }]);
    const head = { next: 1, prev: new Uint8Array(32), state: 'open', stopped: null } as const;
    putHistoryHead(staged, id, head);
    const expected = world.now((view) => view.cursor(0));
    await world.commit({ partition: 0, expected, cursor: Uint8Array.of(i), changes: staged.changes() });
  }
});

const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return isStemmaError(error) ? error.code : error;
  }
};
const historyNamed = (name: string): unknown =>
  codeOf(() => world.now((view) => findBranchRef(view, name).history));

it('a history is found by its name, its id, and every beginning of its id of four characters or more that no other id has', () => {
  const twins = IDS.slice(0, 2).map((id) => id.slice(0, 4));
  expect(twins[0]).toBe(twins[1]);
  for (const [i, id] of IDS.entries()) {
    expect(historyNamed(NAMES[i] ?? '')).toBe(id);
    for (let length = 1; length <= id.length; length++) {
      const prefix = id.slice(0, length);
      const others = IDS.filter((other) => other.startsWith(prefix));
      expect(historyNamed(prefix), prefix).toBe(
        length < 4 ? 'E_HISTORY_NOT_FOUND' : others.length > 1 ? 'E_HISTORY_AMBIGUOUS' : id,
      );
    }
    for (const wrong of [`${id}a`, `${id.slice(0, 6)}1`, id.slice(1), id.slice(0, 8).toUpperCase(), ` ${id}`])
      expect(historyNamed(wrong), wrong).toBe('E_HISTORY_NOT_FOUND');
  }
});

it('histories that changed at the same time are listed by id', () => {
  expect(world.now((view) => listHistoryPage(view).histories.map(({ history }) => history))).toEqual(
    IDS.toSorted(compareCodePoints),
  );
});

/** The rows with others in place of some. */
const altered = (
  view: GenerationView,
  changes: {
    readonly heads?: ReadonlyMap<string, readonly unknown[] | null>;
    readonly defects?: ReadonlyMap<string, string>;
  },
): GenerationView => {
  const rows: CellReader = view;
  return typedRows<CellReader & Omit<GenerationView, keyof CellReader>>({
    ...view,
    range: (table, range) => rows.range(table, range),
    get: (table, key) => {
      const history = key[0] as string;
      if (table === HISTORY_HEADS && changes.heads?.has(history) === true)
        return (changes.heads.get(history) ?? undefined) as Value | undefined;
      const code = table === DEFECTS ? changes.defects?.get(history) : undefined;
      return code === undefined ? rows.get(table, key) : [0, code, 'why', null, null];
    },
  });
};

const headOf = (
  view: GenerationView,
  state: 'damaged' | 'defective',
  stopped: number,
): readonly unknown[] => {
  const [known = ''] = IDS;
  const head = readHistoryHead(view, known);
  if (head === undefined) throw new Error('there is no head');
  return [head.next, head.prev, state, stopped];
};

it.each([
  ['damaged', undefined, 'E_HISTORY_DAMAGED'],
  ['defective', undefined, 'E_HISTORY_DEFECTIVE'],
  ['defective', 'E_HISTORY_ERASED', 'E_HISTORY_ERASED'],
  ['defective', 'E_HISTORY_SEALED', 'E_HISTORY_SEALED'],
  ['defective', 'E_CONTENT_MISSING', 'E_HISTORY_DEFECTIVE'],
  ['damaged', 'E_HISTORY_ERASED', 'E_HISTORY_DAMAGED'],
] as const)(
  'a history that is %s from its first frame on, for %s, is refused with %s',
  (state, defect, code) => {
    const id = historyId('lost', '');
    world.now((view) => {
      const rows = altered(view, {
        heads: new Map([[id, headOf(view, state, 0)]]),
        defects: new Map(defect === undefined ? [] : [[id, defect]]),
      });
      for (const name of [id, 'lost']) expect(codeOf(() => findServedBranch(rows, name))).toBe(code);
      expect(codeOf(() => findServedBranch(rows, 'nobody'))).toBe('E_HISTORY_NOT_FOUND');
      expect(findServedBranch(rows, 'name-1').history).toBe(historyId('name-1', ''));
      expect(codeOf(() => findServedBranch(rows, 'name-1:nowhere'))).toBe('E_BRANCH_NOT_FOUND');
    });
  },
);

it('a position behind the last good frame of a history is refused with the reason', () => {
  const [id = ''] = IDS;
  const branchRef = { history: id, branchId: 0, branch: id };
  world.now((view) => {
    for (const [state, code] of [
      ['damaged', 'E_HISTORY_DAMAGED'],
      ['defective', 'E_HISTORY_DEFECTIVE'],
    ] as const) {
      const rows = altered(view, { heads: new Map([[id, headOf(view, state, 1)]]) });
      for (const ref of ['@s7', '@t0', '@c9'])
        expect(
          codeOf(() => findServedPosition(rows, branchRef, ref)),
          ref,
        ).toBe(code);
      expect(codeOf(() => findServedPosition(rows, branchRef, 'nowhere@c1'))).toBe('E_BRANCH_NOT_FOUND');
      expect(findServedPosition(rows, branchRef, '@s0').seq).toBe(0);
      try {
        findServedPosition(rows, branchRef, '@s7');
      } catch (error) {
        expect(error).toMatchObject({
          message: expect.stringContaining(`the history is ${state} at seq 1, and`) as string,
          detail: { history: id, seq: 1 },
        });
      }
    }
    expect(codeOf(() => findServedPosition(view, branchRef, '@s7'))).toBe('E_SNAPSHOT_NOT_FOUND');
    const { state, stopped } = readHistoryHead(view, id) ?? {};
    expect([state, stopped]).toEqual(['open', null]);
  });
});

it('a history without its head, and a head without its history, are damage of the rows', () => {
  world.now((view) => {
    const rows: CellReader = view;
    const headsWith = (heads: readonly (readonly [string, readonly unknown[]])[]): GenerationView =>
      typedRows<CellReader & Omit<GenerationView, keyof CellReader>>({
        ...view,
        get: (table, key) => rows.get(table, key),
        range: (table, range) =>
          table === HISTORY_HEADS
            ? heads.map(([key, value]) => ({ key: [key], value: value as Value }))
            : rows.range(table, range),
      });
    const sound = IDS.map((history) => [history, headOf(view, 'damaged', 3)] as const);
    expect(listOpenedHistories(headsWith(sound)).map(({ history }) => history)).toEqual(
      IDS.toSorted(compareCodePoints),
    );
    expect(codeOf(() => listOpenedHistories(headsWith(sound.slice(1))))).toBe('E_ROWS_DAMAGED');
    const open = (next: number): readonly unknown[] => headOf(view, 'damaged', 3).with(0, next).with(2, null);
    const extra = (history: string, cells: readonly unknown[]): unknown =>
      codeOf(() => listOpenedHistories(headsWith([...sound, [history, cells]])).length);
    expect(extra('hextra', open(0))).toBe(IDS.length);
    expect(extra('hextra', open(1))).toBe('E_ROWS_DAMAGED');
    expect(extra('hextra', headOf(view, 'damaged', 0))).toBe(IDS.length);
    expect(extra('log:0', open(5))).toBe(IDS.length);
  });
});

it('rows that do not give the recorded hashes are reported once and read again, and are damage if they differ again', async () => {
  const history = historyId('checked', '');
  const own = rowsUnderTest();
  const naive = naiveHistory(own.fold, history);
  naive.run(0, [{ op: 'start', name: 'checked' }]);
  naive.run(0, [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', content: 'one' } }, { op: 'commit' }]);
  let content = 'one';
  let tellings = 0;
  let repairs = true;
  const projection = {
    read: async (fn: (view: GenerationView) => unknown) => {
      try {
        return own.rows.now(fn);
      } catch {
        tellings++;
        if (repairs) content = 'one';
        return own.rows.now(fn);
      }
    },
    payloads: payloadsInMemory(
      () => [],
      (ref) => {
        const payload = naive.payload(ref);
        return 'content' in payload ? { ...payload, content } : payload;
      },
    ),
  } as unknown as Parameters<typeof checkSnapshotRows>[0];
  const position = own.rows.now((view) => positionOf(view, { history, branchId: 0, branch: history }, '@c1'));
  await checkSnapshotRows(projection, position);
  expect(tellings).toBe(0);
  content = 'two';
  await checkSnapshotRows(projection, position);
  expect(tellings).toBe(1);
  content = 'two';
  repairs = false;
  await expect(checkSnapshotRows(projection, position)).rejects.toMatchObject({ code: 'E_ROWS_DAMAGED' });
  expect(tellings).toBe(2);
  const start = own.rows.now((view) => positionOf(view, { history, branchId: 0, branch: history }, '@s0'));
  await checkSnapshotRows(projection, start);
  expect(tellings).toBe(2);
});

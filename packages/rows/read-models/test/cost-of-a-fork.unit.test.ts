import type { AppliedFrame, Step } from '@stemma/history';
import { foldFrame } from '@stemma/history-store';
import { openMemoryRowStore, stageRows, type RowReader } from '@stemma/row-store';
import { foldedPayloads, naiveHistory, START } from '@stemma/test-kit';
import { beforeAll, expect, test } from 'vitest';
import { ALL_FOLDS, loadingTokenizer } from '../src/index.ts';

beforeAll(() => loadingTokenizer.fetch([]));

type Cost = { readonly gets: number; readonly ranged: number; readonly written: number };

/** A frame that only starts a branch: whoever asks it for its tree fails. */
const withoutTree = (frame: AppliedFrame): AppliedFrame =>
  Object.create(frame, {
    state: {
      get: () => {
        throw new Error('a branch that only starts is asked for its tree');
      },
    },
  }) as AppliedFrame;

/** A history, and what all read models read and wrote for its newest frame. */
const counted = () => {
  const rows = openMemoryRowStore().rows(
    'test',
    ALL_FOLDS.flatMap(({ tables }) => tables),
  );
  let cost: Cost = { gets: 0, ranged: 0, written: 0 };
  const payloadsOf = foldedPayloads();
  const history = naiveHistory(
    (frame) => {
      let [gets, ranged] = [0, 0];
      const counting = (reader: RowReader): RowReader => ({
        get: (table, key) => {
          gets++;
          return reader.get(table, key);
        },
        range: (table, range) => {
          const found = reader.range(table, range);
          ranged += found.length;
          return found;
        },
      });
      const seen = frame.started === null || frame.started.how === 'start' ? frame : withoutTree(frame);
      const changes = rows.now((view) => {
        const staged = stageRows(counting(view));
        for (const model of ALL_FOLDS) foldFrame(model, seen, staged, payloadsOf(frame));
        return staged.changes();
      });
      cost = { gets, ranged, written: changes.length };
      const cursor = Uint8Array.of(frame.seq & 255, frame.seq >> 8);
      void rows.commit({ partition: 0, expected: rows.now((view) => view.cursor(0)), cursor, changes });
    },
    'h',
    Infinity,
  );
  history.run(0, [START]);
  return { history, cost: () => cost };
};

const block = (kind: string): never => ({ nodeType: 'cb', kind, content: 'x' }) as never;

/** What a fork and a rollback cost, at the newest position and at one in the middle. */
const costs = (cycles: number, blocks: number, kind: string): Record<string, Cost> => {
  const { history, cost } = counted();
  const own = Array.from({ length: blocks }, () => block(kind));
  const cycle: readonly Step[] = [
    { op: 'insert', parent: '^ah', node: own[0] as never, siblings: own.slice(1) },
    { op: 'commit' },
  ];
  for (let i = 0; i < cycles; i++) history.run(0, cycle);
  const found: Record<string, Cost> = {};
  for (const [where, at] of [
    ['newest', cycles],
    ['middle', Math.floor(cycles / 2)],
  ] as const)
    for (const how of ['fork', 'rollback'] as const) {
      if (history.branch(how, 0, at) === undefined) throw new Error('the command was refused');
      found[`${how} ${where}`] = cost();
    }
  return found;
};

test(
  'a fork and a rollback read and write as many rows behind 10,000 blocks as behind 10, without the tree',
  { tags: ['pool:Branches-and-snapshots'] },
  () => {
    // Frames of as many nodes as fill a mark, so that what lies behind the nearest one is the same at both sizes.
    const few = costs(2, 62, 'text');
    const many = costs(161, 62, 'text');
    expect(many).toEqual(few);
    expect(costs(1, 10, 'text')['fork newest']).toEqual(few['fork newest']);
  },
);

test(
  'a fork from the past of a history of calls alone reads no more than a fork from that of one of messages',
  { tags: ['pool:Branches-and-snapshots'] },
  () => {
    const bound = { gets: 16, ranged: 64 + 8 };
    for (const kind of ['text', 'call', 'result'])
      for (const [name, cost] of Object.entries(costs(400, 1, kind)))
        expect(
          cost.gets <= bound.gets && cost.ranged <= bound.ranged,
          `${name} ${JSON.stringify(cost)}`,
        ).toBe(true);
  },
);

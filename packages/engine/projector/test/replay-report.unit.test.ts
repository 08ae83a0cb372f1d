import { fail, isStemmaError } from '@stemma/errors';
import { openMemoryLog, type LogRecord, type MemoryLog } from '@stemma/log';
import { READ_MODELS } from '@stemma/read-models';
import {
  openMemoryRowStore,
  type Generation,
  type Row,
  type RowChange,
  type RowStore,
  type Table,
} from '@stemma/row-store';
import { allRows, appendAll, logged, someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { openProjector, verifyReplay, type Projector } from '../src/index.ts';
import type { VerifyReplayOptions } from '../src/verify-replay.ts';

const recorded = someRecorded(7, 2, 15);
/** More frames than a cursor remembers. */
const long = someRecorded(5, 4, 40);
const total = recorded.entries.length;
const events = [...recorded.histories.values()].reduce(
  (sum, { frames }) => sum + frames.reduce((all, { body }) => all + body.events.length, 0),
  0,
);

const opened = async (
  more: {
    readonly now?: () => number;
    readonly store?: RowStore;
    readonly partitions?: number;
    readonly of?: typeof recorded;
  } = {},
): Promise<{ projector: Projector; log: MemoryLog }> => {
  const { partitions = 1, store = openMemoryRowStore(), of = recorded, ...rest } = more;
  const { log, contents } = await logged(of, partitions);
  return { log, projector: openProjector({ eager: 'all', log, contents, store, ...rest }) };
};

const verified = (projector: Projector, more: Partial<VerifyReplayOptions> = {}) =>
  verifyReplay(projector, { scratch: () => openMemoryRowStore(), ...more });

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

const change = async (generation: Generation, changes: readonly RowChange[]): Promise<void> => {
  const cursor = await generation.read((view) => view.cursor(0));
  if (cursor === null) throw new Error('nothing was committed');
  await generation.commit({ partition: 0, expected: cursor, cursor, changes });
};

const tableNamed = (generation: Generation, name: string): Table => {
  const table = generation.tables.find((each) => each.name === name);
  if (table === undefined) throw new Error(`there is no table ${name}`);
  return table;
};

const firstRowOf = async (generation: Generation, table: Table): Promise<Row> => {
  const [row] = (await allRows(generation))[table.name] as Row[];
  if (row === undefined) throw new Error(`there is no row of ${table.name}`);
  return row;
};

it('a report counts the rows that are compared, and the frames and events of every replay', async () => {
  const { projector } = await opened();
  await projector.catchUp();
  const generation = await projector.generation();
  const all = await allRows(generation);
  const compared = generation.tables
    .filter(({ local }) => local !== true)
    .reduce((sum, { name }) => sum + (all[name]?.length ?? 0), 0);
  expect(generation.tables.some(({ local }) => local === true)).toBe(true);
  const { seconds: _, ...once } = await verified(projector);
  expect(once).toEqual({
    events,
    accepted: total + 1,
    stale: 0,
    rows: compared,
    differences: 0,
    first: null,
  });
  const { seconds: __, ...twice } = await verified(projector, { batchSizes: [1, 4] });
  expect(twice).toEqual({
    events: 2 * events,
    accepted: 2 * (total + 1),
    stale: 0,
    rows: 2 * compared,
    differences: 0,
    first: null,
  });
});

it('a report says how long it took, in seconds', async () => {
  let time = 3_000;
  const { projector } = await opened({ now: () => time });
  const report = await verified(projector, {
    scratch: () => {
      time += 2_500;
      return openMemoryRowStore();
    },
  });
  expect(report.seconds).toBe(2.5);
});

it('a repeated record counts as stale in the report', async () => {
  const { projector, log } = await opened();
  const [entry] = recorded.entries.slice(-1);
  if (entry === undefined) throw new Error('nothing was recorded');
  await appendAll(log, [entry, entry]);
  expect(await verified(projector)).toMatchObject({ accepted: total + 1, stale: 2, differences: 0 });
});

it('a replay that is interrupted at random continues, counts every frame once, and closes its store', async () => {
  const { projector } = await opened({ partitions: 2 });
  await projector.catchUp();
  const numbers = [0.9, 0.1, 0.3, 0.19, 0.5, 0.21];
  let at = 0;
  let closed = 0;
  const progress: number[] = [];
  const report = await verified(projector, {
    scratch: () => {
      const store = openMemoryRowStore();
      return {
        ...store,
        close: async () => {
          closed++;
        },
      };
    },
    batchSizes: [1, 3, null],
    random: () => numbers[at++ % numbers.length] ?? 0,
    progress: (frames) => progress.push(frames),
  });
  expect(report).toMatchObject({ events: 3 * events, accepted: 3 * (total + 2), differences: 0 });
  expect(closed).toBe(3);
  const ends = progress.filter((frames, i) => (progress[i + 1] ?? 0) < frames);
  expect(ends).toEqual([total + 2, total + 2, total + 2]);
  expect(progress.slice(0, total + 2)).toEqual(Array.from({ length: total + 2 }, (_, i) => i + 1));
});

it('every fifth batch on average is interrupted, or as many as requested', async () => {
  const { projector } = await opened();
  const runsWith = async (number: number, stopEvery?: number): Promise<number> => {
    let openings = 0;
    const store = openMemoryRowStore();
    await verified(projector, {
      scratch: () => ({
        ...store,
        current: (group) => {
          openings++;
          return store.current(group);
        },
      }),
      batchSizes: [1],
      random: () => number,
      ...(stopEvery === undefined ? {} : { stopEvery }),
    });
    return openings;
  };
  const never = await runsWith(0.999_9);
  expect(await runsWith(0.2)).toBe(never);
  expect(await runsWith(0.199)).toBeGreaterThan(never * 3);
  expect(await runsWith(0.199, 6)).toBe(never);
});

it('changed, added and removed rows are differences, and the first is that of the lowest frame', async () => {
  const { projector } = await opened();
  await projector.catchUp();
  const generation = await projector.generation();
  const versions = tableNamed(generation, 'versions');
  const rows = (await allRows(generation))[versions.name] as Row[];
  const seqColumn = versions.key.findIndex(([name]) => name === 'from' || name === 'seq');
  const seqOf = ({ key }: Row): number => key[seqColumn] as number;
  const byFrame = rows.toSorted((a, b) => seqOf(a) - seqOf(b));
  const [removed, changed] = [byFrame[2], byFrame.at(-1)];
  if (removed === undefined || changed === undefined) throw new Error('there are too few rows');
  const added = { key: changed.key.with(seqColumn, 9_999), value: changed.value };
  await change(generation, [
    { table: versions, key: changed.key, value: ['cb', 99] },
    { table: versions, key: added.key, value: added.value },
    { table: versions, key: removed.key, value: null },
  ]);
  const report = await verified(projector);
  expect(report.differences).toBe(3);
  expect(report.first).toEqual({
    table: versions.name,
    key: removed.key,
    stored: undefined,
    replayed: removed.value,
    seq: seqOf(removed),
  });
  await change(generation, [{ table: versions, key: removed.key, value: removed.value }]);
  const fewer = await verified(projector, { batchSizes: [null, 2] });
  expect(fewer.differences).toBe(4);
  expect([fewer.first?.key, fewer.first?.stored?.slice(0, 2)]).toEqual([changed.key, ['cb', 99]]);
  expect(fewer.first?.replayed).toEqual(changed.value);
});

it('of several differences of one frame the first is that of the lowest key, in however many replays it is found', async () => {
  const { projector } = await opened();
  await projector.catchUp();
  const generation = await projector.generation();
  const versions = tableNamed(generation, 'versions');
  const rows = (await allRows(generation))[versions.name] as Row[];
  const seqColumn = versions.key.findIndex(([name]) => name === 'from' || name === 'seq');
  const seqs = rows.map(({ key }) => key[seqColumn]);
  const together = rows.filter((_, i) => seqs.indexOf(seqs[i]) !== seqs.lastIndexOf(seqs[i]));
  const [first, second] = together.filter(({ key }) => key[seqColumn] === together[0]?.key[seqColumn]);
  if (first === undefined || second === undefined) throw new Error('no frame wrote two rows');
  await change(
    generation,
    [second, first].map(({ key }) => ({ table: versions, key, value: ['cb', 99] })),
  );
  const report = await verified(projector);
  expect([report.differences, report.first?.key]).toEqual([2, first.key]);
});

it('a removed row with another one in its place is two differences', async () => {
  const { projector } = await opened();
  await projector.catchUp();
  const generation = await projector.generation();
  const versions = tableNamed(generation, 'versions');
  const row = await firstRowOf(generation, versions);
  await change(generation, [
    { table: versions, key: row.key, value: null },
    { table: versions, key: row.key.with(-1, (row.key.at(-1) as number) + 5_000), value: row.value },
  ]);
  expect((await verified(projector)).differences).toBe(2);
});

it('rows of the records have no frame of their own: a difference there names none', async () => {
  const { projector } = await opened();
  await projector.catchUp();
  const generation = await projector.generation();
  const heads = tableNamed(generation, 'history_heads');
  const row = await firstRowOf(generation, heads);
  await change(generation, [{ table: heads, key: row.key, value: null }]);
  const report = await verified(projector);
  expect(report).toMatchObject({
    differences: 1,
    first: { table: heads.name, stored: undefined, seq: null },
  });
});

it('a damaged row is a difference of its table', async () => {
  const { projector } = await opened();
  await projector.catchUp();
  const generation = await projector.generation();
  const damaged: Projector = {
    ...projector,
    generation: () =>
      Promise.resolve({
        ...generation,
        scan: (fn) =>
          generation.scan((scan) =>
            fn({
              ...scan,
              entries: (table) => {
                throw fail('E_ROWS_DAMAGED', 'damaged', { table: table.name });
              },
            }),
          ),
      }),
  };
  const [table] = generation.tables.filter(({ local }) => local !== true);
  expect(await verified(damaged)).toMatchObject({
    events,
    accepted: 0,
    stale: 0,
    rows: 0,
    differences: 1,
    first: { table: `${table?.name} (damaged)`, key: [], seq: null },
  });
});

it('rows after later damage cannot be compared', async () => {
  const { projector, log } = await opened({ of: long });
  await projector.catchUp();
  const records = log.records(0);
  const [record] = records.slice(2, 3);
  records[2] = { ...(record as LogRecord), bytes: Uint8Array.of(1, 2, 3), keyVouched: false };
  expect(await codeOf(verified(projector))).toBe('E_RECORD_DAMAGED');
});

it('while others write, the generation that is behind catches up a limited number of times', async () => {
  const log = await openMemoryLog();
  const { contents } = await logged(long);
  const store = openMemoryRowStore();
  const projector = openProjector({ eager: 'all', log, contents, store, models: READ_MODELS.slice(0, 1) });
  let left = [...long.entries];
  await appendAll(log, left.splice(0, 5));
  // Whenever rows are about to be compared, some more come.
  const growing: Projector = {
    ...projector,
    generation: async () => {
      const more = left.splice(0, 1);
      if (more.length > 0) {
        await appendAll(log, more);
        await projector.catchUp();
      }
      return projector.generation();
    },
  };
  left = left.slice(0, 19);
  expect(await verified(growing)).toMatchObject({ differences: 0 });
  left = long.entries.slice(24, 44);
  expect(left.length).toBe(20);
  expect(await codeOf(verified(growing))).toBe('E_CURSOR_MOVED');
});

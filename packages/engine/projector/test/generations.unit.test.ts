import { openMemoryContents } from '@stemma/contents';
import { HISTORY_STORE, RECORD_TABLES } from '@stemma/history-store';
import { openMemoryLog } from '@stemma/log';
import { READ_MODELS, type ReadModel } from '@stemma/read-models';
import { defineTable } from '@stemma/row-store';
import { openMemoryRowStore, type RowStore } from '@stemma/row-store';
import { appendAll, someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import {
  currentName,
  dropReplaced,
  isLater,
  nextName,
  promote,
  signatureOf,
  tablesOf,
  unfinishedNames,
} from '../src/generations.ts';
import { openProjector } from '../src/index.ts';
import { BUCKET_COUNTS, ROW_COUNTS } from '../src/counts/counted-tables.ts';

const THINGS = defineTable({ name: 'things', about: '', key: [['id', 'text']], value: [['n', 'uint']] });
const [FIRST, SECOND] = READ_MODELS as readonly [ReadModel, ReadModel];
const OWN = `${HISTORY_STORE.name}@${HISTORY_STORE.version}+counts@2`;

const storeWith = async (...names: readonly string[]): Promise<RowStore> => {
  const store = openMemoryRowStore();
  for (const name of names) await begin(store, name);
  return store;
};

const begin = async (store: RowStore, name: string): Promise<void> =>
  (await store.generation(name, [THINGS])).commit({
    partition: 0,
    expected: null,
    cursor: Uint8Array.of(1),
    changes: [],
  });

it('a signature names the history store and the models by name, and whether frames are kept', () => {
  const models = [
    { ...FIRST, name: 'b', version: 2 },
    { ...FIRST, name: 'a', version: 3 },
  ];
  expect(signatureOf(models, false)).toBe(`${OWN}+a@3+b@2`);
  expect(signatureOf(models, true)).toBe(`${OWN}+frames+a@3+b@2`);
});

it('tables are those of the records, of the history store and of the models; the bytes of frames only if they are kept', () => {
  const names = (keepFrames: boolean) => tablesOf([FIRST, SECOND], keepFrames).map(({ name }) => name);
  const all = [
    ...RECORD_TABLES,
    ROW_COUNTS,
    BUCKET_COUNTS,
    ...HISTORY_STORE.tables,
    ...FIRST.tables,
    ...SECOND.tables,
  ];
  expect(names(true)).toEqual(all.map(({ name }) => name));
  expect(names(false)).toEqual(names(true).filter((name) => name !== 'frame_bytes'));
});

it('the next name has a number above all that were used, of whatever signature', () => {
  expect(nextName([], 'a@1', null)).toBe('a@1#1');
  expect(nextName(['a@1#2', 'b@9#5', 'odd'], 'a@1', null)).toBe('a@1#6');
  expect(nextName(['a@1#2'], 'a@1', 'a@0#7')).toBe('a@1#8');
});

it('the unfinished generations are those of the signature that are not current, the newest first', () => {
  const names = ['a@1#2', 'a@1#10', 'a@1#3', 'a@12#4', 'b@1#5'];
  expect(unfinishedNames(names, 'a@1', null)).toEqual(['a@1#10', 'a@1#3', 'a@1#2']);
  expect(unfinishedNames(names, 'a@1', 'a@1#3')).toEqual(['a@1#10', 'a@1#2']);
});

it('a new current generation drops the earlier ones of its signature, and no others', async () => {
  const store = await storeWith('a@1#2', 'a@1#3', 'a@1#10', 'b@1#1');
  await dropReplaced(store, 'a@1#3');
  expect(await store.generations()).toEqual(['a@1#10', 'a@1#3', 'b@1#1']);
});

it('one name is later than another if some version is higher and none is lower', () => {
  const versions = [1, 2, 3];
  for (const a of versions)
    for (const b of versions)
      for (const c of versions)
        for (const d of versions)
          expect(isLater(`x@${a}+y@${b}#1`, `x@${c}+y@${d}#9`), `${a} ${b} ${c} ${d}`).toBe(
            a >= c && b >= d && (a > c || b > d),
          );
  expect(isLater('x@2+z@1#1', 'x@1#2')).toBe(true);
  expect(isLater('x@1+z@5#1', 'x@1#2')).toBe(false);
  expect(isLater('x@1#1', 'x@1#1')).toBe(false);
});

it('the current name is that of the group if it has the signature', async () => {
  const store = await storeWith('a@1#1');
  expect(await currentName(store, 'all', 'a@1')).toBeUndefined();
  await store.promote({ group: 'all', from: null, to: 'a@1#1', unmoved: [] });
  expect(await currentName(store, 'all', 'a@1')).toBe('a@1#1');
  expect(await currentName(store, 'all', 'a@')).toBeUndefined();
  expect(await currentName(store, 'other', 'a@1')).toBeUndefined();
});

it('whoever asks for rows that are begun and promoted meanwhile gets these, and begins none beside them', async () => {
  const log = await openMemoryLog();
  const contents = openMemoryContents();
  await appendAll(log, someRecorded(5).entries);
  // After each question that the reader can ask another projector does all of its work.
  for (let after = 1; after <= 4; after++) {
    const store = openMemoryRowStore();
    let asked = 0;
    const thenElsewhere = async <T>(answer: Promise<T>): Promise<T> => {
      const given = await answer;
      if (++asked === after) await openProjector({ log, contents, store, models: [FIRST] }).catchUp();
      return given;
    };
    const slow: RowStore = {
      ...store,
      current: (group) => thenElsewhere(store.current(group)),
      generations: () => thenElsewhere(store.generations()),
    };
    const reader = openProjector({ log, contents, store: slow, models: [FIRST] });
    const { name } = await reader.generation();
    expect(name).toMatch(/#1$/);
    await reader.catchUp();
    expect(await store.generations()).toEqual([name]);
  }
});

it('a rebuild keeps what another process promotes while it begins, and ends with one generation', async () => {
  const log = await openMemoryLog();
  const contents = openMemoryContents();
  await appendAll(log, someRecorded(5).entries);
  // After each question that the rebuild asks before it builds.
  for (let after = 1; after <= 2; after++) {
    const store = openMemoryRowStore();
    const models = [FIRST];
    const first = openProjector({ log, contents, store, models });
    await first.catchUp();
    const { name: from } = await first.generation();
    const built = from.replace('#1', '#2');
    const cursor = (await store.cursors(from)).get(0) ?? Uint8Array.of();
    const other = await store.generation(built, [THINGS]);
    await other.commit({ partition: 0, expected: null, cursor, changes: [] });
    let asked = 0;
    const thenPromoted = async <T>(answer: Promise<T>): Promise<T> => {
      const given = await answer;
      if (++asked === after) await store.promote({ group: 'all', from, to: built, unmoved: [] });
      return given;
    };
    const slow: RowStore = {
      ...store,
      current: (group) => thenPromoted(store.current(group)),
      generations: () => thenPromoted(store.generations()),
    };
    await openProjector({ log, contents, store: slow, models }).rebuild();
    const current = await store.current('all');
    expect(await store.generations(), String(after)).toEqual([current]);
    expect([built, from]).not.toContain(current);
  }
});

it('a generation becomes current when it is as far as the current one in every partition, not before', async () => {
  const log = await openMemoryLog({ partitions: 2 });
  const contents = openMemoryContents();
  const store = openMemoryRowStore();
  const { entries } = someRecorded(5);
  const open = (version: number, frames: number, stop: () => boolean) =>
    openProjector({
      log,
      contents,
      store,
      models: [{ ...FIRST, version }],
      limits: { frames },
      stop,
    });
  await appendAll(log, entries);
  const old = open(1, 1_000, () => false);
  await old.catchUp();
  const from = (await old.generation()).name;
  expect(await promote(store, 'all', from, log)).toBe(true);

  // One batch a run: of the next one nothing, then one partition, then both in part.
  const next = open(2, 3, () => true);
  const { name } = await next.generation();
  let rounds = 0;
  while ((await store.current('all')) === from) {
    const reached = await store.cursors(name);
    const isThere = [...(await store.cursors(from))].every(
      ([partition, cursor]) => Buffer.compare(cursor, reached.get(partition) ?? Buffer.of()) === 0,
    );
    expect(isThere).toBe(false);
    expect(await promote(store, 'all', name, log)).toBe(false);
    await next.catchUp(rounds++ % 2);
    expect(rounds).toBeLessThan(200);
  }
  expect(rounds).toBeGreaterThan(2);
  expect(await store.current('all')).toBe(name);
});

it('if the log no longer has the offset of the current generation, any other may replace it', async () => {
  const log = await openMemoryLog();
  const contents = openMemoryContents();
  const store = openMemoryRowStore();
  const { entries } = someRecorded(5);
  await appendAll(log, entries);
  await openProjector({ log, contents, store, models: [FIRST] }).catchUp();
  log.records(0).length = 4;
  const next = openProjector({ log, contents, store, models: [{ ...FIRST, version: FIRST.version + 1 }] });
  await next.catchUp();
  expect(await store.current('all')).toBe((await next.generation()).name);
});

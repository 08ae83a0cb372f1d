import { defineTable } from '@stemma/row-store';
import { damaged, describeRowStore, type Damage } from '@stemma/row-store/contract';
import { open } from 'lmdb';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLmdbRowStore } from './lmdb-row-store.ts';

const RAW = { keyEncoding: 'binary', encoding: 'binary' } as const;

const damageRow = async (path: string, damage: Damage): Promise<void> => {
  const root = open({ path, noSync: true, maxReaders: 512, maxDbs: 128, ...RAW });
  const tree = root.openDB<Buffer, Buffer>({ name: 'rows things', ...RAW });
  for (const { key, value } of [...tree.getRange()]) {
    if (!value.includes('h/1/a/1')) continue;
    const changed = damaged(damage, key, value);
    tree.removeSync(key);
    tree.putSync(changed.key, changed.value);
  }
  await root.close();
};

describeRowStore('on lmdb', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-rows-'));
  return {
    open: () => openLmdbRowStore({ directory }),
    another: () => openLmdbRowStore({ directory }),
    damage: (damage) => damageRow(join(directory, '1', 'rows.mdb'), damage),
    cleanUp: () => rmSync(directory, { recursive: true, force: true }),
  };
});

const COUNTS = defineTable({
  name: 'counts',
  about: '',
  key: [
    ['owner', 'text'],
    ['n', 'uint'],
  ],
  value: [['text', 'text']],
});

it(
  'rows that an earlier version wrote, without checksums, are outdated and not damaged: the store is empty, and nobody is told of damage',
  { tags: ['decision-0051'] },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-rows-'));
    try {
      const made = openLmdbRowStore({ directory });
      const rows = await made.generation('g', [COUNTS]);
      const changes = [{ table: COUNTS, key: ['h', 1], value: ['x'] }];
      await rows.commit({ partition: 0, expected: null, cursor: Buffer.from('cursor'), changes });
      await made.close();
      const folder = join(directory, '1');
      const root = open({ path: join(folder, 'rows.mdb'), noSync: true, maxDbs: 128, ...RAW });
      for (const name of ['own', 'rows counts']) {
        const tree = root.openDB<Buffer, Buffer>({ name, ...RAW });
        for (const { key, value } of [...tree.getRange()])
          if (key[0] !== 0xff) tree.putSync(key, value.subarray(0, -4));
      }
      await root.close();
      const state = readFileSync(join(folder, 'state'), 'utf8');
      writeFileSync(join(folder, 'state'), state.split(' ').slice(0, 2).join(' '));
      const said: string[] = [];
      const opened = openLmdbRowStore({ directory, say: (sentence) => said.push(sentence) });
      expect(await opened.generations()).toEqual([]);
      expect(said).toEqual([]);
      await opened.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

describe('what a store on lmdb keeps of itself', () => {
  it(
    'has checksums: names, pointers, cursors and owners with a changed bit are refused',
    { tags: ['decision-0051'] },
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'stemma-rows-'));
      try {
        const made = openLmdbRowStore({ directory });
        const change = { table: COUNTS, key: ['h', 1], value: ['x'] };
        const cursor = Buffer.from('cursor');
        const rows = await made.generation('g', [COUNTS]);
        await rows.commit({ partition: 0, expected: null, cursor, changes: [change] });
        await made.promote({ group: 'all', from: null, to: 'g', unmoved: [] });
        await made.close();
        const root = open({ path: join(directory, '1', 'rows.mdb'), noSync: true, maxDbs: 128, ...RAW });
        const own = root.openDB<Buffer, Buffer>({ name: 'own', ...RAW });
        const records = [...own.getRange()].filter(({ key }) => key[0] !== 0xff);
        expect(records.length).toBe(6);
        for (const { key, value } of records) {
          const changed = Buffer.from(value);
          changed[0]! ^= 1;
          own.putSync(key, changed);
          const store = openLmdbRowStore({ directory });
          const name = `new ${key.toString('hex')}`;
          const refused: unknown[] = [];
          const ask = async (question: () => Promise<unknown>): Promise<void> => {
            await question().catch((error: unknown) => refused.push((error as { code?: unknown }).code));
          };
          await ask(() => store.current('all'));
          await ask(async () => {
            const again = await store.generation('g', [COUNTS]);
            await again.read((view) => [view.cursor(0), view.get(COUNTS, ['h', 1])]);
            await again.commit({
              partition: 0,
              expected: cursor,
              cursor,
              changes: [{ ...change, key: [name, 1] }],
            });
          });
          await ask(async () =>
            (await store.generation(name, [COUNTS])).commit({
              partition: 0,
              expected: null,
              cursor,
              changes: [],
            }),
          );
          await ask(() => store.drop(name));
          expect(new Set(refused), name).toEqual(new Set(['E_ROWS_DAMAGED']));
          await store.close();
          own.putSync(key, value);
        }
        await root.close();
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});

it('a generation that is dropped leaves no row in any tree, and rows of others stay', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-rows-'));
  try {
    const store = openLmdbRowStore({ directory });
    const others = defineTable({ ...COUNTS, name: 'others' });
    for (const [name, tables] of [
      ['g', [COUNTS, others]],
      ['h', [others]],
    ] as const) {
      const rows = await store.generation(name, tables);
      const changes = tables.map((table) => ({ table, key: ['x', 1], value: [name] }));
      await rows.commit({ partition: 0, expected: null, cursor: Buffer.from('cursor'), changes });
    }
    await store.drop('g');
    const rest = await store.generation('h', [others]);
    expect(await rest.read((view) => view.get(others, ['x', 1]))).toEqual(['h']);
    await store.close();
    const root = open({ path: join(directory, '1', 'rows.mdb'), readOnly: true, maxDbs: 128, ...RAW });
    const counts = [COUNTS, others].map(({ name }) => {
      const tree = root.openDB({ name: `rows ${name}`, ...RAW });
      return [name, tree.getKeysCount()];
    });
    expect(counts).toEqual([
      [COUNTS.name, 0],
      ['others', 1],
    ]);
    await root.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it('rows that come in the order of their keys fill pages to the end, and rows in another order find their place behind them', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-rows-'));
  try {
    const store = openLmdbRowStore({ directory });
    const rows = await store.generation('g', [COUNTS]);
    let expected: Uint8Array | null = null;
    const write = async (numbers: readonly number[], letter: string): Promise<void> => {
      const cursor = Buffer.from(`${numbers.join(' ')}${letter}`);
      const changes = numbers.map((n) => ({ table: COUNTS, key: ['h', n], value: [letter.repeat(900)] }));
      await rows.commit({ partition: 0, expected, cursor, changes });
      expected = cursor;
    };
    for (let n = 0; n < 400; n += 4) await write([n, n + 2], 'x');
    const root = open({ path: join(directory, '1', 'rows.mdb'), readOnly: true, maxDbs: 128, ...RAW });
    const { treeLeafPageCount, entryCount } = root.openDB({ name: 'rows counts', ...RAW }).getStats() as {
      readonly treeLeafPageCount: number;
      readonly entryCount: number;
    };
    await root.close();
    expect({ treeLeafPageCount, entryCount }).toEqual({ treeLeafPageCount: 50, entryCount: 200 });
    await write([398, 400, 7, 401, 400, 3], 'y');
    const found = await rows.read((view) => view.range(COUNTS, { prefix: ['h'] }));
    const numbers = [...Array.from({ length: 200 }, (_, i) => i * 2), 3, 7, 400, 401].sort((a, b) => a - b);
    expect(found.map(({ key }) => key[1])).toEqual(numbers);
    const others = found.filter(({ value }) => value[0].startsWith('y')).map(({ key }) => key[1]);
    expect(others).toEqual([3, 7, 398, 400, 401]);
    await store.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

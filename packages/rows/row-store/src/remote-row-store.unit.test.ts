import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeRowStore } from './contract.ts';
import { codeOf, cursor, OWNERS, put, TABLES, thing, THINGS } from './contract/fixtures.ts';
import { damageMemory } from './contract/damage-memory.ts';
import { boundText, type KeyRange } from './key-range.ts';
import { keyText } from './key.ts';
import { openMemoryRowStore, type Memory, type MemoryGeneration } from './memory-row-store.ts';
import { remoteGeneration } from './remote-generation.ts';
import type { FetchRows } from './remote-rows.ts';
import type { RowStore } from './store.ts';
import type { KeyCell, Row, Table } from './table.ts';

/** The rows of a range, as a database returns them. */
const readKeyRange = (local: MemoryGeneration, keyRange: KeyRange): readonly Row[] =>
  local.now((view) => {
    const { table, low, high, reverse, limit = Infinity } = keyRange;
    const [start, end] = [boundText(table, low), boundText(table, high)];
    const rows = [...view.entries(table)].filter(({ key }) => {
      const text = keyText(table, key);
      return text >= start && text < end;
    });
    return (reverse ? rows.reverse() : rows).slice(0, limit);
  });

/** A memory store whose rows are read only by fetching ranges of them, and waiting. */
const openRemoteMemoryStore = (
  fetched: (keyRanges: readonly KeyRange[]) => void = () => undefined,
  memory: Memory = { generations: new Map(), pointers: new Map() },
): RowStore => {
  const local = openMemoryRowStore(memory);
  return {
    ...local,
    async generation(name, tables) {
      await local.generation(name, tables);
      const rows = (): MemoryGeneration => local.rows(name, tables);
      const fetch: FetchRows = async (keyRanges) => {
        fetched(keyRanges);
        await Promise.resolve();
        return keyRanges.map((keyRange) => {
          const found = readKeyRange(rows(), keyRange);
          return { rows: found, bytes: found.length * 100 };
        });
      };
      const count = async (table: Table, owner: KeyCell): Promise<number> =>
        rows().now((view) => view.count(table, owner));
      return remoteGeneration({
        name,
        tables,
        fetch,
        state: async (fn) => fn({ cursors: await local.cursors(name), fetch, count }),
        commit: (batch) => rows().commit(batch),
      });
    },
  };
};

describeRowStore(
  'in memory, read remotely',
  () => {
    const memory: Memory = { generations: new Map(), pointers: new Map() };
    return {
      open: () => openRemoteMemoryStore(undefined, memory),
      another: () => openRemoteMemoryStore(undefined, memory),
      damage: (damage) => damageMemory(memory, damage),
      cleanUp: () => undefined,
    };
  },
  { runs: 100 },
);

const text = fc.constantFrom('', 'a', 'a\u0000', 'ab', 'é', '😀');
const number = fc.constantFrom(0, 1, 2, 239, 240, 70_000);
const key = fc.tuple(fc.constantFrom('h', 'h\u0000', 'i'), number, text, number);
const question = fc.oneof(
  fc.record({ get: key }),
  fc.record(
    {
      prefix: fc.tuple(key, fc.integer({ min: 1, max: 3 })).map(([cells, count]) => cells.slice(0, count)),
      ends: fc.tuple(key, key),
      from: fc.boolean(),
      to: fc.boolean(),
      reverse: fc.boolean(),
      limit: fc.integer({ min: 0, max: 5 }),
    },
    { requiredKeys: ['prefix', 'ends', 'from', 'to'] },
  ),
);

describe('rows in a remote store', () => {
  it('give the same answers as local rows, whatever is asked in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(key, { maxLength: 60 }),
        fc.array(question, { minLength: 1, maxLength: 30 }),
        async (keys, questions) => {
          const stores = [openMemoryRowStore(), openRemoteMemoryStore()];
          const changes = keys.map((cells) => put(THINGS, cells, 'x'));
          const [near, far] = await Promise.all(
            stores.map(async (store) => {
              const rows = await store.generation('g', TABLES);
              await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
              return rows.read((view) =>
                questions.map((asked) => {
                  if ('get' in asked) return view.get(THINGS, asked.get);
                  const { prefix, ends, from, to, reverse, limit } = asked;
                  const [low, high] = ends.map((cells) => cells[prefix.length] as string | number);
                  return view.range<Table>(THINGS, {
                    prefix,
                    ...(from ? { from: low as string } : {}),
                    ...(to ? { to: high as string } : {}),
                    ...(reverse === undefined ? {} : { reverse }),
                    ...(limit === undefined ? {} : { limit }),
                  });
                }),
              );
            }),
          );
          expect(far).toEqual(near);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are read ahead: hundreds of consecutive reads need only a few fetches', async () => {
    let fetches = 0;
    const rows = await openRemoteMemoryStore(() => fetches++).generation('g', TABLES);
    const changes = Array.from({ length: 2_000 }, (_, i) => thing('h', 1, 'a', i));
    await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
    const places = Array.from({ length: 500 }, (_, i) => (i * 1_237) % 2_000);
    for (const order of [places, places.toSorted((a, b) => a - b), places.toSorted((a, b) => b - a)]) {
      fetches = 0;
      const found = await rows.read((view) => order.map((i) => view.get(THINGS, ['h', 1, 'a', i])?.[0]));
      expect(found).toEqual(order.map((i) => `h/1/a/${i}`));
      expect(fetches).toBeLessThan(12);
    }
  });

  it('are read in one fetch as a whole range', async () => {
    let fetches = 0;
    const rows = await openRemoteMemoryStore(() => fetches++).generation('g', TABLES);
    const changes = [1, 2, 3].map((i) => thing('h', 1, 'a', i));
    await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
    for (const reverse of [false, true]) {
      fetches = 0;
      const found = await rows.read((view) => view.range(THINGS, { prefix: ['h', 1], reverse }));
      expect([found.length, fetches]).toEqual([3, 1]);
    }
  });

  it('stay in memory from one batch of a partition to the next, until another process has moved its cursor', async () => {
    let fetches = 0;
    const store = openRemoteMemoryStore(() => fetches++);
    const [rows, other] = [await store.generation('g', TABLES), await store.generation('g', TABLES)];
    const head = async (at: number | null): Promise<unknown> => {
      const source = rows.source({ partition: 0, cursor: at === null ? null : cursor(at) });
      return source.using(() => source.get(OWNERS, ['h']));
    };
    const commit = (by: typeof rows, at: number | null, name: string): Promise<void> =>
      by.commit({
        partition: 0,
        expected: at === null ? null : cursor(at),
        cursor: cursor((at ?? 0) + 1),
        changes: [put(OWNERS, ['h'], name)],
      });
    expect(await head(null)).toBeUndefined();
    await commit(rows, null, 'one');
    expect(await head(1)).toEqual(['one']);
    await commit(rows, 1, 'two');
    expect([await head(2), fetches]).toEqual([['two'], 1]);
    await commit(other, 2, 'three');
    expect(await codeOf(commit(rows, 2, 'four'))).toBe('E_CURSOR_MOVED');
    expect([await head(3), fetches]).toEqual([['three'], 2]);
    await commit(other, 3, 'four');
    expect(await head(4)).toEqual(['four']);
  });

  it('are fetched for a reader even if it catches the signal that it needs them', async () => {
    const rows = await openRemoteMemoryStore().generation('g', TABLES);
    const changes = [put(THINGS, ['h', 1, 'a', 1], 'x', 1, 1n, null, null, { list: [1] })];
    await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
    const read = await rows.read((view) => {
      const hidden = (): unknown => {
        try {
          return view.get(THINGS, ['h', 1, 'a', 1]);
        } catch {
          return 'hidden';
        }
      };
      (view.get(THINGS, ['h', 1, 'a', 1])?.[5] as { list: number[] } | undefined)?.list.push(2);
      return [hidden(), view.range(THINGS, { prefix: ['h', 1] }).length];
    });
    expect(read).toEqual([['x', 1, 1n, null, null, { list: [1] }], 1]);
  });

  it('are fetched when the reader goes on without them, all missing ones in one request', async () => {
    let fetches = 0;
    const rows = await openRemoteMemoryStore(() => fetches++).generation('g', TABLES);
    const owners = ['h', 'i', 'j'];
    const changes = owners.map((owner) => put(OWNERS, [owner], `${owner}!`));
    await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
    const read = await rows.read((view) =>
      owners.map((owner) => {
        try {
          return view.get(OWNERS, [owner]);
        } catch {
          return 'hidden';
        }
      }),
    );
    expect(read).toEqual([['h!'], ['i!'], ['j!']]);
    expect(fetches).toBe(1);
  });

  it('are fetched from the right store when one read is nested in another', async () => {
    const [outer, inner] = await Promise.all(
      ['outer', 'inner'].map(async (name) => {
        const rows = await openRemoteMemoryStore().generation(name, TABLES);
        const changes = ['h', 'i'].map((owner) => put(OWNERS, [owner], `${name} ${owner}`));
        await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
        return rows;
      }),
    );
    const read = await outer?.read((mine) =>
      inner?.read((theirs) => [mine, theirs, mine].map((view) => view.get(OWNERS, ['h']))),
    );
    expect(read).toEqual([['outer h'], ['inner h'], ['outer h']]);
  });
});

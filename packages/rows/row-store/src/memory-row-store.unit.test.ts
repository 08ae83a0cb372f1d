import { expect, test } from 'vitest';
import { describeRowStore } from './contract.ts';
import { openMemoryRowStore, type Memory } from './memory-row-store.ts';
import { cursor, TABLES, thing } from './contract/fixtures.ts';
import { damageMemory } from './contract/damage-memory.ts';

describeRowStore('in memory', () => {
  const memory: Memory = { generations: new Map(), pointers: new Map() };
  return {
    open: () => openMemoryRowStore(memory),
    another: () => openMemoryRowStore(memory),
    damage: (damage) => damageMemory(memory, damage),
    cleanUp: () => undefined,
  };
});

test('rows in memory take as many bytes as they have, in all generations', async () => {
  const store = openMemoryRowStore();
  expect(await store.bytes()).toBe(0);
  const sizes: number[] = [];
  for (const name of ['g', 'next']) {
    const rows = await store.generation(name, TABLES);
    const changes = [thing('h', 1, 'a', 1)];
    await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
    sizes.push(await store.bytes());
  }
  const [one = 0, both] = sizes;
  expect(one).toBeGreaterThan('h/1/a/1'.length);
  expect(both).toBe(2 * one);
});

test('rows in memory name their partitions in order, whichever was written first', async () => {
  const rows = await openMemoryRowStore().generation('g', TABLES);
  for (const partition of [2, 10, 1, 3])
    await rows.commit({ partition, expected: null, cursor: cursor(1), changes: [] });
  expect(await rows.read((view) => view.partitions())).toEqual([1, 2, 3, 10]);
});

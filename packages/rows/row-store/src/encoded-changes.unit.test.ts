import { expect, it } from 'vitest';
import { put, HASHES, OWNERS, PACKED, TABLES, THINGS } from './contract/fixtures.ts';
import { changesOf, encodeChanges } from './encoded-changes.ts';
import { defineTable } from './table.ts';

const PARTITIONS = defineTable({
  name: 'partitions',
  about: '',
  key: [
    ['partition', 'uint'],
    ['name', 'text'],
  ],
  value: [['n', 'uint']],
});
const tables = [...TABLES, PARTITIONS];

it('changes that were encoded come back as they were, removals too, in their order', () => {
  const values = ['ü\u0000😀', 2 ** 53 - 1, 2n ** 63n, Uint8Array.of(0, 255), false, { b: [1, null, 1.5] }];
  const changes = [
    put(THINGS, ['h', 0, 'a', 1], ...values),
    { table: THINGS, key: ['h', 0, 'a', 2], value: null },
    put(PACKED, ['h', 1, 'é'.repeat(300), 2 ** 40], ...values),
    put(PACKED, ['other', 1, '', 0], ...values),
    put(OWNERS, ['x'.repeat(500)], 'y'.repeat(100_000)),
    put(OWNERS, ['h'], 'name'),
    put(HASHES, ['h', Uint8Array.of(0, 0xff, 1)], 7),
    put(PARTITIONS, [12, 'p'], 3),
    put(THINGS, ['h', 0, 'a', 1], ...values),
  ];
  const [first, second] = [
    encodeChanges(tables, changes.slice(0, 4)),
    encodeChanges(tables, changes.slice(4)),
  ];
  expect(changesOf(tables, { changes: [], encoded: [first, second] })).toEqual(changes);
  expect(changesOf(tables, { changes, encoded: [encodeChanges(tables, [])] })).toEqual(changes);
});

it('changes of one owner stand together, each table after the other', () => {
  const of = (owner: string, n: number) => put(THINGS, [owner, 0, 'a', n], `${n}`);
  const changes = [of('h', 1), put(OWNERS, ['h'], 'x'), of('i', 2), of('h', 3), put(OWNERS, ['i'], 'y')];
  const encoded = [encodeChanges(TABLES, changes)];
  expect(changesOf(TABLES, { changes: [], encoded }).map(({ table, key }) => [table.name, ...key])).toEqual([
    ['things', 'h', 0, 'a', 1],
    ['things', 'h', 0, 'a', 3],
    ['things', 'i', 0, 'a', 2],
    ['owners', 'h'],
    ['owners', 'i'],
  ]);
});

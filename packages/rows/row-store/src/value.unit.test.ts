import { pack } from '@stemma/canonical';
import { expect, test } from 'vitest';
import { THINGS } from './contract/fixtures.ts';
import { defineTable } from './table.ts';
import { packValue, unpackValue } from './value.ts';

test.each<[string, Parameters<typeof packValue>[1][]]>([
  ['no cells', [[], [null], [null, null, null]]],
  ['one cell', [['x'], ['x', null], ['x', null, null]]],
])('a value of %s has the same bytes however many nulls are written behind it', (_what, values) => {
  const [first, ...others] = values.map((value) => packValue(THINGS, value).toString('hex'));
  expect(new Set(others)).toEqual(new Set([first]));
});

test('a wide cell comes back as a bigint in whatever column it stands', () => {
  const wide = (name: string): readonly [string, 'wide'] => [name, 'wide'];
  const table = defineTable({ name: 'wide', about: '', key: [], value: [wide('a'), wide('b')] });
  expect(unpackValue(table, packValue(table, [5n, 6n]))).toEqual([5n, 6n]);
});

test('texts and bytes of any length are canonical msgpack', () => {
  const table = defineTable({
    name: 'texts',
    about: '',
    key: [],
    value: [
      ['text', 'text'],
      ['bytes', 'bytes'],
    ],
  });
  for (const length of [0, 1, 31, 32, 33, 128, 129, 255, 256, 300, 65_536])
    for (const letter of ['a', 'é']) {
      const value = [letter.repeat(length), new Uint8Array(length).fill(length % 251)] as const;
      expect(packValue(table, value).equals(pack(value))).toBe(true);
    }
});

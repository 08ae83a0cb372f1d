import { expect, test } from 'vitest';
import { HASHES, THINGS } from './contract/fixtures.ts';
import { encodeKey } from './key.ts';
import type { KeyCell, Table } from './table.ts';

test.each<[string, Table, number, unknown]>([
  ['a negative number', THINGS, 1, -1],
  ['a fraction', THINGS, 1, 1.5],
  ['a number that is not exact', THINGS, 1, 2 ** 53],
  ['a text where a number belongs', THINGS, 1, '1'],
  ['a number where a text belongs', THINGS, 2, 1],
  ['a text where bytes belong', HASHES, 1, 'x'],
])('a key with %s is refused', (_what, table, column, cell) => {
  const key: unknown[] = table === THINGS ? ['h', 0, 'a', 0] : ['h', Uint8Array.of(1)];
  encodeKey(table, key as KeyCell[]);
  expect(() => encodeKey(table, key.with(column, cell) as KeyCell[])).toThrow(
    expect.objectContaining({ code: 'E_INTERNAL' }),
  );
});

import { expect, it } from 'vitest';
import { bytesOf } from './bytes-of.ts';

it('the bytes of a value grow with its texts and arrays of bytes, at any depth', () => {
  const small = bytesOf({ a: [{ text: '' }, new Uint8Array(0), 1, null, undefined, true] });
  const large = bytesOf({ a: [{ text: 'x'.repeat(1_000) }, new Uint8Array(500), 1, null, undefined, true] });
  expect(large - small).toBe(1_500);
});

it('an object counts though it is empty', () => {
  expect(bytesOf({})).toBeGreaterThan(0);
  expect(bytesOf([{}, {}])).toBeGreaterThan(bytesOf([{}]));
});

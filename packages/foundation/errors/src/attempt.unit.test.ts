import { expect, it } from 'vitest';
import { attempt } from './index.ts';

const failing = (): never => {
  throw new Error('no');
};

it('attempt calls the function once, immediately, and returns its value at every later call', () => {
  let calls = 0;
  const result = attempt(() => ++calls);
  expect([calls, result(), result()]).toEqual([1, 1, 1]);
});

it('attempt throws what the function threw only when the value is asked for', () => {
  const result = attempt(failing);
  expect(result).toThrow('no');
});

it('attempt throws immediately if the caller says that the error must not wait', () => {
  expect(() => attempt(failing, () => true)).toThrow('no');
});

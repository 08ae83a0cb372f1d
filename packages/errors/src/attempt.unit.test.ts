import { expect, it } from 'vitest';
import { attempt } from './index.ts';

const failing = (): never => {
  throw new Error('no');
};

it('calls the function once, at once, and returns its value as often as it is asked for', () => {
  let calls = 0;
  const result = attempt(() => ++calls);
  expect([calls, result(), result()]).toEqual([1, 1, 1]);
});

it('throws what the function threw only when it is asked for', () => {
  const result = attempt(failing);
  expect(result).toThrow('no');
});

it('throws at once what is not to wait', () => {
  expect(() => attempt(failing, () => true)).toThrow('no');
});

import { expect, it } from 'vitest';
import { openWaitingEntries } from '../../src/proxy/waiting-entries.ts';

it('entries that wait come out in their order, however many were added between', () => {
  const waiting = openWaitingEntries<number>();
  const taken: number[] = [];
  let added = 0;
  for (let round = 0; round < 200; round++) {
    waiting.add(Array.from({ length: 30 }, () => added++));
    for (let i = 0; i < 25; i++) taken.push(waiting.take() as number);
  }
  for (let next = waiting.take(); next !== undefined; next = waiting.take()) taken.push(next);
  expect(taken).toEqual(Array.from({ length: 6_000 }, (_, i) => i));
  expect(waiting.take()).toBeUndefined();
  waiting.add([1, 2]);
  waiting.clear();
  expect(waiting.take()).toBeUndefined();
});

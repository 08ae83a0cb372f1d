import { expect, test } from 'vitest';
import { openFairQueue } from '../src/questions-apart/fair-queue.ts';

test('next is the question of the client that has used least time, whoever asked first', () => {
  const queue = openFairQueue<string>(10);
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item);
  expect(queue.next()?.item).toBe('a1');
  queue.spend('a', 1_000);
  queue.add('b', 'b1');
  expect(queue.next()?.item).toBe('b1');
  queue.spend('b', 10);
  queue.add('b', 'b2');
  expect(queue.next()?.item).toBe('b2');
  expect([queue.next()?.item, queue.next()?.item, queue.next()]).toEqual(['a2', 'a3', undefined]);
});

test('who comes anew gains nothing over one who was served long ago', () => {
  const queue = openFairQueue<string>(10);
  queue.add('a', 'a1');
  queue.next();
  queue.spend('a', 1_000);
  queue.add('a', 'a2');
  expect(queue.next()?.item).toBe('a2');
  queue.add('a', 'a3');
  queue.add('new', 'n1');
  queue.spend('new', 0);
  expect(queue.next()?.item).toBe('a3');
});

test('a full queue drops the newest question of the client that waits for most, and of equals the one that came last', () => {
  const queue = openFairQueue<string>(3);
  for (const item of ['a1', 'a2']) expect(queue.add('a', item)).toBeUndefined();
  expect(queue.add('b', 'b1')).toBeUndefined();
  expect(queue.add('c', 'c1')).toBe('a2');
  expect(queue.add('d', 'd1')).toBe('d1');
  expect(queue.size()).toBe(3);
});

test('what waits no longer is not given', () => {
  const queue = openFairQueue<string>(3);
  queue.add('a', 'a1');
  expect([queue.remove('a1'), queue.remove('a1'), queue.next()]).toEqual([true, false, undefined]);
});

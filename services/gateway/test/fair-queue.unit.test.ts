import { expect, test } from 'vitest';
import { openFairQueue, type Share } from '../src/questions-apart/fair-queue.ts';

const by = (program: string, connection = program): Share => ({ program, connection });

test('the queue gives the request of the client that has used the least time, whichever came first', () => {
  const queue = openFairQueue<string>(10);
  for (const item of ['a1', 'a2', 'a3']) queue.add(by('a'), item);
  expect(queue.next()?.item).toBe('a1');
  queue.spend(by('a'), 1_000);
  queue.add(by('b'), 'b1');
  expect(queue.next()?.item).toBe('b1');
  queue.spend(by('b'), 10);
  queue.add(by('b'), 'b2');
  expect(queue.next()?.item).toBe('b2');
  expect([queue.next()?.item, queue.next()?.item, queue.next()]).toEqual(['a2', 'a3', undefined]);
});

test('a new client gets no advantage over a client that was served long ago', () => {
  const queue = openFairQueue<string>(10);
  queue.add(by('a'), 'a1');
  queue.next();
  queue.spend(by('a'), 1_000);
  queue.add(by('a'), 'a2');
  expect(queue.next()?.item).toBe('a2');
  queue.add(by('a'), 'a3');
  queue.add(by('new'), 'n1');
  queue.spend(by('new'), 0);
  expect(queue.next()?.item).toBe('a3');
});

test('a full queue drops the newest request of the client with most waiting requests, and among equal clients the request that came last', () => {
  const queue = openFairQueue<string>(3);
  for (const item of ['a1', 'a2']) expect(queue.add(by('a'), item)).toBeUndefined();
  expect(queue.add(by('b'), 'b1')).toBeUndefined();
  expect(queue.add(by('c'), 'c1')).toBe('a2');
  expect(queue.add(by('d'), 'd1')).toBe('d1');
  expect(queue.size()).toBe(3);
});

test('a request that was cancelled while waiting is not given', () => {
  const queue = openFairQueue<string>(3);
  queue.add(by('a'), 'a1');
  expect([queue.remove('a1'), queue.remove('a1'), queue.next()]).toEqual([true, false, undefined]);
});

test('a program with many connections has one share: its flood drops only its own requests, and another program is served next', () => {
  const queue = openFairQueue<string>(50);
  for (let i = 0; i < 500; i++) queue.add(by('many', `many ${i}`), `m${i}`);
  expect(queue.next()?.item).toBe('m0');
  queue.spend(by('many', 'many 0'), 1_000);
  queue.add(by('many', 'many 0'), 'again');
  expect(queue.add(by('polite'), 'p1')).toMatch(/^(m|again)/);
  expect(queue.next((program) => program !== 'many')?.item).toBe('p1');
  expect(queue.next((program) => program === 'nobody')).toBeUndefined();
  queue.add(by('polite'), 'p2');
  expect(queue.next()?.item).toBe('p2');
  expect(queue.next()?.item).toBe('m1');
});

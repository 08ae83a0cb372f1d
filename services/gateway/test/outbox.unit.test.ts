import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openOutbox } from '../src/apart/outbox.ts';

const record = () => {
  const posted: { readonly messages: readonly string[]; readonly moved: number }[] = [];
  const outbox = openOutbox<string>((messages, moved) => posted.push({ messages, moved: moved.length }));
  return { posted, outbox };
};

test('messages of one turn are sent together and in their order, those of the next apart', async () => {
  const { posted, outbox } = record();
  outbox.put('a');
  await Promise.resolve();
  outbox.put('b');
  expect(posted).toEqual([]);
  await setImmediate();
  outbox.put('c');
  await setImmediate();
  expect(posted.map(({ messages }) => messages)).toEqual([['a', 'b'], ['c']]);
});

test('memory that two messages share is moved once', async () => {
  const { posted, outbox } = record();
  const memory = new ArrayBuffer(8);
  outbox.put('a', [memory]);
  outbox.put('b', [memory]);
  outbox.flush();
  expect(posted).toEqual([{ messages: ['a', 'b'], moved: 1 }]);
});

test('who flushes before the end of the turn sends everything once', async () => {
  const { posted, outbox } = record();
  outbox.put('a');
  outbox.flush();
  outbox.flush();
  await setImmediate();
  expect(posted.map(({ messages }) => messages)).toEqual([['a']]);
});

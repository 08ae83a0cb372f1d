import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { anySignal } from './any-signal.ts';

/** Collects all garbage, twice, as who holds weakly is told of it in a later turn. */
const collect = async (): Promise<void> => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let i = 0; i < 2; i++) {
    gc();
    await delay(1);
  }
};

it('a signal that follows others knows that one of them aborted, when that is collected before anybody looks', async () => {
  const follow = (): AbortSignal => {
    const controller = new AbortController();
    const followed = anySignal([new AbortController().signal, controller.signal]);
    setImmediate(() => controller.abort());
    return followed;
  };
  const followed = follow();
  await delay(5);
  await collect();
  expect(followed.aborted).toBe(true);
});

it('aborts at once for whoever listens, and when it is made of one that has aborted', () => {
  const controller = new AbortController();
  const followed = anySignal([controller.signal]);
  let heard = 0;
  followed.addEventListener('abort', () => heard++);
  controller.abort();
  expect(heard).toBe(1);
  expect(anySignal([controller.signal]).aborted).toBe(true);
});

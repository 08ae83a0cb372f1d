import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ExchangeNotes, type CallNotes } from '../../src/proxy/exchange-notes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const notesWith = (started: CallNotes['started']): ExchangeNotes =>
  new ExchangeNotes(
    { headers: {} },
    {
      ...{ method: 'POST', path: '/v1/chat/completions', api: 'openai.chat' },
      route: {
        place: null,
        run: null,
        upstream: new URL('http://127.0.0.1:1'),
        target: '/v1/chat/completions',
      },
    },
    { started, given: () => undefined, ended: () => Promise.resolve(), steer: undefined },
  );

test('a client is given something when the beginning of its call is noted', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const notes = notesWith(() => promise);
  notes.noteStart();
  const act = vi.fn();
  notes.whenBegun(act);
  await vi.advanceTimersByTimeAsync(10);
  expect(act).not.toHaveBeenCalled();
  resolve(undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(act).toHaveBeenCalledOnce();
  notes.whenBegun(act);
  expect(act).toHaveBeenCalledTimes(2);
});

test.each([
  ['a disk that takes too long', () => new Promise(() => undefined)],
  ['one that cannot be written', () => Promise.reject(new Error('EIO'))],
])('no client waits for %s', async (_what, started) => {
  const notes = notesWith(started);
  notes.noteStart();
  const act = vi.fn();
  notes.whenBegun(act);
  await vi.advanceTimersByTimeAsync(50);
  expect(act).toHaveBeenCalledOnce();
});

test('who notes nothing waits for nothing', () => {
  const notes = notesWith(() => undefined);
  notes.noteStart();
  const act = vi.fn();
  notes.whenBegun(act);
  expect(act).toHaveBeenCalledOnce();
});

import { createClient, type StreamedEvent } from '@stemma/api';
import { expect, test } from 'vitest';
import { concerns } from '../src/page/live.ts';
import { createQueries, type Query } from '../src/asking/queries.ts';

const client = createClient(() => Promise.reject(new TypeError('no network')), '');

const settled = async <T>(read: () => Query<T>): Promise<Query<T>> => {
  await expect.poll(() => read().state).not.toBe('pending');
  return read();
};

test('an answer is fetched once, and again when it has expired; the old one is shown until the new one arrives', async () => {
  const queries = createQueries(client);
  let asked = 0;
  const read = (): Query<number> => queries.read('now/a', () => Promise.resolve(++asked));
  expect(read()).toEqual({ state: 'pending' });
  expect(await settled(read)).toEqual({ state: 'done', value: 1, stale: false });
  expect(read()).toEqual({ state: 'done', value: 1, stale: false });
  queries.expire((key) => key === 'now/a');
  expect(read()).toEqual({ state: 'done', value: 1, stale: true });
  await expect.poll(read).toEqual({ state: 'done', value: 2, stale: false });
  expect(asked).toBe(2);
});

test('an answer that expires while it is requested is requested again', async () => {
  const queries = createQueries(client);
  const answers: ((value: number) => void)[] = [];
  const read = (): Query<number> =>
    queries.read('now/a', () => new Promise<number>((resolve) => answers.push(resolve)));
  read();
  queries.expire(() => true);
  answers[0]?.(1);
  await expect.poll(() => (read(), answers.length)).toBe(2);
  answers[1]?.(2);
  await expect.poll(read).toEqual({ state: 'done', value: 2, stale: false });
});

test('of a group one answer at a time is on its way, and what nobody reads any more is never asked for', async () => {
  const queries = createQueries(client);
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const read = (key: string): Query<string> =>
    queries.read(
      key,
      () =>
        new Promise<string>((resolve) => {
          asked.push(key);
          answers.push(() => resolve(key));
        }),
      'pages',
    );
  for (const key of ['one', 'two', 'three']) expect(read(key)).toEqual({ state: 'pending' });
  expect(asked).toEqual(['one']);
  answers[0]?.();
  // Two went out of view while one was on its way.
  await expect.poll(() => (read('three'), asked)).toEqual(['one', 'three']);
  answers[1]?.();
  await expect.poll(() => read('three')).toEqual({ state: 'done', value: 'three', stale: false });
  expect(read('one')).toEqual({ state: 'done', value: 'one', stale: false });
  expect(asked).toEqual(['one', 'three']);
});

test('a failure is a coded error', async () => {
  const queries = createQueries(client);
  expect(await settled(() => queries.read('now/a', (one) => one.healthLive({})))).toMatchObject({
    state: 'failed',
    error: { code: 'E_IO' },
  });
});

test('an event concerns the lists and its own history, by id or by name, but no snapshot', () => {
  const event = { history: 'haaaaaaaaaaaaaaaaaaaa', type: 'NodeInserted' } as StreamedEvent;
  const concerned = (key: string): boolean => concerns(event, key);
  expect(
    [
      'now/list/1',
      'now/h/haaaaaaaaaaaaaaaaaaaa/head',
      'now/h/haaaaaaaaaaaaaaaaaaaa:7/head',
      'now/h/haaaa/head',
      'now/h/my-name/head',
    ].filter((key) => !concerned(key)),
  ).toEqual([]);
  expect(
    ['now/h/hbbbbbbbbbbbbbbbbbbbb/head', 'old/h/haaaaaaaaaaaaaaaaaaaa/@c3/tree'].filter(concerned),
  ).toEqual([]);
  expect(concerns({ ...event, type: 'PositionNamed' }, 'old/h/haaaaaaaaaaaaaaaaaaaa/snapshots/0')).toBe(true);
});

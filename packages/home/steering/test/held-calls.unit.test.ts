import { mayChangeSteering } from '@stemma/steering';
import { afterEach, expect, it, vi } from 'vitest';
import { openHeldCalls } from '../src/held-calls.ts';
import { nowAndThen } from '../src/now-and-then.ts';

afterEach(() => void vi.useRealTimers());

it('of all calls that ended processes left, the rows are asked once which were held; those are released as lost', async () => {
  const held = { history: 'h', branchId: 0, attemptId: 'call 7', until: 0 };
  let [caughtUp, reads] = [0, 0];
  const submitted: unknown[] = [];
  const home = {
    catchUp: async () => {
      // The database is away at first.
      if (caughtUp++ === 0) throw new Error('away');
    },
    submit: async (command: unknown) => void submitted.push(command),
  };
  const projection = {
    read: async () => {
      reads++;
      return [held];
    },
  };
  const calls = openHeldCalls(home as never, projection as never);
  await expect(calls.lose('call 0')).rejects.toThrow('away');
  await Promise.all(Array.from({ length: 2_000 }, (_, i) => calls.lose(`call ${i}`)));
  expect([caughtUp, reads]).toEqual([2, 1]);
  expect(submitted).toEqual([
    expect.objectContaining({
      history: 'h',
      steps: [{ op: 'release_call', attemptId: 'call 7', how: 'lost', message: null }],
    }),
  ]);
  calls.close();
});

it(
  'a call whose log is away goes on three seconds after its time, and one whose client is gone at once',
  { tags: ['calls§5.8'] },
  async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const away = () => Promise.reject(new Error('away'));
    const calls = openHeldCalls({ catchUp: away, submit: away } as never, { read: away } as never);
    const named = (attemptId: string) => ({
      history: 'h',
      branchId: 0,
      attemptId,
      until: Date.now() + 1_000,
    });
    const ended: string[] = [];
    const gone = new AbortController();
    for (const [id, signal] of [
      ['stays', new AbortController().signal],
      ['leaves', gone.signal],
    ] as const)
      void calls.wait(named(id), signal).then(({ how }) => ended.push(`${id}: ${how}`));
    await vi.advanceTimersByTimeAsync(3_900);
    expect(ended).toEqual([]);
    gone.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toEqual(['leaves: cancelled']);
    await vi.advanceTimersByTimeAsync(300);
    expect(ended).toEqual(['leaves: cancelled', 'stays: timed out']);
    // Nothing waits, so nobody looks.
    expect(vi.getTimerCount()).toBe(0);
  },
);

it('a process that ends lets the calls go that it holds, and looks for nothing any more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const read = vi.fn(async () => undefined);
  const calls = openHeldCalls({ catchUp: async () => undefined } as never, { read } as never);
  const named = { history: 'h', branchId: 0, attemptId: 'a', until: Date.now() + 60_000 };
  const waits = calls.wait(named, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(250);
  expect(read).toHaveBeenCalledTimes(2);
  calls.close();
  expect(await waits).toEqual({ how: 'cancelled', message: null });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(read).toHaveBeenCalledTimes(2);
});

it('rows are looked through for other processes at first and once a minute, and never in a database', () => {
  let now = 0;
  const isTime = nowAndThen({}, () => now);
  const found: number[] = [];
  for (; now <= 180_000; now += 1_000) if (isTime()) found.push(now);
  expect(found).toEqual([0, 60_000, 120_000, 180_000]);
  expect(nowAndThen({ isRemote: true })()).toBe(false);
});

it.each([
  [[{ op: 'config', set: { steer: true } }], true],
  [[{ op: 'config', set: { 'breakpoint.b1': null } }], true],
  [[{ op: 'config', set: { another: true } }], false],
  [[{ op: 'inject', text: 'x' }], false],
  [[{ op: 'commit' }, { op: 'fork' }], true],
  [[{ op: 'rollback' }], true],
])('a gateway asks the log anew after steps %j: %s', { tags: ['calls§5.6'] }, (steps, may) => {
  expect(mayChangeSteering({ steps: steps as never })).toBe(may);
});

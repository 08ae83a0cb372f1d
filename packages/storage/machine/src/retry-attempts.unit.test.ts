import { expect, test } from 'vitest';
import { retryAttempts, type FailedAttempt, type RetryPolicy } from './retry-attempts.ts';

/** Fails so many times; says which failures were told, and the part of each bound that was asked for. */
const failing = (times: number) => {
  const told: FailedAttempt[] = [];
  const pauses: number[] = [];
  let attempts = 0;
  return {
    told,
    pauses,
    attempt: async () => {
      if (++attempts <= times) throw new Error(`failure ${attempts}`);
      return attempts;
    },
    policy: {
      pauses: { first: 1, longest: 4, random: () => pauses.push(told.length) * 0 },
      onFailure: (failure) => void told.push(failure),
    } satisfies RetryPolicy,
  };
};

test('the first attempt that does not fail counts, after one pause for each that did', async () => {
  const { attempt, policy, told, pauses } = failing(3);
  expect(await retryAttempts(attempt, policy)).toBe(4);
  expect(told.map(({ failed, isLate }) => [failed, isLate])).toEqual([
    [1, false],
    [2, false],
    [3, false],
  ]);
  expect(pauses).toEqual([1, 2, 3]);
});

test('the attempts that may follow at once have no pause before them', async () => {
  const { attempt, policy, pauses } = failing(3);
  await retryAttempts(attempt, { ...policy, atOnce: 2 });
  expect(pauses).toEqual([3]);
});

test('what is thrown when a failure is told ends the attempts', async () => {
  const { attempt, policy } = failing(9);
  const onFailure = ({ error, failed }: FailedAttempt): void => {
    if (failed === 2) throw new Error(`given up: ${(error as Error).message}`);
  };
  await expect(retryAttempts(attempt, { ...policy, onFailure })).rejects.toThrow('given up: failure 2');
});

test('a failure after the deadline is late', async () => {
  const { attempt, policy, told } = failing(1);
  await retryAttempts(attempt, { ...policy, deadline: 0 });
  expect(told.map(({ isLate }) => isLate)).toEqual([true]);
});

test('the signal ends a pause, and the attempts', async () => {
  const { attempt, policy, told } = failing(9);
  const stop = new AbortController();
  const done = retryAttempts(attempt, {
    ...policy,
    pauses: { first: 1e9, longest: 1e9 },
    signal: stop.signal,
    onFailure: (failure) => {
      told.push(failure);
      queueMicrotask(() => stop.abort());
    },
  });
  await expect(done).rejects.toMatchObject({ name: 'AbortError' });
  expect(told).toHaveLength(1);
});

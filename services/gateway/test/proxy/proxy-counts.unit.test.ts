import { expect, test } from 'vitest';
import { CallCounter } from '../../src/proxy/proxy-counts.ts';

test('a call counts once on its branch, whether its beginning was recorded alone or with its end', () => {
  const counter = new CallCounter(
    () => undefined,
    () => undefined,
  );
  const branch = { history: 'h', branchId: 0 };
  counter.addRecorded({ kind: 'started', id: 'a' }, { branch });
  counter.addRecorded({ kind: 'ended', id: 'a' }, { branch, status: 'answered' });
  counter.addRecorded({ kind: 'ended', id: 'b' }, { branch, status: 'failed' });
  expect(counter.counts()).toMatchObject({ failed: 1, branches: [{ ...branch, calls: 2 }] });
});

test('a call that two processes had recorded, one after the other, counts once', () => {
  const outcomes: string[] = [];
  const counter = new CallCounter(
    (what) => outcomes.push(what),
    () => undefined,
  );
  const branch = { history: 'h', branchId: 0 };
  for (let i = 0; i < 2; i++)
    counter.addRecorded({ kind: 'ended', id: 'a' }, { branch, status: 'cancelled' });
  expect(outcomes).toEqual(['recorded']);
  expect(counter.counts()).toMatchObject({ cancelled: 1, branches: [{ ...branch, calls: 1 }] });
});

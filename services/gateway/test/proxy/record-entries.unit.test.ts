import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { expect, test } from 'vitest';
import { encodeEntry } from '../../src/proxy/entry.ts';
import { openEntryRecorder } from '../../src/proxy/record-entries.ts';

const ref = {
  bytes: Buffer.concat(
    encodeEntry(
      {
        ...{ kind: 'started', id: 'c', place: null, method: 'POST', path: '/v1/chat/completions' },
        ...{ coding: null, whole: true },
      },
      [Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hi"}]}')],
    ),
  ),
};
const branch = { history: 'h', branchId: 0, branch: 'h' };

test('a call is tried again while the log is away, and said; a recorder that closes gives no answer for it [calls §4.5]', async () => {
  const said: string[] = [];
  let isAway = true;
  let tried = 0;
  const home = {
    recordRequest: () => {
      tried++;
      return isAway
        ? Promise.reject(fail('E_IO', 'the log is away'))
        : Promise.resolve({ branch, match: 'started' });
    },
  } as unknown as Home;
  const first = openEntryRecorder(home, (sentence) => void said.push(sentence));
  const recorded = first.record(ref);
  await expect.poll(() => tried).toBeGreaterThan(1);
  isAway = false;
  expect(await recorded).toEqual({ branch: { history: 'h', branchId: 0 } });
  expect(said).toEqual([expect.stringContaining('the log is away'), 'reconnected']);
  isAway = true;
  tried = 0;
  const second = openEntryRecorder(home, () => undefined);
  const waiting = second.record(ref);
  await expect.poll(() => tried).toBeGreaterThan(0);
  second.close();
  expect(await waiting).toBe(undefined);
});

import { parseCommand } from '@stemma/history';
import type { Projection } from '@stemma/projector';
import { expect, test } from 'vitest';
import { openKeyCheck } from '../src/key-check.ts';

test('the files of keys are looked at once for a history that began without a key', async () => {
  let looks = 0;
  const none = (): undefined => {
    looks++;
  };
  const keys = { create: none, destroy: none, erasureOf: none, seals: () => (looks++, false) };
  const payloads = { events: async () => [{ type: 'HistoryStarted' }] };
  const check = openKeyCheck(keys, { payloads, catchUp: async () => undefined } as unknown as Projection);
  const command = (step: object) =>
    parseCommand({ id: 'c', history: 'h', branchId: 0, by: { recorder: 'r' }, steps: [step] });
  const commit = command({ op: 'commit' });
  await check(commit);
  const first = looks;
  expect(first).toBeGreaterThan(0);
  for (let i = 0; i < 5; i++) await check(commit);
  expect(looks).toBe(first);
  const restart = command({ op: 'start', name: 'n', erasable: { subject: 's' } });
  await expect(check(restart)).rejects.toMatchObject({ code: 'E_HISTORY_EXISTS' });
});

test('to start a history that is not erasable reads no rows: it is refused if there is one already', async () => {
  const keys = { create: () => {}, destroy: () => {}, erasureOf: () => undefined, seals: () => false };
  let reads = 0;
  const payloads = { events: async () => (reads++, [{ type: 'HistoryStarted' }]) };
  const check = openKeyCheck(keys, { payloads, catchUp: async () => undefined } as unknown as Projection);
  const command = (step: object) =>
    parseCommand({ id: 'c', history: 'h', branchId: 0, by: { recorder: 'r' }, steps: [step] });
  await check(command({ op: 'start', name: 'n' }));
  expect(reads).toBe(0);
  await check(command({ op: 'commit' }));
  expect(reads).toBe(1);
});

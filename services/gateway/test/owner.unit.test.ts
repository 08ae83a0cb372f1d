import { historyId } from '@stemma/history';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { historyOfCommand, ownerAmong } from '../src/peers/owner.ts';

const id = historyId('talk', '');

test('a history has one owner, however a command names it', () => {
  for (const name of ['talk', id, `${id}:0`, 'talk:side', encodeURIComponent(`${id}:12`)])
    for (const what of ['commands', 'calls', 'load'])
      expect(historyOfCommand('POST', `/api/histories/${name}/${what}`), name).toBe(id);
});

test('questions, starts and addresses that cannot be read have no owner', () => {
  expect(historyOfCommand('GET', `/api/histories/${id}/calls`)).toBe(undefined);
  expect(historyOfCommand('POST', '/api/histories')).toBe(undefined);
  expect(historyOfCommand('POST', '/api/histories/%ff/commands')).toBe(undefined);
  expect(historyOfCommand('POST', `/api/histories/${id}/commands/more`)).toBe(undefined);
});

test('all who know the same gateways agree on the owner, and one that goes gives away only its own histories', () => {
  const members = fc
    .uniqueArray(fc.uuid(), { minLength: 2, maxLength: 6 })
    .map((ids) => ids.map((each) => ({ id: each, url: `http://127.0.0.1/${each}` })));
  fc.assert(
    fc.property(members, fc.string(), (all, history) => {
      const owner = ownerAmong(all, history);
      expect(ownerAmong(all.toReversed(), history)).toBe(owner);
      for (const gone of all) {
        const rest = all.filter((each) => each !== gone);
        if (gone !== owner) expect(ownerAmong(rest, history)).toBe(owner);
      }
    }),
  );
});

test('histories are spread over the gateways', () => {
  const members = ['a', 'b', 'c'].map((each) => ({ id: each, url: each }));
  const counts = new Map<string, number>();
  for (let i = 0; i < 3_000; i++) {
    const owner = ownerAmong(members, historyId(`h${i}`, ''))?.id ?? '';
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  for (const { id: each } of members) expect(counts.get(each)).toBeGreaterThan(800);
});

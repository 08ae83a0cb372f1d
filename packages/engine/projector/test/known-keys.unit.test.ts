import type { HistoryState } from '@stemma/history';
import type { Fold } from '@stemma/history-store';
import { defineTable } from '@stemma/row-store';
import { expect, test } from 'vitest';
import { addKnownKey, knownKeys, type KnownKeys } from '../src/counts/known-keys.ts';

const TABLE = defineTable({ name: 'of_histories', about: '', key: [['history', 'text']], value: [] });
const fold = (name: string): Fold => ({ name, version: 1, tables: [TABLE], fold: () => undefined });
const [audit, diffs] = [fold('audit'), fold('diffs')];
const stateOfHistory = () => ({}) as HistoryState;

test('a key is new once', () => {
  const keys = knownKeys(stateOfHistory(), 0, [audit]) as KnownKeys;
  expect([
    addKnownKey(keys, TABLE, ['h']),
    addKnownKey(keys, TABLE, ['h']),
    addKnownKey(keys, TABLE, ['i']),
  ]).toEqual([true, false, true]);
});

test('the keys of a history are known as long as its state has every frame, by the same read models', () => {
  const state = stateOfHistory();
  const keys = knownKeys(state, 0, [audit]);
  expect(knownKeys(state, 1, [audit])).toBe(keys);
  expect(knownKeys(state, 2, [audit, diffs])).toBeUndefined();
  expect(knownKeys(state, 3, [audit])).toBeUndefined();
  expect(knownKeys(stateOfHistory(), 4, [audit])).toBeUndefined();
});

test('no more keys are kept than some thousand', () => {
  const state = stateOfHistory();
  const keys = knownKeys(state, 0, [audit]) as KnownKeys;
  for (let i = 0; i <= 4_096; i++) addKnownKey(keys, TABLE, [`h${i}`]);
  expect(knownKeys(state, 1, [audit])).toBeUndefined();
});

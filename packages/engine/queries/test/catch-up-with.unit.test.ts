import { historyId } from '@stemma/history';
import { partitionOf } from '@stemma/log';
import type { Projection } from '@stemma/projector';
import { expect, it } from 'vitest';
import { catchUpWith, catchUpWithNamed } from '../src/catch-up-with.ts';

const PARTITIONS = 1_000;

/** The partitions that somebody waited for; null: for all. */
const waited = async (ask: (projection: Projection) => Promise<void>): Promise<Set<number | null>> => {
  const seen = new Set<number | null>();
  const catchUp = async (partition?: number): Promise<void> => void seen.add(partition ?? null);
  await ask({ partitions: PARTITIONS, catchUp } as unknown as Projection);
  return seen;
};
const partitionsOf = (...histories: readonly string[]) =>
  new Set(histories.map((history) => partitionOf(history, PARTITIONS)));

const ID = historyId('mine', '');

it('a question about a history waits for the rows of its partition only', async () => {
  expect(await waited((rows) => catchUpWith(rows, ID))).toEqual(partitionsOf(ID));
});

it.each([
  ['mine', ['mine', ID]],
  [`${ID}:0`, [ID, historyId(ID, ''), `${ID}:0`, historyId(`${ID}:0`, '')]],
  ['mine:fork', ['mine', ID, 'mine:fork', historyId('mine:fork', '')]],
])(
  'a question by the address %s waits for the partitions of the histories that it can name',
  async (name, histories) => {
    expect(await waited((rows) => catchUpWithNamed(rows, name))).toEqual(partitionsOf(...histories));
  },
);

it.each([ID.slice(0, 6), `${ID.slice(0, 6)}:0`])(
  'a question by the beginning of an id (%s) waits for all partitions',
  async (name) => {
    expect(await waited((rows) => catchUpWithNamed(rows, name))).toEqual(new Set([null]));
  },
);

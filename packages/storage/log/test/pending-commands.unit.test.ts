import { backOff } from '@stemma/errors';
import { expect, test } from 'vitest';
import {
  AHEAD,
  batchLimit,
  paceAfterAccepted,
  paceAfterConflict,
  paceAfterPause,
  retryBackOff,
  type Pace,
} from '../src/writer/pending-commands.ts';

test(
  'after a conflict a writer sends nothing for a while, then one frame of the history at a time until four in a row are accepted',
  { tags: ['record§3:batches'] },
  () => {
    const paces: Pace[] = [AHEAD, paceAfterConflict(), paceAfterPause()];
    for (let accepted = 1; accepted <= 5; accepted++) paces.push(paceAfterAccepted(paces.at(-1) ?? AHEAD));
    expect(paces.map((pace) => batchLimit(pace, 256))).toEqual([256, 0, 1, 1, 1, 1, 256, 256]);
  },
);

test(
  'the pauses between attempts double up to 128 ms, and the writer waits a random part of each',
  { tags: ['record§3:outcome'] },
  () => {
    const pauses = (random: number): readonly number[] =>
      [1, 2, 3, 7, 8, 1000].map((failed) =>
        backOff(
          failed,
          retryBackOff(() => random),
        ),
      );
    expect(pauses(0.5)).toEqual([1, 2, 4, 64, 64, 64]);
    expect(pauses(0)).toEqual([0, 0, 0, 0, 0, 0]);
  },
);

test('without a random source the writer waits the whole pause', () => {
  const pauses = [1, 2, 3, 4, 5].map((failed) => backOff(failed, { first: 100, longest: 1000 }));
  expect(pauses).toEqual([100, 200, 400, 800, 1000]);
});

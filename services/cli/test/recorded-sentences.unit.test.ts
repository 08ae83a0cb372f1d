import { expect, test } from 'vitest';
import { recordedSentences, unrecordedAnswer } from '../src/recorded-sentences.ts';

const NONE = {
  ...{ calls: 0, waitingCalls: 0, withoutAnswer: 0, aborted: 0, gone: 0, dropped: 0, refused: 0 },
  ...{ refusals: [], cancelled: 0, failed: 0, branches: [{}], unrecorded: { kinds: [], others: 0 } },
};
const models = { method: 'GET', path: '/v1/models', calls: 2 };

test('requests that passed unrecorded are counted, by method and path', () => {
  const counts = { ...NONE, calls: 9, unrecorded: { kinds: [models], others: 0 } };
  expect(recordedSentences(counts, 0, ['talk'])).toEqual([
    'recorded 9 of 11: 2 passed unrecorded (GET /v1/models ×2) in talk: stemma calls talk',
  ]);
  expect(unrecordedAnswer(counts)).toEqual({ unrecorded: [models], otherUnrecorded: 0 });
});

test('of many kinds the first ones are named, and the rest is counted', () => {
  const kinds = [1, 2, 3, 4, 5, 6].map((n) => ({ method: 'GET', path: `/${n}`, calls: n }));
  expect(recordedSentences({ ...NONE, unrecorded: { kinds, others: 4 } }, 0, [])).toEqual([
    'recorded 0 of 25: 25 passed unrecorded (GET /1 ×1, GET /2 ×2, GET /3 ×3, GET /4 ×4, GET /5 ×5, 10 others)',
  ]);
});

test('nothing is said to have made no calls of which something passed', () => {
  expect(recordedSentences(NONE, 0, [])).toEqual([
    'no calls were recorded: none came through OPENAI_BASE_URL or ANTHROPIC_BASE_URL',
  ]);
});

test('calls without room, calls that wait, answers that are missing and calls that never went out are no recorded calls', () => {
  const lacking = { ...NONE, calls: 12, waitingCalls: 3, dropped: 2, withoutAnswer: 1, aborted: 1, gone: 1 };
  expect(recordedSentences({ ...lacking, cancelled: 1 }, 4, ['talk'])).toEqual([
    'recorded 5 of 12 calls (1 cancelled, 1 aborted, 1 gone before they went out, 1 without an answer) in talk: stemma calls talk',
    '3 calls wait to be recorded: the next stemma record or up does it',
    '2 calls were not recorded: too many waited',
  ]);
  expect(recordedSentences({ ...NONE, calls: 1 }, 1, ['talk'])[1]).toBe(
    '1 answer waits to be recorded: the next stemma record or up does it',
  );
});

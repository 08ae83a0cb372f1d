import { expect, it } from 'vitest';
import { checkOperations, countAnomalies, NO_ANOMALIES, type Operation } from './checker.ts';

const write = (
  value: string,
  seq: number | undefined,
  outcome: 'ok' | 'no' | 'unknown' = 'ok',
): Operation => ({
  kind: 'write',
  process: 'w',
  history: 'h',
  value,
  outcome,
  ...(seq === undefined ? {} : { seq }),
});
const poll = (from: number, values: readonly string[], process = 'r'): Operation => ({
  kind: 'poll',
  process,
  history: 'h',
  from,
  values,
});

it.each<[string, readonly Operation[], Partial<typeof NO_ANOMALIES>]>([
  ['nothing in an honest log', [write('a', 0), write('b', 1), poll(0, ['a']), poll(1, ['b'])], {}],
  [
    'nothing in a write of unknown outcome that was done',
    [write('a', undefined, 'unknown'), poll(0, ['a'])],
    {},
  ],
  ['nothing in a write of unknown outcome that was not', [write('a', undefined, 'unknown'), poll(0, [])], {}],
  ['a write that nobody sees', [write('a', 0), write('b', 1), poll(0, ['a'])], { lostWrite: 1 }],
  [
    'a write that stands elsewhere than was said',
    [write('a', 1), write('b', 0), poll(0, ['a', 'b'])],
    { lostWrite: 2 },
  ],
  ['a write that was done twice', [write('a', 0), poll(0, ['a', 'a'])], { duplicate: 1 }],
  [
    'a write that is seen although it was refused',
    [write('a', undefined, 'no'), poll(0, ['a'])],
    { abortedRead: 1 },
  ],
  ['a value that nobody wrote', [poll(0, ['x'])], { phantom: 1 }],
  [
    'a reader that jumps',
    [write('a', 0), write('b', 1), poll(1, ['b']), poll(0, ['a'], 's')],
    { skippedPoll: 1 },
  ],
  [
    'two readers that differ',
    [write('a', 0), write('b', undefined, 'unknown'), poll(0, ['a']), poll(0, ['b'], 's')],
    { inconsistentOrder: 1 },
  ],
])('the checker finds %s', (_name, operations, expected) => {
  expect(countAnomalies(checkOperations(operations))).toEqual({ ...NO_ANOMALIES, ...expected });
});

import type { Frame, HistoryEvent } from '@stemma/events';
import { expect, test } from 'vitest';
import { applyFrame } from '../src/apply-frame.ts';
import { openHistory } from '../src/branch.ts';
import { block, codeOf, started } from '@stemma/test-kit';

/** A recorded event as its keys. */
type Loose = Readonly<Record<string, unknown>>;

/** A frame whose events were tampered with in some way. */
const tampered = (change: (events: readonly Loose[]) => readonly (Loose | undefined)[]): string => {
  const { history } = started();
  history.submit(0, [block('a', { ttl: 1 }), block('b', { content: 'b' }), { op: 'commit' }], 1n);
  const state = openHistory('h-reference', 0);
  const [first, second] = history.frames as [Frame, Frame];
  applyFrame(state, first, history.sources);
  const events = change(structuredClone(second.body.events)) as readonly HistoryEvent[];
  return codeOf(() => applyFrame(state, { ...second, body: { ...second.body, events } }, history.sources));
};

test.each<[string, (events: readonly Loose[]) => readonly (Loose | undefined)[]]>([
  ['an insertion is missing', (events) => events.slice(1)],
  [
    'content differs',
    ([a, b, ...rest]) => [a, { ...b, node: { ...(b?.['node'] as object), content: 'c' } }, ...rest],
  ],
  ['the turn is not sealed', ([a, b, , snapshot]) => [a, b, snapshot]],
  [
    'the tree hash differs by a bit',
    ([a, b, t, s]) => [
      a,
      b,
      t,
      {
        ...s,
        treeHash: Uint8Array.from(s?.['treeHash'] as Uint8Array, (byte, i) => (i === 0 ? byte ^ 1 : byte)),
      },
    ],
  ],
  [
    'the counts differ',
    ([a, b, t, s]) => [a, b, t, { ...s, counts: { ...(s?.['counts'] as object), blocks: 3 } }],
  ],
  ['the cycle is another', ([a, b, t, s]) => [a, b, t, { ...s, cycle: 2 }]],
  ['a node expires that is not there', (events) => [{ type: 'NodeExpired', id: 'x' }, ...events]],
  ['a node stays beyond its time', ([a, ...rest]) => [{ ...a, expires: 0 }, ...rest]],
  ['an id occurs twice', ([a, ...rest]) => [a, a, ...rest]],
  [
    'it begins the history again',
    (events) => [{ type: 'HistoryStarted', name: null, ids: {}, thread: 'full', cycle: 0 }, ...events],
  ],
  ['it has no events', () => []],
])(
  'a frame is defective when %s, and nothing of it is applied',
  { tags: ['record§2:defective'] },
  (_, change) => {
    expect(tampered(change)).toBe('E_HISTORY_DEFECTIVE');
  },
);

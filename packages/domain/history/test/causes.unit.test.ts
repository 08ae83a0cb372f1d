import { exportTree, flattenRecords, flattenTree, type PayloadSource } from '@stemma/context-tree';
import {
  anyOperations,
  naiveDiff,
  type NaiveHistory,
  naiveHistory,
  perform,
  type RandomOperation,
  sized,
  START,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AppliedFrame } from '../src/applied-frame.ts';
import { attributeFrame, type Attributed } from '../src/causes/attribute.ts';
import { nodeChangesOf } from '../src/causes/node-changes.ts';
import type { Step } from '../src/steps/catalogue.ts';
import { payloadIn } from '../src/recorded-node.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(30, 100));

type HistoryContext = { readonly history: NaiveHistory; readonly source: PayloadSource };
type CheckFrame = (frame: AppliedFrame, told: HistoryContext) => void;

const startContext = (see: CheckFrame, first: Step): HistoryContext => {
  const history: NaiveHistory = naiveHistory((frame) => see(frame, context));
  const source: PayloadSource = ({ seq, index }) =>
    payloadIn(history.frames[seq]?.body.events[index] as never);
  const context: HistoryContext = { history, source };
  history.run(0, [first]);
  return context;
};

const line = ({ what, id, field }: Attributed): string =>
  what === 'added' ? `+ ${id}` : what === 'removed' ? `- ${id}` : `~ ${id} ${field ?? ''}`;

/** What a frame made different, and what was attributed: each line once. */
const compare: CheckFrame = (frame, { history, source }) => {
  const { branchId, seq } = frame;
  const after = flattenTree(frame.state.tree);
  const before = seq === 0 ? null : flattenRecords(history.copyAt(branchId, seq - 1));
  const entries = attributeFrame(frame, before, after, source);
  expect(entries.map(line).sort((x, y) => (x < y ? -1 : 1))).toEqual(naiveDiff(before, after, source));
  for (const { index } of entries) expect(frame.events[index]).toBeDefined();
};

const play = (
  operations: readonly RandomOperation[],
  see: CheckFrame,
  first: Step = START,
): HistoryContext => {
  const context = startContext(see, first);
  for (const operation of operations) perform(context.history, operation);
  return context;
};

test(
  'every difference between two consecutive positions has exactly one cause, and nothing else has a cause',
  { tags: ['context-tree§3:one-cause', 'PACT-06§6'], timeout: 600_000 },
  () => {
    fc.assert(
      fc.property(anyOperations(1, 60), (operations) => void play(operations, compare)),
      { numRuns: RUNS },
    );
  },
);

test(
  'the same holds for a history that begins with an export that has an open head and late attachments',
  { tags: ['context-tree§3:one-cause', 'context-tree§10.17'], timeout: 600_000 },
  () => {
    fc.assert(
      fc.property(anyOperations(1, 40), anyOperations(1, 25), (operations, more) => {
        const { history, source } = play(operations, () => undefined);
        const tree = flattenRecords(history.copyAt(0, history.state.next - 1));
        play(more, compare, { op: 'import', name: null, export: exportTree(tree, source) });
      }),
      { numRuns: RUNS / 2 },
    );
  },
);

test(
  'the random histories of this test contain every kind of cause',
  { tags: ['context-tree§3:one-cause'] },
  () => {
    const kinds = new Set<string>();
    const touched = new Set<string>();
    const see: CheckFrame = (frame, { history, source }) => {
      const before = frame.seq === 0 ? null : flattenRecords(history.copyAt(frame.branchId, frame.seq - 1));
      for (const { cause } of nodeChangesOf(frame))
        touched.add(cause.kind === 'mutation' ? cause.op : cause.kind);
      for (const { cause } of attributeFrame(frame, before, flattenTree(frame.state.tree), source))
        kinds.add(cause.kind === 'mutation' ? cause.op : cause.kind === 'cascade' ? cause.why : cause.kind);
    };
    fc.assert(
      fc.property(anyOperations(60, 80), (operations) => void play(operations, see)),
      { numRuns: 40, seed: 7 },
    );
    expect(kinds).toEqual(
      new Set([
        ...['start', 'insert', 'replace', 'move', 'remove', 'priority'],
        ...['expiry', 'contained', 'emptied', 'pruning', 'ageing', 'sealing'],
      ]),
    );
    // These account for no difference, and are touched all the same.
    expect([touched.has('hold'), touched.has('carry')]).toEqual([true, true]);
  },
);

import { exportTree, flattenRecords, flattenTree, type PayloadSource } from '@stemma/context-tree';
import { anyActs, naiveHistory, perform, START, type Act, type NaiveHistory } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AppliedFrame } from '../src/applied-frame.ts';
import { attributeFrame, type Attributed } from '../src/causes/attribute.ts';
import { touchesOf } from '../src/causes/touches.ts';
import type { Step } from '../src/command.ts';
import { payloadIn } from '../src/recorded-node.ts';
import { naiveDiff } from './naive-diff.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? 100);

type Told = { readonly history: NaiveHistory; readonly source: PayloadSource };
type See = (frame: AppliedFrame, told: Told) => void;

const begin = (see: See, first: Step): Told => {
  const history: NaiveHistory = naiveHistory((frame) => see(frame, told));
  const source: PayloadSource = ({ seq, index }) =>
    payloadIn(history.frames[seq]?.body.events[index] as never);
  const told: Told = { history, source };
  history.run(0, [first]);
  return told;
};

const line = ({ what, id, field }: Attributed): string =>
  what === 'added' ? `+ ${id}` : what === 'removed' ? `- ${id}` : `~ ${id} ${field ?? ''}`;

/** What a frame made different, and what was attributed: each line once. */
const compare: See = (frame, { history, source }) => {
  const { lineage, seq } = frame;
  const after = flattenTree(frame.state.tree);
  const before = seq === 0 ? null : flattenRecords(history.copyAt(lineage, seq - 1));
  const entries = attributeFrame(frame, before, after, source);
  expect(entries.map(line).sort((x, y) => (x < y ? -1 : 1))).toEqual(naiveDiff(before, after, source));
  for (const { index } of entries) expect(frame.events[index]).toBeDefined();
};

const play = (acts: readonly Act[], see: See, first: Step = START): Told => {
  const told = begin(see, first);
  for (const act of acts) perform(told.history, act);
  return told;
};

test('every difference of two consecutive positions has exactly one cause, and no cause is claimed for what does not differ [context-tree §3: one cause] [PACT 06 §6]', () => {
  fc.assert(
    fc.property(anyActs(1, 60), (acts) => void play(acts, compare)),
    { numRuns: RUNS },
  );
}, 600_000);

test('the same holds for a history that begins with an export, an open head and late attachments in it [context-tree §3: one cause, §10.17]', () => {
  fc.assert(
    fc.property(anyActs(1, 40), anyActs(1, 25), (acts, more) => {
      const { history, source } = play(acts, () => undefined);
      const tree = flattenRecords(history.copyAt(0, history.state.next - 1));
      play(more, compare, { op: 'import', name: null, export: exportTree(tree, source) });
    }),
    { numRuns: RUNS / 2 },
  );
}, 600_000);

test('random histories have every cause in them, so that the law is not about nothing [context-tree §3: one cause]', () => {
  const kinds = new Set<string>();
  const touched = new Set<string>();
  const see: See = (frame, { history, source }) => {
    const before = frame.seq === 0 ? null : flattenRecords(history.copyAt(frame.lineage, frame.seq - 1));
    for (const { cause } of touchesOf(frame)) touched.add(cause.kind === 'mutation' ? cause.op : cause.kind);
    for (const { cause } of attributeFrame(frame, before, flattenTree(frame.state.tree), source))
      kinds.add(cause.kind === 'mutation' ? cause.op : cause.kind === 'cascade' ? cause.why : cause.kind);
  };
  fc.assert(
    fc.property(anyActs(60, 80), (acts) => void play(acts, see)),
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
});

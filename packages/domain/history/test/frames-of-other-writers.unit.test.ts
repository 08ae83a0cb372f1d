import type { Frame, HistoryEvent } from '@stemma/events';
import { fail } from '@stemma/errors';
import { codeOf, referenceHistory, type ReferenceHistory } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { applyFrame, revertFrame } from '../src/apply-frame.ts';
import { loadBranch, openHistory } from '../src/branch.ts';
import type { Step } from '../src/steps/catalogue.ts';
import { interventionIn } from '../src/intervention.ts';
import type { Sources } from '../src/state.ts';

const ACTOR = { actor: 'ann' };

const block = (id: string, parent = '^ah'): Step => ({ op: 'insert', parent, node: { id, nodeType: 'cb' } });

const started = (): ReferenceHistory => {
  const history = referenceHistory();
  history.submit(0, [{ op: 'start', name: null }], 0n);
  return history;
};

/** The state after all frames but the last, and the last frame. */
const beforeLast = (history: ReferenceHistory, sources: Sources = history.sources) => {
  const state = openHistory('h-reference', 0);
  for (const frame of history.frames.slice(0, -1)) applyFrame(state, frame, history.sources);
  const last = history.frames.at(-1) as Frame;
  const apply = (events: readonly HistoryEvent[] = last.body.events) =>
    applyFrame(state, { ...last, body: { ...last.body, events } }, sources, { keep: true });
  return { state, events: last.body.events, apply };
};

/** The message of the error with which a reader refuses a frame. */
const refusal = (apply: () => unknown): string => {
  expect(codeOf(apply)).toBe('E_HISTORY_DEFECTIVE');
  try {
    apply();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

test(
  'a frame is defective when its intervention does not come first',
  { tags: ['record§2:defective'] },
  () => {
    const history = started();
    history.submit(0, [{ op: 'inject', text: 'think', id: 'x' }], 1n, ACTOR);
    const { events, apply } = beforeLast(history);
    expect(events.map(({ type }) => type)).toEqual(['InterventionRecorded', 'NodeInserted']);
    expect(refusal(() => apply([...events].reverse()))).toContain('InterventionRecorded comes after');
  },
);

test(
  'a frame is defective when it observes a position that is not before it',
  { tags: ['record§2:defective'] },
  () => {
    const history = started();
    history.submit(0, [{ op: 'config', set: { observe: true } }], 1n, ACTOR);
    const seen = { kind: 'opened', what: 'the thread', times: 1, first_at: 1n, last_at: 1n } as const;
    history.submit(
      0,
      [{ op: 'observe', observations: [{ ...seen, at: { branchId: 0, seq: 1 } }] }],
      2n,
      ACTOR,
    );
    const { events, apply } = beforeLast(history);
    const at = (branchId: number, seq: number) => events.map((event) => ({ ...event, branchId, seq }));
    expect(refusal(() => apply(at(0, 2)))).toContain('does not exist yet');
    expect(refusal(() => apply(at(2, 1)))).toContain('does not exist yet');
    expect(apply(at(0, 1)).observed).toBe(true);
  },
);

test(
  'a branch may be named and annotated in the frame that starts it',
  { tags: ['record§2:defective'] },
  () => {
    const history = started();
    history.submit(0, [block('a'), { op: 'commit' }], 1n);
    history.submit(
      0,
      [{ op: 'fork', at: { branchId: 0, seq: 1 }, name: 'b', description: 'why' }],
      2n,
      ACTOR,
    );
    const { events, apply } = beforeLast(history);
    const named: HistoryEvent = { type: 'PositionNamed', name: 'here', at: null } as never;
    expect(codeOf(() => apply([...events, named]))).not.toBe('E_HISTORY_DEFECTIVE');
  },
);

test('a frame that was undone is not undone again, even when another has taken its number', () => {
  const history = started();
  history.submit(0, [block('a')], 1n);
  const { state, apply } = beforeLast(history);
  const first = apply();
  revertFrame(state, first);
  apply();
  expect(codeOf(() => revertFrame(state, first))).toBe('E_INTERNAL');
  expect(state.next).toBe(2);
});

test.each(['E_CONTENT_MISSING', 'E_CONTENT_DAMAGED', 'E_IO'] as const)(
  'a frame is not defective when the payloads that it needs end with %s',
  { tags: ['record§4:missing-content'] },
  (code) => {
    const history = started();
    history.submit(
      0,
      [{ op: 'insert', parent: '^ah', node: { id: 'a', nodeType: 'cb', content: 'text' } }],
      1n,
    );
    history.submit(0, [{ op: 'commit' }], 2n);
    const payload = (): never => {
      throw fail(code, 'the content cannot be read');
    };
    const state = openHistory('h-reference', 0);
    const [first, second, third] = history.frames as [Frame, Frame, Frame];
    applyFrame(state, first, history.sources);
    applyFrame(state, second, history.sources);
    // The branch as rows give it: without the contents of its nodes.
    state.loadedBranches.clear();
    const position = () => loadBranch(history.parts(0, 1));
    expect(codeOf(() => applyFrame(state, third, { ...history.sources, position, payload }))).toBe(code);
  },
);

test(
  'a commit is defective when nodes are left whose container has gone',
  { tags: ['record§2:defective'] },
  () => {
    const history = started();
    const box: Step = { op: 'insert', parent: '^sys', node: { id: 'box', nodeType: 'mc' } };
    history.submit(0, [box, block('a', 'box')], 1n);
    history.submit(0, [{ op: 'commit' }], 2n);
    const { events, apply } = beforeLast(history);
    const gone: HistoryEvent = { type: 'NodeExpired', id: 'box' };
    expect(refusal(() => apply([gone, ...events]))).toContain('leaves nodes behind whose container has gone');
  },
);

test('an injection whose frame has no node is shown without one', { tags: ['pool:Interventions'] }, () => {
  const recorded = { type: 'InterventionRecorded', intervention: 'message_inject', notes: '', content: {} };
  const facts = interventionIn({
    history: 'h',
    seq: 1,
    branchId: 0,
    author: ACTOR,
    events: [recorded as unknown as HistoryEvent],
  });
  expect(facts?.content).toEqual({ text: '', source: null, vector_id: null, node: null });
});

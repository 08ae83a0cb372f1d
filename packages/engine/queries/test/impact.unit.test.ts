import { flattenRecords, threadIndexes } from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import { foldFrame } from '@stemma/history-store';
import { ALL_FOLDS, loadingTokenizer } from '@stemma/read-models';
import { openMemoryRowStore, stageRows } from '@stemma/row-store';
import {
  anyOperations,
  foldedPayloads,
  framesOf,
  HISTORY,
  naiveHistory,
  sized,
  type NaiveHistory,
  type Played,
  type RandomOperation,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { readImpactFacts } from '../src/impact/impact-facts.ts';
import { traceImpact } from '../src/impact/trace.ts';

beforeAll(() => loadingTokenizer.fetch([]));

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(16, 40));

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

/** Steps of agents and observers: blocks of all roles, short-lived ones, references, edits, moves. */
const stepsFor = (history: NaiveHistory, branchId: number, { what, a, b, c }: RandomOperation): Step[] => {
  const { nodes } = history.copyAt(branchId, history.state.next - 1);
  const ids = [...nodes].map(({ headers }) => headers.id);
  const id = pick(ids, a) ?? 'none';
  const node = {
    nodeType: 'cb',
    offset: (c % 3) - 1,
    ttl: [null, 0, 1, 2, 5][a % 5] ?? null,
    role: pick(['user', 'assistant', 'assistant', 'tool'], b) ?? 'user',
    content: `text ${c}`,
    ...(c % 4 === 0 && ids.length > 0 ? { refs: [id] } : {}),
  };
  const container = { nodeType: 'mc', offset: 0, children: [node, { ...node, role: 'assistant' }] };
  if (what < 25) return [{ op: 'commit' }];
  if (what < 45) return [{ op: 'insert', parent: '^ah', node }];
  if (what < 65) return [{ op: 'insert', parent: '^ah', node }, { op: 'commit' }];
  if (what < 72) return [{ op: 'insert', parent: '^sys', node }];
  if (what < 77) return [{ op: 'insert', parent: '^ah', node: container }];
  if (what < 84) return [{ op: 'replace', id, set: { content: `other ${b}` } }];
  if (what < 91) return [{ op: 'remove', id }];
  if (what < 96) return [{ op: 'move', id, parent: b % 2 === 0 ? '^sys' : '^ah' }];
  return [{ op: 'priorities', priorities: [{ id, priority: a % 5 }] }];
};

const play = (actions: readonly RandomOperation[], thread: 'full' | 'pre') => {
  const rows = openMemoryRowStore().rows(
    'test',
    ALL_FOLDS.flatMap(({ tables }) => tables),
  );
  const payloadsOf = foldedPayloads();
  const history = naiveHistory((frame) => {
    const staged = rows.now((view) => stageRows(view));
    for (const model of ALL_FOLDS) foldFrame(model, frame, staged, payloadsOf(frame));
    void rows.commit({
      partition: 0,
      expected: rows.now((view) => view.cursor(0)),
      cursor: Uint8Array.of(frame.seq & 255, frame.seq >> 8),
      changes: staged.changes(),
    });
  });
  history.run(0, [{ op: 'start', name: null, thread }]);
  for (const action of actions) {
    const branchIds = [...history.branches.keys()];
    const branchId = (action.what % 4 === 0 ? pick(branchIds, action.a) : branchIds.at(-1)) ?? 0;
    if (action.c < 40) history.branch('fork', pick(branchIds, action.a) ?? 0, action.b % history.state.next);
    else history.run(branchId, stepsFor(history, branchId, action));
  }
  return { history, rows };
};

type Tree = ReturnType<typeof flattenRecords>;
const contentsOf = (tree: Tree) => {
  const found = new Map<
    string,
    {
      id: string;
      made: number;
      index: number;
      expires: number | null;
      role: unknown;
      refs: readonly string[];
    }
  >();
  tree.ids.forEach((id, i) => {
    const payload = tree.payloads[i];
    if (tree.kinds[i] !== 6 || payload == null) return;
    const { role, refs } = tree.headers[i] ?? {};
    found.set(`${id} ${payload.seq}.${payload.index}`, {
      id,
      made: payload.seq,
      index: payload.index,
      expires: tree.expires[i] ?? null,
      role,
      refs: refs ?? [],
    });
  });
  return found;
};

type NaiveCall = {
  readonly seq: number;
  readonly direct: number;
  readonly derived: number;
  readonly depth: number;
  readonly branchId: number;
  readonly cycle: number;
  /** The blocks in its prompt that the intervention inserted. */
  readonly brought: readonly string[];
};

/** The calls that showed a block, by branch. */
const spansOf = (calls: readonly NaiveCall[], id: string) => {
  const showing = calls.filter(({ brought }) => brought.includes(id));
  return [...new Set(showing.map(({ branchId }) => branchId))].map((branchId) => {
    const cycles = showing.filter((call) => call.branchId === branchId).map(({ cycle }) => cycle);
    return { branchId, first: cycles[0], last: cycles.at(-1), count: cycles.length };
  });
};

/** The law of impact by its words alone: every tree after every frame of a branch, every prompt read whole. */
const naiveImpact = (
  history: NaiveHistory,
  thread: 'full' | 'pre',
  act: { readonly branchId: number; readonly seq: number },
  branchId: number,
  byActor: (seq: number) => boolean,
) => {
  const frames = framesOf({ history } as unknown as Played, branchId, Infinity).filter(
    ({ envelope }) => envelope.seq >= act.seq,
  );
  const depths = new Map<string, number>();
  const named = new Map<string, number>();
  const calls: NaiveCall[] = [];
  let before: Tree | null = act.seq === 0 ? null : flattenRecords(history.copyAt(act.branchId, act.seq - 1));
  let lastCall: number | null = null;
  for (const { envelope, body } of frames) {
    const { seq } = envelope;
    const tree = flattenRecords(history.copyAt(body.branchId, seq));
    const was = before === null ? new Map() : contentsOf(before);
    const now = [...contentsOf(tree)].sort(([, x], [, y]) => x.index - y.index);
    for (const [key, { id, made, role, refs }] of now) {
      if (was.has(key) || made !== seq) continue;
      const reasons: number[] = [];
      if (seq === act.seq) reasons.push(0);
      for (const to of refs) if (named.has(to)) reasons.push((named.get(to) as number) + 1);
      if (role === 'assistant' && lastCall !== null && !byActor(seq)) reasons.push(lastCall + 1);
      if (reasons.length === 0) continue;
      const depth = Math.min(...reasons);
      depths.set(key, depth);
      named.set(id, Math.min(depth, named.get(id) ?? Infinity));
    }
    const commit = body.events.find((event) => event.type === 'SnapshotCommitted');
    if (commit !== undefined) {
      const shown = new Set(threadIndexes(tree, thread).map((i) => tree.ids[i]));
      const tainted = now.filter(([key, { id }]) => depths.has(key) && shown.has(id));
      const held = tainted.map(([key]) => depths.get(key) as number);
      lastCall = held.length === 0 ? null : Math.min(...held);
      if (lastCall !== null)
        calls.push({
          seq,
          direct: held.filter((depth) => depth === 0).length,
          derived: held.filter((depth) => depth > 0).length,
          depth: lastCall,
          branchId: body.branchId,
          cycle: commit.cycle,
          brought: tainted.filter(([key]) => depths.get(key) === 0).map(([, { id }]) => id),
        });
    }
    before = tree;
  }
  return calls;
};

it.each(['full', 'pre'] as const)(
  'gives the calls that reading every prompt of every branch gives, thread %s',
  { tags: ['pool:impact'] },
  (thread) => {
    fc.assert(
      fc.property(anyOperations(20, 90), fc.nat(), fc.nat(9), (actions, which, turn) => {
        const { history, rows } = play(actions, thread);
        const byActor = (seq: number): boolean => seq % 10 === turn;
        const frame = pick(history.frames, 1 + (which % Math.ceil(history.frames.length / 2)));
        if (frame === undefined || frame.envelope.seq === 0) return;
        const act = { branchId: frame.body.branchId, seq: frame.envelope.seq };
        const facts = rows.now((view) => readImpactFacts(view, HISTORY, act));
        const impact = traceImpact({ ...facts, byActor });
        const expected = new Map<number, NaiveCall>();
        for (const branchId of history.branches.keys())
          if (
            framesOf({ history } as unknown as Played, branchId, Infinity).some(
              ({ envelope }) => envelope.seq === act.seq,
            )
          )
            for (const call of naiveImpact(history, thread, act, branchId, byActor))
              expected.set(call.seq, call);

        const calls = [...expected.values()].sort((x, y) => x.seq - y.seq);
        expect(
          impact.calls.map(({ seq, direct, derived, depth }) => ({ seq, direct, derived, depth })),
        ).toEqual(calls.map(({ seq, direct, derived, depth }) => ({ seq, direct, derived, depth })));
        const newest = new Map(facts.branches.map((each) => [each.branchId, each.calls.at(-1)?.cycle]));
        for (const { id, calls: spans, still } of impact.brought) {
          const shown = spansOf(calls, id);
          expect([...spans].sort((x, y) => x.branchId - y.branchId)).toEqual(
            shown.sort((x, y) => x.branchId - y.branchId),
          );
          expect(still).toBe(shown.some(({ branchId, last }) => newest.get(branchId) === last));
        }
        expect(impact.brought.map(({ id }) => id)).toEqual(
          impact.blocks.filter(({ depth }) => depth === 0).map(({ id }) => id),
        );
        const depthOf = new Map(impact.blocks.map((block) => [`${block.id} ${block.depth}`, block]));
        for (const { through, depth } of impact.calls) expect(depthOf.has(`${through} ${depth}`)).toBe(true);
        expect(impact.counts.direct + impact.counts.derived).toBe(impact.calls.length);
      }),
      { numRuns: RUNS },
    );
  },
);

it(
  'gives, for a node that an intervention removed or replaced, the calls that would have shown it within its ttl',
  { tags: ['pool:impact'] },
  () => {
    fc.assert(
      fc.property(anyOperations(20, 90), fc.nat(), (actions, which) => {
        const { history, rows } = play(actions, 'full');
        const frame = pick(history.frames, 1 + which);
        if (frame === undefined || frame.envelope.seq === 0 || frame.body.events[0]?.type === 'BranchStarted')
          return;
        const act = { branchId: frame.body.branchId, seq: frame.envelope.seq };
        const [before, after] = [act.seq - 1, act.seq].map((seq) =>
          flattenRecords(history.copyAt(act.branchId, seq)),
        );
        const impact = traceImpact(rows.now((view) => readImpactFacts(view, HISTORY, act)));
        const now = contentsOf(after as Tree);
        const cycle = (after as Tree).cycle;
        // What expired by itself in a commit of the intervention is no loss by it.
        const lost = [...contentsOf(before as Tree)].filter(
          ([key, { expires }]) => !now.has(key) && (expires === null || expires > cycle),
        );
        const found = new Map(impact.lost.map((one) => [one.id, one]));
        expect(
          [...found.keys()]
            .filter((id) => (found.get(id)?.calls.length ?? 0) > 0)
            .every((id) => lost.some(([, one]) => one.id === id)),
        ).toBe(true);
        for (const [, { id, expires }] of lost) {
          const calls = found.get(id)?.calls ?? [];
          for (const { branchId, calls: all } of [...history.branches.keys()].map((each) => ({
            branchId: each,
            calls: framesOf({ history } as unknown as Played, each, Infinity),
          }))) {
            if (!all.some(({ envelope }) => envelope.seq === act.seq)) continue;
            const own = all.filter(
              ({ envelope, body }) =>
                body.branchId === branchId &&
                envelope.seq >= act.seq &&
                body.events.some(
                  (event) =>
                    event.type === 'SnapshotCommitted' && (expires === null || event.cycle < expires),
                ),
            );
            expect(calls.find((each) => each.branchId === branchId)?.count ?? 0).toBe(own.length);
          }
        }
      }),
      { numRuns: RUNS },
    );
  },
);

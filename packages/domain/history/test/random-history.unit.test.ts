import { toHex } from '@stemma/canonical';
import { sumChanges, type RecordChange } from '@stemma/context-tree';
import {
  applyToBoth,
  exportNaive,
  type HistoryPair,
  type NaiveState,
  newHistoryPair,
  readBack,
  referenceHistory,
  runs,
  script,
  type Submitted,
  threadHashNaive,
  threadNaive,
  treeHashNaive,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AppliedFrame } from '../src/applied-frame.ts';
import { applyFrame, freeMemory, revertFrame } from '../src/apply-frame.ts';
import { branchParts, loadBranch, openHistory } from '../src/branch.ts';
import type { BranchParts } from '../src/branch-parts.ts';
import { decidePending } from '../src/decide/decide.ts';

/** Long enough for many runs. */
const TIMEOUT = 1_800_000;

const mode = fc.constantFrom('full' as const, 'full' as const, 'pre' as const);

const naively = (state: NaiveState, pair: HistoryPair) => ({
  text: exportNaive(state),
  thread: threadNaive(state, pair.mode),
  treeHash: treeHashNaive(state),
  threadHash: threadHashNaive(state, pair.mode),
});

const idsOf = (frame: AppliedFrame, type: string): string[] =>
  frame.events.flatMap((event) => (event.type === type && 'id' in event ? [event.id] : []));

test(
  'after every frame the tree, thread, hashes and causes equal those of the naive implementation',
  {
    tags: [
      'context-tree§3.1',
      'context-tree§3.2',
      'context-tree§3.3',
      'context-tree§3.4',
      'context-tree§3.5',
      'context-tree§3:holds',
      'context-tree§10.11',
      'context-tree§10.12',
      'context-tree§10.13',
      'context-tree§10.14',
      'record§3:consequences',
      'PACT-05§2.2',
      'PACT-06§6',
    ],
    timeout: TIMEOUT,
  },
  () => {
    fc.assert(
      fc.property(script, mode, (wishes, thread) => {
        const pair = newHistoryPair(thread);
        wishes.forEach((wish, at) => {
          const done = applyToBoth(pair, wish, at);
          if (done === null) return;
          const { frame, report } = done;
          const state = pair.states.get(frame.branchId) as NaiveState;
          expect(readBack(pair, frame.branchId, null)).toEqual(naively(state, pair));
          if (report === null) return;
          expect(toHex(frame.snapshot?.treeHash as Uint8Array)).toBe(toHex(treeHashNaive(state)));
          expect(toHex(frame.snapshot?.threadHash as Uint8Array)).toBe(toHex(threadHashNaive(state, thread)));
          expect(idsOf(frame, 'NodeExpired')).toEqual(report.expired);
          expect(new Set(idsOf(frame, 'NodeCascaded'))).toEqual(new Set(report.cascaded));
          expect(idsOf(frame, 'NodePruned')).toEqual(report.pruned);
          const sealed = frame.events.find((event) => event.type === 'TurnSealed');
          expect(sealed?.type === 'TurnSealed' ? sealed.turn.id : null).toBe(report.sealed);
        });
        for (const copy of pair.copies)
          expect(readBack(pair, copy.branchId, copy.seq).text).toBe(exportNaive(copy.state));
      }),
      { numRuns: runs(150) },
    );
  },
);

test(
  'exporting, importing and exporting again gives the same bytes, thread and hashes, also with a draft',
  {
    tags: ['context-tree§4:import', 'context-tree§4:tree-hash', 'snapshots:tree-hash', 'PACT-05§3.2'],
    timeout: TIMEOUT,
  },
  () => {
    fc.assert(
      fc.property(script, mode, (wishes, thread) => {
        const pair = newHistoryPair(thread);
        wishes.forEach((wish, at) => void applyToBoth(pair, wish, at));
        for (const branchId of pair.states.keys()) {
          const before = readBack(pair, branchId, null);
          const reloaded = referenceHistory();
          const frame = reloaded.submit(0, [{ op: 'import', name: null, export: before.text, thread }], 0n);
          const after = readBack({ ...pair, history: reloaded }, 0, null);
          expect(after).toEqual(before);
          expect(frame.snapshot?.treeHash).toEqual(before.treeHash);
          expect(frame.snapshot?.threadHash).toEqual(before.threadHash);
        }
      }),
      { numRuns: runs(60) },
    );
  },
);

test(
  'the same commands have the same effects on a snapshot and on its re-imported export',
  { tags: ['context-tree§4:import', 'context-tree§10.17'], timeout: TIMEOUT },
  () => {
    fc.assert(
      fc.property(script, mode, (wishes, thread) => {
        const pair = newHistoryPair(thread);
        wishes.forEach((wish, at) => void applyToBoth(pair, wish, at));
        for (const branchId of pair.states.keys()) {
          pair.history.submit(
            branchId,
            [
              { op: 'policy', policy: null },
              { op: 'commit', turn_id: `next${branchId}` },
            ],
            10_000n,
          );
          const history = referenceHistory();
          const { text } = readBack(pair, branchId, null);
          history.submit(0, [{ op: 'import', name: null, export: text, thread }], 0n);
          for (let cycle = 0; cycle < 4; cycle++) {
            pair.history.submit(branchId, [{ op: 'commit' }], 10_000n);
            history.submit(0, [{ op: 'commit' }], 10_000n);
            expect(readBack({ ...pair, history }, 0, null)).toEqual(readBack(pair, branchId, null));
          }
        }
      }),
      { numRuns: runs(60) },
    );
  },
);

test(
  'two tree hashes are equal exactly when cycle and root of the exports are equal',
  { tags: ['snapshots:tree-hash', 'context-tree§4:tree-hash'], timeout: TIMEOUT },
  () => {
    fc.assert(
      fc.property(script, (wishes) => {
        const pair = newHistoryPair('full');
        wishes.forEach((wish, at) => void applyToBoth(pair, wish, at));
        const byHash = new Map<string, string>();
        const byText = new Map<string, string>();
        for (const copy of pair.copies) {
          const { text, treeHash } = readBack(pair, copy.branchId, copy.seq);
          const hash = toHex(treeHash);
          expect(byHash.get(hash) ?? text).toBe(text);
          expect(byText.get(text) ?? hash).toBe(hash);
          byHash.set(hash, text);
          byText.set(text, hash);
        }
      }),
      { numRuns: runs(40) },
    );
  },
);

/** A branch's name may change later: it is not part of a position. */
const plain = ({ fixed, turns, nodes, name: _, ...rest }: BranchParts): unknown => ({
  ...rest,
  fixed,
  turns: [...turns],
  nodes: [...nodes].sort((a, b) => (a.headers.id < b.headers.id ? -1 : 1)),
});

test(
  'an undone frame leaves no trace and has the same effect when applied again; a branch loaded from records continues like one in memory',
  { tags: ['record§2'], timeout: TIMEOUT },
  () => {
    fc.assert(
      fc.property(
        script,
        mode,
        fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
        (wishes, thread, reloads) => {
          const pair = newHistoryPair(thread);
          wishes.forEach((wish, at) => void applyToBoth(pair, wish, at));
          const { history } = pair;
          const state = openHistory('h-reference', 0);
          const gone = new Set<number>();
          history.frames.forEach((frame, at) => {
            const branch = state.loadedBranches.get(frame.body.branchId);
            if (branch !== undefined && reloads[at % 60] === true)
              state.loadedBranches.set(branch.branchId, loadBranch(branchParts(branch)));
            const before = state.loadedBranches.get(frame.body.branchId);
            const parts = before === undefined ? undefined : plain(branchParts(before));
            const sources = {
              ...history.sources,
              position: (branchId: number, seq: number | null) =>
                loadBranch(history.parts(branchId, seq ?? at - 1)),
            };
            const first = applyFrame(state, frame, sources, { keep: true });
            revertFrame(state, first);
            const after = state.loadedBranches.get(frame.body.branchId);
            if (!gone.has(frame.body.branchId))
              expect(after === undefined ? undefined : plain(branchParts(after))).toEqual(parts);
            gone.delete(frame.body.branchId);
            const second = applyFrame(state, frame, sources);
            expect(second.changes).toEqual(first.changes);
            expect(plain(branchParts(second.state))).toEqual(
              plain(history.parts(frame.body.branchId, frame.envelope.seq)),
            );
            // Trees that were dropped are loaded again and behave alike.
            if (reloads[(at * 7) % 60] === true) {
              const had = [...state.loadedBranches.keys()];
              freeMemory(state, at % 3 === 0 ? Infinity : 0, frame.body.branchId);
              if (at % 3 !== 0) expect([...state.loadedBranches.keys()]).toEqual([frame.body.branchId]);
              for (const branchId of had) if (!state.loadedBranches.has(branchId)) gone.add(branchId);
            }
          });
        },
      ),
      { numRuns: runs(80) },
    );
  },
);

/** Records by id after some changes. */
const applyChanges = (parts: BranchParts, changes: readonly RecordChange[]): Map<string, unknown> => {
  const records = new Map<string, unknown>(
    Object.entries(parts.fixed).map(([name, record]) => [`f${name}`, record]),
  );
  for (const turn of parts.turns) records.set(`t${turn.headers.id}`, turn);
  for (const node of parts.nodes) records.set(`n${node.headers.id}`, node);
  for (const change of changes) {
    const key =
      'node' in change ? `n${change.node}` : 'turn' in change ? `t${change.turn}` : `f${change.fixed}`;
    expect(change.before).toEqual(records.get(key));
    if (change.after === undefined) records.delete(key);
    else records.set(key, change.after);
  }
  return records;
};

test(
  'applying the summed changes between two positions to the first gives the second',
  { tags: ['snapshots:diff'], timeout: TIMEOUT },
  () => {
    fc.assert(
      fc.property(script, fc.nat(), fc.nat(), (wishes, from, to) => {
        const pair = newHistoryPair('full');
        wishes.forEach((wish, at) => void applyToBoth(pair, wish, at));
        const { history } = pair;
        for (const branchId of pair.states.keys()) {
          const own = history.applied.filter((frame) => frame.branchId === branchId);
          const [a, b] = [from % own.length, to % own.length].sort((x, y) => x - y) as [number, number];
          const between = own.slice(a + 1, b + 1).flatMap((frame) => frame.changes.flat());
          const start = history.parts(branchId, (own[a] as AppliedFrame).seq);
          const end = history.parts(branchId, (own[b] as AppliedFrame).seq);
          expect(applyChanges(start, sumChanges(between))).toEqual(applyChanges(end, []));
        }
      }),
      { numRuns: runs(60) },
    );
  },
);

/** A state that keeps what was decided, beside one that applies what was recorded. */
const decidingTwin = () => {
  const twin = openHistory('h-reference', 0);
  const submitted: Submitted = (command, clock, sources) => {
    // What was decided for nothing leaves nothing behind.
    decidePending(twin, command, clock, sources).pending?.drop();
    const { decided, pending } = decidePending(twin, command, clock, sources);
    return (frame) => {
      expect(decided.events).toEqual(frame.body.events);
      const own = { ...frame, body: { ...frame.body, events: decided.events } };
      const kept = pending?.keep(own) ?? applyFrame(twin, frame, sources, { keep: true });
      if (frame.envelope.seq % 3 !== 1) return;
      revertFrame(twin, kept);
      applyFrame(twin, frame, sources, { keep: true });
    };
  };
  const expectSame = ({ branchId, state }: AppliedFrame): void => {
    const branch = twin.loadedBranches.get(branchId);
    if (branch !== undefined) expect(branchParts(branch)).toEqual(branchParts(state));
  };
  return { twin, submitted, expectSame };
};

test(
  'a state that keeps what was decided is the same as one that applies what was recorded, and can be taken back',
  { tags: ['record§3:checked-before-append'], timeout: TIMEOUT },
  () => {
    fc.assert(
      fc.property(script, mode, (wishes, thread) => {
        const { twin, submitted, expectSame } = decidingTwin();
        const pair = newHistoryPair(thread, submitted);
        wishes.forEach((wish, at) => {
          const done = applyToBoth(pair, wish, at);
          if (done === null) return;
          expectSame(done.frame);
          if (at % 7 === 0) freeMemory(twin, 50, done.frame.branchId);
        });
        const { text } = readBack(pair, 0, null);
        const again = decidingTwin();
        const imported = referenceHistory(undefined, again.submitted);
        again.expectSame(imported.submit(0, [{ op: 'import', name: null, export: text, thread }], 0n));
        again.expectSame(
          imported.submit(
            0,
            [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', offset: 1 } }, { op: 'commit' }],
            1n,
          ),
        );
      }),
      { numRuns: runs(100) },
    );
  },
);

import { sha256Hex, toHex, type WideJson } from '@stemma/canonical';
import { exportTree, hashFlat, NO_DEPTH, threadBytes, type FlatTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { AppliedFrame, Step } from '@stemma/history';
import { parseRef } from '@stemma/selectors';
import { defined } from '@stemma/values';
import { referenceHistory, type ReferenceHistory } from '../reference-history.ts';
import {
  all,
  runVector,
  errorIn,
  failed,
  passed,
  same,
  show,
  unsupported,
  word,
  type VectorOutcome,
  type VectorResult,
} from './outcome.ts';
import { positionAt, query } from './query.ts';

type Vector = { readonly [name: string]: WideJson };

/** A scripted history after its run: what diffs and ranges ask about. */
export type Script = { readonly history: ReferenceHistory; readonly branchIds: Map<string, number> };

/** A history that begins as a vector's `start` says. */
export const startScript = (start: Vector): Script => {
  const history = referenceHistory();
  const { ids, import: text, thread } = start;
  const mode = thread === undefined ? {} : { thread: thread as 'full' | 'pre' };
  const step =
    text === undefined
      ? { op: 'start', name: null, ...defined({ ids }), ...mode }
      : { op: 'import', name: null, export: text, ...mode };
  history.submit(0, [step as Step], 0n);
  return { history, branchIds: new Map([['main', 0]]) };
};

/** Runs a script's steps in order. */
export const runHistory = (
  vector: Vector,
): { readonly results: readonly VectorResult[]; readonly script: Script | undefined } => {
  let script: Script;
  try {
    script = startScript(vector['start'] as Vector);
  } catch (error) {
    const outcome = runVector('start', () => { throw error; }, undefined); // prettier-ignore
    return { results: [{ name: word(vector['name']), outcome }], script: undefined };
  }
  const results = (vector['steps'] as readonly Vector[]).map((step, at): VectorResult => {
    const name = `${word(vector['name'])} step ${at} ${word(step['op'])}`;
    return { name, outcome: runStep(script, step) };
  });
  return { results, script };
};

const CHANGES = new Set([
  'insert',
  'replace',
  'move',
  'remove',
  'policy',
  'name',
  'commit',
  'fork',
  'rollback',
]);

const runStep = (script: Script, step: Vector): VectorOutcome => {
  const op = word(step['op']);
  const on = script.branchIds.get(step['on'] === undefined ? 'main' : word(step['on']));
  if (on === undefined) return failed(`there is no branch ${show(step['on'])}`);
  if (op === 'select')
    return runVector(
      word(step['selector']),
      () => query(script.history, on, word(step['selector']), step['options'] as object),
      step['expect'],
    );
  if (op === 'chain')
    return runVector(
      'chain',
      () => script.history.ancestorSnapshots(on).map(({ cycle }) => cycle),
      step['expect'],
    );
  if (!CHANGES.has(op)) return unsupported(`the step ${op}`);
  const before = script.history.tree(on);
  const expected = step['expect'];
  if (errorIn(expected) !== undefined) {
    const bytes = exportTree(before, script.history.payload);
    const outcome = runVector(op, () => change(script, on, step), expected);
    return all(
      outcome,
      same(
        'the state after a refused step',
        exportTree(script.history.tree(on), script.history.payload),
        bytes,
      ),
    );
  }
  let applied: AppliedFrame | undefined;
  const outcome = runVector(op, () => void (applied = change(script, on, step)), undefined);
  if (outcome.status !== 'passed' || applied === undefined || expected === undefined) return outcome;
  return checkStep(script, on, applied, before, expected as Vector);
};

/** Does what a step says; forks and rollbacks too. */
const change = (script: Script, on: number, step: Vector): AppliedFrame => {
  const { history, branchIds } = script;
  const op = step['op'];
  if (op === 'fork' || op === 'rollback') {
    const ref = word(step[op === 'fork' ? 'at' : 'to']);
    const { seq } = positionAt(history, on, parseRef(ref).at);
    const at = seq ?? history.parts(on, null).seq;
    if (op === 'fork') branchIds.set(word(step['as']), history.fork(on, at, word(step['as'])));
    else {
      branchIds.set(word(step['old']), on);
      branchIds.set(word(step['on'], 'main'), history.rollback(on, at, word(step['old'])));
    }
    return history.applied.at(-1) as AppliedFrame;
  }
  const clock = BigInt(word(step['clock_ns'], '0'));
  return history.submit(on, [stepOf(step)], clock);
};

/** A script's step as a step of a command. */
const stepOf = (step: Vector): Step => {
  const { op, on: _on, clock_ns: _clock, expect: _expect, ...rest } = step;
  if (op === 'policy' && rest['priorities'] !== undefined) {
    const priorities = Object.entries(rest['priorities'] as Vector).map(([id, priority]) => ({
      id,
      priority: priority as number,
    }));
    return { op: 'priorities', priorities };
  }
  if (op === 'policy') return { op, policy: rest };
  return { op, ...rest } as Step;
};

const checkStep = (
  script: Script,
  on: number,
  applied: AppliedFrame,
  before: FlatTree,
  expected: Vector,
): VectorOutcome => {
  const outcomes = Object.entries(expected).map(([key, wanted]): VectorOutcome => {
    const check = CHECKS[key];
    return check === undefined
      ? unsupported(`the expectation ${key}`)
      : same(key, check({ script, on, applied, before }), wanted);
  });
  return all(...outcomes, applied.snapshot === null ? passed : checkHashes(script, on, applied));
};

/** Beyond the vectors: the hashes kept along the way are those computed from nothing. */
const checkHashes = (script: Script, on: number, applied: AppliedFrame): VectorOutcome => {
  const { treeHash, threadHash } = hashFlat(
    script.history.tree(on),
    script.history.payload,
    applied.state.thread,
  );
  if (applied.snapshot === null) throw fail('E_INTERNAL', 'no snapshot');
  return all(
    same('tree hash', toHex(applied.snapshot.treeHash), toHex(treeHash)),
    same('thread hash', toHex(applied.snapshot.threadHash), toHex(threadHash)),
  );
};

type GoldenStep = {
  readonly script: Script;
  readonly on: number;
  readonly applied: AppliedFrame;
  readonly before: FlatTree;
};

const idsOf = (step: GoldenStep, type: string): string[] =>
  step.applied.events.flatMap((event) => (event.type === type && 'id' in event ? [event.id] : []));

const inOrder = (step: GoldenStep, ids: readonly string[]): string[] =>
  [...ids].sort((a, b) => (step.before.indexOf(a) ?? -1) - (step.before.indexOf(b) ?? -1));

const bytesOf = ({ script, on, applied }: GoldenStep): string =>
  threadBytes(script.history.tree(on), script.history.payload, applied.state.thread);
const exportOf = ({ script, on }: GoldenStep): string =>
  exportTree(script.history.tree(on), script.history.payload);

const CHECKS: { readonly [key: string]: ((step: GoldenStep) => unknown) | undefined } = {
  cycle: ({ applied }) => applied.snapshot?.cycle,
  created_at_ns: ({ applied }) => {
    const event = applied.events.find(({ type }) => type === 'NodeInserted');
    return event?.type === 'NodeInserted' ? String(event.node.created_at_ns) : undefined;
  },
  snapshot: ({ script, on }) => snapshotRows(script.history.tree(on)),
  thread: bytesOf,
  thread_sha256: (step) => sha256Hex(bytesOf(step)),
  export: exportOf,
  export_sha256: (step) => sha256Hex(exportOf(step)),
  expired: (step) => inOrder(step, idsOf(step, 'NodeExpired')),
  cascaded: (step) => inOrder(step, idsOf(step, 'NodeCascaded')),
  pruned: (step) => idsOf(step, 'NodePruned'),
  sealed: ({ applied }) => {
    const event = applied.events.find(({ type }) => type === 'TurnSealed');
    return event?.type === 'TurnSealed' ? event.turn.id : null;
  },
};

/** `[id, parent, depth, ttl]` of every node in document order. */
const snapshotRows = (tree: FlatTree): unknown[] =>
  tree.ids.map((id, i) => {
    const parent = tree.parents[i] as number;
    const depth = tree.depths[i] as number;
    return [id, parent === -1 ? null : tree.ids[parent], depth === NO_DEPTH ? null : depth, tree.ttls[i]];
  });

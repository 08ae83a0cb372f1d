import type { WideJson } from '@stemma/canonical';
import { exportTree, hashFlat, threadBytes } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import type { AppliedFrame, Step } from '@stemma/history';
import fc from 'fast-check';
import { referenceHistory, type ReferenceHistory, type Submitted } from '../reference-history.ts';
import { sized } from '../sized.ts';
import {
  all,
  commitNaive,
  copyState,
  insertNaive,
  moveNaive,
  prioritiesNaive,
  removeNaive,
  replaceNaive,
  startNaive,
  type CommitReport,
  type NaiveNode,
  type NaiveState,
} from './naive-tree.ts';

/** One random intention; the numbers choose among what exists when it is applied. */
export type Intention = {
  readonly op:
    | 'insert'
    | 'core'
    | 'late'
    | 'commit'
    | 'replace'
    | 'move'
    | 'remove'
    | 'policy'
    | 'priority'
    | 'fork'
    | 'rollback'
    | 'reload';
  readonly a: number;
  readonly b: number;
  readonly ttl: number | null;
  readonly offset: number;
  readonly refs: readonly number[];
  readonly flag: boolean;
};

const intention: fc.Arbitrary<Intention> = fc.record({
  op: fc.constantFrom(
    ...Array.from({ length: 10 }, () => 'insert' as const),
    ...Array.from({ length: 10 }, () => 'commit' as const),
    ...([
      'core',
      'core',
      'core',
      'core',
      'late',
      'late',
      'late',
      'late',
      'late',
      'replace',
      'replace',
      'replace',
    ] as const),
    ...([
      'move',
      'move',
      'move',
      'remove',
      'remove',
      'policy',
      'policy',
      'priority',
      'fork',
      'rollback',
      'reload',
    ] as const),
  ),
  a: fc.nat(1000),
  b: fc.nat(1000),
  ttl: fc.constantFrom(null, null, 0, 0, 1, 1, 2, 3),
  offset: fc.constantFrom(-1, 0, 0, 0, 1, 2),
  refs: fc.array(fc.nat(1000), { maxLength: 2 }),
  flag: fc.boolean(),
});

export const script: fc.Arbitrary<readonly Intention[]> = fc.array(intention, {
  minLength: 1,
  maxLength: 60,
  size: 'max',
});

/** Runs of a property, the usual number in a long run and a third of it elsewhere; `STEMMA_RUNS` sets them all. */
export const runs = (usual: number): number =>
  Number(process.env['STEMMA_RUNS'] ?? sized(Math.ceil(usual / 3), usual));

/** A history in the real and in the naive implementation. */
export type HistoryPair = {
  readonly history: ReferenceHistory;
  readonly mode: 'full' | 'pre';
  /** The naive states of all positions: branch, seq, a whole copy. */
  readonly copies: { readonly branchId: number; readonly seq: number; readonly state: NaiveState }[];
  readonly states: Map<number, NaiveState>;
};

const IDS = { root: 'R', sys: 'S', seq: 'Q', ah: 'H' };

export const newHistoryPair = (mode: 'full' | 'pre', submitted?: Submitted): HistoryPair => {
  const history = referenceHistory(undefined, submitted);
  history.submit(0, [{ op: 'start', name: null, ids: IDS, thread: mode }], 0n);
  const state = startNaive(IDS);
  return {
    history,
    mode,
    copies: [{ branchId: 0, seq: 0, state: copyState(state) }],
    states: new Map([[0, state]]),
  };
};

const pick = <Item>(items: readonly Item[], number: number): Item | undefined =>
  items[number % Math.max(1, items.length)];
const idOf = (node: NaiveNode): string => node.attributes['id'] as string;

/** Applies one intention to both. Returns the frame, and for a commit what the naive implementation did; null if it was refused. */
export const applyToBoth = (
  pair: HistoryPair,
  intention: Intention,
  at: number,
): { frame: AppliedFrame; report: CommitReport | null } | null => {
  const { history, states } = pair;
  const branchId = pick([...states.keys()].reverse(), intention.flag ? 0 : intention.b) as number;
  const state = states.get(branchId) as NaiveState;
  const clock = BigInt(1000 + ((intention.a * 7919) % 5000));
  if (intention.op === 'reload') {
    history.state.loadedBranches.delete(branchId);
    return null;
  }
  if (intention.op === 'fork' || intention.op === 'rollback')
    return branchBoth(pair, intention, branchId, at);
  const work = plan(state, intention, at, clock);
  if (work === null) return null;
  let frame: AppliedFrame;
  try {
    frame = history.submit(branchId, [work.step], clock);
  } catch (error) {
    if (!isStemmaError(error) || error.code === 'E_INTERNAL' || error.code === 'E_HISTORY_DEFECTIVE')
      throw error;
    return null;
  }
  const report = intention.op === 'commit' ? (work.naive() as CommitReport) : null;
  if (intention.op !== 'commit') work.naive();
  pair.copies.push({ branchId, seq: frame.seq, state: copyState(state) });
  return { frame, report };
};

const branchBoth = (
  pair: HistoryPair,
  intention: Intention,
  branchId: number,
  at: number,
): { frame: AppliedFrame; report: null } | null => {
  const { history } = pair;
  const target = pick(
    pair.copies.filter((copy) => onAncestorPath(history, branchId, copy.branchId, copy.seq)),
    intention.a,
  );
  if (target === undefined) return null;
  const name = `l${at}`;
  const started =
    intention.op === 'fork'
      ? history.fork(branchId, target.seq, name)
      : history.rollback(branchId, target.seq, name);
  const frame = history.applied.at(-1) as AppliedFrame;
  pair.states.set(started, copyState(target.state));
  pair.copies.push({ branchId: started, seq: frame.seq, state: copyState(target.state) });
  return { frame, report: null };
};

/** True if (branchId, seq) is a position of the ancestor path of branch `of`. */
const onAncestorPath = (history: ReferenceHistory, of: number, branchId: number, seq: number): boolean => {
  const parts = history.parts(of, seq < of ? seq : null);
  if (branchId === of) return true;
  return seq < of && parts.branchId === branchId && parts.seq === seq;
};

type Work = { readonly step: Step; readonly naive: () => unknown };

const plan = (state: NaiveState, intention: Intention, at: number, clock: bigint): Work | null => {
  const nodes = all(state.root).map(({ node }) => node);
  const containers = nodes.filter((node) => /^(\^sys|\^ah|mc)/.test(node.attributes['nodeType'] as string));
  const turns = nodes.filter((node) => node.attributes['nodeType'] === 'mt');
  const target = pick(nodes, intention.a) as NaiveNode;
  const refs =
    intention.refs.length === 0
      ? {}
      : { refs: intention.refs.map((ref) => idOf(pick(nodes, ref) as NaiveNode)) };
  const block = (id: string): Record<string, WideJson> => ({
    id,
    nodeType: intention.flag ? 'cb' : 'cb:note',
    ttl: intention.ttl,
    offset: intention.offset,
    content: `${id} é`,
    ...refs,
  });
  const insert = (parent: string, node: Record<string, WideJson>): Work => ({
    step: { op: 'insert', parent, node },
    naive: () => {
      insertNaive(state, parent, node, clock);
    },
  });
  switch (intention.op) {
    case 'insert': {
      const extras: Record<string, WideJson> = intention.flag
        ? { role: 'user', data_n: { at, x: [0.5, -1] } }
        : { priority: intention.b % 3, kind: null };
      return insert(idOf(pick(containers, intention.a) as NaiveNode), { ...block(`b${at}`), ...extras });
    }
    case 'core':
      return insert(idOf(pick(containers, intention.a) as NaiveNode), {
        id: `m${at}`,
        nodeType: 'mc',
        ttl: intention.ttl,
        removable: intention.flag,
        ...refs,
        children: [
          block(`m${at}a`),
          {
            id: `m${at}b`,
            nodeType: 'mc',
            removable: true,
            children: [{ ...block(`m${at}c`), ttl: intention.b % 3 }],
          },
        ],
      });
    case 'late':
      return turns.length === 0 ? null : insert(idOf(pick(turns, intention.a) as NaiveNode), block(`l${at}`));
    case 'commit':
      return { step: { op: 'commit', turn_id: `t${at}` }, naive: () => commitNaive(state, `t${at}`, clock) };
    case 'replace': {
      const set: Record<string, WideJson> = intention.flag
        ? { content: { v: at } }
        : { data_v: null, content_lang: 'x' };
      return {
        step: { op: 'replace', id: idOf(target), set },
        naive: () => {
          replaceNaive(state, idOf(target), set);
        },
      };
    }
    case 'move': {
      const parent = idOf(pick(containers, intention.b) as NaiveNode);
      return {
        step: { op: 'move', id: idOf(target), parent },
        naive: () => {
          moveNaive(state, idOf(target), parent);
        },
      };
    }
    case 'remove':
      return {
        step: { op: 'remove', id: idOf(target) },
        naive: () => {
          removeNaive(state, idOf(target));
        },
      };
    case 'policy': {
      const policy =
        intention.a % 7 === 0
          ? null
          : {
              max_blocks: intention.a % 5,
              keep_turns: intention.b % 2,
              pins: [idOf(pick(nodes.slice(1), intention.a + 1) ?? target)],
            };
      return {
        step: { op: 'policy', policy },
        naive: () => {
          state.policy = policy;
        },
      };
    }
    case 'priority': {
      const priority = (intention.b % 5) - 2;
      return {
        step: { op: 'priorities', priorities: [{ id: idOf(target), priority }] },
        naive: () => {
          prioritiesNaive(state, idOf(target), priority);
        },
      };
    }
    default:
      return null;
  }
};

/** Export, thread and hashes of a position of the real history, computed from scratch. */
export const readBack = (pair: HistoryPair, branchId: number, seq: number | null) => {
  const tree = pair.history.tree(branchId, seq);
  const { payload } = pair.history;
  return {
    text: exportTree(tree, payload),
    thread: threadBytes(tree, payload, pair.mode),
    ...hashFlat(tree, payload, pair.mode),
  };
};

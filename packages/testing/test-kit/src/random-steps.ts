import type { Step } from '@stemma/history';
import fc from 'fast-check';
import type { NaiveHistory } from './naive-history.ts';

/** One random operation. Its numbers choose among what the history has when it runs. */
export type RandomOperation = {
  readonly what: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
};

const small = fc.nat(1_000);
export const anyOperations = (least: number, most: number): fc.Arbitrary<RandomOperation[]> =>
  fc.array(fc.record({ what: fc.nat(99), a: small, b: small, c: small }), {
    minLength: least,
    maxLength: most,
    size: 'max',
  });

export const START: Step = { op: 'start', name: null };

/** What is configured; with the last one a history is a pool. */
const SETTINGS = ['key-0', 'key-1', 'active_pool_size'] as const;

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

/** Performs one operation on a branch, or starts a branch. An operation that the rules refuse changes nothing. */
export const perform = (history: NaiveHistory, { what, a, b, c }: RandomOperation): void => {
  const branchIds = [...history.branches.keys()];
  // Mostly the newest branches, sometimes any.
  const branchId =
    (what % 5 === 0 ? pick(branchIds, a) : branchIds.at(-1 - (b % Math.min(2, branchIds.length)))) ?? 0;
  if (what < 5)
    history.branch(what < 3 ? 'fork' : 'rollback', pick(branchIds, a) ?? 0, b % history.state.next);
  else history.run(branchId, stepsFor(history, branchId, what, a, b, c));
};

const stepsFor = (
  history: NaiveHistory,
  branchId: number,
  what: number,
  a: number,
  b: number,
  c: number,
): Step[] => {
  const { nodes, turns } = history.copyAt(branchId, history.state.next - 1);
  const ids = [...nodes].map(({ headers }) => headers.id);
  const node = (extra: object = {}): Record<string, never> =>
    ({
      nodeType: 'cb',
      offset: (c % 3) - 1,
      ttl: [null, 0, 1, 2, 5, 30][a % 6],
      role: [undefined, null, 'user'][b % 3],
      kind: 'text',
      content: `text ${c}`,
      ...(c % 7 === 0 && ids.length > 0 ? { refs: [pick(ids, b)] } : {}),
      ...(c % 11 === 0 ? { data_x: { n: c }, provenance: { by: 'x' }, key: 'k', priority: a } : {}),
      ...extra,
    }) as never;
  const container = (): Record<string, never> => {
    // A container has no content, not even an undefined one.
    const { content: _content, ...headers } = node({
      nodeType: 'mc',
      offset: 0,
      removable: b % 2 === 0,
      // Other lifetimes than the container's, so that it becomes empty, or cascades to children that would have stayed.
      children: [
        node({ offset: 0, ttl: [null, 0, 1, 3][b % 4] }),
        node({ offset: 1, ttl: [1, 2, null][(a + b) % 3] }),
      ],
    });
    return headers;
  };
  const id = pick(ids, a) ?? 'none';
  const turn = pick([...turns], b)?.headers.id ?? 'none';
  const containers = [...nodes]
    .filter(({ headers }) => headers.nodeType === 'mc')
    .map(({ headers }) => headers.id);
  if (what < 35) return [{ op: 'commit' }];
  if (what < 50) return [{ op: 'insert', parent: '^ah', node: c % 6 === 0 ? container() : node() }];
  if (what < 60) return [{ op: 'insert', parent: '^ah', node: node() }, { op: 'commit' }];
  if (what < 66) return [{ op: 'insert', parent: '^sys', node: c % 6 === 0 ? container() : node() }];
  if (what < 74) return [{ op: 'insert', parent: turn, node: node({ offset: c % 2 === 0 ? -1 : 2 }) }];
  if (what < 79) return [{ op: 'remove', id }];
  if (what < 84) return [{ op: 'replace', id, set: { content: `other ${b}` } }];
  if (what < 90) return [{ op: 'move', id, parent: pick(['^sys', '^ah', ...containers], b) ?? '^ah' }];
  if (what < 92)
    return [
      { op: 'policy', policy: b % 4 === 0 ? null : { max_blocks: 3 + (a % 8), keep_turns: 1, pins: [] } },
    ];
  if (what < 94) return [{ op: 'priorities', priorities: [{ id, priority: a % 5 }] }];
  if (what < 96)
    return c % 2 === 0
      ? [{ op: 'name', name: `n${a}` }]
      : [{ op: 'config', set: { [SETTINGS[b % SETTINGS.length] ?? '']: c % 5 === 0 ? null : c } }];
  if (what < 98)
    return [
      { op: 'insert', parent: '^ah', node: node({ ttl: 0 }) },
      { op: 'insert', parent: '^sys', node: node() },
      { op: 'commit' },
    ];
  return [
    { op: 'insert', parent: '^ah', node: node() },
    { op: 'annotate', note: 'a note' },
    { op: 'remove', id },
  ];
};

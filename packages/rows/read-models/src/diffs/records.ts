import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Cause, Explains, NodeChange } from '@stemma/history';
import type { Cell, NamedRow, ValueOf } from '@stemma/row-store';
import type { CHANGED_NODES, TIMELINE } from './tables.ts';

/** What one recorded event did to one node, where and when. */
export type RecordedNodeChange = NodeChange & {
  readonly branchId: number;
  readonly seq: number;
  /** The cycle that ran; of a commit or import the one that it ended. */
  readonly cycle: number;
};

/** The word for a cause in the column `what`. */
const wordOfCause = (cause: Cause): string => {
  switch (cause.kind) {
    case 'mutation':
      return cause.op;
    case 'import':
      return 'import';
    case 'expiry':
      return 'expire';
    case 'cascade':
      return cause.why;
    case 'pruning':
      return 'prune';
    case 'sealing':
      return 'seal';
    case 'hold':
      return 'hold';
    case 'ageing':
      throw fail('E_INTERNAL', 'ageing is not recorded');
  }
};

export const nodeChangeCells = (
  nodeChange: NodeChange,
  branchId: number,
  cycle: number,
): ValueOf<typeof TIMELINE> => {
  const { cause } = nodeChange;
  const by: Cell = 'by' in cause ? cause.by : null;
  const rank: Cell = cause.kind === 'pruning' ? cause.rank : null;
  const word = wordOfCause(cause);
  const fields: Cell = word === 'replace' ? nodeChange.explains : null;
  // Most nodes are inserted with priority 0, which takes no bytes.
  const priority =
    word === 'priority'
      ? (nodeChange.priority ?? 0)
      : nodeChange.priority === 0
        ? null
        : (nodeChange.priority ?? null);
  return [
    branchId,
    word,
    cycle,
    nodeChange.parent ?? null,
    nodeChange.seals ?? null,
    nodeChange.ttl ?? null,
    nodeChange.expires ?? null,
    priority,
    by,
    rank,
    fields,
  ];
};

/** The insertion of a node, as the row of its frame has it: null at the end is left out, cycles are counted from that of the frame. */
export const insertionCells = (
  { index, cause, parent, seals, ttl, expires, priority }: NodeChange,
  cycle: number,
): readonly WideJson[] => {
  const cells: WideJson[] = [
    index,
    wordOfCause(cause),
    parent ?? null,
    typeof seals === 'number' ? seals - cycle : null,
    ttl ?? null,
    typeof expires === 'number' ? expires - cycle : null,
    priority === 0 ? null : (priority ?? null),
  ];
  while (cells.at(-1) === null) cells.pop();
  return cells;
};

type CauseReaders = {
  readonly [word: string]: ((by: string | null, rank: number, id: string) => Cause) | undefined;
};

const mutationCause =
  (op: Extract<Cause, { kind: 'mutation' }>['op']): CauseReaders[string] =>
  (by) => ({ kind: 'mutation', op, by });
const cascadeCause =
  (why: 'contained' | 'emptied'): CauseReaders[string] =>
  (by) => ({
    kind: 'cascade',
    why,
    by: by ?? '',
  });

const CAUSE_OF: CauseReaders = {
  start: mutationCause('start'),
  insert: mutationCause('insert'),
  replace: mutationCause('replace'),
  move: mutationCause('move'),
  carry: mutationCause('carry'),
  remove: mutationCause('remove'),
  priority: mutationCause('priority'),
  import: () => ({ kind: 'import' }),
  seal: (_by, _rank, id) => ({ kind: 'sealing', turn: id }),
  expire: () => ({ kind: 'expiry' }),
  contained: cascadeCause('contained'),
  emptied: cascadeCause('emptied'),
  prune: (_by, rank) => ({ kind: 'pruning', rule: 'max_blocks', rank }),
  hold: (by) => ({ kind: 'hold', by: by ?? '' }),
};

const ADDED = new Set(['start', 'import', 'insert', 'seal']);
const REMOVED = new Set(['remove', 'expire', 'contained', 'emptied', 'prune']);

const explainsOf = (word: string, fields: Cell): Explains => {
  if (ADDED.has(word)) return 'added';
  if (REMOVED.has(word)) return 'removed';
  if (word === 'replace') return fields as readonly string[];
  if (word === 'move') return ['parent'];
  return word === 'priority' ? ['priority'] : [];
};

/** The node change in a row of `timeline`. */
export const nodeChangeOf = (row: NamedRow<typeof TIMELINE>): RecordedNodeChange => {
  const { node: id, seq, index, branch_id: branchId, cycle } = row;
  const { what: word, parent, seals, ttl, expires, priority, by, rank, fields } = row;
  const cause = CAUSE_OF[word]?.(by, rank ?? 0, id);
  if (cause === undefined) throw fail('E_INTERNAL', `a row of timeline says ${word}`);
  const added = ADDED.has(word);
  const setsParent = added || word === 'move';
  const setsTtl = added || word === 'move' || word === 'carry' || word === 'hold';
  return {
    id,
    seq,
    index,
    branchId,
    cycle,
    cause,
    explains: explainsOf(word, fields),
    ...(setsParent ? { parent, seals } : {}),
    ...(setsTtl ? { ttl: word === 'hold' ? 0 : ttl, expires } : {}),
    ...(added || word === 'priority' ? { priority: priority ?? 0 } : {}),
  };
};

/** The insertion of a node, if the row of the frame has it. */
export const insertionOf = (
  row: NamedRow<typeof CHANGED_NODES>,
  id: string,
): RecordedNodeChange | undefined => {
  const { history, branch_id, seq, cycle } = row;
  const cells = (row.inserted as readonly Inserted[] | null)?.[(row.nodes as readonly string[]).indexOf(id)];
  if (cells === undefined) return undefined;
  const [index, word, parent = null, seals = null, ttl = null, expires = null, priority = null] = cells;
  const fromCycle = (cycles: number | null): number | null => (cycles === null ? null : cycle + cycles);
  return nodeChangeOf({
    ...{ history, node: id, seq, index, branch_id, what: word, cycle, parent, ttl, priority },
    ...{ seals: fromCycle(seals), expires: fromCycle(expires), by: null, rank: null, fields: null },
  });
};

/** What {@link insertionCells} writes. */
type Inserted = readonly [
  index: number,
  word: string,
  parent?: string | null,
  seals?: number | null,
  ttl?: number | null,
  expires?: number | null,
  priority?: number | null,
];

import type { Cause, Explains, Touch } from '@stemma/history';
import { fail } from '@stemma/errors';
import type { Cell, Row, Value } from '@stemma/row-store';

/** What one recorded event did to one node, where and when. */
export type RecordedTouch = Touch & {
  readonly strand: number;
  readonly seq: number;
  /** The cycle that ran; of a commit or import the one that it ended. */
  readonly cycle: number;
};

/** The word for a cause in the column `what`. */
const wordOf = (cause: Cause): string => {
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

export const touchCells = (touch: Touch, strand: number, cycle: number): Value => {
  const { cause } = touch;
  const by: Cell = 'by' in cause ? cause.by : null;
  const rank: Cell = cause.kind === 'pruning' ? cause.rank : null;
  const word = wordOf(cause);
  const fields: Cell = word === 'replace' ? touch.explains : null;
  // An inserted node's priority is mostly 0: that costs nothing.
  const priority =
    word === 'priority' ? (touch.priority ?? 0) : touch.priority === 0 ? null : (touch.priority ?? null);
  return [
    strand,
    word,
    cycle,
    touch.parent ?? null,
    touch.seals ?? null,
    touch.ttl ?? null,
    touch.expires ?? null,
    priority,
    by,
    rank,
    fields,
  ];
};

type Words = {
  readonly [word: string]: ((by: string | null, rank: number, id: string) => Cause) | undefined;
};

const mutation =
  (op: Extract<Cause, { kind: 'mutation' }>['op']): Words[string] =>
  (by) => ({ kind: 'mutation', op, by });
const removal =
  (why: 'contained' | 'emptied'): Words[string] =>
  (by) => ({
    kind: 'cascade',
    why,
    by: by ?? '',
  });

const CAUSE_OF: Words = {
  start: mutation('start'),
  insert: mutation('insert'),
  replace: mutation('replace'),
  move: mutation('move'),
  carry: mutation('carry'),
  remove: mutation('remove'),
  priority: mutation('priority'),
  import: () => ({ kind: 'import' }),
  seal: (_by, _rank, id) => ({ kind: 'sealing', turn: id }),
  expire: () => ({ kind: 'expiry' }),
  contained: removal('contained'),
  emptied: removal('emptied'),
  prune: (_by, rank) => ({ kind: 'pruning', rule: 'max_blocks', rank }),
  hold: (by) => ({ kind: 'hold', by: by ?? '' }),
};

const CAME = new Set(['start', 'import', 'insert', 'seal']);
const WENT = new Set(['remove', 'expire', 'contained', 'emptied', 'prune']);

const explainsOf = (word: string, fields: Cell): Explains => {
  if (CAME.has(word)) return 'added';
  if (WENT.has(word)) return 'removed';
  if (word === 'replace') return fields as readonly string[];
  if (word === 'move') return ['parent'];
  return word === 'priority' ? ['priority'] : [];
};

/** The touch that a row of `timeline` stands for. */
export const touchOf = ({ key, value }: Row): RecordedTouch => {
  const [, id, seq, index] = key as [string, string, number, number];
  const [strand, word, cycle, parent, seals, ttl, expires, priority, by, rank, fields] = value as [
    number,
    string,
    number,
    string | null,
    number | null,
    number | null,
    number | null,
    number | null,
    string | null,
    number | null,
    Cell,
  ];
  const cause = CAUSE_OF[word]?.(by, rank ?? 0, id);
  if (cause === undefined) throw fail('E_INTERNAL', `a row of timeline says ${word}`);
  const came = CAME.has(word);
  const lies = came || word === 'move';
  const lasts = came || word === 'move' || word === 'carry' || word === 'hold';
  return {
    id,
    seq,
    index,
    strand,
    cycle,
    cause,
    explains: explainsOf(word, fields),
    ...(lies ? { parent, seals } : {}),
    ...(lasts ? { ttl: word === 'hold' ? 0 : ttl, expires } : {}),
    ...(came || word === 'priority' ? { priority: priority ?? 0 } : {}),
  };
};

/** The nodes of a frame's touches, each once, in order. */
export const nodesOf = (touches: readonly Touch[]): readonly string[] => [
  ...new Set(touches.map(({ id }) => id)),
];

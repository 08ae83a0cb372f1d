import { pack, unpack } from '@stemma/canonical';
import type { HeadState, Standing } from '@stemma/log';
import type { RowReader, Table, Value } from '@stemma/row-store';

/* What the projector itself keeps, in one transaction with cursor and rows (record §5). */

/** Where a history stands for the fence. */
export const FENCES: Table = {
  name: 'fences',
  key: [['history', 'text']],
  value: [
    ['next', 'uint'],
    ['prev', 'bytes'],
    ['state', 'text'],
    ['stopped', 'uint'],
  ],
};

/** Where the record of a frame lies, so that payloads are read in place. Not the same on every log. */
export const FRAMES: Table = {
  name: 'frames',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['offset', 'uint']],
  local: true,
};

/** Why a history is defective: the frame and the error; the content that is missing, if that is why. */
export const DEFECTS: Table = {
  name: 'defects',
  key: [['history', 'text']],
  value: [
    ['seq', 'uint'],
    ['code', 'text'],
    ['message', 'text'],
    ['sha256', 'text'],
    ['size', 'uint'],
  ],
};

/** Raise it when the core tables change: generations are then rebuilt. */
export const CORE_VERSION = 1;
export const CORE_TABLES: readonly Table[] = [FENCES, FRAMES, DEFECTS];

/** `open` heads have no state in their row: they are nearly all. */
export const fenceCells = ({ next, prev, state, stopped }: HeadState): Value => [
  next,
  prev,
  state === 'open' ? null : state,
  stopped,
];

export const readFence = (rows: RowReader, history: string): HeadState | undefined => {
  const value = rows.get(FENCES, [history]);
  if (value === undefined) return undefined;
  const [next, prev, state, stopped] = value;
  return {
    next: next as number,
    prev: prev as Uint8Array,
    state: (state ?? 'open') as HeadState['state'],
    stopped: stopped as number | null,
  };
};

/** Where a reader stands, as the row store keeps it. */
export const standingBytes = (standing: Standing): Uint8Array => pack(standing);

export const standingOf = (bytes: Uint8Array): Standing => unpack(bytes) as unknown as Standing;

import { pack, unpack } from '@stemma/canonical';
import type { AcceptedFrame, HeadState, Checkpoint } from '@stemma/log';
import type { RowReader, Rows, Table, Value } from '@stemma/row-store';

/* What the projector itself keeps, in one transaction with cursor and rows (record §5). */

export const FENCES: Table = {
  name: 'fences',
  about:
    'Where a history stands for the fence: the `seq` that its next frame has, the hash of the last one, damaged or defective (null: open), and the `seq` at which it stops being served.',
  key: [['history', 'text']],
  value: [
    ['next', 'uint'],
    ['prev', 'bytes'],
    ['state', 'text'],
    ['stopped', 'uint'],
  ],
};

export const FRAMES: Table = {
  name: 'frames',
  about:
    'The offset of the record of a frame, so that payloads are read in place. Rebuilt with the rest, never compared: it is another on every log.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['offset', 'uint']],
  local: true,
};

export const FRAME_BYTES: Table = {
  name: 'frame_bytes',
  about:
    'The bytes of an accepted frame: kept where payloads are not to be read from the log, which others serve (Kafka).',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['frame', 'bytes']],
};

export const DEFECTS: Table = {
  name: 'defects',
  about: 'Why a history is defective: the frame, the error, and the content that is missing if that is why.',
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
export const CORE_VERSION = 2;
export const CORE_TABLES: readonly Table[] = [FENCES, FRAMES, DEFECTS, FRAME_BYTES];

/** Notes an accepted frame: where it lies, and its bytes if they are to be read from here. */
export const putFrame = (
  rows: Pick<Rows, 'put'>,
  { envelope: { history, seq }, offset, bytes }: AcceptedFrame,
  keepFrames: boolean,
): void => {
  rows.put(FRAMES, [history, seq], [offset]);
  if (keepFrames) rows.put(FRAME_BYTES, [history, seq], [bytes]);
};

/** The bytes of a frame, or the offset of its record in the log; undefined if there is no such frame. */
export const frameAt = (
  rows: RowReader,
  history: string,
  seq: number,
  keepFrames: boolean,
): number | Uint8Array | undefined =>
  rows.get(keepFrames ? FRAME_BYTES : FRAMES, [history, seq])?.[0] as number | Uint8Array | undefined;

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

/** The heads of those histories that have one. */
export const headsOf = (rows: RowReader, histories: readonly string[]): ReadonlyMap<string, HeadState> => {
  const heads = new Map<string, HeadState>();
  for (const history of histories) {
    const head = readFence(rows, history);
    if (head !== undefined) heads.set(history, head);
  }
  return heads;
};

/** Where a reader stands, as the row store keeps it. */
export const checkpointBytes = (checkpoint: Checkpoint): Uint8Array => pack(checkpoint);

export const checkpointOf = (bytes: Uint8Array): Checkpoint => unpack(bytes) as unknown as Checkpoint;

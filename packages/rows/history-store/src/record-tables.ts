import { fail } from '@stemma/errors';
import { defineTable, findRow, putRow } from '@stemma/row-store';
import type { RowReader, Rows, Table } from '@stemma/row-store';

/* What every reader of the log keeps of its records, in one transaction with cursor and rows (record §5). */

/** The newest accepted frame of a history, and whether readers serve the history to its end. */
export type HistoryHead = {
  /** The `seq` that the next frame has, and the SHA-256 of the newest. */
  readonly next: number;
  readonly prev: Uint8Array;
  readonly state: 'open' | 'damaged' | 'defective';
  /** The `seq` at which the history stops being served; null while it is open. */
  readonly stopped: number | null;
};

/** An accepted frame as the log returns it. */
export type RecordedFrame = {
  readonly envelope: { readonly history: string; readonly seq: number };
  readonly offset: number;
  readonly bytes: Uint8Array;
};

export const HISTORY_HEADS = defineTable({
  name: 'history_heads',
  about:
    'The head of a history, which its next frame is checked against: the `seq` of the next frame, the hash of the last one, damaged or defective (null: open), and the `seq` at which readers stop serving it.',
  key: [['history', 'text']],
  value: [
    ['next', 'uint'],
    ['prev', 'bytes'],
    ['state', 'text', 'null'],
    ['stopped', 'uint', 'null'],
  ],
});

export const FRAMES = defineTable({
  name: 'frames',
  about:
    'The offset of the record of a frame, so that payloads are read in place. Rebuilt with the rest, never compared: it is another on every log.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['offset', 'uint']],
  local: true,
  packed: true,
});

export const FRAME_BYTES = defineTable({
  name: 'frame_bytes',
  about:
    'The bytes of an accepted frame: kept where readers must not read payloads from the log, because others serve it (Kafka).',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['frame', 'bytes']],
});

export const DEFECTS = defineTable({
  name: 'defects',
  about: 'Why a history is defective: the frame, the error, and the missing content if that is the reason.',
  key: [['history', 'text']],
  value: [
    ['seq', 'uint'],
    ['code', 'text'],
    ['message', 'text'],
    ['sha256', 'text', 'null'],
    ['size', 'uint', 'null'],
  ],
});

export const RECORD_TABLES: readonly Table[] = [HISTORY_HEADS, FRAMES, DEFECTS, FRAME_BYTES];

/** Writes the row of an accepted frame: its offset, or its bytes if readers read them from here. */
export const putFrame = (
  rows: Pick<Rows, 'put'>,
  { envelope: { history, seq }, offset, bytes }: RecordedFrame,
  keepFrames: boolean,
): void => {
  rows.put(FRAMES, [history, seq], [offset]);
  if (keepFrames) rows.put(FRAME_BYTES, [history, seq], [bytes]);
};

/** The bytes of a frame, or the offset of its record in the log; undefined if there is no such frame. */
export const findFrame = (
  rows: RowReader,
  history: string,
  seq: number,
  keepFrames: boolean,
): number | Uint8Array | undefined => {
  const found = rows.get(keepFrames ? FRAME_BYTES : FRAMES, [history, seq])?.[0];
  if (found === undefined && seq < (readHistoryHead(rows, history)?.next ?? 0))
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack frame ${seq}`, { history, seq });
  return found;
};

/** What {@link findFrame} says of `count` frames from `from` on, by their numbers. */
export const findFrames = (
  rows: RowReader,
  history: string,
  from: number,
  count: number,
  keepFrames: boolean,
): ReadonlyMap<number, number | Uint8Array> => {
  const range = { prefix: [history], from, to: from + count } as const;
  const found: readonly { readonly key: readonly unknown[]; readonly value: readonly unknown[] }[] =
    keepFrames ? rows.range(FRAME_BYTES, range) : rows.range(FRAMES, range);
  return new Map(found.map(({ key, value }) => [key[1] as number, value[0] as number | Uint8Array]));
};

/** Writes the head of a history. `open` heads have no state in their row: they are nearly all. */
export const putHistoryHead = (
  rows: Rows,
  history: string,
  { next, prev, state, stopped }: HistoryHead,
): void =>
  putRow(rows, HISTORY_HEADS, { history, next, prev, state: state === 'open' ? null : state, stopped });

export const readHistoryHead = (rows: RowReader, history: string): HistoryHead | undefined => {
  const row = findRow(rows, HISTORY_HEADS, { history });
  if (row === undefined) return undefined;
  const { next, prev, state, stopped } = row;
  return { next, prev, state: (state ?? 'open') as HistoryHead['state'], stopped };
};

/** The heads of those histories that have one. */
export const readHistoryHeads = (
  rows: RowReader,
  histories: readonly string[],
): ReadonlyMap<string, HistoryHead> => {
  const heads = new Map<string, HistoryHead>();
  for (const history of histories) {
    const head = readHistoryHead(rows, history);
    if (head !== undefined) heads.set(history, head);
  }
  return heads;
};

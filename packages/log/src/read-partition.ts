import { fail } from '@stemma/errors';
import { checkCursor, cursorAtStart } from './cursor.ts';
import { concerned } from './fence.ts';
import { fenceRecords, openRecords } from './fence-records.ts';
import { acknowledge, closedBy, freshPartition } from './partition-state.ts';
import { controlHistory, controlOf } from './partition-of.ts';
import type { EventLog } from './port.ts';
import type { FencedBatch } from './reading-types.ts';
import { openRecord } from './record.ts';
import { openChecked } from './renewed.ts';
import type { Heads, HeadState, PartitionState, Standing } from './standing.ts';

export type ReadPartitionOptions = {
  /** Where to go on; {@link standingAtStart} for the beginning. */
  readonly standing: Standing;
  /**
   * Heads as they are at `standing`. What a batch changed must be in them, or in `remember`, before the next is asked for.
   */
  readonly heads: Heads;
  /** About how many bytes to read at once. Default 1 MiB. */
  readonly maxBytes?: number;
  /** How many records a batch has at the most. */
  readonly maxRecords?: number;
  /** Records at or behind this offset are not read. Default: the end as it is when it is reached. */
  readonly until?: number;
};

/** Where a reader stands that has read nothing. */
export const standingAtStart = async (log: EventLog, partition: number): Promise<Standing> => ({
  cursor: cursorAtStart(log.id, partition, await log.start(partition)),
  state: freshPartition(partition, log.partitions),
});

/**
 * Reads a partition through the fence, from where the reader stands to the end, and ends there or behind a record that
 * closes the partition (`closedBy` of the last standing tells). The cursor is checked first (record §5).
 *
 * @throws E_CURSOR_LOST: rebuild the store. E_VERSION_NEEDED for a control event that this version does not know.
 */
export async function* readPartition(
  log: EventLog,
  options: ReadPartitionOptions,
): AsyncGenerator<FencedBatch> {
  const { heads, until = Infinity, maxRecords = Infinity } = options;
  const { partition } = options.standing.cursor;
  const reading = options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes };
  const checked = openChecked(log);
  await checkCursor(log, options.standing.cursor);
  let standing: Standing | undefined = await opened(log, options.standing, heads);
  while (standing && standing.cursor.offset < until) {
    const { records } = await checked.read(standing.cursor, reading);
    for (let i = 0; i < records.length && standing; i += maxRecords) {
      const part = records.slice(i, i + maxRecords).filter(({ offset }) => offset < until);
      if (part.length === 0) return;
      const batch: FencedBatch & { suspects: readonly number[] } = await fenceSome(part, standing, heads);
      for (const offset of batch.suspects) await refuseDamaged(log, partition, offset);
      yield batch;
      standing = batch.held === null ? batch.standing : await opened(log, batch.standing, heads);
      if (batch.held !== null) break;
    }
    if (records.length === 0) return;
  }
}

const fenceSome = async (
  records: Parameters<typeof openRecords>[0],
  standing: Standing,
  heads: Heads,
): Promise<ReturnType<typeof fenceRecords>> => {
  const { opened, histories } = openRecords(records);
  return fenceRecords(opened, standing, await heads.load(histories));
};

/** The standing to go on from, or undefined if the partition stays closed: nobody acknowledged the damage (record §2). */
const opened = async (log: EventLog, standing: Standing, heads: Heads): Promise<Standing | undefined> => {
  const closed = closedBy(standing.state);
  if (!closed) return standing;
  const { acknowledged } = (await readControl(log, standing, heads)).state;
  if (!acknowledged.includes(closed.offset)) return undefined;
  return { ...standing, state: acknowledge(standing.state, closed.offset) };
};

/** Where the control histories of a partition stand at the log's end, whatever closes it to others. */
export type ControlStanding = {
  readonly state: PartitionState;
  readonly heads: ReadonlyMap<string, HeadState>;
  /** The offset behind what was read. */
  readonly end: number;
};

/** Reads on for `log:P` alone, which is read even behind a record that closes the partition (record §2). */
export const readControl = async (
  log: EventLog,
  standing: Standing,
  heads: Heads,
): Promise<ControlStanding> => {
  const { partition, offset } = standing.cursor;
  const names = Array.from({ length: standing.state.control + 1 }, (_, n) => controlHistory(partition, n));
  const known = new Map(await heads.load(names));
  // Damage that closes the partition is not looked at here: it does not concern log:P.
  let at: Standing = {
    ...standing,
    state: { ...standing.state, damage: standing.state.damage.filter(isOurs) },
  };
  for (let from = offset; ;) {
    const { records, next } = await log.read(partition, from);
    const ours = records.filter((record) => {
      const history = concerned(record, openRecord(record.bytes));
      const control = history === null ? undefined : controlOf(history);
      return control?.partition === partition && control.n <= at.state.control + 1;
    });
    for (const record of ours) {
      const batch = fenceRecords(openRecords([record]).opened, at, known);
      for (const [history, head] of batch.heads) known.set(history, head);
      at = {
        ...batch.standing,
        state: { ...batch.standing.state, damage: batch.standing.state.damage.filter(isOurs) },
      };
    }
    if (records.length === 0 || next <= from) return { state: at.state, heads: known, end: from };
    from = next;
  }
};

const isOurs = ({ anybodys }: { anybodys: boolean }): boolean => !anybodys;

const refuseDamaged = async (log: EventLog, partition: number, offset: number): Promise<void> => {
  const [record] = (await log.read(partition, offset, { maxBytes: 1 })).records;
  const open = record && openRecord(record.bytes);
  if (record && open && !record.damaged && open.envelope.history === record.key) return;
  throw fail(
    'E_CURSOR_LOST',
    `the record ${partition}@${offset} was good when it was read and is damaged now: what came of it must be rebuilt`,
    { partition, offset },
  );
};

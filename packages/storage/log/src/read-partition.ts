import { fail } from '@stemma/errors';
import { concernedHistory } from './check-record.ts';
import { checkRecords, openRecords } from './check-records.ts';
import type { Checkpoint, Heads, HeadState, PartitionState } from './checkpoint.ts';
import { cursorAtStart } from './cursor.ts';
import { controlHistory, controlOf } from './partition-of.ts';
import { acknowledge, closedBy, freshPartition } from './partition-state.ts';
import type { EventLog } from './port.ts';
import type { CheckedBatch } from './reading-types.ts';
import { openRecord } from './record.ts';
import { openRevalidatingReader, type RevalidatingReader } from './revalidating-reader.ts';

export type ReadPartitionOptions = {
  /** Where to start; {@link checkpointAtStart} for the beginning. */
  readonly checkpoint: Checkpoint;
  /**
   * Heads as of `checkpoint`. They, or `remember`, must hold what a batch changed before the next batch is requested.
   */
  readonly heads: Heads;
  /**
   * Of this log and partition. Given to one call after another, it checks the checkpoint of the first alone, as long as
   * each goes on where the one before it ended. Default: a new one.
   */
  readonly reader?: RevalidatingReader;
  /** About how many bytes to read at once; asked before each read. Default, also for undefined: 1 MiB. */
  readonly maxBytes?: () => number | undefined;
  /** The most records that a batch has; asked before each batch. Default, also for undefined: all that were read at once. */
  readonly maxRecords?: () => number | undefined;
  /** Records at or after this offset are not read. Default: the end of the log when it is reached. */
  readonly until?: number;
};

/** The checkpoint of a reader that has read nothing. */
export const checkpointAtStart = async (log: EventLog, partition: number): Promise<Checkpoint> => ({
  cursor: cursorAtStart(log.id, partition, await log.start(partition)),
  state: freshPartition(partition, log.partitions),
});

/**
 * The checked records of a partition in batches, from a checkpoint to the end or to a record that closes the partition
 * (then `closedBy` of the last checkpoint returns the damage). The cursor is checked first, unless `reader` has come to it (record §5).
 *
 * @throws E_CURSOR_LOST: rebuild the store. E_VERSION_NEEDED for a control event that this version does not know.
 */
export async function* readPartition(
  log: EventLog,
  options: ReadPartitionOptions,
): AsyncGenerator<CheckedBatch> {
  const { heads, until = Infinity } = options;
  const { partition } = options.checkpoint.cursor;
  const { reader = openRevalidatingReader(log, partition) } = options;
  await reader.begin(options.checkpoint.cursor);
  let checkpoint: Checkpoint | undefined = await opened(log, options.checkpoint, heads);
  while (checkpoint && checkpoint.cursor.offset < until) {
    const maxBytes = options.maxBytes?.();
    const reading = maxBytes === undefined ? {} : { maxBytes };
    const { records } = await reader.read(checkpoint.cursor, reading);
    for (let from = 0; from < records.length && checkpoint;) {
      const to = from + (options.maxRecords?.() ?? Infinity);
      const part = records.slice(from, to).filter(({ offset }) => offset < until);
      from = to;
      if (part.length === 0) return;
      const batch: CheckedBatch & { suspects: readonly number[] } = await checkSome(part, checkpoint, heads);
      for (const offset of batch.suspects) await refuseDamaged(log, partition, offset);
      reader.reached(batch.checkpoint.cursor);
      yield batch;
      checkpoint = batch.held === null ? batch.checkpoint : await opened(log, batch.checkpoint, heads);
      if (batch.held !== null) break;
    }
    if (records.length === 0) return;
  }
}

const checkSome = async (
  records: Parameters<typeof openRecords>[0],
  checkpoint: Checkpoint,
  heads: Heads,
): Promise<ReturnType<typeof checkRecords>> => {
  const { opened, histories } = openRecords(records);
  return checkRecords(opened, checkpoint, await heads.load(histories));
};

/**
 * The checkpoint, with every acknowledgement in the log if damage closes the partition: those for damage that comes
 * later, too, so that the log's end is not read once for each (record §2).
 */
export const withAcknowledgements = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
): Promise<Checkpoint> => {
  if (!closedBy(checkpoint.state)) return checkpoint;
  const { acknowledged } = (await readControl(log, checkpoint, heads)).state;
  return { ...checkpoint, state: acknowledge(checkpoint.state, acknowledged) };
};

/** The checkpoint to continue from, or undefined if the partition stays closed because nobody acknowledged the damage. */
const opened = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
): Promise<Checkpoint | undefined> => {
  const next = await withAcknowledgements(log, checkpoint, heads);
  return closedBy(next.state) ? undefined : next;
};

/**
 * The heads of a partition's control histories at the log's end, even if damage closes the partition to other readers.
 */
export type ControlState = {
  readonly state: PartitionState;
  readonly heads: ReadonlyMap<string, HeadState>;
  /** The offset after the last record read. */
  readonly end: number;
};

/** Reads `log:P` alone to the end, even past a record that closes the partition (record §2). */
export const readControl = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
): Promise<ControlState> => {
  const { partition, offset } = checkpoint.cursor;
  const names = Array.from({ length: checkpoint.state.control + 1 }, (_, n) => controlHistory(partition, n));
  const known = new Map(await heads.load(names));
  // Damage that closes the partition is ignored: it does not concern log:P.
  let at: Checkpoint = {
    ...checkpoint,
    state: { ...checkpoint.state, damage: checkpoint.state.damage.filter(isOurs) },
  };
  for (let from = offset; ;) {
    const { records, next } = await log.read(partition, from);
    const ours = records
      .map((record) => ({ record, open: openRecord(record.bytes) }))
      .filter(({ record, open }) => {
        const history = concernedHistory(record, open);
        return history !== null && controlOf(history)?.partition === partition;
      });
    const { heads: changed, checkpoint: reached } = checkRecords(ours, at, known, { passesDamage: true });
    for (const [history, head] of changed) known.set(history, head);
    at = { ...reached, state: { ...reached.state, damage: reached.state.damage.filter(isOurs) } };
    if (records.length === 0 || next <= from) return { state: at.state, heads: known, end: from };
    from = next;
  }
};

const isOurs = ({ affectsWholePartition }: { affectsWholePartition: boolean }): boolean =>
  !affectsWholePartition;

const refuseDamaged = async (log: EventLog, partition: number, offset: number): Promise<void> => {
  const [record] = (await log.read(partition, offset, { maxBytes: 1 })).records;
  const open = record && openRecord(record.bytes);
  if (record && open && !record.damaged && open.envelope.history === record.key) return;
  throw fail(
    'E_CURSOR_LOST',
    `the record ${partition}@${offset} was good when it was first read and is damaged now: rebuild what was derived from it`,
    { partition, offset },
  );
};

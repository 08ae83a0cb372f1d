import { fail } from '@stemma/errors';
import { checkRecords, historiesOf, openRecords, type CheckedRecords } from '../check-records.ts';
import type { Checkpoint, Damage, Heads, HeadState } from '../checkpoint.ts';
import { cursorAtStart, type Opened } from '../cursor.ts';
import { controlHistory } from '../partition-of.ts';
import { closedBy, freshPartition } from '../partition-state.ts';
import type { EventLog, LogRecord } from '../port.ts';
import { withAcknowledgements } from '../read-partition.ts';
import { nearIn } from '../read-back.ts';
import { openRevalidatingReader } from '../revalidating-reader.ts';
import { openRecentRecords, type RecentRecords } from './recent-records.ts';
import type { Domain } from './types.ts';

/**
 * What a writer has read of a partition: a checkpoint, and the heads of the control histories and of those it writes
 * to. It skips frames of other histories, so it needs no other heads.
 */
export type PartitionReader = {
  readonly checkpoint: () => Checkpoint;
  /** The damage that closes the partition to writers, or null. */
  readonly closed: () => Damage | null;
  /**
   * The records after the checkpoint, of a log that is intact: they may answer commands.
   *
   * @throws E_CURSOR_LOST if records that were read before are gone; E_LOG_MISMATCH
   */
  readonly read: () => Promise<readonly LogRecord[]>;
  /** True unless a connection was made anew: then only what was read again counts. */
  readonly holds: () => boolean;
  /** Checks the records after the checkpoint (record §2) and moves the checkpoint after them. */
  readonly check: (records: readonly LogRecord[]) => Promise<CheckedRecords>;
  /** The same for records that are open already, as those are that were made here. */
  readonly checkOpened: (opened: readonly Opened[]) => Promise<CheckedRecords>;
  readonly head: (history: string) => HeadState | undefined;
  /** The heads of the control histories, as of the checkpoint. */
  readonly controlHeads: Heads;
  /** Keeps the head of this history from now on; the head is as of `asOf`. */
  readonly follow: (history: string, head: HeadState, asOf: number) => void;
  readonly forget: (history: string) => void;
  /** The offsets of the records of a history from an offset to the checkpoint; undefined if not all of them are in memory. */
  readonly recent: RecentRecords['of'];
};

const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** A reader at the checkpoint of the rows. @throws E_CURSOR_LOST */
export const openPartitionReader = async <C>(
  log: EventLog,
  domain: Domain<C>,
  partition: number,
): Promise<PartitionReader> => {
  const initial = await initialCheckpoint(domain, partition);
  const revalidating = openRevalidatingReader(log, partition);
  await revalidating.begin(initial.checkpoint.cursor);
  let checkpoint = await withAcknowledgements(log, initial.checkpoint, { load: () => initial.heads });
  const heads = new Map(initial.heads);
  const since = new Map<string, number>();
  const recent = openRecentRecords(checkpoint.cursor.offset);

  const checkOpened = async (opened: readonly Opened[]): Promise<CheckedRecords> => {
    // What is known of other histories is not looked at: the writer may follow thousands.
    const known = new Map<string, HeadState>();
    const from = new Map<string, number>();
    for (const history of historiesOf(opened)) {
      const head = heads.get(history);
      const newer = since.get(history);
      if (head !== undefined) known.set(history, head);
      else if (!isControl(history)) from.set(history, EVERYTHING);
      if (newer !== undefined) from.set(history, newer);
    }
    for (const { record, open } of opened) {
      if (open || record.key === null || heads.has(record.key)) continue;
      const head = await headBefore(log, domain, partition, record.key, record.offset);
      if (head) known.set(record.key, head);
    }
    const batch = checkRecords(opened, checkpoint, known, { since: from });
    for (const [history, head] of batch.heads)
      if (!from.has(history) || since.has(history)) heads.set(history, head);
    checkpoint = batch.checkpoint;
    recent.add(opened, checkpoint.cursor.offset);
    revalidating.reached(checkpoint.cursor);
    return batch;
  };

  const isControl = (history: string): boolean => history.startsWith('log:');
  return {
    checkpoint: () => checkpoint,
    closed: () => closedBy(checkpoint.state),
    read: async () => {
      const { records } = await revalidating.read(checkpoint.cursor);
      if (records.length > 0) await log.checkIntact?.();
      return records;
    },
    holds: revalidating.holds,
    check: (records) => checkOpened(openRecords(records).opened),
    checkOpened,
    head: (history) => heads.get(history),
    controlHeads: { load: () => new Map([...heads].filter(([history]) => isControl(history))) },
    follow: (history, head, asOf) => {
      heads.set(history, head);
      if (asOf > checkpoint.cursor.offset) since.set(history, asOf);
    },
    forget: (history) => {
      heads.delete(history);
      since.delete(history);
    },
    recent: recent.of,
  };
};

/** The checkpoint of the rows, with the heads of the control histories at the same offset. */
const initialCheckpoint = async <C>(
  domain: Domain<C>,
  partition: number,
): Promise<{ checkpoint: Checkpoint; heads: ReadonlyMap<string, HeadState> }> => {
  for (let tries = 0; tries < 100; tries++) {
    const checkpoint = await domain.checkpoint(partition);
    const names = Array.from({ length: checkpoint.state.control + 1 }, (_, n) =>
      controlHistory(partition, n),
    );
    const { asOf, heads } = await domain.heads(partition, names);
    if (asOf === checkpoint.cursor.offset) return { checkpoint, heads };
  }
  throw fail('E_BUSY', 'the rows change faster than they can be read');
};

/** The head of a history that the writer does not follow, at an offset: needed for damage under its key. */
const headBefore = async <C>(
  log: EventLog,
  domain: Domain<C>,
  partition: number,
  history: string,
  offset: number,
): Promise<HeadState | undefined> => {
  const { asOf, heads } = await domain.heads(partition, [history]);
  // Rows past the damage have closed the history if it was unknown; its `next` is then still 0.
  return scanHead(log, partition, history, heads.get(history), asOf, offset);
};

/**
 * Refuses a partition that cannot be written.
 *
 * @throws E_PARTITION_CLOSED if damage closes it
 */
export const refuseUnwritable = ({ cursor: { partition }, state }: Checkpoint): void => {
  const closed = closedBy(state);
  if (closed)
    throw fail(
      'E_PARTITION_CLOSED',
      `the damaged record ${partition}@${closed.offset} may belong to any history`,
      { partition, offset: closed.offset },
    );
};

/**
 * The head of one history at the offset `to`, from its head at `from` and the records between.
 *
 * @param each gets each checked batch of the history's records.
 * @throws E_BUSY if the log does not return all of the records between.
 */
export const scanHead = async (
  log: EventLog,
  partition: number,
  history: string,
  head: HeadState | undefined,
  from: number,
  to: number,
  each: (batch: CheckedRecords) => Promise<void> = async () => undefined,
): Promise<HeadState | undefined> => {
  let current = head;
  for (let at = from; at < to;) {
    const { records, next } = await log.read(partition, at);
    const ours = openRecords(records.filter(({ offset }) => offset < to));
    const opened = ours.opened.filter(
      ({ record, open }) => (open ? open.envelope.history : record.key) === history,
    );
    const batch = judge(log, partition, history, current, at, opened);
    await each(batch);
    current = batch.heads.get(history) ?? current;
    // The reader was at `to` already: a log that does not return these records must not count as empty.
    if (records.length === 0 || next <= at)
      throw fail('E_BUSY', `partition ${partition} does not return the records between ${at} and ${to} now`);
    at = next;
  }
  return current;
};

/** The same of records whose offsets are known: nothing else is read that lies far from them. */
export const headOver = async (
  log: EventLog,
  partition: number,
  history: string,
  head: HeadState | undefined,
  offsets: readonly number[],
  each: (batch: CheckedRecords) => Promise<void>,
): Promise<HeadState | undefined> => {
  let current = head;
  for (let i = 0; i < offsets.length;) {
    const at = offsets[i] as number;
    const isNear = (offsets[i + 1] ?? Infinity) - at <= nearIn(log);
    const { records } = await log.read(partition, at, isNear ? {} : { maxBytes: 1 });
    const wanted = records.filter(({ offset }) => offset === offsets[i] && ++i);
    if (wanted.length === 0)
      throw fail('E_BUSY', `partition ${partition} does not return the record at ${at} now`);
    const batch = judge(log, partition, history, current, at, openRecords(wanted).opened);
    await each(batch);
    current = batch.heads.get(history) ?? current;
  }
  return current;
};

/** What records of one history come to, from its head before them. */
const judge = (
  { id, partitions }: Pick<EventLog, 'id' | 'partitions'>,
  partition: number,
  history: string,
  head: HeadState | undefined,
  at: number,
  opened: readonly Opened[],
): CheckedRecords => {
  const checkpoint: Checkpoint = {
    cursor: cursorAtStart(id, partition, at),
    state: freshPartition(partition, partitions),
  };
  return checkRecords(opened, checkpoint, head ? new Map([[history, head]]) : new Map());
};

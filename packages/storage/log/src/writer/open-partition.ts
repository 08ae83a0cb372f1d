import { isStemmaError } from '@stemma/errors';
import type { CheckedRecords } from '../check-records.ts';
import type { EventLog } from '../port.ts';
import type { ContentSource } from '../read-frame.ts';
import { openPartitionReader, refuseUnwritable, type PartitionReader } from './partition-reader.ts';
import { confirm, retry, type PendingCommands } from './pending-commands.ts';
import { observe, openSessionCache, type SessionCache } from './sessions.ts';
import type { WriterOptions } from './types.ts';

/** What a writer knows of a partition as of the reader's checkpoint. */
export type OpenPartition<C> = {
  readonly reader: PartitionReader;
  readonly sessions: SessionCache<C>;
  readonly contents: ContentSource;
  readonly commands: PendingCommands<C>;
};

/**
 * The partition, read to the end of the log. It is opened again if the reader of `known` does not hold, or if damage
 * closes it, which may have been acknowledged meanwhile.
 *
 * @throws E_PARTITION_CLOSED, E_CURSOR_LOST; E_LOG_MISMATCH if what is written could not be read again
 */
export const openOrCatchUp = async <C>(
  log: EventLog,
  commands: PendingCommands<C>,
  options: WriterOptions<C>,
  known: OpenPartition<C> | null,
): Promise<OpenPartition<C>> => {
  await log.checkIntact?.();
  if (known && !known.reader.closed()) {
    if (!known.reader.holds()) await readOn(known);
    return known;
  }
  const reader = await openPartitionReader(log, options.domain, commands.partition);
  const sessions: SessionCache<C> = openSessionCache(log, reader, () => readOn(partition), options);
  const partition: OpenPartition<C> = { reader, sessions, contents: options.contents, commands };
  await readOn(partition);
  refuseUnwritable(reader.checkpoint());
  return partition;
};

/** Reads to the end of the log and applies the new records. True if there were any. */
export const readOn = async <C>(partition: OpenPartition<C>): Promise<boolean> => {
  const { reader } = partition;
  const before = reader.checkpoint().cursor.offset;
  for (;;) {
    const records = await reader.read();
    if (records.length === 0 || reader.closed()) return reader.checkpoint().cursor.offset !== before;
    await takeIn(partition, await reader.check(records));
  }
};

/** Like {@link readOn}; a log that cannot be read just now counts as one without new records. */
export const tryReadingOn = async <C>(partition: OpenPartition<C>): Promise<void> => {
  const before = partition.reader.checkpoint().cursor.offset;
  try {
    await readOn(partition);
  } catch (error) {
    const moved = partition.reader.checkpoint().cursor.offset !== before;
    if (moved || isStemmaError(error, 'E_CURSOR_LOST') || isStemmaError(error, 'E_LOG_MISMATCH')) throw error;
  }
};

/** Gives accepted frames to the sessions of their histories, and answers commands whose outcome they show. */
export const takeIn = async <C>(
  { sessions, contents, commands }: OpenPartition<C>,
  { accepted }: CheckedRecords,
): Promise<void> => {
  for (const frame of accepted) {
    const { history } = frame.envelope;
    const session = sessions.get(history);
    if (!session) continue;
    const { confirmed, overtaken } = await observe(session, frame, contents);
    if (confirmed) confirm(commands, confirmed, frame);
    if (overtaken.length > 0) retry(commands, history, overtaken);
  }
};

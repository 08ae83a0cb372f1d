import { fail } from '@stemma/errors';
import { checkRecords, openRecords, type CheckedRecords } from '../check-records.ts';
import type { Checkpoint, HeadState } from '../checkpoint.ts';
import { cursorAtStart } from '../cursor.ts';
import { freshPartition } from '../partition-state.ts';
import type { EventLog } from '../port.ts';

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
    const checkpoint: Checkpoint = {
      cursor: cursorAtStart(log.id, partition, at),
      state: freshPartition(partition, log.partitions),
    };
    const batch = checkRecords(opened, checkpoint, current ? new Map([[history, current]]) : new Map());
    await each(batch);
    current = batch.heads.get(history) ?? current;
    // The reader was at `to` already: a log that does not return these records must not count as empty.
    if (records.length === 0 || next <= at)
      throw fail(
        'E_BUSY',
        `partition ${partition} does not give the records between ${at} and ${to} just now`,
      );
    at = next;
  }
  return current;
};

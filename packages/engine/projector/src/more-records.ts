import { progressGuard, type Checkpoint, type EventLog } from '@stemma/log';
import { anySignal } from '@stemma/machine';
import { isClosed } from './checkpoint.ts';

/** Milliseconds after which one that follows looks at its rows though nothing has come: readers throw damaged rows away. */
const LOOK_AGAIN = 5_000;

/** Waits for records after the rows; called once a round. @throws E_BUSY if the log has them but returns none */
export const moreRecords = (
  log: EventLog,
  partition: number,
  checkpoint: (partition: number) => Promise<Checkpoint | undefined>,
): ((signal: AbortSignal) => Promise<void>) => {
  const round = progressGuard(`the log has records of partition ${partition} after the rows`);
  let last = -1;
  /** The log's end when the last wait in a closed partition was over: the rows have been caught up with that since. */
  let lastEnd = 0;
  return async (signal) => {
    const at = await checkpoint(partition);
    // After damage that closes the partition only an acknowledgement helps, and that is appended at the end.
    const from = isClosed(at) ? lastEnd : (at?.cursor.offset ?? 0);
    // Waits also end without a reason: only one for records that are there already counts.
    if (from === last && (await log.end(partition)) > from) round(from);
    last = from;
    await log.wait(partition, from, anySignal([signal, AbortSignal.timeout(LOOK_AGAIN)]));
    if (isClosed(at)) lastEnd = await log.end(partition);
  };
};

import { fail } from '@stemma/errors';
import {
  checkpointAtStart,
  readPartition,
  type AcceptedFrame,
  type EventLog,
  type HeadState,
} from '@stemma/log';

/**
 * Every accepted frame of some partitions of a log (default: of all) but the control frames, in order.
 *
 * @param heads gets the heads of the histories
 * @throws E_PARTITION_CLOSED
 */
export async function* acceptedFrames(
  log: EventLog,
  heads: Map<string, HeadState>,
  partitions: Iterable<number> = Array(log.partitions).keys(),
): AsyncGenerator<readonly AcceptedFrame[]> {
  for (const partition of partitions) {
    const known = new Map<string, HeadState>();
    const checkpoint = await checkpointAtStart(log, partition);
    for await (const batch of readPartition(log, { checkpoint, heads: { load: () => known } })) {
      for (const [history, head] of batch.heads) {
        known.set(history, head);
        if (!history.startsWith('log:')) heads.set(history, head);
      }
      yield batch.accepted.filter(({ control }) => !control);
      if (batch.held !== null)
        throw fail(
          'E_PARTITION_CLOSED',
          `the damaged record ${partition}@${batch.held} may belong to any history: nothing after it can be copied`,
          { partition, offset: batch.held },
        );
    }
  }
}

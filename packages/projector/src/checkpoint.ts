import { pack, unpack } from '@stemma/canonical';
import { closedBy, type Checkpoint, type EventLog } from '@stemma/log';

/** The bytes of a reader's checkpoint, as the row store keeps them. */
export const encodeCheckpoint = (checkpoint: Checkpoint): Uint8Array => pack(checkpoint);

export const decodeCheckpoint = (bytes: Uint8Array): Checkpoint => unpack(bytes) as unknown as Checkpoint;

/** True if damage closes the partition at the checkpoint until somebody acknowledges it. */
export const isClosed = (checkpoint: Checkpoint | undefined): boolean =>
  checkpoint !== undefined && closedBy(checkpoint.state) !== null;

/**
 * The offset to wait at for more than the rows have (`EventLog.wait`). After damage that closes the partition only an
 * acknowledgement helps, and that is appended at the end: what lies before it is not waited for.
 */
export const offsetToAwait = async (
  log: Pick<EventLog, 'end'>,
  partition: number,
  checkpoint: Checkpoint | undefined,
): Promise<number> => (isClosed(checkpoint) ? log.end(partition) : (checkpoint?.cursor.offset ?? 0));

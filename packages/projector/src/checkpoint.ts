import { pack, unpack } from '@stemma/canonical';
import { closedBy, type Checkpoint } from '@stemma/log';

/** The bytes of a reader's checkpoint, as the row store keeps them. */
export const encodeCheckpoint = (checkpoint: Checkpoint): Uint8Array => pack(checkpoint);

export const decodeCheckpoint = (bytes: Uint8Array): Checkpoint => unpack(bytes) as unknown as Checkpoint;

/** True if damage closes the partition at the checkpoint until somebody acknowledges it. */
export const isClosed = (checkpoint: Checkpoint | undefined): boolean =>
  checkpoint !== undefined && closedBy(checkpoint.state) !== null;

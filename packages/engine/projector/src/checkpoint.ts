import { pack, unpack } from '@stemma/canonical';
import { closedBy, type Checkpoint } from '@stemma/log';

/** The bytes of a reader's checkpoint, as the row store keeps them. */
export const encodeCheckpoint = (checkpoint: Checkpoint): Uint8Array => pack(checkpoint);

export const decodeCheckpoint = (bytes: Uint8Array): Checkpoint => unpack(bytes) as unknown as Checkpoint;

/** The same checkpoint for rows that have changed without it: a commit that began before it is refused. */
export const withNextRevision = (bytes: Uint8Array): Uint8Array => {
  const checkpoint = decodeCheckpoint(bytes) as Checkpoint & { readonly revision?: number };
  return pack({ ...checkpoint, revision: (checkpoint.revision ?? 0) + 1 });
};

/** True if damage closes the partition at the checkpoint until somebody acknowledges it. */
export const isClosed = (checkpoint: Checkpoint | undefined): boolean =>
  checkpoint !== undefined && closedBy(checkpoint.state) !== null;

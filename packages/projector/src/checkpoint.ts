import { pack, unpack } from '@stemma/canonical';
import type { Checkpoint } from '@stemma/log';

/** The bytes of a reader's checkpoint, as the row store keeps them. */
export const encodeCheckpoint = (checkpoint: Checkpoint): Uint8Array => pack(checkpoint);

export const decodeCheckpoint = (bytes: Uint8Array): Checkpoint => unpack(bytes) as unknown as Checkpoint;

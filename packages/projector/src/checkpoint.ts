import { pack, unpack } from '@stemma/canonical';
import type { Checkpoint } from '@stemma/log';

/** The checkpoint of a reader, as the row store keeps it. */
export const encodeCheckpoint = (checkpoint: Checkpoint): Uint8Array => pack(checkpoint);

export const decodeCheckpoint = (bytes: Uint8Array): Checkpoint => unpack(bytes) as unknown as Checkpoint;

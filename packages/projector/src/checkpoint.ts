import { pack, unpack } from '@stemma/canonical';
import type { Standing } from '@stemma/log';

/** Where a reader stands, as the row store keeps it. */
export const standingBytes = (standing: Standing): Uint8Array => pack(standing);

export const standingOf = (bytes: Uint8Array): Standing => unpack(bytes) as unknown as Standing;

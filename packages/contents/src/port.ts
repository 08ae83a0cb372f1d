import type { ContentRef } from '@stemma/canonical';

/** One content may be this long at the most (record §4). */
export const MAX_CONTENT_BYTES = 64 * 1024 * 1024;

/** Contents by their SHA-256. What is given back is what was put in, or an error. */
export type ContentStore = {
  /**
   * Stores bytes durably before it resolves; equal bytes are stored once, and a stored one is verified before it is trusted.
   *
   * @throws E_CONTENT_TOO_LARGE above 64 MiB, E_CONTENT_DAMAGED if other bytes lie under that hash, E_IO.
   */
  put(bytes: Uint8Array): Promise<ContentRef>;
  /** @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED (length or hash differs), E_IO */
  get(ref: ContentRef): Promise<Uint8Array>;
  /** Every stored content with its length, in the order of the hashes; unverified. */
  list(): AsyncIterable<ContentRef>;
  close(): Promise<void>;
};

import type { ContentRef } from '@stemma/canonical';

/** The most bytes of one content (record §4). */
export const MAX_CONTENT_BYTES = 64 * 1024 * 1024;

/** Contents by their SHA-256. `get` returns the stored bytes or throws. */
export type ContentStore = {
  /**
   * Stores bytes; resolves when they are durable. Equal bytes are stored once, and bytes that are already stored are
   * verified first.
   *
   * @throws E_CONTENT_TOO_LARGE above 64 MiB, E_CONTENT_DAMAGED if other bytes are stored under that hash, E_IO.
   */
  put(bytes: Uint8Array): Promise<ContentRef>;
  /** @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED (length or hash differs), E_IO */
  get(ref: ContentRef): Promise<Uint8Array>;
  /** Those that are not stored with their length; nothing is read, so bytes that were altered are not noticed. @throws E_IO */
  missing(refs: readonly ContentRef[]): Promise<readonly ContentRef[]>;
  /** Every stored content with its length, in the order of the hashes; unverified. */
  list(): AsyncIterable<ContentRef>;
  close(): Promise<void>;
};

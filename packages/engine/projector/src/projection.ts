import type { Checkpoint } from '@stemma/log';
import type { ReadModel } from '@stemma/read-models';
import type { GenerationView } from '@stemma/row-store';
import type { Payloads } from './payloads.ts';

/** Rows that a home reads, written by this process or another. */
export type Projection = {
  /**
   * The result of `fn` on one consistent state of the current rows; `fn` is synchronous and may be called again (see
   * `Generation`). Damaged rows are built again, and `fn` is called on those; rows of other processes throw E_ROWS_DAMAGED.
   */
  read<T>(fn: (view: GenerationView) => T): Promise<T>;
  readonly payloads: Payloads;
  /**
   * The number of frames of a history that are folded into a read model when somebody reads its rows. Not there: none ever.
   */
  lacking?(history: string, model: ReadModel): Promise<number>;
  /** True if each read takes requests over a network. */
  readonly isRemote?: boolean;
  /** The number of partitions of the log. */
  readonly partitions: number;
  /** The checkpoint of the rows; undefined before the first commit. */
  checkpoint(partition: number): Promise<Checkpoint | undefined>;
  /**
   * Resolves when the rows have what is in the log now, in one partition or in all, except after damage.
   *
   * @throws E_CURSOR_LOST: rebuild. E_VERSION_NEEDED. E_IO. Rows of other processes: E_ROWS_BEHIND.
   */
  catchUp(partition?: number): Promise<void>;
  /**
   * Resolves when the rows are at `offset` or after it, so that the caller can read what it has written.
   *
   * @throws E_PARTITION_CLOSED if damage keeps them from getting there, E_CANCELLED, and as `catchUp`
   */
  waitFor(
    position: { readonly partition: number; readonly offset: number },
    signal: AbortSignal,
  ): Promise<void>;
};

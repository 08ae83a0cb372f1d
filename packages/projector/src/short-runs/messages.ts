import type { ErrorCode, ErrorDetail } from '@stemma/errors';
import type { ExitGate } from '@stemma/machine';
import type { LogRecord } from '@stemma/log';
import type { RowsAddress } from '@stemma/row-store';
import type { BatchLimits, Progress } from '../run-partition.ts';
import type { SentModels } from '../sent-models.ts';

/** What the thread is started with. */
export type RunThreadOptions = SentModels & {
  readonly rows: RowsAddress;
  readonly limits: BatchLimits;
  readonly log: { readonly id: string; readonly partitions: number };
  readonly cacheBytes: number;
  readonly gate: ExitGate;
};

/** A run of a partition to an offset that a record begins at or that was the log's end. */
export type ShortRun = {
  readonly partition: number;
  readonly until: number;
  /** The records after the rows, as far as they were read at once. */
  readonly first: SentRecords;
};

/** Records as they are sent: their bytes stand one after the other. */
export type SentRecords = {
  readonly from: number;
  readonly next: number;
  readonly bytes: Uint8Array;
  readonly records: readonly (Omit<LogRecord, 'bytes'> & { readonly length: number })[];
  /** The log's epoch when they were read. */
  readonly epoch: number;
};

/** What the thread has others read. */
export type ThreadQuestion =
  | {
      readonly kind: 'records';
      readonly partition: number;
      readonly from: number;
      readonly maxBytes: number | undefined;
    }
  | { readonly kind: 'bounds'; readonly partition: number }
  | { readonly kind: 'content'; readonly sha256: string; readonly size: number };

export type ThreadFailure = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly detail: ErrorDetail;
};

export type ThreadAnswer =
  | { readonly kind: 'records'; readonly records: SentRecords }
  | { readonly kind: 'bounds'; readonly start: number; readonly end: number }
  | { readonly kind: 'content'; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly failure: ThreadFailure };

export type ToThread =
  | { readonly kind: 'open' }
  | { readonly kind: 'run'; readonly id: number; readonly run: ShortRun }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: ThreadAnswer }
  | { readonly kind: 'close' };

export type FromThread =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'committed'; readonly progress: Progress }
  /** The offset of the rows now; null: something was not as usual, and is left to whoever started the thread. */
  | { readonly kind: 'ran'; readonly id: number; readonly offset: number | null }
  | { readonly kind: 'ask'; readonly id: number; readonly question: ThreadQuestion }
  | { readonly kind: 'closed' };

import type { WireError } from '@stemma/errors';
import type { ExitGate } from '@stemma/machine';
import type { EventLog } from '@stemma/log';
import type { BatchLimits, Progress } from '@stemma/projector';
import type { RowsAddress } from '@stemma/row-store';
import type { SentModels } from '../sent-models.ts';
import type { FoldedPart } from '../workers/part-folder.ts';
import type { Committed, LongRun, PartitionRunEnd } from '../workers/run-in-workers.ts';
import type { SentPart } from '../workers/sent-part.ts';

/** What the thread is started with. */
export type RunThreadOptions = SentModels & {
  readonly rows: RowsAddress;
  readonly limits: BatchLimits;
  readonly log: Pick<EventLog, 'id' | 'partitions' | 'isRemote'>;
  readonly cacheBytes: number;
  readonly gate: ExitGate;
  /** Threads that fold long runs for it; 0: it folds short runs itself. */
  readonly foldThreads: number;
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
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of each record: offset, next, length, and what is true of it (`sent-log.ts`). */
  readonly heads: Float64Array<ArrayBuffer>;
  readonly keys: readonly (string | null)[];
  /** The log's epoch when they were read. */
  readonly epoch: number;
  /** Histories among them of which the thread must know something. */
  readonly described: readonly DescribedHistory[];
};

/** A history of which a thread must know something that it cannot find out. */
export type DescribedHistory = {
  readonly history: string;
  /** Whether its frames are sealed. */
  readonly sealed: boolean;
  /** The read models on demand that are folded with every frame. */
  readonly eager: readonly string[];
};

/** What the thread has others do. */
export type ThreadQuestion =
  | {
      readonly kind: 'records';
      readonly partition: number;
      readonly from: number;
      readonly maxBytes: number | undefined;
    }
  | { readonly kind: 'bounds'; readonly partition: number }
  | { readonly kind: 'content'; readonly sha256: string; readonly size: number }
  /** Frames of sealed histories are to be folded. */
  | { readonly kind: 'sealed'; readonly part: SentPart }
  /** A window of a long run was committed: is the run to go on? */
  | { readonly kind: 'committed'; readonly commit: Committed };

export type ThreadAnswer =
  | { readonly kind: 'records'; readonly records: SentRecords }
  | { readonly kind: 'bounds'; readonly start: number; readonly end: number }
  | { readonly kind: 'content'; readonly bytes: Uint8Array }
  /** Null: something was not as usual. */
  | { readonly kind: 'sealed'; readonly folded: FoldedPart | null }
  | { readonly kind: 'committed'; readonly stop: boolean }
  | { readonly kind: 'failed'; readonly failure: WireError };

export type ToThread =
  | { readonly kind: 'open' }
  | { readonly kind: 'run'; readonly id: number; readonly run: ShortRun }
  | { readonly kind: 'long'; readonly id: number; readonly run: LongRun }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: ThreadAnswer }
  | { readonly kind: 'close' };

export type FromThread =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'committed'; readonly progress: Progress }
  /** The offset of the rows now; null: something was not as usual, and is left to whoever started the thread. */
  | { readonly kind: 'ran'; readonly id: number; readonly offset: number | null }
  | { readonly kind: 'ranLong'; readonly id: number; readonly end: PartitionRunEnd | WireError }
  | { readonly kind: 'ask'; readonly id: number; readonly question: ThreadQuestion }
  /** What was folded of sealed histories and not committed is forgotten. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'closed' };

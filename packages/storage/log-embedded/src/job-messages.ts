import type { WireError } from '@stemma/errors';
import type { ExitGate } from '@stemma/machine';

/** The options of the appending thread. */
export type WorkerOptions = {
  readonly directory: string;
  /** For a new log; for an existing one, its number of partitions. */
  partitions: number;
  readonly segmentBytes: number;
  readonly stepBytes: number;
  /** Milliseconds to wait for the lock. */
  readonly busyAfter: number;
  /** For tests: which sync fails, counted from 1. */
  readonly failAtSync: number | null;
};

/** What the appending thread is started with. */
export type WorkerData = { readonly options: WorkerOptions; readonly gate: ExitGate };

/** The entries of one group, in order: flat, since thousands of small buffers are slow to transfer. */
export type AppendGroup = {
  readonly partitions: readonly number[];
  readonly keys: readonly string[];
  readonly lengths: readonly number[];
  /** The records, one after the other. */
  readonly bytes: Uint8Array;
};

export type Job =
  | { readonly kind: 'open' }
  | { readonly kind: 'append'; readonly group: AppendGroup }
  /** Whether a record with so many bytes could be appended. */
  | { readonly kind: 'try'; readonly bytes: number }
  | { readonly kind: 'close' };

export type JobAnswer =
  /** `lock`: the folder of the lock. `repaired`: what was made anew, in sentences. */
  | {
      readonly kind: 'opened';
      readonly partitions: number;
      readonly lock: string;
      readonly repaired: readonly string[];
    }
  /** The offset of each entry, and of the next one after it. `took`: milliseconds, the wait for the lock and the disk among them. */
  | {
      readonly kind: 'appended';
      readonly offsets: Float64Array;
      readonly nexts: Float64Array;
      readonly took: number;
    }
  | { readonly kind: 'possible' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly failure: WireError }
  /** A sync failed: the process ends. */
  | { readonly kind: 'fatal'; readonly message: string };

export type JobRequest = { readonly id: number; readonly job: Job };
export type JobResponse = { readonly id: number; readonly answer: JobAnswer };
